#include "ui/pages/inspect/values_panel.h"

#include <algorithm>

#include "core/base/error.h"
#include "ui/controls/named.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
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

ValuesPanel::ValuesPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Values"), tr("Values by distance"), models, parent),
      kernels_(new CurveChart(QStringLiteral("kernels"), tr("distance δ, tokens"), tr("‖K(δ)‖"), this)),
      directions_(new CurveChart(QStringLiteral("kernel-directions"), tr("distance δ, tokens"),
                                 tr("cosine of K(δ) and K(0)"), this)),
      token_map_(makeMap(QStringLiteral("token-map"),
                         tr("What the chosen head makes of each token is shown here."),
                         &ValuesPanel::pointedTokens)),
      over_training_(named(new QCheckBox(tr("over training")), tr("Over training"),
                           tr("Of a run: the chosen head at each checkpoint that the run has"))),
      distance_(named(new QSpinBox, tr("Distance of the token map"),
                      tr("How far back the token is that the head attends to"))) {
    kernels_->setEmptyText(tr("What each head makes of a value by its distance is shown here."));
    directions_->setEmptyText({});
    distance_->setRange(0, 100000);
    distance_->setPrefix(tr("δ = "));
    connect(distance_, &QSpinBox::valueChanged, &state(), &InspectState::setDistance);
    connect(over_training_, &QCheckBox::toggled, this, [this] {
        emit needsChanged();
        refresh();
    });
    hear(kernels_, directions_);
    auto* curves =
        column({{splitter(Qt::Vertical, {kernels_, directions_}, {300, 300}), 1}, {over_training_, 0}});
    auto* map = column({{token_map_, 1}});
    static_cast<QVBoxLayout*>(map->layout())->addLayout(row({distance_}));
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(splitter(Qt::Horizontal, {curves, map}, {460, 520}), 1);
}

std::vector<const Need*> ValuesPanel::needs() const {
    std::vector<const Need*> needs{&need::kernels, &need::token_map, &need::reading, &need::changed};
    if (isOverTraining()) needs.insert(needs.begin(), &need::kernel_history);
    return needs;
}

std::vector<const Need*> ValuesPanel::needsOf(const QString& figure) const {
    if (figure == token_map_->figureName()) return {&need::token_map};
    return {&need::kernels, &need::kernel_history};
}

void ValuesPanel::prepare(const QString&, const InspectPicture& picture) {
    distance_->setValue(static_cast<int>(picture.look.distance));
    const std::size_t checkpoints = state().summary()->checkpoints.size();
    if (picture.over_training && checkpoints < 2)
        throw Error(ErrorKind::usage, "over_training needs a run with several checkpoints; " +
                                          state().model().toStdString() + " has " +
                                          std::to_string(checkpoints));
    over_training_->setChecked(picture.over_training);
}

void ValuesPanel::refresh() {
    showKernels();
    showTokenMap();
}

void ValuesPanel::showKernels() {
    const ModelSummary* summary = state().summary();
    over_training_->setEnabled(summary != nullptr && summary->checkpoints.size() > 1);
    const KernelHistory* history = state().answer(need::kernel_history);
    const bool over_training = isOverTraining();
    const bool has_history =
        history != nullptr && history->layer == state().layer() && history->head == state().head();
    if (summary == nullptr || (over_training ? !has_history : state().answer(need::kernels) == nullptr)) {
        kernels_->setCurves({}, {});
        return directions_->setCurves({}, {});
    }
    const QString where = over_training ? tr("head %1 of layer %2").arg(state().head()).arg(state().layer())
                                        : tr("the heads of layer %1").arg(state().layer());
    const QString same =
        summary->rotates_values ? QString() : tr(": values do not rotate, so K is the same everywhere");
    kernels_->setTitle(tr("‖K(δ)‖ of %1%2").arg(where, same));
    directions_->setTitle(tr("Direction of K(δ) beside K(0)"));
    kernels_->setCaption(tr("‖K(δ)‖, K(δ) = W_O R(−δ) W_V, %1 of %2").arg(where, modelName()));
    directions_->setCaption(tr("Cosine of K(δ) and K(0), %1 of %2").arg(where, modelName()));
    for (CurveChart* chart : {kernels_, directions_})
        chart->setYFloor(0.0);
    if (over_training)
        showKernelsOverTraining();
    else
        showKernelsOfHeads();
}

/// All heads of the layer, and the chosen head of the model beside.
void ValuesPanel::showKernelsOfHeads() {
    const Theme theme = Theme::of(palette());
    KernelCurves curves;
    const auto heads = static_cast<int>(state().summary()->heads);
    for (int head = 0; head < heads; ++head)
        curves.add({QStringLiteral("head_%1").arg(head),
                    tr("head %1").arg(head),
                    theme.pair(head, std::max(2, heads)),
                    {},
                    {},
                    false,
                    head == state().head(),
                    {}},
                   state()
                       .answer(need::kernels)
                       ->kernels.at(static_cast<std::size_t>(state().layer() * heads + head)));
    if (const KernelsAnswer* kernels = beside().answer(need::kernels);
        kernels != nullptr && beside().summary() != nullptr) {
        const ModelSummary& other = *beside().summary();
        if (state().layer() < other.layers && state().head() < other.heads)
            curves.add({QStringLiteral("beside"),
                        tr("head %1 of %2").arg(state().head()).arg(beside().title()),
                        beside().color(theme),
                        {},
                        {},
                        false,
                        true,
                        {}},
                       kernels->kernels.at(
                           static_cast<std::size_t>(state().layer() * other.heads + state().head())));
    }
    kernels_->setCurves(curves.norms, {});
    directions_->setCurves(curves.directions, {});
}

/// The chosen head at every checkpoint. Of many the legend names a few.
void ValuesPanel::showKernelsOverTraining() {
    constexpr int kNamed = 6;
    const Theme theme = Theme::of(palette());
    const KernelHistory& history = *state().answer(need::kernel_history);
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

void ValuesPanel::showTokenMap() {
    const TokenMap* answer = state().answer(need::token_map);
    if (answer == nullptr || answer->layer != state().layer() || answer->head != state().head())
        return token_map_->setMap({});
    HeatMapView::Map map = answerMap(answer->logits, HeatMapView::Scale::diverging);
    map.row_labels = map.column_labels = shownTokens(answer->tokens);
    map.row_labels_are_names = true;
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

QString ValuesPanel::pointedTokens(int row, int column) const {
    const TokenMap* answer = state().answer(need::token_map);
    if (answer == nullptr) return {};
    const auto from = static_cast<std::size_t>(row), to = static_cast<std::size_t>(column);
    return tr("“%1”, %2 tokens back, adds %3 to the logit of “%4” at weight 1")
        .arg(shownToken(answer->tokens[from]))
        .arg(answer->distance)
        .arg(noteNumber(answer->logits[from][to], 4), shownToken(answer->tokens[to]));
}

}  // namespace roper
