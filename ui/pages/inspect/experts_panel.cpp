#include "ui/pages/inspect/experts_panel.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// The experts of a layer; null if the layer is no mixture of experts.
const ExpertsOfLayer* mixtureOf(const ExpertsAnswer& answer, std::size_t layer) {
    const auto found =
        std::ranges::find(answer.layers, static_cast<std::int64_t>(layer), &ExpertsOfLayer::layer);
    return found == answer.layers.end() ? nullptr : &*found;
}

/// A map with a row for each layer; rows of layers that are no mixtures of experts stay empty.
/// @param names   of rows, columns and values
/// @param limit   end of the color scale; 0: the largest number
/// @param row_of  the numbers of one layer [columns]
HeatMapView::Map mapByLayer(const ExpertsAnswer& answer, std::int64_t layers, std::size_t columns,
                            const MapNames& names, HeatMapView::Scale scale, double limit,
                            const std::function<std::vector<double>(const ExpertsOfLayer&)>& row_of) {
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(layers),
                                          std::vector<double>(columns, std::nan("")));
    for (const ExpertsOfLayer& mixture : answer.layers)
        rows.at(static_cast<std::size_t>(mixture.layer)) = row_of(mixture);
    HeatMapView::Map map = answerMap(rows, names, scale, limit);
    map.has_gaps = std::ssize(answer.layers) < layers;
    if (map.has_gaps) map.makePyramid();
    return map;
}

}  // namespace

ExpertsPanel::ExpertsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Experts"), tr("Which experts each token is routed to"), models, parent),
      choices_(makeMap(QStringLiteral("experts"), {}, answers::experts, &ExpertsPanel::choiceReadout)),
      counts_(makeMap(QStringLiteral("expert-counts"), tr("The load of each expert is shown here."),
                      answers::experts, &ExpertsPanel::countReadout)),
      color_(named(new QComboBox, tr("Color of the chosen experts"),
                   tr("The number of the expert with the highest score, or the weight of its output"))) {
    choices_->setAccessibleName(tr("Chosen experts by layer and token"));
    counts_->setAccessibleName(tr("Tokens of each expert by layer"));
    color_->addItems({tr("top-1 expert"), tr("weight of the top-1 expert")});
    connect(color_, &QComboBox::currentIndexChanged, this, &ExpertsPanel::refresh);
    // Whether there is anything to ask depends on the model.
    connect(&state(), &InspectState::modelChanged, this, [this] {
        if (isVisible()) emit requiredAnswersChanged();
    });
    columnOf({{color_, 0, Qt::AlignLeft}, {makeSplitter(Qt::Vertical, {choices_, counts_}, {400, 260}), 1}},
             this);
}

/// Models without mixtures of experts are not asked about experts, because they would refuse.
AnswerSpecs ExpertsPanel::requiredAnswers() const {
    if (hasNoMixtures()) return {&answers::predictions, &answers::changed_predictions};
    return {&answers::experts, &answers::predictions, &answers::changed_predictions};
}

void ExpertsPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    color_->setCurrentIndex(static_cast<int>(picture.expert_color));
}

void ExpertsPanel::refresh() {
    const bool has_none = hasNoMixtures();
    color_->setVisible(!has_none);
    counts_->setVisible(!has_none);
    const QString note =
        has_none
            ? tr("%1 has no mixtures of experts: every token uses all of its parameters.").arg(modelName())
            : state().placeholder(tr("The experts of each token are shown here."));
    choices_->setEmptyText(note);
    choices_->setAccessibleDescription(has_none ? note : QString());
    const ExpertsAnswer* answer = state().answer(answers::experts);
    if (state().summary() == nullptr || answer == nullptr || answer->layers.empty()) {
        choices_->setMap({});
        counts_->setMap({});
        return;
    }
    showChoices(*answer);
    showCounts(*answer);
}

void ExpertsPanel::showChoices(const ExpertsAnswer& answer) {
    const bool shows_weight = color() == ExpertColor::weight;
    const auto last_expert = static_cast<double>(answer.layers.front().counts.size()) - 1;
    HeatMapView::Map map =
        mapByLayer(answer, state().summary()->layers, answer.tokens.size(),
                   {tr("layer"), tr("token"), shows_weight ? tr("weight") : tr("expert")},
                   shows_weight ? HeatMapView::Scale::sequential : HeatMapView::Scale::categorical,
                   shows_weight ? 0 : std::max(1.0, last_expert), [&](const ExpertsOfLayer& mixture) {
                       std::vector<double> row;
                       for (std::size_t t = 0; t < answer.tokens.size(); ++t)
                           row.push_back(shows_weight ? mixture.weights[t].front()
                                                      : static_cast<double>(mixture.experts[t].front()));
                       return row;
                   });
    map.column_labels = formatTokens(answer.tokens);
    choices_->setTitle(shows_weight ? tr("Weight of the expert with the highest score, by layer and token")
                                    : tr("Expert with the highest score, by layer and token"));
    choices_->setCaption(
        (shows_weight ? tr("The weight of the expert that the router of each layer of %1 scores highest for "
                           "each of %2 tokens; each token is routed to %3 experts")
                      : tr("The expert that the router of each layer of %1 scores highest for each of %2 "
                           "tokens; each token is routed to %3 experts"))
            .arg(modelName())
            .arg(answer.tokens.size())
            .arg(answer.layers.front().experts.front().size()));
    choices_->setMap(std::move(map));
}

void ExpertsPanel::showCounts(const ExpertsAnswer& answer) {
    counts_->setTitle(tr("How many tokens are routed to each expert"));
    counts_->setCaption(tr("How many of %1 tokens are routed to each expert in every layer of %2")
                            .arg(answer.tokens.size())
                            .arg(modelName()));
    HeatMapView::Map map =
        mapByLayer(answer, state().summary()->layers, answer.layers.front().counts.size(),
                   {tr("layer"), tr("expert"), tr("tokens")}, HeatMapView::Scale::sequential, 0,
                   [](const ExpertsOfLayer& mixture) {
                       return std::vector<double>(mixture.counts.begin(), mixture.counts.end());
                   });
    map.has_whole_numbers = true;
    counts_->setMap(std::move(map));
}

QString ExpertsPanel::choiceReadout(const ExpertsAnswer& answer, std::size_t row, std::size_t column) const {
    const ExpertsOfLayer* const found = mixtureOf(answer, row);
    if (found == nullptr) return tr("layer %1 is not a mixture of experts").arg(row);
    const ExpertsOfLayer& mixture = *found;
    QStringList choices;
    for (std::size_t k = 0; k < mixture.experts[column].size(); ++k)
        choices << tr("expert %1 with weight %2")
                       .arg(mixture.experts[column][k])
                       .arg(numberText(mixture.weights[column][k], 3));
    return tr("layer %1, token %2, “%3”: %4")
        .arg(mixture.layer)
        .arg(column)
        .arg(formatToken(answer.tokens[column]), choices.join(QStringLiteral(", ")));
}

QString ExpertsPanel::countReadout(const ExpertsAnswer& answer, std::size_t row, std::size_t column) const {
    const ExpertsOfLayer* const found = mixtureOf(answer, row);
    if (found == nullptr) return tr("layer %1 is not a mixture of experts").arg(row);
    const ExpertsOfLayer& mixture = *found;
    const auto tokens = static_cast<double>(answer.tokens.size());
    const double each = tokens * static_cast<double>(mixture.experts.front().size()) /
                        static_cast<double>(mixture.counts.size());
    return tr("layer %1, expert %2: %3 of %4 tokens; %5 if all experts were used equally often")
        .arg(mixture.layer)
        .arg(column)
        .arg(mixture.counts[column])
        .arg(tokens)
        .arg(numberText(each, 3));
}

}  // namespace roper
