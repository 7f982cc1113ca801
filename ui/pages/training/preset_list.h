#pragma once

#include <QListWidget>

#include "core/specification/presets.h"

namespace roper {

/// The bundled presets as cards: title, purpose, expected time.
class PresetList : public QListWidget {
    Q_OBJECT

  public:
    explicit PresetList(QWidget* parent);

    const std::vector<Preset>& presets() const { return presets_; }

    /// Chooses a preset by name. @returns whether it exists
    bool choose(const QString& name);
    /// Marks the chosen card if the settings differ from the preset.
    void setChanged(bool changed);
    /// Name of the chosen preset; empty if there is none.
    QString chosenName() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  signals:
    void chosen(const roper::Preset& preset);

  private:
    std::vector<Preset> presets_;
};

}  // namespace roper
