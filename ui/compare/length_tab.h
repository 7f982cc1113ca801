#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <filesystem>
#include <map>

#include "ui/compare/compare_state.h"
#include "ui/compare/length_map_view.h"
#include "ui/compare/size_survey.h"

namespace roper {

/// How well the chosen runs solve problems longer than those of their training: the map, and what is needed
/// to measure it.
class LengthTab : public QWidget {
    Q_OBJECT

  public:
    LengthTab(CompareState& state, QWidget* parent);

    LengthMapView& view() { return *view_; }
    const LengthMapView& view() const { return *view_; }
    QPushButton& measureButton() { return *measure_; }
    QSpinBox& largest() { return *largest_; }
    QSpinBox& problems() { return *problems_; }
    QLabel& summary() { return *summary_; }

    /// Reads what the shown runs' folders hold; files that have not changed are not read again.
    void refresh();

  private:
    struct Known {
        std::filesystem::file_time_type time;
        std::vector<SizeRow> rows;
    };
    std::vector<const RunWatcher*> shownRuns() const;
    std::vector<SizeRow> rowsOf(const RunFolder& folder);
    void measure();
    void showProgress();

    CompareState& state_;
    SizeSurvey* survey_;
    LengthMapView* view_;
    QSpinBox *largest_, *problems_;
    QComboBox* scaling_;
    QDoubleSpinBox* factor_;
    QPushButton* measure_;
    QLabel* summary_;
    std::map<std::string, Known> known_;  ///< by the file's path
    QStringList unreadable_;
};

}  // namespace roper
