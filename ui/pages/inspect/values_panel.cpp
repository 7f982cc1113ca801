#include "ui/pages/inspect/values_panel.h"

#include <algorithm>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
/// Two curves for each kernel by distance: ‖K(δ)‖, and the cosine of K(δ) and K(0).
struct ValuesPanel::KernelCurves {
    std::vector<CurveChart::Curve> norms, directions;

    void add(const ValueKernel& kernel, const QString& key, const QString& label, const QColor& color,
             bool bold, bool in_legend = true) {
        CurveChart::Curve curve{key, label, color, {}, {}, false, bold, {}};
        curve.in_legend = in_legend;
        for (std::size_t distance = 0; distance < kernel.norm.size(); ++distance)
            curve.x << static_cast<double>(distance);
        curve.y = {kernel.norm.begin(), kernel.norm.end()};
        norms.push_back(curve);
        curve.y = {kernel.cosine.begin(), kernel.cosine.end()};
        directions.push_back(std::move(curve));
    }
};

ValuesPanel::ValuesPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Values"), tr("Values by distance"), models, parent),
      kernels_(new CurveChart(QStringLiteral("kernels"), tr("distance δ, tokens"), tr("‖K(δ)‖"), this)),
      directions_(new CurveChart(QStringLiteral("kernel-directions"), tr("distance δ, tokens"),
                                 tr("cosine of K(δ) and K(0)"), this)),
      ov_(new CurveChart(QStringLiteral("ov-by-distance"), tr("distance δ, tokens"), tr("σ of K(δ)"), this)),
      token_map_(makeMap(QStringLiteral("token-map"),
                         tr("The chosen head's effect on the logits of each token is shown here."),
                         answers::token_map, &ValuesPanel::tokenPairReadout)),
      over_training_(named(new QCheckBox(tr("over training")), tr("Over training"),
                           tr("For a run: the chosen head at each checkpoint of the run"))),
      distance_(
          named(new QSpinBox, tr("Distance of the token map"), tr("How far back the attended token is"))) {
    kernels_->setEmptyText(tr("Each head's value kernel K(δ) is shown here."));
    directions_->setEmptyText({});
    ov_->setEmptyText(tr("The singular values of the chosen head's OV circuit are shown here."));
    distance_->setRange(0, 100000);
    distance_->setPrefix(tr("δ = "));
    connect(distance_, &QSpinBox::valueChanged, &state(), &InspectState::setDistance);
    connect(over_training_, &QCheckBox::toggled, this, [this] {
        emit requiredAnswersChanged();
        refresh();
    });
    forwardReadouts(kernels_, directions_, ov_);
    auto* curves = wrapInWidget(
        columnOf({{makeSplitter(Qt::Vertical, {kernels_, directions_}, {300, 300}), 1}, over_training_}));
    auto* map = wrapInWidget(
        columnOf({{makeSplitter(Qt::Vertical, {token_map_, ov_}, {360, 240}), 1}, makeFlowRow({distance_})}));
    columnOf({{makeSplitter(Qt::Horizontal, {curves, map}, {460, 520}), 1}}, this);
}

AnswerSpecs ValuesPanel::requiredAnswers() const {
    AnswerSpecs requiredAnswers{&answers::kernels, &answers::token_map, &answers::ov_by_distance,
                                &answers::predictions, &answers::changed_predictions};
    if (isOverTraining()) requiredAnswers.insert(requiredAnswers.begin(), &answers::kernel_history);
    return requiredAnswers;
}

AnswerSpecs ValuesPanel::answersForFigure(const QString& figure) const {
    if (figure == token_map_->figureName()) return {&answers::token_map};
    if (figure == ov_->figureName()) return {&answers::ov_by_distance};
    return {&answers::kernels, &answers::kernel_history};
}

void ValuesPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    distance_->setValue(static_cast<int>(picture.question.distance));
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
    showOv();
}

void ValuesPanel::showKernels() {
    const ModelSummary* summary = state().summary();
    over_training_->setEnabled(summary != nullptr && summary->checkpoints.size() > 1);
    const bool over_training = isOverTraining();
    const bool is_known = over_training ? answerForHead(answers::kernel_history) != nullptr
                                        : state().answer(answers::kernels) != nullptr;
    if (summary == nullptr || !is_known) {
        kernels_->setCurves({}, {});
        return directions_->setCurves({}, {});
    }
    const QString where = over_training ? tr("head %1 of layer %2").arg(state().head()).arg(state().layer())
                                        : tr("the heads of layer %1").arg(state().layer());
    const QString same = summary->rotates_values
                             ? QString()
                             : tr(": values do not rotate, so K is the same at every distance");
    kernels_->setTitle(tr("‖K(δ)‖ of %1%2").arg(where, same));
    directions_->setTitle(tr("Direction of K(δ) compared with K(0)"));
    kernels_->setCaption(tr("‖K(δ)‖, K(δ) = W_O R(−δ) W_V, %1 of %2").arg(where, modelName()));
    directions_->setCaption(tr("Cosine of K(δ) and K(0), %1 of %2").arg(where, modelName()));
    for (CurveChart* chart : {kernels_, directions_})
        chart->setYFloor(0.0);
    KernelCurves curves;
    if (over_training)
        addKernelsOverTraining(curves);
    else
        addKernelsOfHeads(curves);
    kernels_->setCurves(curves.norms, {});
    directions_->setCurves(curves.directions, {});
}

/// Adds all heads of the layer, and the chosen head of the comparison model.
void ValuesPanel::addKernelsOfHeads(KernelCurves& curves) const {
    const Theme theme = Theme::of(palette());
    const int layer = state().layer(), chosen = state().head();
    const auto kernelOf = [layer](const InspectState& model_state, int head) -> const ValueKernel& {
        const auto index = static_cast<std::size_t>(layer * model_state.summary()->heads + head);
        return model_state.answer(answers::kernels)->kernels.at(index);
    };
    const auto heads = static_cast<int>(state().summary()->heads);
    for (int head = 0; head < heads; ++head)
        curves.add(kernelOf(state(), head), QStringLiteral("head_%1").arg(head), tr("head %1").arg(head),
                   theme.pair(head, std::max(2, heads)), head == chosen);
    const ModelSummary* other = comparison().summary();
    if (other == nullptr || comparison().answer(answers::kernels) == nullptr) return;
    if (layer < other->layers && chosen < other->heads)
        curves.add(kernelOf(comparison(), chosen), QStringLiteral("comparison"),
                   tr("head %1 of %2").arg(chosen).arg(comparison().title()), comparison().color(theme),
                   true);
}

/// Adds the chosen head at every checkpoint. The legend lists only some of many checkpoints.
void ValuesPanel::addKernelsOverTraining(KernelCurves& curves) const {
    constexpr int kNamed = 6;
    const Theme theme = Theme::of(palette());
    const KernelHistory& history = *state().answer(answers::kernel_history);
    const auto count = static_cast<int>(history.steps.size());
    const int every = std::max(1, (count + kNamed - 1) / kNamed);
    for (int i = 0; i < count; ++i) {
        const auto step = history.steps[static_cast<std::size_t>(i)];
        curves.add(history.kernels[static_cast<std::size_t>(i)], QStringLiteral("step_%1").arg(step),
                   tr("step %1").arg(step), theme.pair(i, std::max(2, count)), i == count - 1,
                   (count - 1 - i) % every == 0);
    }
}

void ValuesPanel::showTokenMap() {
    const TokenMap* answer = answerForHead(answers::token_map);
    if (answer == nullptr) return token_map_->setMap({});
    HeatMapView::Map map = answerMap(answer->logits, {tr("attended token"), tr("output token"), tr("logit")},
                                     HeatMapView::Scale::diverging);
    map.row_labels = map.column_labels = formatTokens(answer->tokens);
    map.row_labels_are_names = true;
    const QString where = answer->distance == 0
                              ? tr("at the same position")
                              : countText(static_cast<int>(answer->distance), tr("position")) + tr(" back");
    token_map_->setTitle(tr("What layer %1, head %2 adds to logits for a token %3")
                             .arg(answer->layer)
                             .arg(answer->head)
                             .arg(where));
    token_map_->setCaption(
        tr("W_U γ K(δ) x of layer %1, head %2 at δ = %3, for the tokens of the text; γ: the "
           "weight of the final norm")
            .arg(answer->layer)
            .arg(answer->head)
            .arg(answer->distance));
    token_map_->setMap(std::move(map));
}

/// Shows the largest singular values by distance.
void ValuesPanel::showOv() {
    constexpr std::size_t kMaxCurves = 8;
    const OvByDistance* answer = answerForHead(answers::ov_by_distance);
    if (answer == nullptr) return ov_->setCurves({}, {});
    const Theme theme = Theme::of(palette());
    const std::size_t count = std::min(kMaxCurves, answer->singular_values.front().size());
    std::vector<CurveChart::Curve> curves(count);
    for (std::size_t i = 0; i < count; ++i) {
        CurveChart::Curve& curve = curves[i];
        curve.key = QStringLiteral("sigma_%1").arg(i + 1);
        curve.label = tr("σ%1").arg(i + 1);
        curve.color = theme.pair(static_cast<int>(i), std::max(2, static_cast<int>(count)));
        curve.in_legend = i % 3 == 0 || i + 1 == count;  // the legend lists only some of the curves
        for (std::size_t distance = 0; distance < answer->singular_values.size(); ++distance) {
            curve.x << static_cast<double>(distance);
            curve.y << answer->singular_values[distance][i];
        }
    }
    const auto [least, most] = std::ranges::minmax_element(answer->rank_90);
    const QString ranks = *least == *most ? QString::number(*least) : tr("%1 to %2").arg(*least).arg(*most);
    ov_->setYFloor(0.0);
    ov_->setTitle(tr("OV circuit of %1: 90 % of ‖K‖² at rank %2")
                      .arg(headTitle(state().layer(), state().head()), ranks));
    ov_->setCaption(
        tr("The largest singular values of K(δ) = W_O R(−δ) W_V, %1 of %2; 90 % of ‖K(δ)‖² need rank %3")
            .arg(headTitle(state().layer(), state().head()), modelName(), ranks));
    ov_->setCurves(curves, {});
}

QString ValuesPanel::tokenPairReadout(const TokenMap& answer, std::size_t row, std::size_t column) const {
    return tr("“%1”, %2 tokens back, adds %3 to the logit of “%4” at an attention weight of 1")
        .arg(formatToken(answer.tokens[row]), QString::number(answer.distance),
             numberText(answer.logits[row][column], 4), formatToken(answer.tokens[column]));
}

}  // namespace roper
