#pragma once

#include "core/explorer/hugging_face.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// The controls of the Spectrum page, and what it exchanges with Hugging Face.
class SpectrumPanel : public SetupPanel {
    Q_OBJECT

  public:
    SpectrumPanel(Selection& selection, QWidget* parent);

    /// Whether wavelengths are shown, or frequencies.
    QComboBox& quantity() { return *quantity_; }

    /// Reads a config.json into the setup. @returns what to say, or the error
    QString pasteConfig(const QString& json);
    void askForConfig();
    void copyConfig();

  signals:
    void quantityChanged();
    void said(const QString& text);

  private:
    void fill();
    void addScalingControls();
    void addOverlays();
    void addOwnParameters();
    void addModels();
    void showModel(const Setup& setup);

    QComboBox *quantity_, *models_, *layers_;
    std::vector<std::vector<LayerKind>> of_models_;  ///< of each in the list of models
    std::vector<LayerKind> kinds_;                   ///< of the config that was read last
    std::vector<std::pair<ScalingMethod, QCheckBox*>> overlays_;
};

}  // namespace roper
