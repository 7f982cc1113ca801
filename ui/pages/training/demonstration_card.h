#pragma once

#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <optional>

#include "core/specification/presets.h"
#include "ui/pages/training/training_state.h"

namespace roper {

/// Trains RoPE and RoPER on a preset that takes seconds ("Watch RoPER learn sooner"), and shows their
/// progress and at the end which was first, earlier results for many seeds, and what to do next. The user
/// chooses among a few such presets; the card shows the newest runs of the chosen one.
class DemonstrationCard : public QFrame {
    Q_OBJECT

  public:
    DemonstrationCard(TrainingState& state, QWidget* parent);

    QComboBox* chooser() { return chooser_; }
    QPushButton* startButton() { return start_; }
    QPushButton* inspectButton() { return inspect_; }
    QPushButton* compareButton() { return compare_; }
    QPushButton* moreSeedsButton() { return more_seeds_; }
    /// The result or progress of the runs; without runs, what would be trained.
    QString sentence() const { return sentence_->text(); }

  signals:
    /// Emitted when RoPE and RoPER are to be trained with these settings.
    void startRequested(const roper::Specification& specification);
    /// Emitted when RoPE and RoPER are to be queued for several seeds.
    void moreSeedsRequested(const roper::Specification& specification);
    void inspectRequested(const QString& run, bool with_twin);
    void compareRequested(const QString& filter);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void reserveTextHeight();
    /// Shows the chosen demonstration.
    void load();
    const RunWatcher* newest(const std::string& position) const;
    void refresh();

    TrainingState& state_;
    QComboBox* chooser_;
    std::optional<Specification> specification_;  ///< nothing if the preset is not installed
    QString roper_run_;                           ///< the newest RoPER run, as shown
    QTimer timer_;                                ///< collects changes, which may come many times a second
    QLabel *sentence_, *evidence_;                ///< `sentence`, and the preset's results for many seeds
    QPushButton *start_, *inspect_, *compare_, *more_seeds_;
};

}  // namespace roper
