#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <filesystem>
#include <map>

#include "ui/pages/compare/compare_state.h"
#include "ui/pages/compare/evaluation_survey.h"
#include "ui/pages/compare/length_map_view.h"

namespace roper {

/// How well the chosen runs solve problems, or read texts, longer than those of their training: the maps, and
/// what is needed to measure them.
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

    /// Reads what the shown runs' folders hold; files that have not changed are not read again.
    void refresh();

  private:
    /// What was read of a run's folder, and when its files were written.
    struct Known {
        std::filesystem::file_time_type sizes_time, lengths_time, positions_time;
        MeasuredRun rows;
    };
    std::vector<const RunWatcher*> shownRuns() const;
    const MeasuredRun& rowsOf(const RunFolder& folder);
    std::vector<EvaluationSurvey::Question> questionsFor(const RunWatcher& run) const;
    static std::int64_t validationTokens(const RunWatcher& run);
    void measure();
    QStringList leftOut() const;
    void showProgress();

    CompareState& state_;
    EvaluationSurvey* survey_;
    LengthMapView* view_;
    QSpinBox *largest_, *problems_;
    QComboBox *what_, *scaling_;
    QDoubleSpinBox* factor_;
    QPushButton* measure_;
    QLabel* summary_;
    std::map<std::string, Known> known_;  ///< by the folder's path
    QStringList unreadable_;
};

}  // namespace roper
