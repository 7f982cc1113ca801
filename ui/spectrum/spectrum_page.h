#pragma once

#include "ui/charts/curve_chart.h"
#include "ui/charts/heat_map_view.h"
#include "ui/shell/page.h"
#include "ui/spectrum/spectrum_panel.h"
#include "ui/spectrum/spectrum_state.h"

namespace roper {

/// Page 2: how fast each pair turns, and what follows for long texts.
class SpectrumPage : public Page {
    Q_OBJECT

  public:
    SpectrumPage(Selection& selection, QWidget* parent);

    std::vector<const Figure*> figures() const override;
    void addActions(Actions& actions) override;
    QString explanation() const override;
    ViewSettings viewSettings() const override;
    void setViewSettings(const ViewSettings& settings) override;

    SpectrumState& state() { return state_; }
    CurveChart& spectrumChart() { return *spectrum_; }
    CurveChart& decayChart() { return *decay_; }
    CurveChart& boundChart() { return *bound_; }
    HeatMapView& cosineMapView() { return *cosines_; }

    SpectrumPanel& panel() { return *panel_; }

  protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void follow();
    void showSpectrum();
    void showCosines();
    void showDecay();
    void showBound();
    QColor shade(const SpectrumCurve& curve) const;

    SpectrumState state_;
    CurveChart *spectrum_, *decay_, *bound_;
    HeatMapView* cosines_;
    SpectrumPanel* panel_;
    bool stale_ = true;
};

}  // namespace roper
