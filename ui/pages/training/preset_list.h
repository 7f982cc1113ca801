#pragma once

#include <QListWidget>

#include "core/specification/presets.h"

namespace roper {

/// The bundled presets as cards: title, what it teaches, how long it takes.
class PresetList : public QListWidget {
    Q_OBJECT

  public:
    explicit PresetList(QWidget* parent);

    const std::vector<Preset>& presets() const { return presets_; }

    /// @returns whether there is such a preset
    bool choose(const QString& name);
    /// Whether the settings are no longer those of the chosen one; its card says so.
    void setChanged(bool changed);
    /// The name of the chosen one; empty if there is none.
    QString chosenName() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  signals:
    void chosen(const roper::Preset& preset);

  private:
    std::vector<Preset> presets_;
};

}  // namespace roper
