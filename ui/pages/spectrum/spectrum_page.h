#pragma once

#include <tuple>
#include <vector>

#include "ui/charts/curve_chart.h"
#include "ui/charts/heat_map_view.h"
#include "ui/explorer/explorer_page.h"
#include "ui/pages/spectrum/model_comparison.h"
#include "ui/pages/spectrum/spectrum_curves.h"
#include "ui/pages/spectrum/spectrum_panel.h"

namespace roper {

/// Page 2: the frequency of each pair, the consequences for long texts, and the frequencies of published
/// models.
class SpectrumPage : public ExplorerPage {
    Q_OBJECT

  public:
    SpectrumPage(Selection& selection, QWidget* parent);

    void addActions(Actions& actions) override;
    QString explanation() const override;

    CurveChart& spectrumChart() { return *spectrum_; }
    /// Upper bound of a score by distance (Su et al. 2021).
    CurveChart& decayChart() { return *decay_; }
    /// Base bound by distance: while it is positive, a similar token scores above a random one (Xu et al.
    /// 2024).
    CurveChart& boundChart() { return *bound_; }
    HeatMapView& cosineMapView() { return *cosines_; }

    SpectrumPanel& panel() { return *panel_; }
    ModelComparison& comparison() { return *comparison_; }

  protected:
    void refresh() override;

  private:
    Figure& prepareFigure(FigureRequest request) override;
    void showSpectrum();
    void showCosines();
    void showDecay();
    void showBound();
    QColor shade(const SpectrumCurve& curve) const;
    /// Adopts the rotation of a group of layers.
    void showGroup(const LayerGroup& group);
    const Setup& setup() const { return selection_.setup(); }
    /// Frequencies under the scaling in use, radians per position [pairs]. Empty if no feature rotates.
    Eigen::VectorXd theta() const { return setup().scaled(setup().scaling.method).theta; }

    /// Whether the current curves are already drawn; marks them as drawn.
    bool isDrawn();

    Selection& selection_;
    std::vector<SpectrumCurve> curves_;  ///< of the setup when the page was last refreshed
    /// From which decay, bound and map of cosines were drawn: length of the text, distances, xPos, cache key
    /// of the palette, curves.
    std::tuple<double, int, bool, qint64, std::vector<SpectrumCurve>> drawn_;
    CurveChart *spectrum_, *decay_, *bound_;
    HeatMapView* cosines_;
    ModelComparison* comparison_;
    QTabWidget* tabs_;
    SpectrumPanel* panel_;
};

}  // namespace roper
