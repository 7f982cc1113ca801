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
                    "there is no run \"" + model.toStdString() + "\" in " + store_.folder().string());
}

/// @throws Error (usage) if the model has no such head
void InspectPage::openForPicture(const QString& model, const InspectPicture& picture) {
    state_->setNeeds({&need::model});
    state_->setText(QString::fromStdString(picture.look.text));
    state_->setChange(picture.look.change);
    state_->setModel(model);
    waitWhile([&] { return state_->isAsking(); }, "the answer of the model");
    if (state_->summary() == nullptr) throw Error(ErrorKind::usage, state_->message().toStdString());
    const ModelSummary& summary = *state_->summary();
    const std::int64_t layer = picture.look.layer.value_or(0), head = picture.look.head.value_or(0);
    if (layer >= summary.layers || head >= summary.heads)
        throw Error(ErrorKind::usage, "the model has layers 0 to " + std::to_string(summary.layers - 1) +
                                          " and heads 0 to " + std::to_string(summary.heads - 1));
    state_->setHead(static_cast<int>(layer), static_cast<int>(head));
    beside_state_->setNeeds({});
    const QString beside = QString::fromStdString(picture.beside);
    setBeside(isPublishedModel(beside) ? QFileInfo(beside).absoluteFilePath() : beside);
}

Figure& InspectPage::prepareFigure(FigureRequest request) {
    const QScopedValueRollback<bool> prepares(prepares_, true);
    InspectPicture picture;
    applySettings(inspectFields(), picture, request.settings);
    if (request.run.empty())
        throw Error(ErrorKind::usage, request.kind + " needs a model: --run NAME, a .gguf file or a folder");
    const QString kind = QString::fromStdString(request.kind);
    Figure& figure = pictures().named(request.kind);
    const auto has_it = [&](const ModelPanel* panel) {
        const PageFigures::Figures figures = panel->figures();
        return std::find(figures.begin(), figures.end(), &figure) != figures.end();
    };
    ModelPanel& shown = **std::find_if(panels_.begin(), panels_.end(), has_it);
    const std::vector<const Need*> needs = shown.needsOf(kind);
    if (picture.look.text.empty() && std::any_of(needs.begin(), needs.end(), [](const Need* need) {
            return need->questionKind().reads_text;
        }))
        throw Error(ErrorKind::usage, request.kind + " needs a text: --set text=…");
    const QString model = QString::fromStdString(request.run);
    requireModel(model);
    const bool is_of_run = needs.empty();  // drawn from the run's files, without an answer of the model
    if (!is_of_run)
        openForPicture(model, picture);
    else if (isPublishedModel(model) &&
             (request.kind == "solved-by-size" || request.kind == "learned-positions"))
        throw Error(ErrorKind::usage, request.kind + " is of runs; this model has no such numbers");
    else
        state_->setModel(model);
    if (kind == panel<GenerationPanel>().continuation().figureName() && picture.look.text.empty())
        throw Error(ErrorKind::usage, "continuation needs a text: --set text=…");
    shown.prepare(kind, picture);
    if (is_of_run) {
        shown.refreshNow();
        return figure;
    }
    // The colouring is known now and may need more answers.
    for (InspectState* state : {beside_state_, state_})
        state->setNeeds(shown.needsOf(kind));
    for (InspectState* state : {beside_state_, state_}) {
        waitWhile([&] { return state->isAsking(); },
                  state == state_ ? "the answer of the model" : "the answer of the model beside it");
        if (!state->message().isEmpty()) throw Error(ErrorKind::usage, state->message().toStdString());
    }
    shown.refreshNow();
    return figure;
}

}  // namespace roper
