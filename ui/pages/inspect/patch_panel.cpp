#include "ui/pages/inspect/patch_panel.h"

#include <numeric>

#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {

PatchPanel::PatchPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Patching"), tr("Which heads carry an answer"), models, parent),
      patch_map_(
          makeMap(QStringLiteral("patching"),
                  tr("“Patch every head” shows the share of the logit difference that each head restores."),
                  answers::patch, &PatchPanel::headReadout)),
      patch_positions_(new BarChart(QStringLiteral("patching-positions"), tr("token"), {}, this)),
      other_(named(new LineEdit, tr("Other text"),
                   tr("A text with the same number of tokens and a different correct answer"))),
      patch_button_(named(new QPushButton(tr("Patch every head")), tr("Patch every head"),
                          tr("Each head's output on the text is patched into a pass over the other text: how "
                             "much of the text's answer does that restore? One pass per head"))) {
    other_->setPlaceholderText(
        tr("another text with the same number of tokens and a different correct answer"));
    patch_positions_->setEmptyText(tr("Click a head to patch it token by token."));
    connect(patch_button_, &QPushButton::clicked, this, [this] { ask(false); });
    connect(other_, &LineEdit::textChanged, this, &PatchPanel::enableButton);
    connect(patch_map_, &HeatMapView::cellClicked, this, [this](int row, int column) {
        if (state().answer(answers::patch) == nullptr || row < 0 || column < 0) return;
        state().setHead(row, column);
        ask(true);
    });
    offerHeads(*patch_map_, [this](const QPointF& at) {
        const QPoint cell = patch_map_->cellAt(at);
        return state().answer(answers::patch) == nullptr || cell.x() < 0
                   ? std::nullopt
                   : std::optional(std::pair(cell.y(), cell.x()));
    });
    connect(patch_positions_, &BarChart::categoryHovered, this,
            [this](int position) { emit hovered(tokenReadout(position)); });
    forwardReadouts(patch_positions_);
    columnOf({rowOf({patch_button_, {other_, 1}}),
              {makeSplitter(Qt::Vertical, {patch_map_, patch_positions_}, {420, 220}), 1}},
             this);
}

void PatchPanel::ask(bool positions) {
    Question question{"patch"};
    question.other = other_->text().toStdString();
    question.positions = positions;
    state().request(positions ? answers::patch_positions : answers::patch, question);
}

void PatchPanel::prepare(const QString& figure, const InspectFigureSettings& picture) {
    Question question = picture.question;
    question.positions = figure == patch_positions_->figureName();
    state().request(question.positions ? answers::patch_positions : answers::patch, question);
}

void PatchPanel::enableButton() {
    patch_button_->setEnabled(state().summary() != nullptr && !other_->text().trimmed().isEmpty());
}

void PatchPanel::refresh() {
    enableButton();
    showPatch();
    showPatchPositions();
}

QString PatchPanel::headReadout(const PatchAnswer& answer, std::size_t row, std::size_t column) const {
    return tr("layer %1, head %2 restores %3 % of the difference; click to see where")
        .arg(row)
        .arg(column)
        .arg(numberText(100 * answer.restored[row][column], 3));
}

QString PatchPanel::tokenReadout(int position) const {
    const PatchAnswer* answer = state().answer(answers::patch_positions);
    if (answer == nullptr || position < 0) return {};
    const auto token = static_cast<std::size_t>(position);
    return tr("token %1, “%2” (in the other text “%3”): restores %4 %")
        .arg(position)
        .arg(formatToken(answer->tokens[token]), formatToken(answer->other_tokens[token]),
             numberText(100 * answer->restored.front()[token], 3));
}

void PatchPanel::showPatch() {
    const PatchAnswer* answer = state().answer(answers::patch);
    if (answer == nullptr) return patch_map_->setMap({});
    patch_map_->setTitle(tr("Share of the logit difference “%1” − “%2” that each head restores")
                             .arg(formatToken(answer->answer), formatToken(answer->other_answer)));
    patch_map_->setCaption(tr("Activation patching: the share of the difference between the logits of “%1” "
                              "and “%2” that a head's output restores")
                               .arg(formatToken(answer->answer), formatToken(answer->other_answer)));
    patch_map_->setMap(answerMap(answer->restored, {tr("layer"), tr("head"), tr("share restored")},
                                 HeatMapView::Scale::diverging));
    patch_map_->setMarked(state().layer(), state().head());
}

void PatchPanel::showPatchPositions() {
    const PatchAnswer* answer = state().answer(answers::patch_positions);
    patch_positions_->clearCategoryNames();
    if (answer == nullptr) return patch_positions_->setBars({}, {});
    std::vector<int> categories(answer->tokens.size());
    std::iota(categories.begin(), categories.end(), 0);
    patch_positions_->setHeadline(
        tr("What layer %1, head %2 restores, position by position").arg(answer->layer).arg(answer->head));
    patch_positions_->setCaption(
        tr("Activation patching of layer %1, head %2, by position").arg(answer->layer).arg(answer->head));
    patch_positions_->setBars(
        categories,
        {{QStringLiteral("restored"), tr("share restored"), Theme::output(), answer->restored.front(), {}}});
}

}  // namespace roper
