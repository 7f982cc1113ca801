#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QStringList>
#include <deque>

namespace roper {

/// Asks the models of runs, one after the other (`roper-train eval RUN --keep …`); each leaves its answers in
/// its own folder.
class EvaluationSurvey : public QObject {
    Q_OBJECT

  public:
    struct Question {
        QString run;  ///< path of its folder
        QStringList arguments;
    };

    explicit EvaluationSurvey(QObject* parent) : QObject(parent) {}
    ~EvaluationSurvey() override;

    void ask(const std::vector<Question>& questions);
    void stop();
    bool isBusy() const { return process_ != nullptr; }
    std::size_t left() const { return waiting_.size() + (isBusy() ? 1 : 0); }
    /// What could not be asked, and why; a line each.
    const QStringList& problems() const { return problems_; }

  signals:
    void changed();  ///< a run has been asked, or there is nothing left to ask

  private:
    void next();
    void take();

    std::deque<Question> waiting_;
    QPointer<QProcess> process_;
    QStringList problems_;
};

}  // namespace roper
