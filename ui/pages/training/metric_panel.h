#pragma once

#include <QPushButton>
#include <QSet>
#include <QSplitter>

#include "ui/pages/training/quantity_chart.h"

namespace roper {

/// One chart or several of what the charted runs record, each of its own quantity. They share their x axis,
/// the smoothing, and which runs are hidden.
class MetricPanel : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kMostCharts = 4;

    explicit MetricPanel(QWidget* parent);

    /// Runs that are shown; they must be removed before they go.
    void addRun(const RunWatcher& run, const MetricChart::Look& look);
    void setLook(const QString& run, const MetricChart::Look& look);
    void removeRun(const QString& run);
    bool hasRun(const QString& run) const { return runs_.count(run) > 0; }
    /// Draws what came to the run's rows, from this one on; of a run that is not shown nothing.
    void addMetrics(const RunWatcher& run, std::size_t first);
    void addEvaluations(const RunWatcher& run, std::size_t first);
    /// Draws all rows of a run again, if it is shown.
    void redraw(const RunWatcher& run);

    int count() const { return static_cast<int>(charts_.size()); }
    QuantityChart& at(int place) { return *charts_.at(static_cast<std::size_t>(place)); }
    MetricChart& chart(int place) { return at(place).chart(); }
    /// Where the chart of a quantity is; -1 if there is none.
    int placeOf(Quantity quantity) const;
    /// If another chart shows it already, the two change places.
    void setQuantity(int place, Quantity quantity);
    /// One more, of the first quantity that no chart shows.
    void addChart();
    void closeChart(int place);
    /// Says how many of the chosen runs are drawn, where that is not all.
    void setLeftOut(qsizetype drawn, qsizetype chosen);

    /// Names of the quantities, with commas between them; "-log" behind one with a logarithmic axis.
    std::string arrangement() const;
    /// Leaves out what it does not know; without anything known nothing changes.
    void arrange(const std::string& arrangement);

    std::vector<const Figure*> figures() const;

  signals:
    void pointed(const QString& readout);

  private:
    struct ChartedRun {
        const RunWatcher* run;
        MetricChart::Look look;
    };

    QWidget* makeControls();
    void append(Quantity quantity);
    void fill(QuantityChart& chart);
    void follow();
    MetricChart::Stretch stretch() const;
    void showOffers();
    void forAll(const std::function<void(MetricChart&)>& change);

    std::map<QString, ChartedRun> runs_;
    QSet<QString> hidden_;  ///< keys of series that a click in a legend hid
    std::vector<QuantityChart*> charts_;
    QSplitter* splitter_;
    QPushButton* add_;
    QLabel* left_out_;  ///< of the chosen runs, how many are drawn
    int smoothing_ = 1;
    MetricChart::XAxis across_ = MetricChart::XAxis::step;
    bool log_x_ = false;
    MetricChart::Stretch zoomed_;  ///< what all show, where somebody has zoomed
    std::optional<bool> legend_;
};

}  // namespace roper
