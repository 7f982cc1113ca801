#include "ui/pages/training/quantity_chart.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/compare/curves.h"
#include "core/corpus/corpus_files.h"
#include "ui/controls/layout_helpers.h"

namespace roper {
namespace {

QString validationKey(const QString& run) {
    return run + QStringLiteral("/validation");
}
QString bestKey(const QString& run) {
    return run + QStringLiteral("/best");
}

/// Style of the validation loss, next to the training loss.
MetricChart::CurveStyle validationStyle(MetricChart::CurveStyle style) {
    style.label += QuantityChart::tr(", validation (✳ best)");
    style.name += QuantityChart::tr(", validation");
    style.marker = MetricChart::kRing;
    style.evaluated = true;
    return style;
}

/// Style of the star at the smallest validation loss.
MetricChart::CurveStyle bestStyle(MetricChart::CurveStyle style) {
    style = validationStyle(style);
    style.marker = MetricChart::kStar;
    return style;
}

bool isLoss(Quantity quantity) {
    return quantity == Quantity::training_loss || quantity == Quantity::evaluation_loss;
}

/// The chart of training losses also shows validation losses.
QString quantityTitle(Quantity quantity) {
    return quantity == Quantity::training_loss ? QuantityChart::tr("loss, nats")
                                               : QString::fromStdString(infoOf(quantity).titleWithUnit());
}

QString emptyTextOf(Quantity quantity) {
    const QuantityInfo& info = infoOf(quantity);
    if (info.from_metrics)
        return QuantityChart::tr(
            "No run is shown: choose one in the list, or a preset and “Start as twins”.");
    if (info.from_method)
        return QuantityChart::tr(
            "Runs with linear attention of the kind “1 + cosine” record this quantity at each evaluation.");
    if (quantity == Quantity::accuracy)
        return QuantityChart::tr(
            "Solved problems appear after the first evaluation.\nPrefix task: predictable letters that were "
            "predicted correctly. Texts: tokens that were the model's top prediction.");
    return QuantityChart::tr("This quantity appears after the first evaluation, for tasks that record it.");
}

/// For runs on texts: the unigram entropy in nats, the loss if only the frequencies of tokens are known.
std::optional<double> unigramEntropy(const RunWatcher& run) {
    if (!run.specification() || !run.specification()->task.isText()) return std::nullopt;
    try {
        return CorpusFiles(run.folder().textPath()).readSummary().unigram_entropy;
    } catch (const Error&) {
        return std::nullopt;  // losses can be shown even if the vocabulary is missing
    }
}

constexpr double kNotRecorded = std::numeric_limits<double>::quiet_NaN();  // not drawn on that x axis

MetricChart::Point pointOf(const MetricsRow& row, double value) {
    return {static_cast<double>(row.step), row.time_s.value_or(kNotRecorded),
            row.tokens ? static_cast<double>(*row.tokens) : kNotRecorded, value};
}

MetricChart::Point pointOf(const RunWatcher& run, const EvaluationRow& row, double value) {
    return {static_cast<double>(row.step), row.time_s.value_or(kNotRecorded),
            tokensAt(run.metrics(), row.step).value_or(kNotRecorded), value};
}

/// Training time in seconds at the evaluation of a step; kNotRecorded if unknown.
double timeAt(const RunWatcher& run, std::int64_t step) {
    const auto& rows = run.evaluations();
    const auto row = std::ranges::lower_bound(rows, step, {}, &EvaluationRow::step);
    return row != rows.end() && row->step == step ? row->time_s.value_or(kNotRecorded) : kNotRecorded;
}

}  // namespace

QuantityChart::QuantityChart(Quantity quantity, QWidget* parent)
    : QWidget(parent),
      quantity_(quantity),
      choice_(named(new QComboBox, tr("Quantity of the chart"), tr("The quantity shown in this chart"))),
      log_(named(new QToolButton, tr("Logarithmic y axis"))),
      close_(named(new QToolButton, tr("Close this chart"))),
      chart_(new MetricChart(figureNameOf(quantity), quantityTitle(quantity), this)) {
    for (const QuantityInfo& info : quantities())
        choice_->addItem(quantityTitle(info.quantity));
    allowShrinking(*choice_, 14);
    connect(choice_, &QComboBox::activated, this,
            [this](int index) { emit quantityChosen(static_cast<Quantity>(index)); });
    log_->setText(tr("log"));
    log_->setCheckable(true);
    connect(log_, &QToolButton::toggled, chart_, &MetricChart::setLogY);
    close_->setText(QStringLiteral("✕"));
    close_->setAutoRaise(true);
    connect(close_, &QToolButton::clicked, this, &QuantityChart::closeRequested);

    auto* layout = columnOf({rowOf({{choice_, 1}, log_, close_}), {chart_, 1}}, this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    chart_->setMenuExtras([this](QMenu& menu) { addToMenu(menu); });
    showQuantity();
}

QString QuantityChart::figureNameOf(Quantity quantity) {
    if (quantity == Quantity::training_loss) return QStringLiteral("loss");
    return QString::fromStdString(infoOf(quantity).name).replace('_', '-');
}

void QuantityChart::addToMenu(QMenu& menu) {
    QMenu* shows = menu.addMenu(tr("Show"));
    for (const QuantityInfo& info : quantities()) {
        QAction* action = shows->addAction(quantityTitle(info.quantity), this,
                                           [this, &info] { emit quantityChosen(info.quantity); });
        action->setCheckable(true);
        action->setChecked(info.quantity == quantity_);
    }
    QAction* log = menu.addAction(tr("Logarithmic y axis"), log_, &QToolButton::toggle);
    log->setCheckable(true);
    log->setChecked(log_->isChecked());
    log->setEnabled(log_->isEnabled());
    menu.addSeparator();
    menu.addAction(tr("Add a chart"), this, &QuantityChart::addRequested)->setEnabled(may_add_);
    menu.addAction(tr("Close this chart"), this, &QuantityChart::closeRequested)->setEnabled(may_close_);
}

void QuantityChart::setChartActions(bool adding, bool closing) {
    may_add_ = adding;
    may_close_ = closing;
    close_->setVisible(closing);
}

void QuantityChart::setQuantity(Quantity quantity) {
    quantity_ = quantity;
    chart_->setValue(figureNameOf(quantity), quantityTitle(quantity));
    showQuantity();
}

void QuantityChart::showQuantity() {
    chart_->setEmptyText(emptyTextOf(quantity_));
    choice_->setCurrentIndex(static_cast<int>(quantity_));
    chart_->setFullYRange(infoOf(quantity_).isPercentage() ? std::optional(std::pair(0.0, 100.0))
                                                           : std::nullopt);
    chart_->autoscale();
    // Percentages are often 0, which a logarithmic axis cannot show.
    log_->setEnabled(!infoOf(quantity_).isPercentage());
    if (!log_->isEnabled()) log_->setChecked(false);
}

void QuantityChart::setSmoothing(int values) {
    chart_->setSmoothing(infoOf(quantity_).from_metrics ? values : 1);
}

void QuantityChart::setLogY(bool on) {
    if (log_->isEnabled()) log_->setChecked(on);
}

void QuantityChart::addRun(const RunWatcher& run, const MetricChart::CurveStyle& style) {
    chart_->addSeries(run.name(), style);
    const bool is_text = run.specification() && run.specification()->task.isText();
    if (quantity_ == Quantity::training_loss && is_text) {
        chart_->addSeries(validationKey(run.name()), validationStyle(style));
        chart_->addSeries(bestKey(run.name()), bestStyle(style));
    }
    addMetrics(run, 0);
    addEvaluations(run, 0);
}

void QuantityChart::setCurveStyle(const QString& run, const MetricChart::CurveStyle& style) {
    chart_->setCurveStyle(run, style);
    if (!chart_->hasSeries(validationKey(run))) return;
    chart_->setCurveStyle(validationKey(run), validationStyle(style));
    chart_->setCurveStyle(bestKey(run), bestStyle(style));
}

void QuantityChart::removeRun(const QString& run) {
    for (const QString& key : {run, validationKey(run), bestKey(run)})
        chart_->removeSeries(key);
}

void QuantityChart::redraw(const RunWatcher& run) {
    for (const QString& key : {run.name(), validationKey(run.name()), bestKey(run.name())})
        if (chart_->hasSeries(key)) chart_->clear(key);
    addMetrics(run, 0);
    addEvaluations(run, 0);
}

void QuantityChart::addMetrics(const RunWatcher& run, std::size_t first) {
    const auto& valueOf = infoOf(quantity_).from_metrics;
    if (!valueOf || !hasRun(run.name())) return;
    for (std::size_t i = first; i < run.metrics().size(); ++i)
        if (const auto value = valueOf(run.metrics()[i]))
            chart_->append(run.name(), pointOf(run.metrics()[i], *value));
}

void QuantityChart::addEvaluations(const RunWatcher& run, std::size_t first) {
    if (!hasRun(run.name())) return;
    const QuantityInfo& info = infoOf(quantity_);
    if (info.from_method) return addMethodRows(run);
    if (isLoss(quantity_)) addReferences(run, first == 0);
    const QString validation = validationKey(run.name());
    for (std::size_t i = first; i < run.evaluations().size(); ++i) {
        const EvaluationRow& row = run.evaluations()[i];
        if (row.loss && chart_->hasSeries(validation))
            chart_->append(validation, pointOf(run, row, *row.loss));
        const auto value = info.from_evaluation ? info.from_evaluation(row) : std::nullopt;
        if (value) chart_->append(run.name(), pointOf(run, row, *value));
    }
    const auto best = bestOf(run.evaluations());
    const QString star = bestKey(run.name());
    if (!best || !best->loss || !chart_->hasSeries(star)) return;
    chart_->clear(star);
    chart_->append(star, pointOf(run, *best, *best->loss));
}

/// Draws reference lines for losses: the lower bound and, for texts, the unigram entropy.
/// @param entropy  whether to include the unigram entropy, which requires reading a file
void QuantityChart::addReferences(const RunWatcher& run, bool entropy) {
    if (run.evaluations().empty()) return;
    if (const auto& bound = run.evaluations().back().loss_lower_bound)
        chart_->setReference(run.name(), *bound, tr("lower bound"));
    if (const auto of_text = entropy ? unigramEntropy(run) : std::nullopt)
        chart_->setReference(run.name(), *of_text, tr("unigram entropy"));
}

/// Draws a quantity of method.csv: its minimum over layers and heads at each step. The rows are few, so all
/// are read again.
void QuantityChart::addMethodRows(const RunWatcher& run) {
    const auto& valueOf = infoOf(quantity_).from_method;
    std::map<std::int64_t, double> least;
    try {
        for (const MethodRow& row : run.folder().rows<MethodRow>()) {
            const auto value = valueOf(row);
            if (!value) continue;
            const auto [at, is_first] = least.emplace(row.step, *value);
            if (!is_first) at->second = std::min(at->second, *value);
        }
    } catch (const Error&) {
        // The run list reports unreadable files; nothing is drawn.
    }
    chart_->clear(run.name());
    for (const auto& [step, value] : least)
        chart_->append(run.name(), {static_cast<double>(step), timeAt(run, step),
                                    tokensAt(run.metrics(), step).value_or(kNotRecorded), value});
}

}  // namespace roper
