#include "ui/live/expected_time_text.h"

#include <QObject>

#include "ui/theme/numbers.h"

namespace roper {

QString expectedTimeText(const ExpectedTime& time) {
    const QString duration = shortDuration(time.seconds);
    switch (time.basis) {
        case ExpectedTime::Basis::same_settings:
            return QObject::tr("about %1 on this machine").arg(duration);
        case ExpectedTime::Basis::other_runs:
            return QObject::tr("about %1 on this machine, judged by other runs").arg(duration);
        case ExpectedTime::Basis::guess:
            return QObject::tr("perhaps %1: nothing has been timed on this machine yet").arg(duration);
    }
    return duration;
}

}  // namespace roper
