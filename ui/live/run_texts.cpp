#include "ui/live/run_texts.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/this_process.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("run notice", text);
}

/// For an interrupted run: how its trainer ended, and what to do.
QString endOfTrainer(const RunWatcher& run) {
    const auto checkpoints = run.folder().checkpointsIfReadable();
    const QString checkpoint =
        !checkpoints ? tr("Its checkpoints cannot be listed.")
        : checkpoints->empty()
            ? tr("“Resume” starts again from the first step: no checkpoint has been saved yet.")
            : tr("“Resume” continues from its newest checkpoint; later steps are computed again.");
    if (const auto crash = run.folder().crash(run.status()))
        return tr("The trainer crashed with %1. %2 If it happens again, please include the log (tab “Log”) "
                  "in a bug report.")
            .arg(QString::fromStdString(*crash), checkpoint);
    if (run.memoryRanOut())
        return tr("The system killed the trainer because memory ran out. %1 Close other programs first, or "
                  "start a run with a smaller batch size, length or width.")
            .arg(checkpoint);
    if (const QString messages = run.messagesAfterStatus(); !messages.isEmpty())
        return tr("The trainer ended: %1\n%2").arg(messages, checkpoint);
    return tr("The trainer ended without a message: most likely it was killed (SIGKILL, or Ctrl+C twice), or "
              "the computer crashed or was switched off. %1")
        .arg(checkpoint);
}

/// For a trainer that failed to start and reported the reason only on stderr; empty if `error` contains it.
QString failedStart(const RunWatcher& run, const QString& error) {
    const QString messages = run.messagesAfterStatus();
    if (messages.isEmpty() || (!error.isEmpty() && messages.contains(error))) return {};
    return tr("The last attempt to start a trainer failed: %1").arg(messages) +
           (messages.contains("bad_alloc") ? tr("\nIt ran out of memory while loading.") : QString());
}

/// For a run whose trainer has not reported for a long time.
QString silence(const RunWatcher& run) {
    const QString silent =
        tr("The trainer has not reported for %1. It may be busy with a long step or evaluation.")
            .arg(shortDuration(run.silentSeconds()));
    if (livenessCheckFor(run.status()) != LivenessCheck::process)
        return silent + tr(" It runs on %1.").arg(QString::fromStdString(run.status().host));
    return silent +
           tr(" If it hangs, end it with “kill -9 %1”; only progress since its newest checkpoint is lost.")
               .arg(run.status().pid);
}

/// For a model that overfits its training text, judged by the evaluations.
QString overfitting(const RunWatcher& run) {
    constexpr double kRise_nats = 0.02;  // beyond the noise between evaluations
    constexpr std::size_t kMinEvaluations = 2;
    if (!run.specification() || !run.specification()->task.isText()) return {};
    const auto& rows = run.evaluations();
    const auto best = bestOf(rows);
    if (!best || !best->loss || !rows.back().loss || *rows.back().loss < *best->loss + kRise_nats) return {};
    const auto after =
        std::ranges::count_if(rows, [&](const EvaluationRow& row) { return row.step > best->step; });
    if (after < static_cast<std::ptrdiff_t>(kMinEvaluations)) return {};
    return tr("Validation loss has risen from its best, %1 at step %2, to %3 (perplexity %4 to %5): the "
              "model is overfitting the training text. The checkpoint of step %2 is kept; with "
              "evaluation.patience = 3 such a run ends by itself.")
        .arg(*best->loss, 0, 'f', 3)
        .arg(best->step)
        .arg(*rows.back().loss, 0, 'f', 3)
        .arg(std::exp(*best->loss), 0, 'f', 1)
        .arg(std::exp(*rows.back().loss), 0, 'f', 1);
}

constexpr int kCharacters = 64;  // of a generated example text

/// A sample of a run: of the newest evaluation, or of the first one if samples have not been read yet.
std::optional<Sample> sampleOf(const RunWatcher& run) {
    if (!run.samples().empty()) return run.samples().front();
    try {
        LineReader lines(run.folder().pathOf<Sample>());
        const auto first = lines.next();
        return first ? std::optional(parseRow<Sample>(*first)) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// A prompt for models of a text: the beginning of a sample; for masked models, of the unmasked text.
QString beginningOf(const RunWatcher& run) {
    const auto sample = sampleOf(run);
    if (!sample) return {};
    if (!run.specification()->isMasked()) return QString::fromStdString(sample->prompt);
    return QString::fromStdString(sample->expected).left(4 * kCharacters);
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
            "The trainer is suspended (by SIGSTOP, Ctrl+Z in its terminal, or a debugger) and computes "
            "nothing. “Resume” lets it continue from where it is.");
    if (run.state() == RunState::interrupted) return endOfTrainer(run);
    const QString error = QString::fromStdString(run.status().error);
    const bool may_begin = !run.isActive() && run.state() != RunState::finished;
    if (const QString failure = may_begin ? failedStart(run, error) : QString(); !failure.isEmpty())
        return failure;
    if (run.state() == RunState::unfinished)
        return tr("Trained to step %1; its run.toml now asks for %2 steps. “Resume” continues from its "
                  "newest checkpoint.")
            .arg(run.status().step)
            .arg(run.steps());
    if (!error.isEmpty()) return error;
    if (!run.problem().isEmpty()) return run.problem();
    return run.silentSeconds() > 0 ? silence(run) : overfitting(run);
}

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
    const bool this_year = then.date().year() == now.date().year();
    return QObject::tr("on %1 at %2")
        .arg(QLocale::c().toString(then.date(),
                                   this_year ? QStringLiteral("d MMM") : QStringLiteral("d MMM yyyy")),
             clock);
}

QString exampleText(const RunWatcher& run) {
    const auto& specification = run.specification();
    if (specification && specification->task.isText()) return beginningOf(run);
    if (!run.samples().empty()) {
        const Sample& sample = run.samples().front();
        return QString::fromStdString(sample.prompt + sample.expected);
    }
    if (!specification) return {};
    const auto task = makeTask(specification->task);
    return QString::fromStdString(task->hasProblems()
                                      ? task->problem(0, Stream::problems, 0).text()
                                      : task->sequence(0, Stream::validation, 0, kCharacters));
}

QString examplePrompt(const RunWatcher& run) {
    if (!run.specification()) return {};
    const TaskSettings& settings = run.specification()->task;
    if (settings.isText()) return beginningOf(run);
    const auto task = makeTask(settings);
    return QString::fromStdString(task->hasProblems()
                                      ? task->problem(0, Stream::problems, 0).prompt
                                      : task->sequence(0, Stream::validation, 0, kCharacters));
}

}  // namespace roper
