#pragma once

#include <QColor>
#include <QString>
#include <vector>

#include "core/explorer/setup.h"
#include "core/rotary/comparable_vector.h"

namespace roper {

/// Display texts of a scaling method.
struct ScalingText {
    QString name, formula, source;
    QColor color;  ///< from Paul Tol's muted palette, which has no color of a position method
};
const ScalingText& describe(ScalingMethod method);
/// "d = 128, base 10000, scaling YaRN".
QString frequenciesText(const Setup& setup);

/// Frequencies of the setup: under the scaling in use, under another scaling for comparison, or unscaled by
/// the other frequency formula.
struct SpectrumCurve {
    QString key;       ///< key in exported data
    ScalingText text;  ///< an invalid color stands for the text color
    bool in_use;
    Eigen::VectorXd theta;  ///< radians per position [pairs]
};

/// The scaling in use first. Empty if no feature rotates.
std::vector<SpectrumCurve> spectrumCurves(const Setup& setup);

}  // namespace roper
