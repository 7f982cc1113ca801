#include "ui/pages/attention/distance_chart.h"

#include <algorithm>
#include <cmath>

#include "core/explorer/attention_maps.h"
#include "core/rotary/spectrum.h"
#include "ui/theme/theme.h"

namespace roper {

DistanceChart::DistanceChart(AttentionState& state, QWidget* parent)
    : CurveChart(QStringLiteral("score-by-distance"), tr("distance δ = n − j"), tr("score"), parent),
      state_(state) {
    setEmptyText(tr("No scores yet."));
    connect(this, &CurveChart::clicked, this, [this](double distance) {
        if (!state_.isReady()) return;
        const int key = state_.query() - static_cast<int>(std::lround(distance));
        state_.selection().change(tr("Key"),
                                  [&](Setup& s) { s.key = std::clamp(key, 0, state_.tokens() - 1); });
    });
}

CurveChart::Curve DistanceChart::queryCurve() const {
    Curve curve{QStringLiteral("query"), tr("query %1").arg(state_.tokenText(state_.query())),
                Theme::query()};
    curve.points = true;
    const int last = state_.rule().causal ? state_.query() : state_.tokens() - 1;
    for (int key = last; key >= 0; --key) {
        curve.x.append(state_.query() - key);
        curve.y.append(state_.scoreRow()[key]);
    }
    return curve;
}

CurveChart::Curve DistanceChart::allQueriesCurve() const {
    Curve curve{QStringLiteral("mean"), tr("mean of all queries, with range"), Theme::of(palette()).text};
    curve.bold = true;
    for (const DistanceScores& at : scoresByDistance(state_.rule(), state_.heads(), state_.setup().shift)) {
        curve.x.append(at.distance);
        curve.y.append(at.mean);
        curve.low.append(at.minimum);
        curve.high.append(at.maximum);
    }
    return curve;
}

/// (1/(d/2)) Σⱼ |Sⱼ| with Sⱼ = Σ exp(iδθᵢ) over i < j, as in Su et al. 2021, scaled to the mean score at
/// distance 0.
CurveChart::Curve DistanceChart::decay(double at_zero) const {
    Curve curve{QStringLiteral("decay"), tr("decay of the bound, scaled"), Theme::rope()};
    const Eigen::VectorXd bound = decayCurve(state_.setup().rotary().theta, state_.tokens());
    const int first = state_.rule().causal ? 0 : 1 - state_.tokens();
    for (int distance = first; distance < state_.tokens(); ++distance) {
        curve.x.append(distance);
        curve.y.append(at_zero * bound[std::abs(distance)] / bound[0]);
    }
    return curve;
}

void DistanceChart::refresh() {
    if (!state_.isReady()) return setCurves({}, {});
    const Setup& s = state_.setup();
    std::vector<Curve> curves{allQueriesCurve(), queryCurve()};
    const auto zero = curves[0].x.indexOf(0);
    if (s.rotatedTensors().scoresAreRelative() && s.rotatesScores() && s.rotary().pairs() > 0 && zero >= 0 &&
        curves[0].y[zero] > 0)
        curves.push_back(decay(curves[0].y[zero]));
    const int distance = state_.query() - state_.key();
    setCurves(curves, {{static_cast<double>(distance), tr("δ = %1").arg(distance), false}});
    setCaption(tr("Scores by distance: query %1 and the mean of all; %2; d = %3, base %4")
                   .arg(state_.query())
                   .arg(state_.sourceText())
                   .arg(s.head_dim)
                   .arg(s.base));
}

}  // namespace roper
