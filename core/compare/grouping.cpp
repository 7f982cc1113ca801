#include "core/compare/grouping.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "core/base/text.h"
#include "core/compare/experiment.h"

namespace roper {
namespace {

constexpr auto kTitle = "about.title";  // here with the differences from the preset
constexpr auto kPosition = "model.position";
constexpr auto kInitialWeights = "training.initial_weights";
constexpr auto kImported = "imported";  // marks runs with some unknown settings

bool distinguishesExperiments(const SpecificationField& field) {
    static const std::set<std::string> sections = {"about", "device", "checkpoints", "snapshots"};
    static const std::set<std::string> fields = {"training.data_seed", "training.model_seed",
                                                 "training.report_every"};
    return sections.count(field.section) == 0 && fields.count(field.key()) == 0;
}

/// Fields that a run does not read, or whose value is unknown, do not identify it.
bool identifiesRun(const SpecificationField& field, const Specification& specification) {
    return distinguishesExperiments(field) && isKnown(field, specification) &&
           !unusedReason(field, specification);
}

/// Values of the identifying fields, by key.
std::map<std::string, std::string> identityOf(const Specification& specification) {
    std::map<std::string, std::string> identity;
    for (const SpecificationField& field : specificationFields())
        if (identifiesRun(field, specification)) identity[field.key()] = field.text(specification);
    identity[kPosition] = specification.methodName();
    if (!specification.about.known.empty()) identity[kImported] = "yes";
    // Two files with unknown methods are not assumed to be seeds of one experiment.
    if (specification.about.method == kUnknownMethod) identity[kTitle] = specification.about.title;
    return identity;
}

/// Fields that belong to a method: named in labels only if they differ from their default.
bool isPartOfMethod(const std::string& key) {
    static const std::set<std::string> keys = {"model.attention",
                                               "model.kv_heads",
                                               "model.shared_kv",
                                               "model.block",
                                               "model.latent_rank",
                                               "model.qk_norm",
                                               "model.attention_sinks",
                                               "model.window",
                                               "model.no_rotation_every",
                                               "model.frequencies",
                                               "model.rotated_part",
                                               "model.rotary_fraction",
                                               "model.value_rotary_fraction",
                                               "model.pairing",
                                               "model.frequency_formula",
                                               "model.base",
                                               "training.objective",
                                               "model.value_rotation_strength",
                                               "training.value_rotation_warmup",
                                               kInitialWeights};
    return keys.count(key) > 0;
}

/// "width 64", "frequencies trained", "linear attention, 1 + cosine"; empty for defaults.
std::string settingText(const SpecificationField& field, const Specification& specification) {
    static const Specification defaults;
    const std::string value = field.text(specification);
    if (isPartOfMethod(field.key()) && value == field.text(defaults)) return {};
    if (field.hasKey("task.text")) return "text " + std::filesystem::path(value).filename().string();
    if (value == "linear_numerator") return "linear attention, numerator rotated";
    if (field.hasKey(kInitialWeights)) return "from " + value;
    if (field.hasKey("model.kv_heads"))
        return value + (value == "1" ? " key/value head" : " key/value heads");
    if (field.hasKey("model.shared_kv")) return "keys are the values";
    if (field.hasKey("model.qk_norm")) return "query-key norm";
    if (field.hasKey("model.attention_sinks")) return "attention sinks";
    if (field.hasKey("model.no_rotation_every")) return "1 in " + value + " layers unrotated";
    if (value == "linear_cosine") return "linear attention, 1 + cosine";
    if (value == "masked") return "masked tokens";
    std::string name = field.name;
    std::ranges::replace(name, '_', ' ');
    return name + " " + value;
}

/// Texts of the settings among `differing`, except task and method; those of defaults are left out.
std::vector<std::string> settingTexts(const Specification& specification,
                                      const std::set<std::string>& differing) {
    std::vector<std::string> texts;
    for (const SpecificationField& field : specificationFields()) {
        const std::string key = field.key();
        if (key == "task.name" || key == kPosition || differing.count(key) == 0) continue;
        if (!identifiesRun(field, specification)) continue;
        if (std::string text = settingText(field, specification); !text.empty())
            texts.push_back(std::move(text));
    }
    return texts;
}

/// @param title  of its settings, included if the groups differ in it
std::string labelOf(const Specification& specification, const std::string& title,
                    const std::set<std::string>& differing) {
    std::vector<std::string> parts;
    const bool is_titled = differing.count(kTitle) > 0;
    if (differing.count("task.name") > 0 && !is_titled && isKnown("task.name", specification))
        parts.push_back(specification.task.name);
    const bool says_imported = is_titled && specification.about.method == kUnknownMethod;
    if (!says_imported) parts.push_back(specification.methodTitle());
    const bool is_partly_known =
        !specification.about.known.empty() && specification.about.method != kUnknownMethod;
    if (is_partly_known && differing.count(kImported) > 0 && !is_titled) parts.emplace_back(kImported);
    for (std::string& text : settingTexts(specification, differing))
        parts.push_back(std::move(text));
    const std::string label = join(parts, ", ");
    return !is_titled ? label : parts.empty() ? title : title + ": " + label;
}

using Groups = std::map<std::string, RunGroup>;

/// Whether the groups come from several presets: titles then say more than any field.
bool comeFromSeveralPresets(const Groups& groups) {
    std::set<std::string> titles;
    for (const auto& [key, group] : groups)
        titles.insert(group.specification.about.title);
    titles.erase("");
    return titles.size() > 1;
}

/// A small set of fields that give every group a distinct label, in addition to task and method, chosen
/// greedily by the number of groups that they distinguish. A field that another determines adds nothing and
/// is not chosen.
/// @param by_title  whether the titles of their settings also distinguish groups
std::set<std::string> distinguishingFields(const Groups& groups, bool by_title) {
    std::vector<std::map<std::string, std::string>> identities;
    std::set<std::string> all;
    for (const auto& [key, group] : groups) {
        identities.push_back(identityOf(group.specification));
        if (by_title) identities.back()[kTitle] = settingsTitle(group.specification);
        for (const auto& [name, value] : identities.back())
            all.insert(name);
    }
    const auto differentLabels = [&](const std::set<std::string>& fields) {
        std::set<std::vector<std::string>> labels;
        for (const auto& identity : identities) {
            std::vector<std::string> label;
            for (const std::string& field : fields) {
                const auto found = identity.find(field);
                label.push_back(found == identity.end() ? std::string() : found->second);
            }
            labels.insert(label);
        }
        return labels.size();
    };
    std::set<std::string> chosen = {kPosition};
    if (by_title) chosen.insert(kTitle);
    for (const char* always : {"task.name", "training.objective", kImported})
        if (differentLabels({always}) > 1) chosen.insert(always);
    while (differentLabels(chosen) < identities.size()) {
        std::string best;
        std::size_t most = differentLabels(chosen);
        for (const std::string& field : all) {
            std::set<std::string> with = chosen;
            with.insert(field);
            if (const std::size_t labels = differentLabels(with); labels > most) {
                most = labels;
                best = field;
            }
        }
        if (best.empty()) break;
        chosen.insert(best);
    }
    return chosen;
}

/// The user-given name of the experiment to which all runs of a group belong; otherwise empty.
std::string givenExperiment(const RunGroup& group, std::span<const RunRecord> runs) {
    const std::string& name = runs[group.runs.front()].labels.experiment;
    const bool is_one =
        std::ranges::all_of(group.runs, [&](std::size_t run) { return runs[run].labels.experiment == name; });
    return is_one && isUserGivenName(group.specification, name) ? name : std::string();
}

void labelBySettings(Groups& groups) {
    const std::set<std::string> differing = distinguishingFields(groups, comeFromSeveralPresets(groups));
    std::vector<std::string> titles(groups.size());
    if (differing.count(kTitle) > 0)
        titles = distinguishingTitles(
            mapped(groups, [](const auto& group) { return group.second.specification; }));
    std::size_t index = 0;
    for (auto& [key, group] : groups)
        group.label = labelOf(group.specification, titles[index++], differing);
}

/// Labels groups by experiment if there are several and the user named all, and within each by settings.
void label(Groups& groups, std::span<const RunRecord> runs) {
    std::map<std::string, Groups> by_experiment;
    for (auto& [key, group] : groups)
        by_experiment[givenExperiment(group, runs)][key] = group;
    if (by_experiment.size() < 2 || by_experiment.count("") > 0) return labelBySettings(groups);
    for (auto& [experiment, parts] : by_experiment) {
        labelBySettings(parts);
        for (auto& [key, part] : parts)
            groups.at(key).label = experiment + ": " + part.label;
    }
}

}  // namespace

std::string precisionOf(const RunRecord& run) {
    std::set<std::string> all;
    for (const ComputeEnvironment& computation : run.computations)
        all.insert(computation.precision);
    return join({all.begin(), all.end()}, ", ");
}

bool haveSamePrecision(const RunRecord& a, const RunRecord& b) {
    return a.computations.empty() || b.computations.empty() || precisionOf(a) == precisionOf(b);
}

std::optional<std::size_t> findTwin(std::span<const RunRecord> runs, std::size_t of) {
    const Specification& specification = runs[of].specification;
    const auto& methods = twinMethods();
    const auto found = std::ranges::find(methods, specification.methodName());
    if (found == methods.end() || !seedsAreKnown(specification)) return std::nullopt;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Specification& candidate = runs[i].specification;
        const bool is_twin =
            seedsAreKnown(candidate) && candidate.methodName() != specification.methodName() &&
            hasElement(methods, candidate.methodName()) && seedsOf(candidate) == seedsOf(specification) &&
            (groupKey(withPosition(specification, candidate.model.position)) == groupKey(candidate) ||
             groupKey(withPosition(candidate, specification.model.position)) == groupKey(specification));
        if (!is_twin) continue;
        const auto worth = [&](std::size_t run) {
            const Specification& other = runs[run].specification;
            // Settings that only the other method reads have their defaults.
            const bool is_plain =
                groupKey(withPosition(specification, other.model.position)) == groupKey(other);
            return std::tuple(is_plain, haveSamePrecision(runs[run], runs[of]),
                              runs[run].state == RunState::finished, runs[run].name);
        };
        if (!best || worth(i) > worth(*best)) best = i;
    }
    return best;
}

std::vector<std::string> differingFields(const Specification& a, const Specification& b) {
    const auto of_a = identityOf(a), of_b = identityOf(b);
    std::vector<std::string> names;
    for (const SpecificationField& field : specificationFields()) {
        const auto in_a = of_a.find(field.key()), in_b = of_b.find(field.key());
        const bool both = in_a != of_a.end() && in_b != of_b.end();
        // A field that only one method has is part of the method.
        if (!both || field.hasKey(kPosition) || in_a->second == in_b->second) continue;
        names.push_back(field.name);
        std::ranges::replace(names.back(), '_', ' ');
    }
    return names;
}

std::vector<std::string> differingSettings(const Specification& a, const Specification& b) {
    std::vector<std::string> settings;
    for (const SpecificationField& field : specificationFields()) {
        if (field.hasKey(kPosition) || !identifiesRun(field, a) || field.text(a) == field.text(b)) continue;
        if (const std::string text = settingText(field, a); !text.empty()) settings.push_back(text);
    }
    return settings;
}

std::vector<std::string> distinguishingSettings(const std::vector<Specification>& specifications) {
    Groups groups;
    for (const Specification& specification : specifications)
        groups[groupKey(specification)].specification = specification;
    const std::set<std::string> differing = distinguishingFields(groups, false);
    return mapped(specifications, [&](const Specification& specification) {
        return join(settingTexts(specification, differing), ", ");
    });
}

std::string groupKey(const Specification& specification) {
    std::string key;
    for (const auto& [name, value] : identityOf(specification)) {
        key += name;
        key += '=';
        key += value;
        key += '\n';
    }
    return key;
}

std::vector<RunGroup> groupRuns(std::span<const RunRecord> runs) {
    std::map<std::string, RunGroup> by_key;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        RunGroup& group = by_key[groupKey(runs[i].specification)];
        if (group.runs.empty()) group.specification = runs[i].specification;
        group.runs.push_back(i);
    }
    label(by_key, runs);
    std::vector<RunGroup> groups;
    for (auto& [key, group] : by_key) {
        group.key = key;
        std::ranges::sort(group.runs, [&](std::size_t a, std::size_t b) {
            const auto rank = [&](std::size_t i) {
                return std::pair(seedsOf(runs[i].specification), runs[i].name);
            };
            return rank(a) < rank(b);
        });
        groups.push_back(std::move(group));
    }
    std::ranges::sort(groups, {}, &RunGroup::label);
    return groups;
}

}  // namespace roper
