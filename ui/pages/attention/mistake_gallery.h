#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QTimer>
#include <map>

#include "ui/explorer/attention_state.h"

#include "ui/pages/attention/mistake_explanation_dialog.h"

namespace roper {

/// The known mistakes, one switch each, with their effect: after shifting all positions, and compared with
/// the correct form.
class MistakeGallery : public QWidget {
    Q_OBJECT

  public:
    MistakeGallery(AttentionState& state, QWidget* parent);

    QCheckBox* box(Mistake mistake) const { return rows_.at(mistake).box; }
    /// Opens the explanation of a mistake in its own window.
    void openExplanation(Mistake mistake);
    MistakeExplanationDialog* explanationDialog() const { return explanation_dialog_; }
    /// Measures now, without waiting until the controls rest.
    void measure();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void onStateChanged();
    void choose(Mistake mistake, bool on);

    struct Row {
        QCheckBox* box;
        QLabel* residual;
    };
    AttentionState& state_;
    std::map<Mistake, Row> rows_;
    QTimer settle_timer_;
    MistakeExplanationDialog* explanation_dialog_ = nullptr;  ///< created on first use
    bool showing_ = false;
};

}  // namespace roper
