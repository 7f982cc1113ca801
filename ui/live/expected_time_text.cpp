#include "ui/live/expected_time_text.h"

#include <QDateTime>
#include <QLocale>
#include <QObject>

#include "ui/theme/numbers.h"

namespace roper {

QString expectedTimeText(const ExpectedTime& time) {
    const QString duration = shortDuration(time.seconds);
    switch (time.basis) {
        case ExpectedTime::Basis::same_settings:
            return QObject::tr("about %1 on this machine").arg(duration);
        case ExpectedTime::Basis::other_runs:
            return QObject::tr("about %1 on this machine, estimated from other runs").arg(duration);
        case ExpectedTime::Basis::guess:
            return QObject::tr("roughly %1 (no run has been timed on this machine yet)").arg(duration);
    }
    return duration;
}

QString clockTimeText(double seconds_from_now) {
    const QDateTime now = QDateTime::currentDateTime();
    const QDateTime then = now.addSecs(static_cast<qint64>(seconds_from_now));
    const QString clock = then.toString(QStringLiteral("HH:mm"));
    if (then.date() == now.date()) return QObject::tr("at %1").arg(clock);
    if (then.date() == now.date().addDays(1)) return QObject::tr("tomorrow at %1").arg(clock);
    return QObject::tr("on %1 at %2").arg(QLocale::c().toString(then.date(), QStringLiteral("d MMM")), clock);
}

}  // namespace roper
