#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableWidget>
#include <QTimer>

#include "ui/controls/number_edit.h"
#include "ui/rotation/bars_view.h"
#include "ui/rotation/circle_view.h"
#include "ui/rotation/dials_view.h"
#include "ui/rotation/rotation_state.h"
#include "ui/rotation/worked_example_view.h"
#include "ui/shell/page.h"

namespace roper {

/// Page 1: one vector, turned by its position.
class RotationPage : public Page {
    Q_OBJECT

  public:
    RotationPage(Selection& selection, QWidget* parent);

    std::vector<const Figure*> figures() const override;
    void addActions(Actions& actions) override;
    QString explanation() const override;

    RotationState& state() { return state_; }

    /// Brings the worked example to the front, `step` lines of it.
    void showWorkedExample(int step);

  private:
    QWidget* makeControls();
    QWidget* makeVectorTable();
    void showState();
    void showVector();
    void refuseFeature(int row);
    void step(double positions);
    void togglePlay();
    void advance();

    RotationState state_;
    CircleView* circle_;
    DialsView* dials_;
    BarsView* bars_;
    WorkedExamplePanel* worked_;
    QTabWidget* lower_;
    QSpinBox* head_dim_;
    NumberEdit* base_;
    QComboBox *schedule_, *pairing_;
    QSlider* position_slider_;
    QDoubleSpinBox *position_, *speed_;
    QSpinBox* pair_;
    QPushButton* play_;
    QTableWidget* vector_;
    QTimer timer_;
    bool showing_ = false;
};

}  // namespace roper
