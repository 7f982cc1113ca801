#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <filesystem>

namespace roper {

/// Times a few steps of every board setting that has not yet been timed on this machine, in a separate
/// process that ends with this object.
class SpeedMeasurement : public QObject {
    Q_OBJECT

  public:
    SpeedMeasurement(std::filesystem::path runs, QObject* parent);

    /// Starts, unless already running; reports a missing trainer.
    void start();

  signals:
    /// A line about the progress, or why it did not start.
    void reported(const QString& text);
    /// Emitted when new times are known.
    void measured();

  private:
    std::filesystem::path runs_;
    QPointer<QProcess> process_;
};

}  // namespace roper
