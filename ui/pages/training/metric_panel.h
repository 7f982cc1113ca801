#pragma once

#include <QPushButton>
#include <QSet>
#include <QSplitter>

#include "ui/pages/training/quantity_chart.h"

namespace roper {

/// One or more charts of the charted runs, one quantity each. They share the x axis, the smoothing, and
/// hidden runs.
class MetricPanel : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kMaxCharts = 4;

    explicit MetricPanel(QWidget* parent);

    /// Adds a visible run; remove it before it is destroyed.
    void addRun(const RunWatcher& run, const MetricChart::CurveStyle& style);
    void setCurveStyle(const QString& run, const MetricChart::CurveStyle& style);
    void removeRun(const QString& run);
    bool hasRun(const QString& run) const { return runs_.count(run) > 0; }
    /// Draws a run's rows from index `first` on, if it is shown.
    void addMetrics(const RunWatcher& run, std::size_t first);
    void addEvaluations(const RunWatcher& run, std::size_t first);
    /// Redraws all rows of a run, if it is shown.
    void redraw(const RunWatcher& run);

    int count() const { return static_cast<int>(charts_.size()); }
    QuantityChart& at(int place) { return *charts_.at(static_cast<std::size_t>(place)); }
    MetricChart& chart(int place) { return at(place).chart(); }
    /// Index of a quantity's chart; −1 if there is none.
    int chartIndexOf(Quantity quantity) const;
    /// If another chart already shows the quantity, the two swap.
    void setQuantity(int place, Quantity quantity);
    /// Adds a chart of the first quantity that is not shown.
    void addChart();
    void closeChart(int place);
    /// Shows how many of the chosen runs are drawn, if not all.
    void setDrawnCount(qsizetype drawn, qsizetype chosen);

    /// Names of the quantities, separated by commas; "-log" marks a logarithmic axis.
    std::string arrangement() const;
    /// Ignores unknown names; if all are unknown, nothing changes.
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
    int smoothing_ = 1;
    MetricChart::XAxis x_axis_ = MetricChart::XAxis::step;
    bool log_x_ = false;
    MetricChart::XRange zoomed_;  ///< common x range after zooming
    std::optional<bool> legend_;
};

}  // namespace roper
