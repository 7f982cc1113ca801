#include "ui/pages/training/metric_panel.h"

#include <QCheckBox>
#include <QSlider>
#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"

namespace roper {
namespace {

constexpr std::array kMeans = {1, 3, 5, 11, 25, 51, 101, 201, 501};  // choices: number of averaged values
constexpr int kMeanAtFirst = 3;                                      // index of the initial choice
constexpr auto kLogSuffix = "-log";

}  // namespace

MetricPanel::MetricPanel(QWidget* parent) : QWidget(parent), splitter_(makeSplitter(Qt::Vertical, {}, {})) {
    columnOf({makeControls(), {splitter_, 1}}, this)->setContentsMargins(4, 0, 4, 0);
    for (const Quantity quantity : {Quantity::training_loss, Quantity::accuracy})
        append(quantity);
}

QWidget* MetricPanel::makeControls() {
    auto* across = named(new QComboBox, tr("Quantity on the x axis"));
    across->addItems({tr("by step"), tr("by time"), tr("by tokens")});
    connect(across, &QComboBox::currentIndexChanged, this, [this](int index) {
        x_axis_ = static_cast<MetricChart::XAxis>(index);
        zoomed_.reset();
        forEachChart([&](MetricChart& chart) { chart.setXAxis(x_axis_); });
    });
    auto* smoothing = named(
        new QSlider(Qt::Horizontal), tr("Smoothing"),
        tr("For quantities recorded at every step, the bold curve is the mean of this many values around "
           "each step; the pale curve shows each value"));
    smoothing->setRange(0, static_cast<int>(kMeans.size()) - 1);
    smoothing->setMinimumWidth(60);
    smoothing->setMaximumWidth(110);
    auto* averaged = new QLabel;
    averaged->setMinimumWidth(averaged->fontMetrics().horizontalAdvance(tr("no mean of 501")));
    connect(smoothing, &QSlider::valueChanged, this, [this, averaged](int index) {
        smoothing_ = kMeans[static_cast<std::size_t>(index)];
        averaged->setText(smoothing_ == 1 ? tr("not smoothed") : tr("mean of %1").arg(smoothing_));
        for (QuantityChart* chart : charts_)
            chart->setSmoothing(smoothing_);
    });
    smoothing->setValue(kMeanAtFirst);
    auto* log_x = new QCheckBox(tr("log x"));
    log_x->setToolTip(tr("Logarithmic x axis"));
    connect(log_x, &QCheckBox::toggled, this, [this](bool on) {
        log_x_ = on;
        zoomed_.reset();
        forEachChart([&](MetricChart& chart) { chart.setLogX(on); });
    });
    auto* legend = new QCheckBox(tr("legend"));
    legend->setTristate(true);
    legend->setCheckState(Qt::PartiallyChecked);
    legend->setToolTip(
        tr("Show legends. Partially ticked: where there is room, or, for many groups of runs, only below "
           "the last chart"));
    connect(legend, &QCheckBox::stateChanged, this, [this](int state) {
        legend_ = state == Qt::PartiallyChecked ? std::nullopt : std::optional(state == Qt::Checked);
        forEachChart([&](MetricChart& chart) { chart.setLegendShown(legend_); });
    });
    drawn_count_ = new QLabel;
    drawn_count_->setToolTip(
        tr("Equally many of each group, if possible; select or filter fewer runs to see the others"));
    drawn_count_->hide();
    auto* reset = makeActionButton(
        tr("Reset zoom"),
        tr("Show everything and follow new points; a double click on a chart does the same. Drag to zoom "
           "into a box, drag with Shift or the middle button to pan; the wheel zooms at the pointer."),
        this, &MetricPanel::autoscale);
    add_ = makeActionButton(tr("Add chart"), {}, this, &MetricPanel::addChart);
    QWidget* bar = makeFlowRow({across, smoothing, averaged, log_x, legend, reset, add_, drawn_count_});
    bar->setMinimumWidth(320);  // limits it to two lines
    return bar;
}

void MetricPanel::forEachChart(const std::function<void(MetricChart&)>& change) {
    for (QuantityChart* chart : charts_)
        change(chart->chart());
}

void MetricPanel::append(Quantity quantity) {
    auto* added = new QuantityChart(quantity, this);
    charts_.push_back(added);
    splitter_->addWidget(added);
    MetricChart& chart = added->chart();
    chart.setXAxis(x_axis_);
    chart.setLogX(log_x_);
    chart.setLegendShown(legend_);
    chart.setSharedXRange([this] { return xRange(); });
    const auto others = [this, added](const std::function<void(MetricChart&)>& change) {
        for (QuantityChart* each : charts_)
            if (each != added) change(each->chart());
    };
    connect(&chart, &MetricChart::hovered, this, &MetricPanel::hovered);
    connect(&chart, &MetricChart::curveVisibilityChanged, this,
            [this, others](const QString& key, bool shown) {
                if (shown)
                    hidden_.remove(key);
                else
                    hidden_.insert(key);
                others([&](MetricChart& each) { each.setCurveVisible(key, shown); });
            });
    connect(&chart, &MetricChart::xRangeChosen, this, [this, others](double from, double to) {
        zoomed_ = std::pair(from, to);
        others([&](MetricChart& each) { each.showXRange(from, to); });
    });
    connect(&chart, &MetricChart::autoscaled, this, &MetricPanel::autoscale);
    const auto place = [this, added] {
        return static_cast<int>(std::ranges::find(charts_, added) - charts_.begin());
    };
    connect(added, &QuantityChart::quantityChosen, this,
            [this, place](Quantity chosen) { setQuantity(place(), chosen); });
    connect(added, &QuantityChart::addRequested, this, &MetricPanel::addChart);
    connect(added, &QuantityChart::closeRequested, this, [this, place] { closeChart(place()); });
    fill(*added);
    showChartActions();
}

void MetricPanel::autoscale() {
    zoomed_.reset();
    forEachChart(&MetricChart::autoscale);
}

/// From the first to the last point of all charts.
MetricChart::XRange MetricPanel::xRange() const {
    MetricChart::XRange all;
    for (const QuantityChart* each : charts_) {
        const auto own = each->chart().xRange();
        if (own && all)
            all = std::pair(std::min(all->first, own->first), std::max(all->second, own->second));
        else if (own)
            all = own;
    }
    return all;
}

void MetricPanel::fill(QuantityChart& chart) {
    chart.setSmoothing(smoothing_);
    for (const auto& [name, charted] : runs_)
        chart.addRun(*charted.run, charted.style);
    for (const QString& key : hidden_)
        chart.chart().setCurveVisible(key, false);
    if (zoomed_) chart.chart().showXRange(zoomed_->first, zoomed_->second);
    forEachChart(&MetricChart::refitSharedRange);
}

void MetricPanel::showChartActions() {
    constexpr int kMinHeight = 150, kMinHeightOfMany = 84;
    for (QuantityChart* chart : charts_) {
        chart->setChartActions(count() < kMaxCharts, count() > 1);
        chart->chart().setMinimumHeight(count() > 2 ? kMinHeightOfMany : kMinHeight);
        // The combo box above a chart names its y axis; only the lowest chart names the common x axis.
        chart->chart().setNamesShown(chart == charts_.back(), false);
        // For many groups of runs, one complete legend is enough.
        chart->chart().setListedElsewhere([this, chart] {
            return chart != charts_.back() && charts_.back()->chart().legendContains(chart->chart());
        });
    }
    add_->setEnabled(count() < kMaxCharts);
    add_->setToolTip(add_->isEnabled() ? tr("Add a chart of any recorded quantity")
                                       : tr("At most %1 charts are possible").arg(kMaxCharts));
}

int MetricPanel::chartIndexOf(Quantity quantity) const {
    const auto found = std::ranges::find(charts_, quantity, &QuantityChart::quantity);
    return found == charts_.end() ? -1 : static_cast<int>(found - charts_.begin());
}

void MetricPanel::setQuantity(int place, Quantity quantity) {
    const Quantity before = at(place).quantity();
    if (before == quantity) return;
    const int other = chartIndexOf(quantity);
    for (const auto& [where, what] : {std::pair{place, quantity}, std::pair{other, before}}) {
        if (where < 0) continue;
        at(where).setQuantity(what);
        fill(at(where));
    }
}

void MetricPanel::setDrawnCount(qsizetype drawn, qsizetype chosen) {
    drawn_count_->setText(tr("%1 of %2 runs drawn").arg(drawn).arg(chosen));
    drawn_count_->setVisible(drawn < chosen);
}

void MetricPanel::addChart() {
    if (count() >= kMaxCharts) return;
    // First the most useful quantities besides the initial two.
    for (const Quantity quantity : {Quantity::gradient_norm, Quantity::learning_rate,
                                    Quantity::tokens_per_second, Quantity::evaluation_loss})
        if (chartIndexOf(quantity) < 0) return append(quantity);
    for (const QuantityInfo& info : quantities())
        if (chartIndexOf(info.quantity) < 0) return append(info.quantity);
}

void MetricPanel::closeChart(int place) {
    if (count() <= 1) return;
    QuantityChart* closed = &at(place);
    charts_.erase(charts_.begin() + place);
    closed->hide();
    closed->deleteLater();
    forEachChart(&MetricChart::refitSharedRange);
    showChartActions();
}

void MetricPanel::addRun(const RunWatcher& run, const MetricChart::CurveStyle& style) {
    runs_[run.name()] = {&run, style};
    for (QuantityChart* chart : charts_)
        chart->addRun(run, style);
}

void MetricPanel::setCurveStyle(const QString& run, const MetricChart::CurveStyle& style) {
    runs_.at(run).style = style;
    for (QuantityChart* chart : charts_)
        chart->setCurveStyle(run, style);
}

void MetricPanel::removeRun(const QString& run) {
    if (runs_.erase(run) == 0) return;
    for (QuantityChart* chart : charts_)
        chart->removeRun(run);
    forEachChart(&MetricChart::refitSharedRange);
    // Its validation loss has its own key, which begins with the run's.
    hidden_.removeIf([&](const QString& key) { return key == run || key.startsWith(run + '/'); });
}

void MetricPanel::addMetrics(const RunWatcher& run, std::size_t first) {
    if (!hasRun(run.name())) return;
    for (QuantityChart* chart : charts_)
        chart->addMetrics(run, first);
    forEachChart(&MetricChart::refitSharedRange);
}

void MetricPanel::addEvaluations(const RunWatcher& run, std::size_t first) {
    if (!hasRun(run.name())) return;
    for (QuantityChart* chart : charts_)
        chart->addEvaluations(run, first);
    forEachChart(&MetricChart::refitSharedRange);
}

void MetricPanel::redraw(const RunWatcher& run) {
    if (!hasRun(run.name())) return;
    for (QuantityChart* chart : charts_)
        chart->redraw(run);
}

std::string MetricPanel::arrangement() const {
    const auto entryOf = [](const QuantityChart* chart) {
        return infoOf(chart->quantity()).name + (chart->isLogY() ? kLogSuffix : "");
    };
    return join(mapped(charts_, entryOf), ",");
}

void MetricPanel::arrange(const std::string& arrangement) {
    std::vector<std::pair<Quantity, bool>> wanted;
    for (std::string name : split(arrangement, ',')) {
        const bool is_log = name.ends_with(kLogSuffix);
        if (is_log) name.resize(name.size() - std::string(kLogSuffix).size());
        const auto info = std::ranges::find(quantities(), name, &QuantityInfo::name);
        if (info == quantities().end() || wanted.size() >= kMaxCharts) continue;
        const bool is_there =
            std::ranges::any_of(wanted, [&](const auto& each) { return each.first == info->quantity; });
        if (!is_there) wanted.emplace_back(info->quantity, is_log);
    }
    if (wanted.empty()) return;
    const auto charts = static_cast<int>(wanted.size());
    while (count() > charts)
        closeChart(count() - 1);
    while (count() < charts)
        addChart();
    for (int place = 0; place < charts; ++place) {
        const auto& [quantity, is_log] = wanted[static_cast<std::size_t>(place)];
        setQuantity(place, quantity);
        at(place).setLogY(is_log);
    }
}

std::vector<const Figure*> MetricPanel::figures() const {
    std::vector<const Figure*> figures;
    for (const QuantityChart* chart : charts_)
        figures.push_back(&chart->chart());
    return figures;
}

}  // namespace roper
