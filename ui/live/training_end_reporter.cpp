#include "ui/live/training_end_reporter.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCall>
#include <QStringList>
#include <QVariantMap>

#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kReportDelay_ms = 1500;  // twins rarely end at the same moment
constexpr int kMaxNamed = 4;           // runs in a message

/// "96 of 128 solved"; the loss for tasks without problems; empty before the first evaluation.
QString reachedText(const RunWatcher& run) {
    if (run.evaluations().empty()) return {};
    const EvaluationRow& last = run.evaluations().back();
    if (last.correct && last.total)
        return TrainingEndReporter::tr("%1 of %2 solved").arg(*last.correct).arg(*last.total);
    return last.loss ? TrainingEndReporter::tr("loss %1").arg(numberText(*last.loss, 4)) : QString();
}

}  // namespace

TrainingEndReporter::TrainingEndReporter(RunStore& store, QueueLauncher& queue, QObject* parent)
    : QObject(parent), store_(store), queue_(queue) {
    report_timer_.setSingleShot(true);
    report_timer_.setInterval(kReportDelay_ms);
    connect(&report_timer_, &QTimer::timeout, this, &TrainingEndReporter::report);
    // A run leaves the queue when it ends, so the names are collected before.
    const auto remember = [this] {
        for (const RunQueue::Entry& entry : queue_.queue().entries)
            queued_runs_.insert(QString::fromStdString(entry.run));
    };
    connect(&queue_, &QueueLauncher::changed, this, [this, remember] {
        remember();
        if (!finished_.isEmpty() && !queue_.hasWork()) report_timer_.start();
    });
    remember();
    connect(&store_, &RunStore::runAdded, this, &TrainingEndReporter::watchRun);
    for (RunWatcher* run : store_.runs())
        watchRun(run);
}

void TrainingEndReporter::watchRun(RunWatcher* run) {
    if (run->isActive()) active_.insert(run->name());
    connect(run, &RunWatcher::statusChanged, this, [this, run] { recordEnd(*run); });
}

void TrainingEndReporter::recordEnd(const RunWatcher& run) {
    if (run.isActive()) {
        active_.insert(run.name());
        return;
    }
    if (!active_.remove(run.name())) return;
    if (run.state() == RunState::finished || run.state() == RunState::unfinished)
        finished_ << run.name();
    else if (run.state() == RunState::failed || run.state() == RunState::interrupted)
        failed_ << run.name();
    else
        return;
    report_timer_.start();
}

void TrainingEndReporter::report() {
    // While the queue has work, only failures of its runs are reported; the rest follows once it is empty.
    QStringList finished, later;
    for (const QString& name : finished_)
        (queue_.hasWork() && queued_runs_.contains(name) ? later : finished) << name;
    QStringList lines;
    const auto add = [&](const QStringList& names, auto textOf) {
        for (const QString& name : names) {
            const RunWatcher* run = store_.find(name);
            if (run == nullptr) continue;
            const QString text = textOf(*run);
            const QString title = store_.titleOf(name);
            lines << (text.isEmpty() ? title : title + QStringLiteral(": ") + text);
        }
    };
    add(failed_, [](const RunWatcher& run) {
        const QString error = QString::fromStdString(run.status().error);
        return error.isEmpty() ? tr("its trainer is no longer running; the run can be resumed") : error;
    });
    add(finished, reachedText);
    const auto failures = static_cast<int>(failed_.size()), ends = static_cast<int>(finished.size());
    const auto all = static_cast<int>(lines.size());
    if (all > kMaxNamed) lines = lines.mid(0, kMaxNamed) << tr("and %1 more").arg(all - kMaxNamed);
    failed_.clear();
    finished_ = later;
    for (const QString& name : finished)
        queued_runs_.remove(name);
    if (lines.isEmpty()) return;
    const QString title = failures > 0 && ends > 0
                              ? tr("Training ended: %1 finished, %2 failed").arg(ends).arg(failures)
                          : failures > 0 ? tr("Training failed")
                          : ends > 1     ? tr("%1 have finished").arg(countText(ends, tr("run")))
                                         : tr("Training has finished");
    emit ended(title, lines.join('\n'));
}

void notifyDesktop(const QString& title, const QString& text) {
    constexpr uint kNew = 0;        // replaces no earlier message
    constexpr int kByDesktop = -1;  // default display time
    QDBusMessage message = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("/org/freedesktop/Notifications"),
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    const QVariantMap hints{{QStringLiteral("desktop-entry"), QStringLiteral("roper-lab")}};
    message << QStringLiteral("RoPER Lab") << kNew << QString() << title
            << text.toHtmlEscaped()  // the body may contain markup, and names of runs are arbitrary
            << QStringList() << hints << kByDesktop;
    QDBusConnection::sessionBus().asyncCall(message);
}

}  // namespace roper
