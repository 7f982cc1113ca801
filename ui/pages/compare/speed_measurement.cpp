#include "ui/pages/compare/speed_measurement.h"

#include "ui/live/trainer_launcher.h"

namespace roper {

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
