#pragma once

#include <QPushButton>
#include <QSet>
#include <QSplitter>

#include "ui/pages/training/quantity_chart.h"

namespace roper {

/// One to kMaxCharts charts of the same runs, each of one quantity. They share the x axis, the smoothing, and
/// hidden runs.
class MetricPanel : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kMaxCharts = 4;

    explicit MetricPanel(QWidget* parent);

    /// Draws a run in all charts; remove it before the RunWatcher is destroyed.
    void addRun(const RunWatcher& run, const MetricChart::CurveStyle& style);
    void setCurveStyle(const QString& run, const MetricChart::CurveStyle& style);
    void removeRun(const QString& run);
    bool hasRun(const QString& run) const { return runs_.count(run) > 0; }
    /// Draws a run's rows from index `first` on, if the run has been added.
    void addMetrics(const RunWatcher& run, std::size_t first);
    void addEvaluations(const RunWatcher& run, std::size_t first);
    /// Redraws all rows of a run, if it has been added.
    void redraw(const RunWatcher& run);

    int count() const { return static_cast<int>(charts_.size()); }
    /// The chart with an index, from 0 at the top.
    QuantityChart& at(int place) { return *charts_.at(static_cast<std::size_t>(place)); }
    MetricChart& chart(int place) { return at(place).chart(); }
    /// Index of a quantity's chart; −1 if there is none.
    int chartIndexOf(Quantity quantity) const;
    /// Changes the quantity of a chart; if another chart shows it already, the two swap quantities.
    void setQuantity(int place, Quantity quantity);
    /// Adds a chart of a quantity that is not shown yet.
    void addChart();
    void closeChart(int place);
    /// Shows how many of the runs chosen for the charts are drawn, if not all.
    void setDrawnCount(qsizetype drawn, qsizetype chosen);

    /// Names of the quantities from the top, "-log" marking logarithmic y axes: "training_loss-log,accuracy".
    std::string arrangement() const;
    /// Restores an arrangement. Ignores unknown names; if all are unknown, nothing changes.
    void arrange(const std::string& arrangement);

    std::vector<const Figure*> figures() const;

  signals:
    void hovered(const QString& readout);

  private:
    struct ChartedRun {
        const RunWatcher* run;
        MetricChart::CurveStyle style;
    };

    QWidget* makeControls();
    void append(Quantity quantity);
    void fill(QuantityChart& chart);
    void autoscale();
    MetricChart::XRange xRange() const;
    void showChartActions();
    void forEachChart(const std::function<void(MetricChart&)>& change);

    std::map<QString, ChartedRun> runs_;
    QSet<QString> hidden_;  ///< keys of series hidden by clicks in a legend
    std::vector<QuantityChart*> charts_;
    QSplitter* splitter_;
    QPushButton* add_;
    QLabel* drawn_count_;  ///< number of chosen runs that are drawn
    int smoothing_ = 1;    ///< number of averaged values
    MetricChart::XAxis x_axis_ = MetricChart::XAxis::step;
    bool log_x_ = false;
    MetricChart::XRange zoomed_;  ///< common x range after zooming
    std::optional<bool> legend_;  ///< whether legends are shown; nothing: where there is room
};

}  // namespace roper
