#include "ui/pages/inspect/pairs_panel.h"

#include <algorithm>
#include <numbers>

#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

const Eigen::VectorXd& numbersOf(const HeadReport& report, PairQuantity quantity) {
    const Eigen::VectorXd* const all[] = {&report.bands.share, &report.query_norms, &report.key_norms,
                                          &report.value_norms};
    return *all[static_cast<std::size_t>(quantity)];
}

/// The same, padded with zeros to `pairs` entries: a narrow or unrotated head has fewer pairs.
Eigen::VectorXd numbersOf(const HeadReport& report, PairQuantity quantity, Eigen::Index pairs) {
    const Eigen::VectorXd& own = numbersOf(report, quantity);
    Eigen::VectorXd all = Eigen::VectorXd::Zero(pairs);
    all.head(own.size()) = own;
    return all;
}

/// The largest number of pairs in a head.
Eigen::Index mostPairs(const HeadsAnswer& heads, PairQuantity quantity) {
    Eigen::Index pairs = 0;
    for (const HeadReport& report : heads.heads)
        pairs = std::max(pairs, numbersOf(report, quantity).size());
    return pairs;
}

QColor colorOf(PairQuantity quantity, const Theme& theme) {
    const QColor all[] = {theme.frame, Theme::query(), Theme::key(), Theme::value()};
    return all[static_cast<std::size_t>(quantity)];
}

}  // namespace

PairsPanel::PairsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Pairs"), tr("What each pair of features does"), models, parent),
      pairs_map_(makeMap(QStringLiteral("bands"),
                         tr("The chosen quantity of every pair and head is shown here."), answers::heads,
                         &PairsPanel::pairReadout)),
      head_pairs_(new BarChart(QStringLiteral("head-bands"), tr("pair, the fastest first"), {}, this)),
      quantity_(
          named(new QComboBox, tr("Quantity of each pair"),
                tr("Its share of the scores' variance, or the mean norm of its features in q, k or v"))),
      mean_(named(new QCheckBox(tr("mean of all heads")), tr("Mean of all heads"),
                  tr("Lower chart: the mean over all heads of all layers instead of the chosen head"))) {
    quantity_->addItems(
        {tr("share of the scores' variance"), tr("norm of q"), tr("norm of k"), tr("norm of v")});
    connect(quantity_, &QComboBox::currentIndexChanged, this, &PairsPanel::refresh);
    connect(mean_, &QCheckBox::toggled, this, &PairsPanel::showHeadPairs);
    connect(pairs_map_, &HeatMapView::cellClicked, this, [this](int row, int) {
        if (const auto head = headOfRow(row)) state().setHead(head->first, head->second);
    });
    offerHeads(*pairs_map_, [this](const QPointF& at) { return headOfRow(pairs_map_->cellAt(at).y()); });
    forwardReadouts(head_pairs_);
    columnOf({makeFlowRow({quantity_, mean_}),
              {makeSplitter(Qt::Vertical, {pairs_map_, head_pairs_}, {460, 220}), 1}},
             this);
}

std::optional<std::pair<int, int>> PairsPanel::headOfRow(int row) const {
    const HeadsAnswer* heads = state().answer(answers::heads);
    if (heads == nullptr || row < 0) return std::nullopt;
    const HeadReport& report = heads->heads.at(static_cast<std::size_t>(row));
    return std::pair(static_cast<int>(report.layer), static_cast<int>(report.head));
}

void PairsPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    quantity_->setCurrentIndex(static_cast<int>(picture.quantity));
    mean_->setChecked(picture.mean);
}

void PairsPanel::refresh() {
    showPairs();
    if (const HeadReport* chosen = state().report())
        pairs_map_->setMarked(static_cast<int>(chosen - state().reports().data()), -1);
    showHeadPairs();
}

void PairsPanel::showPairs() {
    const HeadsAnswer* heads = state().answer(answers::heads);
    if (heads == nullptr || heads->heads.empty()) return pairs_map_->setMap({});
    const PairQuantity quantity = this->quantity();
    const Eigen::Index pairs = mostPairs(*heads, quantity);
    if (pairs == 0) return pairs_map_->setMap({});
    Eigen::MatrixXd values(static_cast<Eigen::Index>(heads->heads.size()), pairs);
    HeatMapView::Map map;
    for (std::size_t i = 0; i < heads->heads.size(); ++i) {
        const HeadReport& report = heads->heads[i];
        values.row(static_cast<Eigen::Index>(i)) = numbersOf(report, quantity, pairs).transpose();
        map.row_labels << QStringLiteral("%1·%2").arg(report.layer).arg(report.head);
    }
    for (Eigen::Index pair = 0; pair < pairs; ++pair)
        map.column_labels << QString::number(pair);
    map.scale = quantity == PairQuantity::score_share ? HeatMapView::Scale::diverging
                                                      : HeatMapView::Scale::sequential;
    map.limit = HeatMapView::limitOf(values, false);
    map.setValues(std::move(values));
    map.row_labels_are_names = true;
    map.row_name = tr("layer·head");
    map.column_name = tr("pair, the fastest first");
    map.value_name = quantity_->currentText();
    const QString with = state().change().isEmpty() ? QString() : tr(", with the change");
    pairs_map_->setTitle(tr("%1, by head and pair%2").arg(quantity_->currentText(), with));
    pairs_map_->setCaption(tr("%1 of every pair in every head of %2, %3 tokens")
                               .arg(quantity_->currentText(), modelName())
                               .arg(heads->tokens.size()));
    pairs_map_->setMap(std::move(map));
}

QString PairsPanel::pairReadout(const HeadsAnswer& answer, std::size_t row, std::size_t column) const {
    if (row >= answer.heads.size()) return {};
    const HeadReport& report = answer.heads[row];
    const auto& theta = answer.theta.at(static_cast<std::size_t>(report.layer));
    QString text = tr("layer %1, head %2, pair %3").arg(report.layer).arg(report.head).arg(column);
    if (column < theta.size())
        text += tr(" (one turn in %1 tokens)").arg(numberText(2 * std::numbers::pi / theta[column], 3));
    const auto pair = static_cast<Eigen::Index>(column);
    if (pair < report.bands.share.size())
        text += tr(": share of the scores %1 %").arg(numberText(100 * report.bands.share[pair], 3));
    if (pair >= report.query_norms.size()) return text;
    return text + tr("; norms of q %1, k %2, v %3")
                      .arg(numberText(report.query_norms[pair], 3), numberText(report.key_norms[pair], 3),
                           numberText(report.value_norms[pair], 3));
}

/// The quantity by pair, of the chosen head or as a mean over all heads; nothing while unknown.
std::optional<Eigen::VectorXd> PairsPanel::pairNumbersOf(const InspectState& model_state) const {
    const HeadsAnswer* heads = model_state.answer(answers::heads);
    if (heads == nullptr || heads->heads.empty()) return std::nullopt;
    const Eigen::Index pairs = mostPairs(*heads, quantity());
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(pairs);
    int counted = 0;
    for (const HeadReport& report : heads->heads) {
        if (!mean_->isChecked() && (report.layer != state().layer() || report.head != state().head()))
            continue;
        sum += numbersOf(report, quantity(), pairs);
        ++counted;
    }
    if (counted == 0) return std::nullopt;
    return Eigen::VectorXd(sum / counted);
}

void PairsPanel::showHeadPairs() {
    const Theme theme = Theme::of(palette());
    std::vector<BarChart::Series> series;
    Eigen::Index pairs = 0;
    const bool two = comparison().answer(answers::heads) != nullptr;
    for (const InspectState* shown : {&state(), &comparison()})
        if (const auto numbers = pairNumbersOf(*shown)) {
            const bool is_first = shown == &state();
            pairs = std::max(pairs, numbers->size());
            series.push_back({is_first ? QStringLiteral("value") : QStringLiteral("comparison"),
                              shown->title(),
                              two ? shown->color(theme) : colorOf(quantity(), theme),
                              {numbers->begin(), numbers->end()},
                              {}});
        }
    if (series.empty()) return head_pairs_->setBars({}, {});
    std::vector<int> categories;
    for (int pair = 0; pair < pairs; ++pair)
        categories.push_back(pair);
    for (BarChart::Series& one : series)
        one.values.resize(static_cast<std::size_t>(pairs), 0);  // a model with fewer pairs
    const QString heads = mean_->isChecked()
                              ? tr("mean of all heads")
                              : tr("layer %1, head %2").arg(state().layer()).arg(state().head());
    head_pairs_->setHeadline(QStringLiteral("%1, %2").arg(quantity_->currentText(), heads));
    head_pairs_->setCaption(tr("%1 by pair, %2").arg(quantity_->currentText(), heads));
    head_pairs_->setBars(categories, series);
}

}  // namespace roper
