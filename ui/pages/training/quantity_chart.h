#pragma once

#include <QComboBox>
#include <QToolButton>

#include "core/compare/quantity.h"
#include "ui/charts/metric_chart.h"
#include "ui/live/run_watcher.h"

namespace roper {

/// A live chart of one quantity of several runs, with a combo box above it for the quantity. For texts, the
/// validation loss is drawn next to the training loss, with a star at its minimum.
class QuantityChart : public QWidget {
    Q_OBJECT

  public:
    QuantityChart(Quantity quantity, QWidget* parent);

    /// Name of the exported figure of a quantity.
    static QString figureNameOf(Quantity quantity);

    Quantity quantity() const { return quantity_; }
    /// Removes all runs. Emits nothing.
    void setQuantity(Quantity quantity);
    MetricChart& chart() { return *chart_; }
    const MetricChart& chart() const { return *chart_; }

    void addRun(const RunWatcher& run, const MetricChart::CurveStyle& style);
    void setCurveStyle(const QString& run, const MetricChart::CurveStyle& style);
    void removeRun(const QString& run);
    bool hasRun(const QString& run) const { return chart_->hasSeries(run); }
    /// Draws the run's rows from index `first` on.
    void addMetrics(const RunWatcher& run, std::size_t first);
    void addEvaluations(const RunWatcher& run, std::size_t first);
    /// Redraws all rows of a run.
    void redraw(const RunWatcher& run);

    /// Sets the number of averaged values; has no effect on quantities of evaluations.
    void setSmoothing(int values);
    void setLogY(bool on);
    bool isLogY() const { return log_->isChecked(); }
    /// Sets whether charts can be added, and this one closed.
    void setChartActions(bool adding, bool closing);

  signals:
    void quantityChosen(roper::Quantity quantity);
    void addRequested();
    void closeRequested();

  private:
    void showQuantity();
    void addToMenu(QMenu& menu);
    void addReferences(const RunWatcher& run, bool entropy);
    void addMethodRows(const RunWatcher& run);

    Quantity quantity_;
    QComboBox* choice_;
    QToolButton *log_, *close_;
    MetricChart* chart_;
    bool may_add_ = true, may_close_ = true;
};

}  // namespace roper
