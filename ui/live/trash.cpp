#include "ui/live/trash.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include "core/base/error.h"
#include "core/runs/run_recorder.h"

namespace roper {

bool moveToTrash(const RunFolder& run) {
    // Where the folder above the trash is missing, Qt 6.4 makes one in the folder that the program was
    // started in.
    if (!QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation))) return false;
    try {
        const RunRecorder nobody_trains_it(run);
    } catch (const Error&) {
        return false;
    }
    return QFile::moveToTrash(QString::fromStdString(run.path().string()));
}

}  // namespace roper
