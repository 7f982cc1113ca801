#pragma once

#include "ui/charts/curve_chart.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// Scores of the head by distance: of the chosen query, of all queries, and the decay of RoPE's bound.
class DistanceChart : public CurveChart {
    Q_OBJECT

  public:
    DistanceChart(AttentionState& state, QWidget* parent);

    /// Draws the current state.
    void refresh();

  private:
    Curve queryCurve() const;
    Curve allQueriesCurve() const;
    Curve decay(double at_zero) const;

    AttentionState& state_;
};

}  // namespace roper
