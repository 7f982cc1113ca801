#include "ui/live/trash.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include "core/base/error.h"
#include "core/runs/run_recorder.h"

namespace roper {

std::optional<TrashedRun> moveToTrash(const RunFolder& run) {
    // If the parent folder of the trash is missing, Qt 6.4 creates one in the current working directory.
    if (!QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation)))
        return std::nullopt;
    try {
        const RunRecorder nobody_trains_it(run);
    } catch (const Error&) {
        return std::nullopt;
    }
    QString now;
    if (!QFile::moveToTrash(QString::fromStdString(run.path().string()), &now)) return std::nullopt;
    return TrashedRun{run.path(), now.toStdString()};
}

void restoreFromTrash(const TrashedRun& run) {
    if (std::filesystem::exists(run.before))
        throw Error(ErrorKind::usage, run.before.string() + " already exists; the run stays in the trash");
    std::error_code problem;
    std::filesystem::rename(run.now, run.before, problem);
    if (problem)
        throw Error(ErrorKind::disk, "cannot move " + run.now.string() + " back to " + run.before.string() +
                                         ": " + problem.message());
    // The .trashinfo file with the original path (freedesktop.org Trash specification 1.0).
    const std::filesystem::path note =
        run.now.parent_path().parent_path() / "info" / (run.now.filename().string() + ".trashinfo");
    std::filesystem::remove(note, problem);
}

}  // namespace roper
