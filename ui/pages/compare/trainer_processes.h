#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QStringList>
#include <deque>
#include <filesystem>

namespace roper {

/// Evaluates models of runs one after the other (`roper-train eval RUN --keep …`); results are stored in the
/// runs' folders.
class BatchEvaluator : public QObject {
    Q_OBJECT

  public:
    struct Question {
        QString run;  ///< path of the run's folder
        QStringList arguments;
    };

    explicit BatchEvaluator(QObject* parent) : QObject(parent) {}
    ~BatchEvaluator() override;

    void ask(const std::vector<Question>& questions);
    void stop();
    bool isBusy() const { return process_ != nullptr; }
    std::size_t remaining() const { return queue_.size() + (isBusy() ? 1 : 0); }
    /// Failed evaluations and their errors, one line each.
    const QStringList& problems() const { return problems_; }

  signals:
    void changed();  ///< a run has been evaluated, or the queue is empty

  private:
    void next();
    void readResult();

    std::deque<Question> queue_;
    QPointer<QProcess> process_;
    QStringList problems_;
};

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
