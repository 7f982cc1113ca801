#include "ui/pages/inspect/heads_panel.h"

#include <QScopedValueRollback>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/questions/reach.h"
#include "ui/controls/named.h"
#include "ui/pages/inspect/models_fields.h"
#include "ui/theme/numbers.h"

namespace roper {

HeadsPanel::HeadsPanel(ModelsState& state, QWidget* parent)
    : ModelPanel(tr("Heads"), state, parent),
      atlas_(new AtlasView(state, this)),
      grid_(new HeadGridView(state, this)),
      map_(new HeatMapView(QStringLiteral("model-head"), this)),
      reach_(new CurveChart(QStringLiteral("reach"), tr("distance n − j, tokens"), tr("mean weight"), this)),
      label_(named(new QComboBox, tr("Heads of one label"), tr("Shows these heads alone"))),
      colour_(
          named(new QComboBox, tr("Colour of the dots"), tr("What the dots of the atlas are coloured by"))),
      reach_quantity_(named(new QComboBox, tr("What is shown by distance"),
                            tr("The head's mean weight, or its mean score before softmax"))),
      layer_(makeNumber(tr("Layer that is shown"), tr("layer "))),
      head_(makeNumber(tr("Head that is shown"), tr("head "))),
      map_title_(new QLabel) {
    colour_->addItems({tr("coloured by label"), tr("by the slow pairs' share"), tr("by layer")});
    connect(colour_, &QComboBox::currentIndexChanged, this,
            [this](int index) { atlas_->setColour(static_cast<AtlasView::Colour>(index)); });
    connect(label_, &QComboBox::currentIndexChanged, this,
            [this](int index) { atlas_->setLabel(label_->itemData(index).toString().toStdString()); });
    map_title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    map_->setEmptyText(tr("The attention of the chosen head is shown here."));
    reach_->setEmptyText(tr("How the head's weight falls with distance is shown here."));
    reach_quantity_->addItems({tr("weight by distance"), tr("score by distance")});
    connect(reach_quantity_, &QComboBox::currentIndexChanged, this, &HeadsPanel::showReach);
    for (QComboBox* choice : {label_, colour_, reach_quantity_}) {
        choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        choice->setMinimumContentsLength(choice == reach_quantity_ ? 14 : 11);
    }
    connect(map_, &HeatMapView::cellPointed, this,
            [this](int row, int column) { emit pointed(pointedWeight(row, column)); });
    hear(atlas_, grid_, map_, reach_);
    auto* small = splitter(Qt::Vertical, {atlas_, grid_}, {400, 300});
    auto* large = splitter(Qt::Vertical, {column({{map_title_, 0}, {map_, 1}}), reach_}, {480, 180});
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({label_, colour_, layer_, head_, reach_quantity_}));
    layout->addWidget(splitter(Qt::Horizontal, {small, large}, {500, 500}), 1);
}

QSpinBox* HeadsPanel::makeNumber(const QString& name, const QString& prefix) {
    auto* box = named(new QSpinBox, name, tr("The head that is shown large"));
    box->setPrefix(prefix);
    connect(box, &QSpinBox::valueChanged, this, [this] {
        if (!filling_) state().setHead(layer_->value(), head_->value());
    });
    return box;
}

std::vector<const Need*> HeadsPanel::needs() const {
    return {&need::reading, &need::heads, &need::attention, &need::thumbnails, &need::changed};
}

std::vector<const Need*> HeadsPanel::needsOf(const QString& figure) const {
    if (figure == atlas_->figureName()) return {&need::heads};
    if (figure == grid_->figureName()) return {&need::thumbnails};
    return {&need::heads, &need::attention};
}

void HeadsPanel::prepare(const QString&, const ModelsPicture& picture) {
    colour_->setCurrentIndex(static_cast<int>(picture.colour));
    reach_quantity_->setCurrentIndex(static_cast<int>(picture.reach));
}

void HeadsPanel::refresh() {
    const QScopedValueRollback filling(filling_, true);
    const ModelSummary* model = state().summary();
    for (auto [box, count] : {std::pair{layer_, model != nullptr ? model->layers : 1},
                              std::pair{head_, model != nullptr ? model->heads : 1}}) {
        box->setEnabled(model != nullptr);
        box->setRange(0, static_cast<int>(count) - 1);
    }
    layer_->setValue(state().layer());
    head_->setValue(state().head());
    showLabels();
    showMap();
    showReach();
}

const HeadMap* HeadsPanel::shownMap() const {
    const HeadMap* attention = state().answer(need::attention);
    const bool is_it =
        attention != nullptr && attention->layer == state().layer() && attention->head == state().head();
    return is_it ? attention : nullptr;
}

void HeadsPanel::showLabels() {
    if (state().answer(need::heads) == nullptr) return;  // what was chosen is kept for the next answer
    const QString kept = label_->currentData().toString();
    label_->clear();
    label_->addItem(tr("all heads"), QString());
    for (const auto& [label, count] : AtlasView::countedLabels(*state().answer(need::heads))) {
        const QString name = QString::fromStdString(label);
        label_->addItem(QStringLiteral("%1 (%2)").arg(name).arg(count), name);
    }
    label_->setCurrentIndex(std::max(0, label_->findData(kept)));
}

void HeadsPanel::showMap() {
    const HeadMap* attention = shownMap();
    map_title_->setText(state().report() != nullptr ? titleOfHead(*state().report())
                        : state().summary() != nullptr
                            ? tr("layer %1, head %2").arg(state().layer()).arg(state().head())
                            : QString());
    map_title_->setToolTip(state().report() != nullptr ? describeHead(*state().report()) : QString());
    if (attention == nullptr) return map_->setMap({});
    map_->setCaption(tr("Attention weights of layer %1, head %2 of %3")
                         .arg(attention->layer)
                         .arg(attention->head)
                         .arg(modelName()));
    map_->setMap(attention->map);
}

void HeadsPanel::showReach() {
    const HeadMap* attention = shownMap();
    if (attention == nullptr) return reach_->setCurves({}, {});
    const bool is_score = static_cast<ReachQuantity>(reach_quantity_->currentIndex()) == ReachQuantity::score;
    const Reach reach = reachOf(*attention->map.values);
    const std::vector<double>& means = is_score ? reach.score : reach.weight;
    QVector<double> distances, shown;
    for (std::size_t distance = 0; distance < means.size(); ++distance) {
        if (std::isnan(means[distance])) continue;
        distances << static_cast<double>(distance);
        shown << means[distance];
    }
    const QString name = is_score ? tr("mean score less the own token's, nats") : tr("mean weight");
    reach_->setLog(false, !is_score);
    reach_->setAxisNames(tr("distance n − j, tokens"), name);
    reach_->setCaption((is_score ? tr("Mean score by distance, layer %1, head %2")
                                 : tr("Mean weight by distance, layer %1, head %2"))
                           .arg(attention->layer)
                           .arg(attention->head));
    const double turn = state().summary() != nullptr && !state().summary()->theta.empty()
                            ? 2 * std::numbers::pi / state().summary()->theta.back()
                            : 0;
    std::vector<CurveChart::Mark> marks;
    if (turn > 0 && turn < static_cast<double>(means.size()))
        marks.push_back({turn, tr("slowest pair's turn")});
    reach_->setCurves({{is_score ? QStringLiteral("score") : QStringLiteral("weight"),
                        name,
                        Theme::roper(),
                        distances,
                        shown,
                        false,
                        false,
                        {}}},
                      marks);
}

QString HeadsPanel::pointedWeight(int row, int column) const {
    const HeadMap* attention = state().answer(need::attention);
    if (attention == nullptr || row < 0 || column < 0) return {};
    const auto name = [&](int token) {
        return attention->tokens.isEmpty() ? QString::number(token)
                                           : tr("“%1” (%2)").arg(attention->tokens[token]).arg(token);
    };
    return tr("query %1, key %2, distance %3: weight %4")
        .arg(name(row), name(column))
        .arg(row - column)
        .arg(noteNumber((*attention->map.values)(row, column), 4));
}

}  // namespace roper
