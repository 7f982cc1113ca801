#include "ui/pages/inspect/learned_panel.h"

#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kReadInterval_ms = 2000;

const std::string kQueryKey = "query_key_frequency", kValue = "value_frequency", kBias = "relative_bias",
                  kDenominator = "least_denominator";

QString titleOf(const std::string& quantity) {
    if (quantity == kQueryKey) return QObject::tr("frequencies of queries and keys");
    if (quantity == kValue) return QObject::tr("frequencies of values");
    if (quantity == kBias) return QObject::tr("T5's biases by bucket");
    if (quantity == kDenominator) return QObject::tr("smallest denominators of linear attention");
    return QString::fromStdString(quantity);
}

/// Whether small values would be invisible on a linear axis.
bool spansDecades(const std::vector<CurveChart::Curve>& curves) {
    constexpr double kMuch = 100;
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const CurveChart::Curve& curve : curves)
        for (const double y : curve.y) {
            low = std::min(low, y);
            high = std::max(high, y);
        }
    return low > 0 && high > kMuch * low;
}

}  // namespace

LearnedPanel::LearnedPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Positions"), tr("Learned positions"), models, parent),
      quantity_(named(new QComboBox, tr("What the position method has learned"),
                      tr("What the position method has learned"))),
      layer_(named(new QComboBox, tr("Layer of these numbers"), tr("Layer of these numbers"))),
      summary_(new QLabel),
      chart_(
          new CurveChart(QStringLiteral("learned-positions"), tr("step"), tr("θ / θ at the start"), this)) {
    quantity_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    for (QComboBox* choice : {quantity_, layer_})
        connect(choice, &QComboBox::currentIndexChanged, this, &LearnedPanel::draw);
    summary_->setForegroundRole(QPalette::PlaceholderText);
    forwardReadouts(chart_);
    columnOf({rowOf({quantity_, layer_, {summary_, 1}}), {chart_, 1}}, this);
    connect(&timer_, &QTimer::timeout, this, &ModelPanel::refreshWhenVisible);
    timer_.start(kReadInterval_ms);  // while the panel is hidden, it only becomes stale
    fillChoices();
    draw();
}

void LearnedPanel::refresh() {
    const RunWatcher* run = state().run();
    std::uintmax_t size = 0;
    if (run != nullptr) {
        std::error_code missing;
        size = std::filesystem::file_size(run->folder().pathOf<MethodRow>().path(), missing);
        if (missing) size = 0;
    }
    if (run_ == state().model() && size == size_) return;
    run_ = state().model();
    size_ = size;
    rows_.clear();
    problem_.clear();
    try {
        if (size > 0) rows_ = run->folder().rows<MethodRow>();
    } catch (const Error& error) {
        problem_ = QString::fromStdString(error.what());
    }
    fillChoices();
    draw();
}

void LearnedPanel::fillChoices() {
    const QSignalBlocker filling_quantities(quantity_), filling_layers(layer_);
    const QVariant quantity_before = quantity_->currentData(), layer_before = layer_->currentData();
    quantity_->clear();
    layer_->clear();
    std::set<std::int64_t> layers;
    for (const MethodRow& row : rows_) {
        const QString name = QString::fromStdString(row.quantity);
        if (quantity_->findData(name) < 0) quantity_->addItem(titleOf(row.quantity), name);
        if (row.layer) layers.insert(*row.layer);
    }
    for (const std::int64_t layer : layers)
        layer_->addItem(tr("layer %1").arg(layer), QVariant::fromValue<qlonglong>(layer));
    quantity_->setCurrentIndex(std::max(0, quantity_->findData(quantity_before)));
    layer_->setCurrentIndex(std::max(0, layer_->findData(layer_before)));
    quantity_->setVisible(quantity_->count() > 0);
    layer_->setVisible(layer_->count() > 0);
}

/// θᵢ at each step relative to θᵢ at the first, one curve per pair.
std::vector<CurveChart::Curve> LearnedPanel::driftCurves(const std::string& quantity,
                                                         std::int64_t layer) const {
    std::map<std::int64_t, CurveChart::Curve> by_pair;
    std::map<std::int64_t, double> initial;
    for (const MethodRow& row : rows_) {
        if (row.quantity != quantity || row.layer != layer || !row.index) continue;
        const double start = initial.emplace(*row.index, row.value).first->second;
        CurveChart::Curve& curve = by_pair[*row.index];
        curve.x.push_back(static_cast<double>(row.step));
        curve.y.push_back(row.value / start);
    }
    const Theme theme = Theme::of(palette());
    const auto pairs = static_cast<int>(by_pair.size());
    std::vector<CurveChart::Curve> curves;
    for (auto& [pair, curve] : by_pair) {
        curve.key = QStringLiteral("pair-%1").arg(pair);
        curve.label = tr("pair %1").arg(pair);
        curve.color = theme.pair(static_cast<int>(pair), pairs);
        curve.formula = tr("θ was %1").arg(initial[pair]);
        curve.in_legend = pairs <= 8 || pair % (pairs / 4) == 0 || pair == pairs - 1;
        curves.push_back(std::move(curve));
    }
    return curves;
}

/// One curve per head from the rows for which `wanted` is true; `x` gives the abscissa of a row.
template <class Wanted, class X>
std::vector<CurveChart::Curve> LearnedPanel::curvesByHead(Wanted wanted, X x) const {
    std::map<std::int64_t, CurveChart::Curve> by_head;
    for (const MethodRow& row : rows_) {
        if (!row.head || !wanted(row)) continue;
        CurveChart::Curve& curve = by_head[*row.head];
        curve.x.push_back(static_cast<double>(x(row)));
        curve.y.push_back(row.value);
    }
    const Theme theme = Theme::of(palette());
    std::vector<CurveChart::Curve> curves;
    for (auto& [head, curve] : by_head) {
        curve.key = QStringLiteral("head-%1").arg(head);
        curve.label = tr("head %1").arg(head);
        curve.color = theme.pair(static_cast<int>(head), static_cast<int>(by_head.size()));
        curve.points = true;
        curves.push_back(std::move(curve));
    }
    return curves;
}

void LearnedPanel::draw() {
    const std::string quantity = quantity_->currentData().toString().toStdString();
    const std::int64_t layer = layer_->currentData().toLongLong();
    layer_->setEnabled(quantity != kBias);
    std::vector<CurveChart::Curve> curves;
    std::vector<CurveChart::Mark> marks;
    QString summary;
    if (quantity == kQueryKey || quantity == kValue) {
        chart_->setAxisNames(tr("step"), tr("θᵢ / θᵢ at the start"));
        curves = driftCurves(quantity, layer);
        marks.push_back({1, {}, true});
        double farthest = 1;
        QString pair;
        for (const CurveChart::Curve& curve : curves)
            if (!curve.y.isEmpty() && std::abs(curve.y.back() - 1) > std::abs(farthest - 1)) {
                farthest = curve.y.back();
                pair = curve.label;
            }
        if (!pair.isEmpty()) summary = tr("largest change: %1, × %2").arg(pair, numberText(farthest, 4));
    } else if (quantity == kBias) {
        chart_->setAxisNames(tr("bucket"), tr("bias"));
        const std::int64_t newest = rows_.back().step;
        curves = curvesByHead(
            [&](const MethodRow& row) { return row.quantity == kBias && row.step == newest && row.index; },
            [](const MethodRow& row) { return *row.index; });
        summary = tr("step %1").arg(newest);
    } else if (quantity == kDenominator) {
        chart_->setAxisNames(tr("step"), tr("smallest denominator"));
        curves = curvesByHead(
            [&](const MethodRow& row) { return row.quantity == kDenominator && row.layer == layer; },
            [](const MethodRow& row) { return row.step; });
    }
    chart_->setLog(false, quantity == kDenominator && spansDecades(curves));
    chart_->setEmptyText(
        !problem_.isEmpty() ? problem_
        : state().model().isEmpty()
            ? tr("Choose a run.")
            : tr("This run recorded nothing about its position method. Only trained "
                 "frequencies, T5’s biases and linear attention’s denominators are recorded."));
    chart_->setCurves(curves, marks);
    chart_->setCaption(
        tr("%1 of %2%3")
            .arg(titleOf(quantity), state().title(),
                 layer_->isEnabled() && layer_->count() > 0 ? tr(", layer %1").arg(layer) : QString()));
    summary_->setText(summary);
}

void LearnedPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    refresh();
    if (picture.learned) {
        const int index = quantity_->findData(QString::fromStdString(*picture.learned));
        std::vector<std::string> recorded;
        for (int i = 0; i < quantity_->count(); ++i)
            recorded.push_back(quantity_->itemData(i).toString().toStdString());
        if (index < 0)
            throw Error(ErrorKind::usage, "the run has recorded no \"" + *picture.learned +
                                              "\"; it has recorded " + join(recorded, ", "));
        quantity_->setCurrentIndex(index);
    }
    if (chart_->curves().empty())
        throw Error(ErrorKind::usage, "the position method of this run learns and records nothing");
    layer_->setCurrentIndex(
        checkedBelow("layer", picture.question.layer.value_or(0), std::max(1, layer_->count())));
}

}  // namespace roper
