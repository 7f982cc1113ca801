#include "ui/pages/attention/attention_map.h"

#include <QObject>
#include <algorithm>
#include <cmath>

#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// Smaller differences are rounding errors and drawn as zero.
constexpr double kMinDifference = 1e-6;

Eigen::MatrixXd outputsOf(const ScoreFormula& rule, const HeadVectors& heads, double shift) {
    return outputs(rule, heads, weights(rule, heads, scores(rule, heads, shift)), shift);
}

Eigen::MatrixXd valuesOf(const MapInputs& in) {
    const auto compared = [&](const ScoreFormula& rule, double shift) {
        return in.compares_outputs ? outputsOf(rule, in.heads, shift) : scores(rule, in.heads, shift);
    };
    switch (in.kind) {
        case MapKind::weights:
            return weights(in.rule, in.heads, scores(in.rule, in.heads, in.shift));
        case MapKind::shift_difference:
            return compared(in.rule, in.shift) - compared(in.rule, 0);
        case MapKind::form_difference:
            return compared(in.rule, in.shift) - compared(in.correct_rule, in.shift);
        default:
            return scores(in.rule, in.heads, in.shift);
    }
}

bool isDifference(MapKind kind) {
    return kind == MapKind::shift_difference || kind == MapKind::form_difference;
}

/// Whether difference maps compare outputs instead of scores: if the mistake concerns values, or if only
/// outputs depend on more than distances.
bool showsOutputs(const Setup& setup) {
    const RotatedTensors rotated = setup.rotatedTensors();
    return affectsValues(setup.mistake) ? appliesTo(setup.mistake, rotated)
                                        : rotated.scoresAreRelative() && !rotated.outputsAreRelative();
}

}  // namespace

bool MapInputs::isTokenByToken() const {
    return !isDifference(kind) || !compares_outputs;
}

MapInputs mapInputs(const Setup& setup, const HeadVectors& heads) {
    // If the setup has no shift, the map uses one of its own: setting S would change all pages.
    const bool has_none = setup.map == MapKind::shift_difference && setup.shift == 0;
    return {setup.map,
            scoreFormula(setup),
            correctScoreRule(setup),
            heads,
            has_none ? kExampleShift : setup.shift,
            showsOutputs(setup)};
}

HeatMapView::Map computeMap(const MapInputs& inputs) {
    HeatMapView::Map map;
    Eigen::MatrixXd values = valuesOf(inputs);
    const bool token_by_token = inputs.isTokenByToken();
    map.lower_triangle_only = inputs.rule.causal && token_by_token;
    map.scale = inputs.kind == MapKind::weights && inputs.rule.attention != AttentionKind::linear_numerator
                    ? HeatMapView::Scale::sequential
                    : HeatMapView::Scale::diverging;
    map.limit = HeatMapView::limitOf(values, map.lower_triangle_only);
    // This affects only rounding errors, because `limitOf` is 1 for a map of zeros.
    if (isDifference(inputs.kind)) map.limit = std::max(map.limit, kMinDifference);
    map.setValues(std::move(values));
    map.row_name = QObject::tr("query");
    map.column_name = token_by_token ? QObject::tr("key") : QObject::tr("feature of the output");
    map.value_name = inputs.kind == MapKind::weights  ? QObject::tr("weight")
                     : inputs.kind == MapKind::scores ? QObject::tr("score")
                                                      : QObject::tr("difference");
    return map;
}

QString mapHeadline(const MapInputs& inputs, const HeatMapView::Map& map) {
    double largest = 0;
    Eigen::Index not_finite = 0;
    for (Eigen::Index column = 0; column < map.values->cols(); ++column) {
        for (Eigen::Index row = map.lower_triangle_only ? column : 0; row < map.values->rows(); ++row) {
            const double value = (*map.values)(row, column);
            std::isfinite(value) ? void(largest = std::max(largest, std::abs(value))) : void(++not_finite);
        }
    }
    if (not_finite > 0)
        return QObject::tr("%1 entries are infinite or NaN; they are drawn in magenta").arg(not_finite);
    const QString number = numberText(largest, 3);
    const QString what = inputs.compares_outputs ? QObject::tr("outputs") : QObject::tr("scores");
    constexpr Eigen::Index kCrowded = 256;  // more tokens than fit without zooming
    const QString hint =
        map.values->rows() < kCrowded
            ? QString()
            : QObject::tr(
                  "    When zoomed out, each pixel shows its entry of largest magnitude; scroll "
                  "to zoom, drag to pan, double-click to show everything");
    switch (inputs.kind) {
        case MapKind::shift_difference:
            return QObject::tr("All positions shifted by %1: %2 change by at most %3")
                .arg(inputs.shift, 0, 'g', 6)
                .arg(what, number);
        case MapKind::form_difference:
            return QObject::tr("Compared with the correct form: %1 differ by at most %2").arg(what, number);
        case MapKind::weights:
            return QObject::tr("Largest weight %1").arg(number) + hint;
        default:
            return QObject::tr("Largest absolute score %1").arg(number) + hint;
    }
}

}  // namespace roper
