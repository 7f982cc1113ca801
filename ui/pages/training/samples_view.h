#pragma once

#include <QLabel>
#include <vector>

#include "core/runs/run_folder.h"
#include "ui/theme/html_view.h"

namespace roper {

/// Problems of an evaluation with what the model wrote, each character green where it is right and red where
/// not; of a text, prompts, what the model generated, and how the text continues.
class SamplesView : public QWidget {
    Q_OBJECT

  public:
    explicit SamplesView(QWidget* parent);

    void show(const QString& run, const std::vector<Sample>& samples);

    /// One problem as rich text: the prompt plain, the completion coloured against the right answer.
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
