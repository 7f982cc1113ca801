#pragma once

#include <QColor>
#include <QObject>
#include <vector>

#include "core/rotary/spectrum.h"
#include "ui/explorer/selection.h"

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

/// Data for the views of the Spectrum page, computed once per setup.
class SpectrumState : public QObject {
    Q_OBJECT

  public:
    SpectrumState(Selection& selection, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }

    /// The scaling in use first. Empty if no feature rotates.
    const std::vector<SpectrumCurve>& curves() const { return curves_; }
    /// Frequencies under the scaling in use, radians per position [pairs]. Empty if no feature rotates.
    const Eigen::VectorXd& theta() const { return theta_; }

  signals:
    void changed();

  private:
    void onSelectionChanged();

    Selection& selection_;
    std::vector<SpectrumCurve> curves_;
    Eigen::VectorXd theta_;
};

}  // namespace roper
