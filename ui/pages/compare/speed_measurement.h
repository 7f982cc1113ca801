#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <filesystem>

namespace roper {

/// Takes a few steps of every setting of the board that this machine has not timed yet, in a process of its
/// own that ends with this object.
class SpeedMeasurement : public QObject {
    Q_OBJECT

  public:
    SpeedMeasurement(std::filesystem::path runs, QObject* parent);

    /// Starts, unless it is under way already; says so if the trainer is missing.
    void start();

  signals:
    /// A line about how far it is, or why it did not start.
    void said(const QString& text);
    /// Further times are known.
    void measured();

  private:
    std::filesystem::path runs_;
    QPointer<QProcess> process_;
};

}  // namespace roper
