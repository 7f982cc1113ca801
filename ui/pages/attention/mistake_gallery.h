#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QTimer>
#include <map>

#include "ui/explorer/attention_state.h"

namespace roper {

/// The known mistakes, one switch each, with what each leaves: after moving all positions, and against the
/// right form.
class MistakeGallery : public QWidget {
    Q_OBJECT

  public:
    MistakeGallery(AttentionState& state, QWidget* parent);

    QCheckBox* box(Mistake mistake) const { return rows_.at(mistake).box; }
    /// Measures now; usually that waits until the controls rest.
    void measure();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void follow();
    void choose(Mistake mistake, bool on);

    struct Row {
        QCheckBox* box;
        QLabel* residual;
    };
    AttentionState& state_;
    std::map<Mistake, Row> rows_;
    QTimer rest_;
    bool showing_ = false;
};

}  // namespace roper
