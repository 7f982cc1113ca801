#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/questions/reach.h"
#include "ui/live/published_models.h"
#include "ui/live/token_texts.h"
#include "ui/pages/models/models_page.h"
#include "ui/theme/numbers.h"

// What the Models page draws of the answers about heads, bands and kernels.

namespace roper {
namespace {

const Eigen::VectorXd& numbersOf(const HeadReport& report, BandQuantity quantity) {
    switch (quantity) {
        case BandQuantity::score_share:
            return report.bands.share;
        case BandQuantity::query_norm:
            return report.query_norms;
        case BandQuantity::key_norm:
            return report.key_norms;
        case BandQuantity::value_norm:
            break;
    }
    return report.value_norms;
}

QColor colorOf(BandQuantity quantity, const Theme& theme) {
    switch (quantity) {
        case BandQuantity::score_share:
            return theme.frame;
        case BandQuantity::query_norm:
            return Theme::query();
        case BandQuantity::key_norm:
            return Theme::key();
        case BandQuantity::value_norm:
            break;
    }
    return Theme::value();
}

}  // namespace

void ModelsPage::showLabels() {
    if (state_->answer(need::heads) == nullptr) return;  // what was chosen is kept for the next answer
    const QScopedValueRollback filling(filling_, true);
    const QString kept = label_->currentData().toString();
    label_->clear();
    label_->addItem(tr("all heads"), QString());
    for (const auto& [label, count] : AtlasView::countedLabels(*state_->answer(need::heads))) {
        const QString name = QString::fromStdString(label);
        label_->addItem(QStringLiteral("%1 (%2)").arg(name).arg(count), name);
    }
    label_->setCurrentIndex(std::max(0, label_->findData(kept)));
}

void ModelsPage::showHead() {
    {
        const QScopedValueRollback filling(filling_, true);
        layer_->setValue(state_->layer());
        head_->setValue(state_->head());
    }
    if (const HeadsAnswer* heads = state_->answer(need::heads))
        for (std::size_t i = 0; i < heads->heads.size(); ++i)
            if (&heads->heads[i] == state_->report()) bands_->setMarked(static_cast<int>(i), -1);
    showMap();
    showReach();
    showHeadBands();
    showKernels();
    showTokenMap();
}

void ModelsPage::showMap() {
    const HeadMap* attention = state_->answer(need::attention);
    const bool is_it =
        attention != nullptr && attention->layer == state_->layer() && attention->head == state_->head();
    map_title_->setText(state_->report() != nullptr ? titleOfHead(*state_->report())
                        : state_->summary() != nullptr
                            ? tr("layer %1, head %2").arg(state_->layer()).arg(state_->head())
                            : QString());
    map_title_->setToolTip(state_->report() != nullptr ? describeHead(*state_->report()) : QString());
    if (!is_it) {
        map_->setMap({});
        return;
    }
    map_->setCaption(
        tr("Attention weights of layer %1, head %2 of %3")
            .arg(attention->layer)
            .arg(attention->head)
            .arg(state_->summary() != nullptr ? QString::fromStdString(state_->summary()->name) : QString()));
    map_->setMap(attention->map);
}

QString ModelsPage::pointedWeight(int row, int column) const {
    const HeadMap* attention = state_->answer(need::attention);
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

void ModelsPage::setReachQuantity(ReachQuantity quantity) {
    reach_quantity_->setCurrentIndex(static_cast<int>(quantity));
}

void ModelsPage::showReach() {
    const HeadMap* attention = state_->answer(need::attention);
    if (attention == nullptr || attention->layer != state_->layer() || attention->head != state_->head())
        return reach_->setCurves({}, {});
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
    const double turn = state_->summary() != nullptr && !state_->summary()->theta.empty()
                            ? 2 * std::numbers::pi / state_->summary()->theta.back()
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

void ModelsPage::setQuantity(BandQuantity quantity) {
    quantity_->setCurrentIndex(static_cast<int>(quantity));
}

void ModelsPage::showBands() {
    const HeadsAnswer* heads = state_->answer(need::heads);
    if (heads == nullptr || heads->heads.empty()) return bands_->setMap({});
    const auto quantity = static_cast<BandQuantity>(quantity_->currentIndex());
    const auto pairs = numbersOf(heads->heads.front(), quantity).size();
    if (pairs == 0) return bands_->setMap({});
    auto values = std::make_shared<Eigen::MatrixXd>(static_cast<Eigen::Index>(heads->heads.size()), pairs);
    HeatMapView::Map map;
    for (std::size_t i = 0; i < heads->heads.size(); ++i) {
        const HeadReport& report = heads->heads[i];
        values->row(static_cast<Eigen::Index>(i)) = numbersOf(report, quantity).transpose();
        map.row_labels << QStringLiteral("%1·%2").arg(report.layer).arg(report.head);
    }
    for (Eigen::Index pair = 0; pair < pairs; ++pair)
        map.column_labels << QString::number(pair);
    map.scale = quantity == BandQuantity::score_share ? HeatMapView::Scale::diverging
                                                      : HeatMapView::Scale::sequential;
    map.limit = HeatMapView::limitOf(*values, false);
    map.values = values;
    map.row_labels_are_names = true;
    map.row_name = tr("layer·head");
    map.column_name = tr("pair, the fastest first");
    map.value_name = quantity_->currentText();
    const QString with = state_->change().isNothing() ? QString() : tr(", with the change");
    bands_->setTitle(tr("%1, by head and pair%2").arg(quantity_->currentText(), with));
    bands_->setCaption(
        tr("%1 of every pair in every head of %2, %3 tokens")
            .arg(quantity_->currentText(),
                 state_->summary() != nullptr ? QString::fromStdString(state_->summary()->name) : QString())
            .arg(heads->tokens.size()));
    map.pyramid = HeatMapView::makePyramid(*map.values, map.scale, map.limit, false);
    bands_->setMap(std::move(map));
}

QString ModelsPage::pointedBand(int row, int column) const {
    const HeadsAnswer* heads = state_->answer(need::heads);
    if (heads == nullptr || row < 0 || column < 0 || row >= static_cast<int>(heads->heads.size())) return {};
    const HeadReport& report = heads->heads[static_cast<std::size_t>(row)];
    const auto& theta = heads->theta.at(static_cast<std::size_t>(report.layer));
    QString said = tr("layer %1, head %2, pair %3").arg(report.layer).arg(report.head).arg(column);
    if (column < static_cast<int>(theta.size())) {
        const double turn = 2 * std::numbers::pi / theta[static_cast<std::size_t>(column)];
        said += tr(" (a turn in %1 tokens)").arg(noteNumber(turn, 3));
    }
    if (column < report.bands.share.size())
        said += tr(": share of the scores %1 %").arg(noteNumber(100 * report.bands.share[column], 3));
    return said + tr("; lengths of q %1, k %2, v %3")
                      .arg(noteNumber(report.query_norms[column], 3), noteNumber(report.key_norms[column], 3),
                           noteNumber(report.value_norms[column], 3));
}

QString ModelsPage::titleOf(const ModelsState& state) const {
    return isPublishedModel(state.model()) ? modelTitle(state.model()) : QFileInfo(state.model()).fileName();
}

/// A run's is that of its method, as everywhere.
QColor ModelsPage::colorOf(const ModelsState& state, const Theme& theme) const {
    const RunWatcher* run = store_.find(state.model());
    return run != nullptr && run->specification() ? Theme::method(run->specification()->methodName())
                                                  : theme.frame;
}

void ModelsPage::setMean(bool mean) {
    mean_->setChecked(mean);
}

/// Of the chosen head, or the mean over all; nothing where it is not known.
std::optional<Eigen::VectorXd> ModelsPage::bandsOf(const ModelsState& state) const {
    const auto quantity = static_cast<BandQuantity>(quantity_->currentIndex());
    const HeadsAnswer* heads = state.answer(need::heads);
    if (heads == nullptr || heads->heads.empty()) return std::nullopt;
    Eigen::VectorXd sum;
    int counted = 0;
    for (const HeadReport& report : heads->heads) {
        if (!mean_->isChecked() && (report.layer != state_->layer() || report.head != state_->head()))
            continue;
        const Eigen::VectorXd& numbers = numbersOf(report, quantity);
        sum = counted == 0 ? numbers : Eigen::VectorXd(sum + numbers);
        ++counted;
    }
    if (counted == 0) return std::nullopt;
    return Eigen::VectorXd(sum / counted);
}

void ModelsPage::showHeadBands() {
    const Theme theme = Theme::of(palette());
    const auto quantity = static_cast<BandQuantity>(quantity_->currentIndex());
    std::vector<BarChart::Series> series;
    Eigen::Index pairs = 0;
    const bool two = beside_state_->answer(need::heads) != nullptr;
    for (const ModelsState* state : {state_, beside_state_})
        if (const auto numbers = bandsOf(*state)) {
            const bool is_first = state == state_;
            pairs = std::max(pairs, numbers->size());
            series.push_back({is_first ? QStringLiteral("value") : QStringLiteral("beside"),
                              titleOf(*state),
                              two ? colorOf(*state, theme) : roper::colorOf(quantity, theme),
                              {numbers->begin(), numbers->end()},
                              {}});
        }
    if (series.empty()) return head_bands_->setBars({}, {});
    std::vector<int> places;
    for (int pair = 0; pair < pairs; ++pair)
        places.push_back(pair);
    for (BarChart::Series& one : series)
        one.values.resize(static_cast<std::size_t>(pairs), 0);  // a model of fewer pairs
    const QString of = mean_->isChecked() ? tr("mean of all heads")
                                          : tr("layer %1, head %2").arg(state_->layer()).arg(state_->head());
    head_bands_->setHeadline(QStringLiteral("%1, %2").arg(quantity_->currentText(), of));
    head_bands_->setCaption(tr("%1 by pair, %2").arg(quantity_->currentText(), of));
    head_bands_->setBars(places, series);
}

void ModelsPage::setOverTraining(bool over_training) {
    over_training_->setChecked(over_training);
}

namespace {

/// The two curves of a kernel: its norm, and its direction.
struct KernelCurves {
    std::vector<CurveChart::Curve> norms, directions;

    void add(CurveChart::Curve curve, const ValueKernel& kernel) {
        for (std::size_t distance = 0; distance < kernel.norm.size(); ++distance)
            curve.x << static_cast<double>(distance);
        curve.y = {kernel.norm.begin(), kernel.norm.end()};
        norms.push_back(curve);
        curve.y = {kernel.cosine.begin(), kernel.cosine.end()};
        directions.push_back(std::move(curve));
    }
};

}  // namespace

void ModelsPage::showKernels() {
    const ModelSummary* summary = state_->summary();
    over_training_->setEnabled(summary != nullptr && summary->checkpoints.size() > 1);
    const KernelHistory* history = state_->answer(need::kernel_history);
    const bool over_training = over_training_->isEnabled() && over_training_->isChecked();
    const bool has_history =
        history != nullptr && history->layer == state_->layer() && history->head == state_->head();
    if (summary == nullptr || (over_training ? !has_history : state_->answer(need::kernels) == nullptr)) {
        kernels_->setCurves({}, {});
        return directions_->setCurves({}, {});
    }
    const QString where = over_training ? tr("head %1 of layer %2").arg(state_->head()).arg(state_->layer())
                                        : tr("the heads of layer %1").arg(state_->layer());
    const QString same =
        summary->rotates_values ? QString() : tr(": values do not rotate, so K is the same everywhere");
    kernels_->setTitle(tr("‖K(δ)‖ of %1%2").arg(where, same));
    directions_->setTitle(tr("Direction of K(δ) beside K(0)"));
    const QString model = QString::fromStdString(summary->name);
    kernels_->setCaption(tr("‖K(δ)‖, K(δ) = W_O R(−δ) W_V, %1 of %2").arg(where, model));
    directions_->setCaption(tr("Cosine of K(δ) and K(0), %1 of %2").arg(where, model));
    for (CurveChart* chart : {kernels_, directions_})
        chart->setYFloor(0.0);
    if (over_training)
        showKernelsOverTraining();
    else
        showKernelsOfHeads();
}

/// All heads of the layer, and the chosen head of the model beside.
void ModelsPage::showKernelsOfHeads() {
    const Theme theme = Theme::of(palette());
    KernelCurves curves;
    const auto heads = static_cast<int>(state_->summary()->heads);
    for (int head = 0; head < heads; ++head)
        curves.add({QStringLiteral("head_%1").arg(head),
                    tr("head %1").arg(head),
                    theme.pair(head, std::max(2, heads)),
                    {},
                    {},
                    false,
                    head == state_->head(),
                    {}},
                   state_->answer(need::kernels)
                       ->kernels.at(static_cast<std::size_t>(state_->layer() * heads + head)));
    if (const KernelsAnswer* beside = beside_state_->answer(need::kernels);
        beside != nullptr && beside_state_->summary() != nullptr) {
        const ModelSummary& other = *beside_state_->summary();
        if (state_->layer() < other.layers && state_->head() < other.heads)
            curves.add(
                {QStringLiteral("beside"),
                 tr("head %1 of %2").arg(state_->head()).arg(titleOf(*beside_state_)),
                 colorOf(*beside_state_, theme),
                 {},
                 {},
                 false,
                 true,
                 {}},
                beside->kernels.at(static_cast<std::size_t>(state_->layer() * other.heads + state_->head())));
    }
    kernels_->setCurves(curves.norms, {});
    directions_->setCurves(curves.directions, {});
}

/// The chosen head at every checkpoint. Of many the legend names a few.
void ModelsPage::showKernelsOverTraining() {
    constexpr int kNamed = 6;
    const Theme theme = Theme::of(palette());
    const KernelHistory& history = *state_->answer(need::kernel_history);
    const auto count = static_cast<int>(history.steps.size());
    const int every = std::max(1, (count + kNamed - 1) / kNamed);
    KernelCurves curves;
    for (int i = 0; i < count; ++i) {
        const auto step = history.steps[static_cast<std::size_t>(i)];
        CurveChart::Curve curve{QStringLiteral("step_%1").arg(step),
                                tr("step %1").arg(step),
                                theme.pair(i, std::max(2, count)),
                                {},
                                {},
                                false,
                                i == count - 1,
                                {}};
        curve.in_legend = (count - 1 - i) % every == 0;
        curves.add(std::move(curve), history.kernels[static_cast<std::size_t>(i)]);
    }
    kernels_->setCurves(curves.norms, {});
    directions_->setCurves(curves.directions, {});
}

void ModelsPage::showTokenMap() {
    const TokenMap* answer = state_->answer(need::token_map);
    if (answer == nullptr || answer->layer != state_->layer() || answer->head != state_->head())
        return token_map_->setMap({});
    const auto n = static_cast<Eigen::Index>(answer->tokens.size());
    auto values = std::make_shared<Eigen::MatrixXd>(n, n);
    HeatMapView::Map map;
    for (Eigen::Index from = 0; from < n; ++from) {
        map.row_labels << shownToken(answer->tokens[static_cast<std::size_t>(from)]);
        for (Eigen::Index to = 0; to < n; ++to)
            (*values)(from, to) =
                answer->logits[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    }
    map.column_labels = map.row_labels;
    map.row_labels_are_names = true;
    map.scale = HeatMapView::Scale::diverging;
    map.limit = HeatMapView::limitOf(*values, false);
    map.values = values;
    map.pyramid = HeatMapView::makePyramid(*values, map.scale, map.limit, false);
    map.row_name = tr("attended token");
    map.column_name = tr("token whose logit");
    map.value_name = tr("logit");
    token_map_->setTitle(tr("What layer %1, head %2 adds to logits for a token %3 back")
                             .arg(answer->layer)
                             .arg(answer->head)
                             .arg(answer->distance));
    token_map_->setCaption(tr("W_U γ K(δ) x of layer %1, head %2 at δ = %3, for the tokens of the text")
                               .arg(answer->layer)
                               .arg(answer->head)
                               .arg(answer->distance));
    token_map_->setMap(std::move(map));
}

QString ModelsPage::pointedTokens(int row, int column) const {
    const TokenMap* answer = state_->answer(need::token_map);
    if (answer == nullptr || row < 0 || column < 0) return {};
    const auto from = static_cast<std::size_t>(row), to = static_cast<std::size_t>(column);
    return tr("“%1”, %2 tokens back, adds %3 to the logit of “%4” at weight 1")
        .arg(shownToken(answer->tokens[from]))
        .arg(answer->distance)
        .arg(noteNumber(answer->logits[from][to], 4), shownToken(answer->tokens[to]));
}

}  // namespace roper
