#pragma once

#include "core/explorer/hugging_face.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// Controls of the Spectrum page, including import from and export to Hugging Face configs.
class SpectrumPanel : public SetupPanel {
    Q_OBJECT

  public:
    SpectrumPanel(Selection& selection, QWidget* parent);

    /// Choice between wavelengths (index 0) and frequencies (1).
    QComboBox& quantity() { return *quantity_; }

    /// Reads a config.json into the setup. @returns a message about the result, or the error
    QString pasteConfig(const QString& json);
    /// Opens a dialog for the text of a config.json.
    void askForConfig();
    /// Copies the settings to the clipboard as a config.json.
    void copyConfig();

  signals:
    void quantityChanged();
    void reported(const QString& text);

  private:
    void addScalingControls();
    void addOverlays();
    void addOwnParameters();
    void addModels();
    void showModel(const Setup& setup);

    QComboBox *quantity_, *models_, *layers_;
    std::vector<std::vector<LayerTypeSetup>> layer_kinds_by_model_;  ///< kinds of layers of each listed model
    std::vector<LayerTypeSetup> kinds_;  ///< kinds of layers of the model that was last chosen or pasted
};

}  // namespace roper
