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
    QColor color;  ///< of Tol's muted colours, none of which stands for a position method
};
const ScalingText& describe(ScalingMethod method);
/// "d = 128, base 10000, scaling YaRN".
QString frequenciesText(const Setup& setup);

/// Frequencies of the setup: under the scaling in use, under another scaling for comparison, or of the other
/// schedule.
struct SpectrumCurve {
    QString key;       ///< key in exported data
    ScalingText text;  ///< an invalid colour stands for the text colour
    bool in_use;
    Eigen::VectorXd theta;
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
