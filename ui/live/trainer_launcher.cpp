#include "ui/live/trainer_launcher.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <cstring>

#include <QCoreApplication>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>

#include "core/base/available.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/this_process.h"
#include "core/corpus/open_task.h"
#include "core/runs/run_recorder.h"
#include "core/runs/user_record.h"

namespace roper {
namespace {

/// The process id in a run's status; 0 if it cannot be read.
qint64 pidInStatus(const RunFolder& folder) {
    try {
        return folder.status().pid;
    } catch (const Error&) {
        return 0;
    }
}

}  // namespace

TrainerLauncher::TrainerLauncher(std::filesystem::path runs, QObject* parent)
    : QObject(parent), runs_(std::move(runs)) {
    constexpr int kPollInterval_ms = 250;
    timer_.setInterval(kPollInterval_ms);
    connect(&timer_, &QTimer::timeout, this, &TrainerLauncher::checkStarted);
}

QString TrainerLauncher::trainerProgram() {
    if (const QString named = qEnvironmentVariable("ROPER_TRAIN"); !named.isEmpty()) return named;
    const QString beside = QCoreApplication::applicationDirPath() + "/roper-train";
    if (QFileInfo(beside).isExecutable()) return beside;
    return QStandardPaths::findExecutable("roper-train");
}

RunFolder TrainerLauncher::start(const Specification& specification, const RunLabels& labels) {
    requireValid(specification, "the form");
    requireReadableText(specification.task);
    const RunFolder folder = createRun(runs_, {}, specification, labels);
    resume(folder);
    return folder;
}

std::vector<RunFolder> TrainerLauncher::startTwins(const Specification& specification,
                                                   const RunLabels& labels) {
    Specification twin = withoutUnused(specification);
    if (twin.device.threads == 0) twin.device.threads = std::max(1, usableCores() / 2);
    requireValid(twin, "the form");
    requireReadableText(twin.task);
    // Both are created before either starts, so that a name or disk problem leaves no single twin in
    // training.
    std::vector<RunFolder> folders;
    for (const std::string& position : twinMethods()) {
        folders.push_back(createRun(runs_, {}, withPosition(twin, position), labels));
    }
    for (const RunFolder& folder : folders)
        resume(folder);
    return folders;
}

void TrainerLauncher::resume(const RunFolder& folder) {
    requireOwnedOrTrusted(folder.path());
    const std::uint64_t messages_size =
        pathExists(folder.trainerStderrPath()) ? fileSize(folder.trainerStderrPath()) : 0;
    const qint64 previous_pid = pidInStatus(folder);
    const qint64 pid = startDetached(
        {"resume", QString::fromStdString(std::filesystem::absolute(folder.path()).string()), "--background"},
        folder.trainerStderrPath());
    started_.push_back({folder, pid, previous_pid, messages_size});
    timer_.start();
}

/// Writes a message to the stderr file of a trainer that was killed before its first output, and would
/// otherwise leave no trace.
void TrainerLauncher::checkStarted() {
    std::erase_if(started_, [](const Started& started) {
        try {
            // This trainer has started, or a later one has.
            if (pidInStatus(started.folder) != started.previous_pid) return true;
            if (processStart(started.pid) != 0) return false;
            if (fileSize(started.folder.trainerStderrPath()) > started.messages_size) return true;
            AppendFile(started.folder.trainerStderrPath())
                .append("roper-train (process " + std::to_string(started.pid) +
                        ") ended before it could report anything: it was killed, or there was not enough "
                        "memory to load it.");
        } catch (const Error&) {
            // The run has been removed or is not writable; stop watching it.
        }
        return true;
    });
    if (started_.empty()) timer_.stop();
}

void TrainerLauncher::continueSuspended(const RunFolder& folder) {
    requireOwnedOrTrusted(folder.path());
    // Checked again just before the signal, since the process id may have been reused.
    const Status status = folder.status();
    const bool is_there = writerIsSuspended(status);
    if (!is_there || ::kill(static_cast<pid_t>(status.pid), SIGCONT) != 0)
        throw Error(ErrorKind::usage, "the trainer, process " + std::to_string(status.pid) +
                                          ", cannot be continued: " +
                                          (is_there ? std::strerror(errno) : "it is no longer suspended"));
}

void abandon(QPointer<QProcess>& process, const QObject& listener) {
    QProcess* const abandoned = process;
    process = nullptr;
    abandoned->disconnect(&listener);
    abandoned->setParent(nullptr);
    QObject::connect(abandoned, &QProcess::finished, abandoned, &QObject::deleteLater);
    abandoned->kill();
}

qint64 startDetached(const QStringList& arguments, const FilePath& messages) {
    const QString program = TrainerLauncher::trainerProgram();
    if (program.isEmpty())
        throw Error(ErrorKind::usage,
                    "the trainer roper-train is neither next to this program nor on the PATH; build it with "
                    "./lab run");
    QProcess process;
    process.setProgram(program);
    process.setArguments(arguments);
    process.setStandardOutputFile(QProcess::nullDevice());
    // Keeps the error of a trainer that cannot even start. QProcess would follow a symbolic link; the path in
    // /proc refers to the file opened here.
    const Descriptor stderr_file = openFile(messages, O_WRONLY | O_CREAT | O_APPEND);
    process.setStandardErrorFile(QStringLiteral("/proc/self/fd/%1").arg(stderr_file.number()),
                                 QIODevice::Append);
    process.setStandardInputFile(QProcess::nullDevice());
    qint64 pid = 0;
    if (!process.startDetached(&pid))
        throw Error(ErrorKind::other,
                    "cannot start " + program.toStdString() + ": " + process.errorString().toStdString());
    return pid;
}

}  // namespace roper
