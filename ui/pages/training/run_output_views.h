#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <vector>

#include "core/runs/run_folder.h"
#include "ui/live/run_watcher.h"
#include "ui/theme/plain_text.h"

namespace roper {

/// The end of a run's log, and of its trainer's stderr.
class LogView : public QPlainTextEdit {
    Q_OBJECT

  public:
    explicit LogView(QWidget* parent);

    /// @param run  null: clears the view
    void showLog(const RunWatcher* run);
};

/// Problems of an evaluation with the model's answers, correct characters green, wrong ones orange; for
/// texts, prompts with the generated and the original continuation.
class SamplesView : public QWidget {
    Q_OBJECT

  public:
    explicit SamplesView(QWidget* parent);

    /// @param run  display name
    void show(const QString& run, const std::vector<Sample>& samples);

    /// One sample as rich text: the prompt plain, the completion colored by comparison with the expected
    /// answer.
    static QString sampleHtml(const Sample& sample, bool dark);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void write();

    QLabel* title_;
    HtmlView* text_;
    std::vector<Sample> samples_;
};

}  // namespace roper
