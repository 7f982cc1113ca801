#include <QFileInfo>
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "ui/live/published_models.h"
#include "ui/pages/models/models_fields.h"
#include "ui/pages/models/models_page.h"

// The pictures of the Models page without a window.

namespace roper {
namespace {

/// Kinds of pictures, and what each needs.
const std::vector<std::pair<std::string, std::vector<const Need*>>>& pictureNeeds() {
    static const std::vector<std::pair<std::string, std::vector<const Need*>>> needs = {
        {"surprise", {&need::reading, &need::changed}},
        {"predictions", {&need::reading, &need::changed}},
        {"head-atlas", {&need::heads}},
        {"model-head", {&need::heads, &need::attention}},
        {"all-heads", {&need::thumbnails}},
        {"reach", {&need::heads, &need::attention}},
        {"bands", {&need::heads}},
        {"head-bands", {&need::heads}},
        {"kernels", {&need::kernels, &need::kernel_history}},
        {"kernel-directions", {&need::kernels, &need::kernel_history}},
        {"token-map", {&need::token_map}},
        {"band-subsets", {&need::reading}},
        {"longer-text", {&need::reading}},
        {"needle", {&need::reading}},
        {"logit-lens", {&need::lens}},
        {"patching", {&need::reading}},
        {"patching-positions", {&need::reading}}};
    return needs;
}

}  // namespace

Figure& ModelsPage::prepareFigure(FigureRequest request) {
    ModelsPicture picture;
    applySettings(modelsFields(), picture, request.settings);
    if (request.run.empty())
        throw Error(ErrorKind::usage, request.kind + " needs a model: --run NAME, a .gguf file or a folder");
    const QString model = QString::fromStdString(request.run);
    if (!isPublishedModel(model)) {
        store_.readAll();
        if (store_.find(model) == nullptr)
            throw Error(ErrorKind::usage,
                        "there is no run \"" + request.run + "\" in " + store_.folder().string());
    }
    const auto needs = std::find_if(pictureNeeds().begin(), pictureNeeds().end(),
                                    [&](const auto& one) { return one.first == request.kind; });
    const bool needs_text = needs->first != "kernels" && needs->first != "kernel-directions";
    if (needs_text && picture.look.text.empty())
        throw Error(ErrorKind::usage, request.kind + " needs a text: --set text=…");
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
    shade_->setCurrentIndex(static_cast<int>(picture.shade));
    colour_->setCurrentIndex(static_cast<int>(picture.colour));
    setQuantity(picture.quantity);
    setReachQuantity(picture.reach);
    distance_->setValue(static_cast<int>(picture.look.distance));
    setMean(picture.mean);
    if (picture.over_training && summary.checkpoints.size() < 2)
        throw Error(ErrorKind::usage, "over_training needs a run with several checkpoints; " + request.run +
                                          " has " + std::to_string(summary.checkpoints.size()));
    setOverTraining(picture.over_training);
    static const std::map<std::string, std::pair<const Need*, std::string>> requested = {
        {"band-subsets", {&need::subsets, "subsets"}},
        {"longer-text", {&need::lengths, "lengths"}},
        {"needle", {&need::needle, "needle"}},
        {"patching", {&need::patch, "patch"}},
        {"patching-positions", {&need::patch_positions, "patch"}}};
    if (const auto found = requested.find(request.kind); found != requested.end()) {
        Question question = picture.look;
        question.what = found->second.second;
        question.positions = request.kind == "patching-positions";
        if (question.what == "subsets" && !question.count) question.count = 4;
        state_->request(*found->second.first, question);
    }
    beside_state_->setNeeds({});
    const QString beside = QString::fromStdString(picture.beside);
    setBeside(isPublishedModel(beside) ? QFileInfo(beside).absoluteFilePath() : beside);
    beside_state_->setNeeds(needs->second);
    state_->setNeeds(needs->second);
    waitWhile([&] { return beside_state_->isAsking(); }, "the answer of the model beside it");
    if (!beside_state_->message().isEmpty())
        throw Error(ErrorKind::usage, beside_state_->message().toStdString());
    waitWhile([&] { return state_->isAsking(); }, "the answer of the model");
    if (!state_->message().isEmpty()) throw Error(ErrorKind::usage, state_->message().toStdString());
    if (picture.token) surprise_->choose(static_cast<int>(*picture.token));
    return pictures().named(request.kind);
}

}  // namespace roper
