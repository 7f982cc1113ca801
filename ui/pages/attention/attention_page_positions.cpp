#include <utility>

#include "core/rotary/frequencies.h"
#include "core/rotary/position_bias.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/attention/attention_page.h"
#include "ui/theme/numbers.h"

// Figures of the biases that a method adds to scores, and of the position table that it adds to embeddings.

namespace roper {
namespace {

/// Size of the part of the table that is drawn, so that every cell is visible.
constexpr int kMaxFeatures = 1024, kMaxPositions = 128;

/// A value as a function of distance; without a causal mask also for negative distances, to later keys.
template <class Value>
CurveChart::Curve curveBy(const Setup& s, const QString& key, const QString& label, const QColor& color,
                          Value value) {
    CurveChart::Curve curve{key, label, color};
    for (int distance = s.causal ? 0 : 1 - s.distances; distance < s.distances; ++distance) {
        curve.x.push_back(distance);
        curve.y.push_back(value(distance));
    }
    return curve;
}

}  // namespace

QWidget* AttentionPage::makeBiasTab() {
    bias_kind_->addItems({tr("bias added to the score"), tr("bucket of the distance (T5)")});
    named(bias_kind_, tr("Quantity by distance"));
    bias_->setEmptyText(tr("This method adds no bias to scores. T5 and ALiBi do: choose one as the method."));
    connect(bias_kind_, &QComboBox::currentIndexChanged, this, &AttentionPage::showBias);
    connect(bias_, &CurveChart::hovered, this, &AttentionPage::showReadout);
    auto* tab = new QWidget;
    columnOf({{bias_kind_, 0, Qt::AlignLeft}, {bias_, 1}}, tab)->setContentsMargins(0, 3, 0, 0);
    return tab;
}

void AttentionPage::prepareTable() {
    table_->setAccessibleName(tr("Position table, position by feature"));
    connect(table_, &HeatMapView::cellHovered, this, [this](int position, int feature) {
        setReadout(tr("position %1    feature %2    %3")
                       .arg(position)
                       .arg(feature)
                       .arg(numberText((*table_->map().values)(position, feature), 7)));
    });
    connect(table_, &FigureView::hovered, this, &AttentionPage::setReadout);
}

void AttentionPage::showBias() {
    const Setup& s = state_.setup();
    const HeadContext chosen = s.headContext();
    const int distance = state_.query() - state_.key();
    const BiasInputs now{
        s.method, chosen, s.distances, bias_kind_->currentIndex(), distance, palette().cacheKey()};
    if (std::exchange(bias_inputs_, now) == now) return;
    std::vector<CurveChart::Curve> curves;
    const PositionMethod& method = s.positionMethod();
    const bool has_buckets = method.trains_bias, shows_bucket = bias_kind_->currentIndex() == 1;
    bias_kind_->setEnabled(has_buckets);
    const QString title = QString::fromStdString(method.title);
    if (has_buckets) {
        const auto bias = method.bias(chosen);
        const auto buckets = static_cast<int>(chosen.learned_bias.size()),
                   farthest = static_cast<int>(chosen.specific_settings.integer("bias_distance"));
        curves.push_back(curveBy(
            s, shows_bucket ? QStringLiteral("bucket") : QStringLiteral("bias"),
            tr("%1, head %2").arg(title).arg(s.head), Theme::method(s.method),
            [&](int at) { return shows_bucket ? t5Bucket(at, !s.causal, buckets, farthest) : bias(at); }));
        curves.back().bold = true;
    } else if (method.bias) {
        const Theme theme = Theme::of(palette());
        for (int head = 0; head < s.heads; ++head) {
            HeadContext of_head = chosen;
            of_head.head = head;
            const auto bias = method.bias(of_head);
            curves.push_back(
                curveBy(s, QStringLiteral("head-%1").arg(head), tr("%1, head %2").arg(title).arg(head),
                        head == s.head ? Theme::method(s.method) : theme.pair(head, s.heads), bias));
            curves.back().bold = head == s.head;
            curves.back().in_legend = head == s.head || s.heads <= 8;
            curves.back().formula = tr("bias at distance 1: %1").arg(bias(1));
        }
    }
    std::vector<CurveChart::Mark> marks;
    if (!curves.empty() && state_.isReady())
        marks.push_back({static_cast<double>(distance), tr("query − key = %1").arg(distance), false});
    bias_->setAxisNames(tr("distance, query − key"), has_buckets && shows_bucket ? tr("bucket") : tr("bias"));
    bias_->setLegendCorner(Qt::AlignTop | Qt::AlignRight);
    bias_->setCurves(curves, marks);
    bias_->setCaption(has_buckets ? tr("%1: %2 by distance, head %3; %4")
                                        .arg(title, shows_bucket ? tr("the bucket") : tr("the learned bias"))
                                        .arg(s.head)
                                        .arg(state_.sourceText())
                                  : tr("%1: the bias of %2 heads by distance").arg(title).arg(s.heads));
}

void AttentionPage::showTable() {
    const Setup& s = state_.setup();
    const bool is_learned =
        s.source == VectorSource::run && state_.runHead() && state_.runHead()->table.size() > 0;
    const int width = std::min(s.head_dim * s.heads, kMaxFeatures),
              positions = std::min(s.distances, kMaxPositions);
    const TableInputs now{positions, width, s.base, is_learned ? state_.sourceText() : QString()};
    if (std::exchange(table_inputs_, now) == now) return;
    HeatMapView::Map map;
    Eigen::MatrixXd values = is_learned ? state_.runHead()->table : sinusoidTable(positions, width, s.base);
    map.limit = is_learned ? HeatMapView::limitOf(values, false) : 1.0;
    map.setValues(std::move(values));
    map.row_name = tr("position");
    map.column_name = tr("feature");
    map.value_name = is_learned ? tr("learned") : tr("sinusoid");
    table_->setMap(std::move(map));
    table_->setCaption(
        is_learned ? tr("The learned position table: %1").arg(state_.sourceText())
                   : tr("Sinusoids added to embeddings: C = %1 features, base %2").arg(width).arg(s.base));
}

}  // namespace roper
