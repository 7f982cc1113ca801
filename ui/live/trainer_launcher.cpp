#include "ui/live/trainer_launcher.h"

#include <fcntl.h>
#include <QCoreApplication>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QThread>

#include "core/base/error.h"
#include "core/runs/run_recorder.h"
#include "core/runs/trusted_folders.h"

namespace roper {

TrainerLauncher::TrainerLauncher(std::filesystem::path runs, QObject* parent)
    : QObject(parent), runs_(std::move(runs)) {}

QString TrainerLauncher::trainerProgram() {
    const QString beside = QCoreApplication::applicationDirPath() + "/roper-train";
    if (QFileInfo(beside).isExecutable()) return beside;
    return QStandardPaths::findExecutable("roper-train");
}

RunFolder TrainerLauncher::start(const Specification& specification) {
    requireValid(specification, "the form");
    const RunFolder folder = createRun(runs_, {}, specification);
    resume(folder);
    return folder;
}

std::vector<RunFolder> TrainerLauncher::startTwins(const Specification& specification) {
    Specification twin = withoutUnused(specification);
    if (twin.device.threads == 0) twin.device.threads = std::max(1, QThread::idealThreadCount() / 2);
    requireValid(twin, "the form");
    // Both are made before either starts: a name or disk problem leaves no lone twin training.
    std::vector<RunFolder> folders;
    for (const std::string& position : twinMethods()) {
        folders.push_back(createRun(runs_, {}, withPosition(twin, position)));
    }
    for (const RunFolder& folder : folders)
        resume(folder);
    return folders;
}

void TrainerLauncher::resume(const RunFolder& folder) {
    requireOwn(folder.path());
    startDetached(
        {"resume", QString::fromStdString(std::filesystem::absolute(folder.path()).string()), "--background"},
        folder.messagesPath());
}

void startDetached(const QStringList& arguments, const FilePath& messages) {
    const QString program = TrainerLauncher::trainerProgram();
    if (program.isEmpty())
        throw Error(ErrorKind::usage,
                    "the trainer roper-train is neither beside this program nor on the PATH; "
                    "build it with ./lab run");
    QProcess process;
    process.setProgram(program);
    process.setArguments(arguments);
    // What the trainer says when it cannot even begin would otherwise be lost.
    process.setStandardOutputFile(QProcess::nullDevice());
    // QProcess opens a path, which might be a link; this one leads to the file that has been opened here.
    const Descriptor said = openFile(messages, O_WRONLY | O_CREAT | O_APPEND);
    process.setStandardErrorFile(QStringLiteral("/proc/self/fd/%1").arg(said.number()), QIODevice::Append);
    process.setStandardInputFile(QProcess::nullDevice());
    if (!process.startDetached())
        throw Error(ErrorKind::other,
                    "cannot start " + program.toStdString() + ": " + process.errorString().toStdString());
}

}  // namespace roper
