#include "ui/charts/figure_request.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

void waitWhile(const std::function<bool()>& is_busy, const std::string& what, std::chrono::minutes timeout) {
    constexpr int kPollInterval_ms = 20;
    QTimer poll_timer;  // wakes the loop even without events
    poll_timer.start(kPollInterval_ms);
    const QDeadlineTimer end(timeout);
    while (is_busy()) {
        if (end.hasExpired())
            throw Error(ErrorKind::other, what + " took longer than " +
                                              countOf(static_cast<std::size_t>(timeout.count()), "minute"));
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

}  // namespace roper
