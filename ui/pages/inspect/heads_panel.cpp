#include "ui/pages/inspect/heads_panel.h"

#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/questions/attention_by_distance.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/inspect_fields.h"

namespace roper {

namespace {

/// Attention of all heads on the text.
class TextHeads : public HeadsView {
  public:
    using HeadsView::HeadsView;

    QString figureName() const override { return QStringLiteral("all-heads"); }
    QSize defaultSize() const override { return {900, 340}; }

    QString figureCsv() const override {
        QString csv = QStringLiteral("layer,head,query_block,key_block,largest_weight\n");
        const auto all = heads();
        const bool causal = state().summary() == nullptr || state().summary()->causal;
        for (const int head : ordered()) {
            const Eigen::MatrixXf& map = all->maps[static_cast<std::size_t>(head)];
            for (Eigen::Index row = 0; row < map.rows(); ++row)
                for (Eigen::Index column = 0; column < (causal ? row + 1 : map.cols()); ++column)
                    csv += QStringLiteral("%1,%2,%3,%4,%5\n")
                               .arg(head / all->heads)
                               .arg(head % all->heads)
                               .arg(row)
                               .arg(column)
                               .arg(static_cast<double>(map(row, column)), 0, 'g', 9);
        }
        return csv;
    }

    QString figureCaption() const override {
        if (state().summary() == nullptr) return {};
        return tr("Attention of all heads of %1, each scaled to its largest weight; a cell that covers "
                  "several queries and keys shows the largest of their weights")
            .arg(state().modelName());
    }

  protected:
    std::shared_ptr<const HeadThumbnails> heads() const override {
        return state().sharedAnswer(answers::thumbnails);
    }
    QString placeholderText() const override {
        return state().placeholder(tr("The attention of all heads is shown here."));
    }
    QString describe(int layer, int head) const override {
        const HeadReport* report = state().report(layer, head);
        return report != nullptr ? describeHead(*report, state()) : headTitle(layer, head);
    }
};

}  // namespace

HeadsPanel::HeadsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Heads"), tr("What each head does with the text"), models, parent),
      atlas_(new HeadScatterView(models.state, this)),
      grid_(new TextHeads(models.state, this)),
      map_(new HeatMapView(QStringLiteral("model-head"), this)),
      reach_(new CurveChart(QStringLiteral("reach"), tr("distance n − j, tokens"), tr("mean weight"), this)),
      label_(named(new QComboBox, tr("Heads with one label"), tr("Show only these heads"))),
      color_by_(named(new QComboBox, tr("Color of the dots"),
                      tr("What the colors of the dots show; slow pairs: share of the scores' variance due to "
                         "pairs that complete no turn within the text, and to unrotated features"))),
      reach_quantity_(named(new QComboBox, tr("Quantity by distance"),
                            tr("The head's mean weight, or its mean score before softmax"))),
      order_(named(new QComboBox, tr("Order of all heads"), tr("The order of the small maps"))),
      layer_(makeNumber(tr("Layer shown"), tr("layer "))),
      head_(makeNumber(tr("Head shown"), tr("head "))) {
    color_by_->addItems({tr("colored by label"), tr("by share of slow pairs"), tr("by layer")});
    connect(color_by_, &QComboBox::currentIndexChanged, this,
            [this](int index) { atlas_->setColorBy(static_cast<HeadScatterView::ColorBy>(index)); });
    connect(grid_, &HeadsView::headChosen, &state(), &InspectState::setHead);
    order_->addItems({tr("ordered by layer"), tr("by entropy"), tr("by mean distance")});
    for (const HeadScore& score : headScores())
        for (QComboBox* choice : {color_by_, order_})
            choice->addItem(tr("by %1").arg(score.name));
    connect(order_, &QComboBox::currentIndexChanged, this, &HeadsPanel::showOrder);
    for (QComboBox* choice : {color_by_, order_})
        connect(choice, &QComboBox::currentIndexChanged, this, &ModelPanel::requiredAnswersChanged);
    connect(label_, &QComboBox::currentIndexChanged, this,
            [this](int index) { atlas_->setLabel(label_->itemData(index).toString().toStdString()); });
    map_->setEmptyText(tr("The attention of the chosen head is shown here."));
    reach_->setEmptyText(tr("The head's attention by distance is shown here."));
    reach_quantity_->addItems({tr("weight by distance"), tr("score by distance")});
    connect(reach_quantity_, &QComboBox::currentIndexChanged, this, &HeadsPanel::showReach);
    for (QComboBox* choice : {label_, color_by_, order_, reach_quantity_})
        allowShrinking(*choice, choice == reach_quantity_ ? 14 : 11);
    connect(map_, &HeatMapView::cellHovered, this,
            [this](int row, int column) { emit hovered(weightAt(map_->map(), row, column)); });
    forwardReadouts(atlas_, grid_, map_, reach_);
    offerHeads(*atlas_, [this](const QPointF& at) { return atlas_->headAt(at); });
    offerHeads(*grid_, [this](const QPointF& at) { return grid_->headAt(at); });
    auto* thumbnails = makeSplitter(Qt::Vertical, {atlas_, grid_}, {400, 300});
    auto* large = makeSplitter(Qt::Vertical, {titled(map_title_, map_), reach_}, {480, 180});
    columnOf({makeFlowRow({label_, color_by_, order_, layer_, head_, reach_quantity_}),
              {makeSplitter(Qt::Horizontal, {thumbnails, large}, {500, 500}), 1}},
             this);
}

QSpinBox* HeadsPanel::makeNumber(const QString& name, const QString& prefix) {
    auto* box = named(new QSpinBox, name, tr("The enlarged head"));
    box->setPrefix(prefix);
    connect(box, &QSpinBox::valueChanged, this, [this] { state().setHead(layer_->value(), head_->value()); });
    return box;
}

AnswerSpecs HeadsPanel::requiredAnswers() const {
    return withScores({&answers::predictions, &answers::heads, &answers::attention, &answers::thumbnails,
                       &answers::changed_predictions});
}

/// Adds the scores by which heads are colored or sorted.
AnswerSpecs HeadsPanel::withScores(AnswerSpecs specs) const {
    for (const HeadScore* score : {scoreAt(color_by_->currentIndex(), HeadScatterView::ColorBy::first_score),
                                   scoreAt(order_->currentIndex(), Order::first_score)})
        if (score != nullptr) specs.push_back(score->answer);
    return specs;
}

AnswerSpecs HeadsPanel::answersForFigure(const QString& figure) const {
    if (figure == atlas_->figureName()) return withScores({&answers::heads});
    if (figure == grid_->figureName()) return {&answers::thumbnails};
    return {&answers::heads, &answers::attention};
}

void HeadsPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    color_by_->setCurrentIndex(static_cast<int>(picture.color_by));
    reach_quantity_->setCurrentIndex(static_cast<int>(picture.reach));
}

void HeadsPanel::refresh() {
    const QSignalBlocker filling_layer(layer_), filling_head(head_);
    const ModelSummary* model = state().summary();
    for (auto [box, count] : {std::pair{layer_, model != nullptr ? model->layers : 1},
                              std::pair{head_, model != nullptr ? model->heads : 1}}) {
        box->setEnabled(model != nullptr);
        box->setRange(0, static_cast<int>(count) - 1);
    }
    layer_->setValue(state().layer());
    head_->setValue(state().head());
    showLabels();
    showOrder();
    showMap();
    showReach();
}

void HeadsPanel::showLabels() {
    if (state().answer(answers::heads) == nullptr) return;  // keep the selection for the next answer
    const QString kept = label_->currentData().toString();
    label_->clear();
    label_->addItem(tr("all heads"), QString());
    for (const auto& [label, count] : HeadScatterView::countedLabels(*state().answer(answers::heads))) {
        const QString name = QString::fromStdString(label);
        label_->addItem(QStringLiteral("%1 (%2)").arg(name).arg(count), name);
    }
    label_->setCurrentIndex(std::max(0, label_->findData(kept)));
}

/// The numbers by which the thumbnails are sorted; empty while unknown, and for the order by layer and head.
std::vector<double> HeadsPanel::numbersOfOrder() const {
    const auto order = static_cast<Order>(order_->currentIndex());
    const HeadScore* const score = scoreAt(order_->currentIndex(), Order::first_score);
    std::vector<double> numbers;
    if (order == Order::place) return numbers;
    for (const HeadReport& report : state().reports()) {
        if (score == nullptr) {
            numbers.push_back(order == Order::entropy ? report.entropy : report.mean_distance);
            continue;
        }
        const auto number = score->of(state(), report);
        if (!number) return {};
        numbers.push_back(-*number);  // descending
    }
    return numbers;
}

void HeadsPanel::showOrder() {
    grid_->setSortedBy(numbersOfOrder());
}

void HeadsPanel::showMap() {
    const HeadMap* attention = answerForHead(answers::attention);
    const HeadReport* report = state().report();
    map_title_->setText(report != nullptr              ? titleOfHead(*report)
                        : state().summary() != nullptr ? headTitle(state().layer(), state().head())
                                                       : QString());
    map_title_->setToolTip(report != nullptr ? describeHead(*report, state()) : QString());
    if (attention == nullptr) return map_->setMap({});
    map_->setCaption(tr("Attention weights of layer %1, head %2 of %3")
                         .arg(attention->layer)
                         .arg(attention->head)
                         .arg(modelName()));
    map_->setMap(attention->map);
}

void HeadsPanel::showReach() {
    const HeadMap* attention = answerForHead(answers::attention);
    reach_->setEmptyText({});
    if (attention == nullptr) return reach_->setCurves({}, {});
    const bool is_score = static_cast<ReachQuantity>(reach_quantity_->currentIndex()) == ReachQuantity::score;
    const RunWatcher* run = state().run();
    const bool has_scores =
        run == nullptr || !run->specification() || run->specification()->model.attention == "softmax";
    reach_->setEmptyText(has_scores ? QString() : tr("Linear attention has no scores before a softmax."));
    if (is_score && !has_scores) {
        reach_->setCaption({});
        return reach_->setCurves({}, {});
    }
    const bool causal = attention->map.lower_triangle_only;
    const AttentionByDistance by_distance = attentionByDistance(*attention->map.values, causal);
    const std::vector<double>& means = is_score ? by_distance.score : by_distance.weight;
    QVector<double> distances, shown;
    for (std::size_t distance = 0; distance < means.size(); ++distance) {
        if (std::isnan(means[distance])) continue;
        distances << static_cast<double>(distance);
        shown << means[distance];
    }
    const QString name = is_score ? tr("mean score minus that at distance 0, nats") : tr("mean weight");
    reach_->setLog(false, !is_score);
    reach_->setAxisNames(causal ? tr("distance n − j, tokens") : tr("distance |n − j|, tokens"), name);
    reach_->setCaption((is_score ? tr("Mean score by distance, layer %1, head %2")
                                 : tr("Mean weight by distance, layer %1, head %2"))
                           .arg(attention->layer)
                           .arg(attention->head));
    const double turn = state().summary() != nullptr && !state().summary()->theta.empty()
                            ? 2 * std::numbers::pi / state().summary()->theta.back()
                            : 0;
    std::vector<CurveChart::Mark> marks;
    if (turn > 0 && turn < static_cast<double>(means.size()))
        marks.push_back({turn, tr("period of the slowest pair")});
    const QString key = is_score ? QStringLiteral("score") : QStringLiteral("weight");
    reach_->setCurves({{key, name, Theme::roper(), distances, shown, false, false, {}}}, marks);
}

}  // namespace roper
