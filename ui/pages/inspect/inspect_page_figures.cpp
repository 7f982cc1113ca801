#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/live/published_models.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/pages/inspect/inspect_page.h"

// The pictures of the Inspect page without a window.

namespace roper {
namespace {

/// A number that must be below a count. @throws Error (usage)
std::int64_t below(const std::string& key, std::int64_t number, std::int64_t count) {
    if (number < count) return number;
    throw Error(ErrorKind::usage, key + " must be a whole number from 0 to " + std::to_string(count - 1) +
                                      ", not \"" + std::to_string(number) + "\"");
}

/// The snapshot of a step. @throws Error (usage) naming those that there are
int snapshotOf(const InspectState& state, std::optional<std::int64_t> step) {
    const auto& snapshots = state.snapshots();
    std::vector<std::string> steps;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        if (step && snapshots[i].step == *step) return static_cast<int>(i);
        steps.push_back(std::to_string(snapshots[i].step));
    }
    if (steps.empty()) throw Error(ErrorKind::usage, "the run has no snapshots; name a text: --set text=…");
    if (!step) return static_cast<int>(snapshots.size()) - 1;
    throw Error(ErrorKind::usage,
                "the run has no snapshot at step " + std::to_string(*step) + "; it has " + join(steps, ", "));
}

void showHeads(InspectState& state, const InspectQuestion& question) {
    if (question.text) {
        state.setStep(question.step);
        state.askForMaps(QString::fromStdString(*question.text));
        waitWhile([&] { return state.isAsking(); }, "the answer of the model");
    } else {
        state.showSnapshot(snapshotOf(state, question.step));
    }
    if (!state.message().isEmpty()) throw Error(ErrorKind::usage, state.message().toStdString());
    const HeadMaps& maps = *state.maps();
    const std::int64_t layer = below("layer", question.layer, maps.layers),
                       head = below("head", question.head, maps.heads);
    state.setHead(static_cast<std::size_t>(layer * maps.heads + head));
}

/// @throws Error (usage) if the run has no such numbers
void showLearned(LearnedView& view, const InspectQuestion& question) {
    view.refresh();
    if (question.quantity) {
        const int index = view.quantity().findData(QString::fromStdString(*question.quantity));
        std::vector<std::string> recorded;
        for (int i = 0; i < view.quantity().count(); ++i)
            recorded.push_back(view.quantity().itemData(i).toString().toStdString());
        if (index < 0)
            throw Error(ErrorKind::usage, "the run has recorded no \"" + *question.quantity +
                                              "\"; there are " + join(recorded, ", "));
        view.quantity().setCurrentIndex(index);
    }
    if (view.chart().curves().empty())
        throw Error(ErrorKind::usage, "this run's positions have nothing to learn or to watch");
    view.layer().setCurrentIndex(
        static_cast<int>(below("layer", question.layer, std::max(1, view.layer().count()))));
}

}  // namespace

Figure& InspectPage::prepareFigure(FigureRequest request) {
    InspectQuestion question;
    applySettings(inspectFields(), question, request.settings);
    store_.readAll();
    if (request.run.empty()) throw Error(ErrorKind::usage, request.kind + " needs a run: --run NAME");
    const bool is_published = isPublishedModel(QString::fromStdString(request.run));
    if (is_published && (request.kind == "solved-by-size" || request.kind == "learned-positions"))
        throw Error(ErrorKind::usage, request.kind + " is of runs; this model has no such numbers");
    if (!is_published && store_.find(QString::fromStdString(request.run)) == nullptr)
        throw Error(ErrorKind::usage,
                    "there is no run \"" + request.run + "\" in " + store_.folder().string());
    state_->setRun(QString::fromStdString(request.run));
    if (request.kind == "heads" || request.kind == "head") {
        showHeads(*state_, question);
    } else if (request.kind == "learned-positions") {
        showLearned(*learned_, question);
    } else {
        state_->setStep(question.step);
        if (request.kind == "continuation") {
            if (!question.text) throw Error(ErrorKind::usage, "continuation needs a text: --set text=…");
            state_->generate(QString::fromStdString(*question.text), static_cast<int>(question.count),
                             question.temperature, question.seed);
            waitWhile([&] { return state_->isAsking(); }, "the answer of the model");
            continuation_->choose(static_cast<int>(question.token));
        } else {
            state_->askForSizes(static_cast<int>(question.problems));
            waitWhile([&] { return state_->isCountingSizes(); }, "the answer of the model");
        }
        if (!state_->message().isEmpty()) throw Error(ErrorKind::usage, state_->message().toStdString());
    }
    return pictures().named(request.kind);
}

}  // namespace roper
