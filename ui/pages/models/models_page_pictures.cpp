#include <QFileInfo>
#include <algorithm>

#include "core/base/error.h"
#include "ui/live/published_models.h"
#include "ui/pages/models/models_fields.h"
#include "ui/pages/models/models_page.h"

// The pictures of the Models page without a window.

namespace roper {

/// @throws Error (usage) if there is no such model, or no such head in it
void ModelsPage::openForPicture(const QString& model, const ModelsPicture& picture) {
    if (!isPublishedModel(model)) {
        store_.readAll();
        if (store_.find(model) == nullptr)
            throw Error(ErrorKind::usage,
                        "there is no run \"" + model.toStdString() + "\" in " + store_.folder().string());
    }
    state_->setNeeds({});
    state_->setText(QString::fromStdString(picture.look.text));
    state_->setChange(picture.look.change);
    state_->setModel(model);
    waitWhile([&] { return state_->isAsking(); }, "the answer of the model");
    if (state_->summary() == nullptr) throw Error(ErrorKind::usage, state_->message().toStdString());
    const ModelSummary& summary = *state_->summary();
    if (picture.look.layer >= summary.layers || picture.look.head >= summary.heads)
        throw Error(ErrorKind::usage, "the model has layers 0 to " + std::to_string(summary.layers - 1) +
                                          " and heads 0 to " + std::to_string(summary.heads - 1));
    state_->setHead(static_cast<int>(picture.look.layer), static_cast<int>(picture.look.head));
    beside_state_->setNeeds({});
    const QString beside = QString::fromStdString(picture.beside);
    setBeside(isPublishedModel(beside) ? QFileInfo(beside).absoluteFilePath() : beside);
}

Figure& ModelsPage::prepareFigure(FigureRequest request) {
    ModelsPicture picture;
    applySettings(modelsFields(), picture, request.settings);
    if (request.run.empty())
        throw Error(ErrorKind::usage, request.kind + " needs a model: --run NAME, a .gguf file or a folder");
    const QString kind = QString::fromStdString(request.kind);
    Figure& figure = pictures().named(request.kind);
    const auto has_it = [&](const ModelPanel* panel) {
        const PageFigures::Figures figures = panel->figures();
        return std::find(figures.begin(), figures.end(), &figure) != figures.end();
    };
    ModelPanel& panel = **std::find_if(panels_.begin(), panels_.end(), has_it);
    const std::vector<const Need*> needs = panel.needsOf(kind);
    if (picture.look.text.empty() && std::any_of(needs.begin(), needs.end(), [](const Need* need) {
            return need->questionKind().reads_text;
        }))
        throw Error(ErrorKind::usage, request.kind + " needs a text: --set text=…");
    openForPicture(QString::fromStdString(request.run), picture);
    panel.prepare(kind, picture);
    beside_state_->setNeeds(needs);
    state_->setNeeds(needs);
    for (ModelsState* state : {beside_state_, state_}) {
        waitWhile([&] { return state->isAsking(); },
                  state == state_ ? "the answer of the model" : "the answer of the model beside it");
        if (!state->message().isEmpty()) throw Error(ErrorKind::usage, state->message().toStdString());
    }
    panel.refreshNow();
    return figure;
}

}  // namespace roper
