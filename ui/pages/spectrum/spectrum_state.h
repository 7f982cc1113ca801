#pragma once

#include <QColor>
#include <QObject>
#include <vector>

#include "core/rotary/spectrum.h"
#include "ui/explorer/selection.h"

namespace roper {

/// A scaling method as people read it.
struct ScalingText {
    QString name, formula, source;
};
ScalingText describe(ScalingMethod method);
QColor colorOf(ScalingMethod method);
/// "d = 128, base 10000, scaling YaRN".
QString frequenciesText(const Setup& setup);

/// Frequencies of the setup: under the scaling in use, under one drawn beside it, or of the other schedule.
struct SpectrumCurve {
    QString key;  ///< in exported numbers
    ScalingText text;
    QColor color;  ///< invalid: that of text
    bool in_use;
    Eigen::VectorXd theta;
};

/// What the views of the Spectrum page draw, computed once for each setup.
class SpectrumState : public QObject {
    Q_OBJECT

  public:
    SpectrumState(Selection& selection, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }

    /// The one in use first. Empty if no feature rotates.
    const std::vector<SpectrumCurve>& curves() const { return curves_; }
    const Eigen::VectorXd& theta() const { return theta_; }

  signals:
    void changed();

  private:
    void follow();

    Selection& selection_;
    std::vector<SpectrumCurve> curves_;
    Eigen::VectorXd theta_;
};

}  // namespace roper
