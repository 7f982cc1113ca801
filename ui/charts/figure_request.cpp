#include "ui/charts/figure_request.h"

#include <QCoreApplication>
#include <QElapsedTimer>

#include "core/base/error.h"

namespace roper {

void waitWhile(const std::function<bool()>& is_busy, const std::string& what) {
    constexpr int kPatience_ms = 600000;
    QElapsedTimer clock;
    clock.start();
    while (is_busy()) {
        if (clock.elapsed() > kPatience_ms)
            throw Error(ErrorKind::other, what + " was not done within ten minutes");
        QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
    }
}

}  // namespace roper
