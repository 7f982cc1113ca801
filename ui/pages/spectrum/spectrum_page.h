#pragma once

#include <utility>
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
    Figure& prepareComparison(FigureRequest request);
    void showSpectrum();
    void showCosines();
    void showDecay();
    void showBound();
    QColor shade(const SpectrumCurve& curve) const;
    /// Adopts the rotation of a group of layers.
    void showGroup(const LayerGroup& group);
    const Setup& setup() const { return selection_.setup(); }
    /// Frequencies under the scaling in use, radians per position [pairs]; of the setup when the page was
    /// last refreshed. Empty if no feature rotates.
    Eigen::VectorXd thetaInUse() const;

    /// Inputs from which curves and the map of cosines were drawn.
    struct Drawn {
        double context_length = 0;
        int distances = 0;
        bool xpos = false;
        qint64 palette = 0;  ///< cache key
        std::vector<std::pair<QString, ComparableVector>> curves = {};

        bool operator==(const Drawn&) const = default;
    };
    /// Whether the current curves are already drawn; marks them as drawn.
    bool isDrawn();

    Selection& selection_;
    std::vector<SpectrumCurve> curves_;  ///< of the setup when the page was last refreshed
    Drawn drawn_;
    CurveChart *spectrum_, *decay_, *bound_;
    HeatMapView* cosines_;
    ModelComparison* comparison_;
    QTabWidget* tabs_;
    SpectrumPanel* panel_;
};

}  // namespace roper
