#include "ui/live/run_notice.h"

#include <QCoreApplication>

#include "core/base/this_process.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kLongSilence_s = 30;

QString tr(const char* text) {
    return QCoreApplication::translate("run notice", text);
}

/// Of an interrupted run: how its trainer ended, and what to do.
QString endOfTrainer(const RunWatcher& run) {
    const QString checkpoint =
        run.folder().checkpoints().empty()
            ? tr("“Continue” starts again from the first step: there is no checkpoint yet.")
            : tr("“Continue” starts from its newest checkpoint; rows after it are computed again.");
    if (const auto crash = run.folder().crash(run.status()))
        return tr("The trainer crashed with %1. %2 If it happens again, the log and what the trainer printed "
                  "(tab "
                  "“Log”) are what a report of the fault needs.")
            .arg(QString::fromStdString(*crash), checkpoint);
    if (run.memoryRanOut())
        return tr("The system ended the trainer because memory ran out. %1 Close other programs first, or "
                  "start a "
                  "run with a smaller batch, length or width.")
            .arg(checkpoint);
    return tr("The trainer was killed (SIGKILL), or its machine went down: it could not say why. %1")
        .arg(checkpoint);
}

}  // namespace

QString otherVersionNote(const Status& status) {
    if (status.version.empty() || status.version == programVersion()) return {};
    return tr(" (the trainer is version %1, this window is %2)")
        .arg(QString::fromStdString(status.version), QString::fromStdString(programVersion()));
}

QString noticeOf(const RunWatcher& run) {
    if (run.isSuspended())
        return tr(
            "The trainer is suspended, by SIGSTOP or by Ctrl+Z in its terminal, and computes nothing. "
            "“Continue” lets it go on where it is.");
    if (run.state() == RunState::interrupted)
        return run.lastWords().isEmpty()
                   ? endOfTrainer(run)
                   : endOfTrainer(run) + tr("\n\nIts last words: %1").arg(run.lastWords());
    if (!run.status().error.empty()) return QString::fromStdString(run.status().error);
    if (!run.problem().isEmpty()) return run.problem();
    // A trainer that could not even begin has left its reason on stderr alone.
    if (!run.isActive() && run.state() != RunState::finished && !run.lastWords().isEmpty())
        return tr("The trainer that was started last could not begin: %1").arg(run.lastWords());
    if (run.isActive() && run.silentSeconds() > kLongSilence_s)
        return tr("No sign of the trainer for %1. It may be in a long step or evaluation; if not, “Stop” or "
                  "`kill %2` ends it, and nothing before its newest checkpoint is lost.")
            .arg(shortDuration(run.silentSeconds()))
            .arg(run.status().pid);
    return {};
}

}  // namespace roper
