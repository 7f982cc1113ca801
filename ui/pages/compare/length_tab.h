#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <filesystem>
#include <map>

#include "ui/pages/compare/compare_state.h"
#include "ui/pages/compare/length_map_view.h"
#include "ui/pages/compare/trainer_processes.h"

namespace roper {

/// Results of the chosen runs on problems or texts longer than those of training: the maps, and controls to
/// measure them.
class LengthTab : public QWidget {
    Q_OBJECT

  public:
    LengthTab(CompareState& state, QWidget* parent);

    LengthMapView& view() { return *view_; }
    const LengthMapView& view() const { return *view_; }
    QComboBox& what() { return *what_; }
    QPushButton& measureButton() { return *measure_; }
    QSpinBox& largest() { return *largest_; }
    QSpinBox& problems() { return *problems_; }
    QLabel& summary() { return *summary_; }

    /// Reads the results in the folders of visible runs; unchanged files are not read again.
    void refresh();

  private:
    /// Data read from a run's folder, and the modification times of its files.
    struct CachedResults {
        std::filesystem::file_time_type sizes_time, lengths_time, positions_time;
        MeasuredRun rows;
    };
    std::vector<const RunWatcher*> shownRuns() const;
    const MeasuredRun& measuredRows(const RunFolder& folder);
    std::vector<BatchEvaluator::Question> questionsFor(const RunWatcher& run) const;
    void proposeLargest(const std::vector<const RunWatcher*>& shown);
    void offerQuantities(const std::vector<const RunWatcher*>& shown);
    static std::int64_t validationTokens(const RunWatcher& run);
    void measure();
    QStringList omittedRuns() const;
    void showProgress();

    CompareState& state_;
    BatchEvaluator* evaluator_;
    LengthMapView* view_;
    QSpinBox *largest_, *problems_;
    QComboBox *what_, *scaling_;
    QDoubleSpinBox* factor_;
    QPushButton* measure_;
    QLabel* summary_;
    std::map<std::string, CachedResults> cache_;  ///< by path of the folder
    QStringList unreadable_;
    bool largest_chosen_ = false;  ///< by the user; otherwise it follows the shown runs
};

}  // namespace roper
