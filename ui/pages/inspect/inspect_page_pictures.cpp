#include <QFileInfo>
#include <QScopedValueRollback>
#include <algorithm>

#include "core/base/error.h"
#include "ui/live/published_models.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/pages/inspect/inspect_page.h"

// Figures of the Inspect page drawn without a window.

namespace roper {

/// @throws Error (usage) if there is no such run or published model
void InspectPage::requireModel(const QString& model) {
    if (isPublishedModel(model)) return;
    store_.readAll();
    if (store_.find(model) == nullptr)
        throw Error(ErrorKind::usage,
                    "no run \"" + model.toStdString() + "\" in " + store_.folder().string());
}

/// @throws Error (usage) if the model has no such head
void InspectPage::openForFigure(const QString& model, const InspectFigureSettings& picture) {
    state_->setRequiredAnswers({&answers::model});
    state_->setText(QString::fromStdString(picture.question.text));
    state_->setChange(picture.question.change);
    state_->setModel(model);
    waitWhile([&] { return state_->isAsking(); }, "the answer of the model");
    if (state_->summary() == nullptr) throw Error(ErrorKind::usage, state_->message().toStdString());
    const ModelSummary& summary = *state_->summary();
    const std::int64_t layer = picture.question.layer.value_or(0), head = picture.question.head.value_or(0);
    if (layer >= summary.layers || head >= summary.heads)
        throw Error(ErrorKind::usage, "the model has layers 0 to " + std::to_string(summary.layers - 1) +
                                          " and heads 0 to " + std::to_string(summary.heads - 1));
    state_->setHead(static_cast<int>(layer), static_cast<int>(head));
    comparison_state_->setRequiredAnswers({});
    const QString comparison = QString::fromStdString(picture.comparison);
    setComparison(isPublishedModel(comparison) ? QFileInfo(comparison).absoluteFilePath() : comparison);
}

Figure& InspectPage::prepareFigure(FigureRequest request) {
    const QScopedValueRollback<bool> prepares(is_preparing_, true);
    InspectFigureSettings picture;
    applySettings(inspectFields(), picture, request.settings);
    if (request.run.empty())
        throw Error(ErrorKind::usage, request.kind + " needs a model: --run NAME, a .gguf file or a folder");
    const QString kind = QString::fromStdString(request.kind);
    Figure& figure = pageFigures().named(request.kind);
    const auto has_it = [&](const ModelPanel* panel) {
        const PageFigures::Figures figures = panel->figures();
        return std::find(figures.begin(), figures.end(), &figure) != figures.end();
    };
    ModelPanel& shown = **std::find_if(panels_.begin(), panels_.end(), has_it);
    const std::vector<const AnswerSpec*> requiredAnswers = shown.answersForFigure(kind);
    if (picture.question.text.empty() &&
        std::any_of(requiredAnswers.begin(), requiredAnswers.end(),
                    [](const AnswerSpec* spec) { return spec->questionKind().reads_text; }))
        throw Error(ErrorKind::usage, request.kind + " needs a text: --set text=…");
    const QString model = QString::fromStdString(request.run);
    requireModel(model);
    const bool is_of_run =
        requiredAnswers.empty();  // drawn from the run's files, without an answer of the model
    if (!is_of_run)
        openForFigure(model, picture);
    else if (isPublishedModel(model) &&
             (request.kind == "solved-by-size" || request.kind == "learned-positions"))
        throw Error(ErrorKind::usage, request.kind + " is only for runs; this model has no such numbers");
    else
        state_->setModel(model);
    if (kind == panel<GenerationPanel>().continuation().figureName() && picture.question.text.empty())
        throw Error(ErrorKind::usage, "continuation needs a text: --set text=…");
    shown.prepare(kind, picture);
    if (is_of_run) {
        shown.refreshNow();
        return figure;
    }
    // The colouring is known now and may spec more answers.
    for (InspectState* state : {comparison_state_, state_})
        state->setRequiredAnswers(shown.answersForFigure(kind));
    for (InspectState* state : {comparison_state_, state_}) {
        waitWhile([&] { return state->isAsking(); },
                  state == state_ ? "the answer of the model" : "the answer of the other model");
        if (!state->message().isEmpty()) throw Error(ErrorKind::usage, state->message().toStdString());
    }
    shown.refreshNow();
    return figure;
}

}  // namespace roper
