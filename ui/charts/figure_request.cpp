#include "ui/charts/figure_request.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

void waitWhile(const std::function<bool()>& is_busy, const std::string& what, std::chrono::minutes patience) {
    constexpr int kBetweenLooks_ms = 20;
    QTimer wake;  // wakes the loop even without events
    wake.start(kBetweenLooks_ms);
    const QDeadlineTimer end(patience);
    while (is_busy()) {
        if (end.hasExpired())
            throw Error(ErrorKind::other, what + " was not done within " +
                                              countOf(static_cast<std::size_t>(patience.count()), "minute"));
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

}  // namespace roper
