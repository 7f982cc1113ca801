#pragma once

#include <QComboBox>
#include <QLabel>
#include <QTimer>
#include <QWidget>

#include "core/runs/rows.h"
#include "ui/charts/curve_chart.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// What a run's position method has learned, or had to watch, over its steps (method.csv): how far trained
/// frequencies have drifted from θᵢ, T5's biases by bucket, the smallest denominators of linear attention.
class LearnedView : public QWidget {
    Q_OBJECT

  public:
    LearnedView(InspectState& state, QWidget* parent);

    CurveChart& chart() { return *chart_; }
    const CurveChart& chart() const { return *chart_; }
    QComboBox& quantity() { return *quantity_; }
    QComboBox& layer() { return *layer_; }

    /// Reads the file again if the run or its length has changed.
    void refresh();

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    void fillChoices();
    void draw();
    std::vector<CurveChart::Curve> driftCurves(const std::string& quantity, std::int64_t layer) const;
    template <class Wanted, class X>
    std::vector<CurveChart::Curve> curvesByHead(Wanted wanted, X x) const;

    InspectState& state_;
    QComboBox *quantity_, *layer_;
    QLabel* summary_;
    CurveChart* chart_;
    QTimer timer_;
    QString run_;
    std::uintmax_t size_ = 0;
    std::vector<MethodRow> rows_;
    QString problem_;
    bool filling_ = false;
};

}  // namespace roper
