#include "ui/pages/compare/trainer_processes.h"

#include <QFileInfo>

#include "ui/live/trainer_launcher.h"

namespace roper {

BatchEvaluator::~BatchEvaluator() {
    stop();
}

void BatchEvaluator::ask(const std::vector<Question>& questions) {
    problems_.clear();
    queue_.insert(queue_.end(), questions.begin(), questions.end());
    if (!isBusy()) next();
}

void BatchEvaluator::stop() {
    queue_.clear();
    if (process_ == nullptr) return;
    abandon(process_, *this);
    emit changed();
}

void BatchEvaluator::next() {
    if (queue_.empty()) return emit changed();
    const Question question = queue_.front();
    queue_.pop_front();
    auto* process = new QProcess(this);
    process_ = process;
    process->setObjectName(QFileInfo(question.run).fileName());
    onProcessEnd(*process, this, &BatchEvaluator::readResult);
    process->start(TrainerLauncher::trainerProgram(),
                   QStringList{"eval", question.run, "--keep", "--json"} + question.arguments);
    emit changed();
}

void BatchEvaluator::readResult() {
    QProcess* process = process_;
    if (process == nullptr) return;
    process_ = nullptr;
    process->deleteLater();
    if (process->exitStatus() != QProcess::NormalExit || process->exitCode() != 0) {
        const QString why = QString::fromUtf8(process->readAllStandardError()).trimmed().section('\n', -1);
        problems_ << tr("%1: %2").arg(process->objectName(),
                                      why.isEmpty() ? tr("roper-train eval ended unexpectedly") : why);
    }
    next();
}

SpeedMeasurement::SpeedMeasurement(std::filesystem::path runs, QObject* parent)
    : QObject(parent), runs_(std::move(runs)) {}

void SpeedMeasurement::start() {
    if (process_) return emit reported(tr("A measurement is already in progress."));
    const QString program = TrainerLauncher::trainerProgram();
    if (program.isEmpty())
        return emit reported(tr("The trainer roper-train was not found; build it with ./lab run."));
    process_ = new QProcess(this);
    const auto report = [this] {
        const QString text = QString::fromUtf8(process_->readAllStandardError()).trimmed().section('\n', -1);
        if (!text.isEmpty()) emit reported(text);
        emit measured();
    };
    connect(process_, &QProcess::readyReadStandardError, this, report);
    connect(process_, &QProcess::finished, this, [this, report](int code) {
        report();
        emit reported(code == 0 ? tr("The speed of every setting has been measured.")
                                : tr("The speed measurement ended with exit code %1.").arg(code));
        process_->deleteLater();
    });
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        // all other errors end the process, which `finished` reports
        if (error != QProcess::FailedToStart) return;
        emit reported(tr("The trainer could not be started: %1").arg(process_->errorString()));
        process_->deleteLater();
    });
    process_->start(program, {QStringLiteral("board"), QStringLiteral("--measure"), QStringLiteral("--runs"),
                              QString::fromStdString(std::filesystem::absolute(runs_).string())});
}

}  // namespace roper
