#pragma once

#include <QDialog>
#include <QSlider>

#include "ui/explorer/play_button.h"
#include "ui/pages/attention/mistake_arrows_view.h"
#include "ui/theme/html_view.h"

namespace roper {

/// The explanation of a mistake: correct and wrong arrows while the sentence is shifted, formulas and code,
/// where it was seen, and why training does not crash.
class MistakeExplanationDialog : public QDialog {
    Q_OBJECT

  public:
    MistakeExplanationDialog(AttentionState& state, QWidget* parent);

    void showMistake(Mistake mistake);

    MistakeArrowsView& view() { return *view_; }
    HtmlView& text() { return *text_; }

  protected:
    void changeEvent(QEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    void showText();

    Mistake mistake_ = Mistake::wrong_direction;
    MistakeArrowsView* view_;
    HtmlView* text_;
    QSlider* shift_;
    PlayButton* play_;
};

}  // namespace roper
