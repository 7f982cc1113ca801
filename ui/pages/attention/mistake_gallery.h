#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QSlider>
#include <QTimer>
#include <map>

#include "ui/explorer/attention_state.h"
#include "ui/explorer/play_button.h"
#include "ui/pages/attention/mistake_arrows_view.h"
#include "ui/theme/plain_text.h"

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

/// The known mistakes, one switch each, with their effect: the change when all positions are shifted, and the
/// difference from the correct form.
class MistakeGallery : public QWidget {
    Q_OBJECT

  public:
    MistakeGallery(AttentionState& state, QWidget* parent);

    QCheckBox* box(Mistake mistake) const { return rows_.at(mistake).box; }
    /// Opens the explanation of a mistake in its own window.
    void openExplanation(Mistake mistake);
    MistakeExplanationDialog* explanationDialog() const { return explanation_dialog_; }
    /// Measures the effects now, without waiting until the controls have not changed for a moment.
    void measure();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void onStateChanged();
    void choose(Mistake mistake, bool on);

    struct Row {
        QCheckBox* box;
        QLabel* residual;  ///< the effect, or why the mistake cannot be made
    };
    AttentionState& state_;
    std::map<Mistake, Row> rows_;
    QTimer settle_timer_;
    MistakeExplanationDialog* explanation_dialog_ = nullptr;  ///< created on first use
    bool showing_ = false;                                    ///< true while the program sets the switches
};

}  // namespace roper
