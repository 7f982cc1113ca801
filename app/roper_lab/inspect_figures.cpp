#include "app/roper_lab/inspect_figures.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// The settings by key, each read once as what it is.
class Settings {
  public:
    explicit Settings(const InspectSettings& settings) {
        for (const auto& [key, value] : settings) {
            const auto help = inspectSettingsHelp();
            if (std::none_of(help.begin(), help.end(),
                             [&, name = key](const auto& line) { return line.first == name; }))
                throw Error(ErrorKind::usage, "pictures of a model have no setting \"" + key + "\"");
            values_[key] = value;
        }
    }

    std::optional<std::string> text(const std::string& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<std::int64_t> number(const std::string& key, std::int64_t most) const {
        const auto value = text(key);
        if (!value) return std::nullopt;
        const auto number = parseInteger(*value);
        if (!number || *number < 0 || *number > most)
            throw Error(ErrorKind::usage, key + " must be a whole number from 0 to " + std::to_string(most) +
                                              ", not \"" + *value + "\"");
        return *number;
    }
    double real(const std::string& key, double missing) const {
        const auto value = text(key);
        if (!value) return missing;
        const auto number = parseNumber(*value);
        if (!number || !(*number >= 0 && *number <= 100))
            throw Error(ErrorKind::usage, key + " must be a number from 0 to 100, not \"" + *value + "\"");
        return *number;
    }

  private:
    std::map<std::string, std::string> values_;
};

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

void showHeads(InspectState& state, const Settings& settings, std::optional<std::int64_t> step) {
    if (const auto text = settings.text("text")) {
        state.setStep(step);
        state.askForMaps(QString::fromStdString(*text));
        waitWhile([&] { return state.isAsking(); });
    } else {
        state.showSnapshot(snapshotOf(state, step));
    }
    if (!state.message().isEmpty()) throw Error(ErrorKind::usage, state.message().toStdString());
    const HeadMaps& maps = *state.maps();
    const auto layer = settings.number("layer", maps.layers - 1).value_or(0);
    const auto head = settings.number("head", maps.heads - 1).value_or(0);
    state.setHead(static_cast<std::size_t>(layer * maps.heads + head));
}

std::vector<std::string> learnedQuantities() {
    return {"query_key_frequency", "value_frequency", "relative_bias", "least_denominator"};
}

/// @throws Error (usage) if the run has no such numbers
void showLearned(LearnedView& view, const Settings& settings) {
    view.refresh();
    if (const auto quantity = settings.text("quantity")) {
        const int index = view.quantity().findData(QString::fromStdString(*quantity));
        if (index < 0)
            throw Error(ErrorKind::usage, "the run has recorded no \"" + *quantity + "\"; there are " +
                                              join(learnedQuantities(), ", "));
        view.quantity().setCurrentIndex(index);
    }
    if (view.chart().curves().empty())
        throw Error(ErrorKind::usage, "this run's positions have nothing to learn or to watch");
    const auto layer = settings.number("layer", std::max(0, view.layer().count() - 1)).value_or(0);
    view.layer().setCurrentIndex(static_cast<int>(layer));
}

}  // namespace

void waitWhile(const std::function<bool()>& is_busy) {
    constexpr int kPatience_ms = 600000;
    QElapsedTimer clock;
    clock.start();
    while (is_busy() && clock.elapsed() < kPatience_ms)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
}

std::vector<std::pair<std::string, std::string>> inspectSettingsHelp() {
    return {{"at", "step: of a snapshot or, with a text, of a checkpoint"},
            {"text", "that the model reads or goes on with"},
            {"layer", "of the head that is shown large, from 0"},
            {"head", "the same"},
            {"count", "characters that the model writes"},
            {"temperature", "0 writes the likeliest character"},
            {"seed", "of the draws"},
            {"character", "whose step is framed, from 0"},
            {"problems", "of each size"},
            {"quantity", "of learned-positions: " + join(learnedQuantities(), ", ")}};
}

void prepareInspection(InspectPage& page, const std::string& kind, const std::string& run,
                       const InspectSettings& asked) {
    const Settings settings(asked);
    InspectState& state = page.state();
    if (run.empty()) throw Error(ErrorKind::usage, kind + " needs a run: --run NAME");
    if (state.store().find(QString::fromStdString(run)) == nullptr)
        throw Error(ErrorKind::usage,
                    "there is no run \"" + run + "\" in " + state.store().folder().string());
    state.setRun(QString::fromStdString(run));
    const auto step = settings.number("at", std::numeric_limits<std::int64_t>::max());
    if (kind == "heads" || kind == "head") return showHeads(state, settings, step);
    if (kind == "learned-positions") return showLearned(page.learned(), settings);
    state.setStep(step);
    if (kind == "continuation") {
        const auto text = settings.text("text");
        if (!text) throw Error(ErrorKind::usage, "continuation needs a text: --set text=…");
        state.askToGoOn(QString::fromStdString(*text),
                        static_cast<int>(settings.number("count", kLongestContinuation).value_or(64)),
                        settings.real("temperature", 0), settings.number("seed", 1000000).value_or(0));
        waitWhile([&] { return state.isAsking(); });
        page.continuation().choose(
            static_cast<int>(settings.number("character", kLongestContinuation).value_or(0)));
    } else {
        state.askForSizes(static_cast<int>(settings.number("problems", 1024).value_or(16)));
        waitWhile([&] { return state.isCountingSizes(); });
    }
    if (!state.message().isEmpty()) throw Error(ErrorKind::usage, state.message().toStdString());
}

}  // namespace roper
