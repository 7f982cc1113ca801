#pragma once

#include "ui/charts/curve_chart.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// Scores of the head by distance δ = n − j from query n to key j: those of the chosen query, the mean of all
/// queries, and the decay of RoPE's upper bound.
class DistanceChart : public CurveChart {
    Q_OBJECT

  public:
    DistanceChart(AttentionState& state, QWidget* parent);

    /// Draws the current state.
    void refresh();

  private:
    Curve queryCurve() const;
    Curve allQueriesCurve() const;
    /// @param at_zero  mean score at distance 0
    Curve decay(double at_zero) const;

    AttentionState& state_;
};

}  // namespace roper
