#include "app/roper_lab/inspect_figures.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// What is to be seen of a run: a snapshot or a text, a layer and head, a prompt.
struct InspectQuestion {
    std::optional<std::int64_t> step;
    std::optional<std::string> text, quantity;
    std::int64_t layer = 0, head = 0;
    std::int64_t count = 64, character = 0, seed = 0, problems = 16;
    double temperature = 0;
};

std::vector<std::string> learnedQuantities() {
    return {"query_key_frequency", "value_frequency", "relative_bias", "least_denominator"};
}

const std::vector<Field<InspectQuestion>>& inspectFields() {
    using Q = InspectQuestion;
    const auto make = [](FieldInfo info, auto member) {
        return field<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.*member; });
    };
    const auto makeOptional = [](FieldInfo info, auto member) {
        return optionalField<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.*member; });
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    static const std::vector<Field<Q>> fields = {
        makeOptional(
            {"", "at", "", "step: of a snapshot or, with a text, of a checkpoint", IntegerRange{0, kMost}},
            &Q::step),
        makeOptional({"", "text", "", "that the model reads or continues", AnyText()}, &Q::text),
        make({"", "layer", "", "of the head that is shown large, from 0", IntegerRange{0, 4095}}, &Q::layer),
        make({"", "head", "", "the same", IntegerRange{0, 4095}}, &Q::head),
        make({"", "count", "characters", "that the model writes", IntegerRange{0, kLongestContinuation}},
             &Q::count),
        make({"", "temperature", "", "0 writes the likeliest character", RealRange{0, 100}}, &Q::temperature),
        make({"", "seed", "", "of the draws", IntegerRange{0, 1000000}}, &Q::seed),
        make({"", "character", "", "whose step is framed, from 0", IntegerRange{0, kLongestContinuation}},
             &Q::character),
        make({"", "problems", "", "of each size", IntegerRange{0, 1024}}, &Q::problems),
        makeOptional({"", "quantity", "", "of learned-positions", Choice{learnedQuantities(), {}}},
                     &Q::quantity)};
    return fields;
}

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
        waitWhile([&] { return state.isAsking(); });
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

void waitWhile(const std::function<bool()>& is_busy) {
    constexpr int kPatience_ms = 600000;
    QElapsedTimer clock;
    clock.start();
    while (is_busy()) {
        if (clock.elapsed() > kPatience_ms)
            throw Error(ErrorKind::other, "the model has not answered within ten minutes");
        QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
    }
}

std::vector<const FieldInfo*> inspectFieldInfos() {
    std::vector<const FieldInfo*> infos;
    for (const auto& one : inspectFields())
        infos.push_back(&one);
    return infos;
}

void prepareInspection(InspectPage& page, const std::string& kind, const std::string& run,
                       const InspectSettings& settings) {
    InspectQuestion question;
    applySettings(inspectFields(), question, settings);
    InspectState& state = page.state();
    if (run.empty()) throw Error(ErrorKind::usage, kind + " needs a run: --run NAME");
    if (state.store().find(QString::fromStdString(run)) == nullptr)
        throw Error(ErrorKind::usage,
                    "there is no run \"" + run + "\" in " + state.store().folder().string());
    state.setRun(QString::fromStdString(run));
    if (kind == "heads" || kind == "head") return showHeads(state, question);
    if (kind == "learned-positions") return showLearned(page.learned(), question);
    state.setStep(question.step);
    if (kind == "continuation") {
        if (!question.text) throw Error(ErrorKind::usage, "continuation needs a text: --set text=…");
        state.askToGoOn(QString::fromStdString(*question.text), static_cast<int>(question.count),
                        question.temperature, question.seed);
        waitWhile([&] { return state.isAsking(); });
        page.continuation().choose(static_cast<int>(question.character));
    } else {
        state.askForSizes(static_cast<int>(question.problems));
        waitWhile([&] { return state.isCountingSizes(); });
    }
    if (!state.message().isEmpty()) throw Error(ErrorKind::usage, state.message().toStdString());
}

}  // namespace roper
