#include "core/compare/experiment.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/grouping.h"
#include "core/specification/presets.h"

namespace roper {
namespace {

/// The bundled presets by title; empty if there are none.
const std::map<std::string, Specification>& presetsByTitle() {
    static const std::map<std::string, Specification> presets = [] {
        std::map<std::string, Specification> found;
        try {
            for (const std::string& name : presetNames()) {
                const Specification specification = loadPreset(name).specification;
                found.emplace(specification.about.title, specification);
            }
        } catch (const Error&) {
            // Titles then omit the differences.
        }
        return found;
    }();
    return presets;
}

/// The specification with RoPE and seeds 0, without settings that only other methods read.
Specification withoutMethodAndSeeds(const Specification& specification) {
    Specification same = withPosition(specification, twinMethods().front());
    same.training.data_seed = same.training.model_seed = 0;
    return same;
}

struct Title {
    std::string preset;  ///< title of the preset, or of the task
    std::vector<std::string> differences;

    std::string text() const {
        return differences.empty() ? preset : preset + ", " + join(differences, ", ");
    }
};

Title titleOf(const Specification& specification) {
    // For imported metrics with an unknown method the settings are also unknown.
    if (specification.about.method == kUnknownMethod) return {specification.about.title, {}};
    const auto preset = presetsByTitle().find(specification.about.title);
    Specification standard;
    standard.task = specification.task;
    if (preset != presetsByTitle().end()) standard = preset->second;
    return {specification.about.title.empty() ? specification.task.name : specification.about.title,
            differingSettings(withoutMethodAndSeeds(specification), withoutMethodAndSeeds(standard))};
}

/// "2026-11-24 12:10", in local time.
std::string minuteText(std::time_t time) {
    std::array<char, 32> minute{};
    std::tm local{};
    ::localtime_r(&time, &local);
    std::strftime(minute.data(), minute.size(), "%Y-%m-%d %H:%M", &local);
    return minute.data();
}

/// "Associative recall" for "associative_recall".
std::string taskTitle(std::string name) {
    std::ranges::replace(name, '_', ' ');
    if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return name;
}

constexpr auto kBetweenParts = " · ";

/// Task, method and seed, as far as they are known.
std::string shortName(const RunRecord& run) {
    const Specification& specification = run.specification;
    if (specification.about.method == kUnknownMethod)
        return specification.about.title.empty() ? run.name : specification.about.title;
    std::vector<std::string> parts;
    if (isKnown("task.name", specification)) parts.push_back(taskTitle(specification.task.name));
    parts.push_back(specification.methodTitle());
    if (const std::string seeds = seedText(specification); !seeds.empty()) parts.push_back(seeds);
    return join(parts, kBetweenParts);
}

/// Tells runs with the same name apart: appends a text to each of their names, unless all these texts agree.
/// @param textsOf  returns the texts for the runs with the given indices; empty ones are not appended
template <class PartsOf>
void tellApart(std::vector<std::string>& names, PartsOf textsOf) {
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t run = 0; run < names.size(); ++run)
        by_name[names[run]].push_back(run);
    for (const auto& [name, runs] : by_name) {
        if (runs.size() < 2) continue;
        const std::vector<std::string> parts = textsOf(runs);
        if (std::set<std::string>(parts.begin(), parts.end()).size() < 2) continue;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (!parts[i].empty()) names[runs[i]] += kBetweenParts + parts[i];
    }
}

}  // namespace

std::string settingsTitle(const Specification& specification) {
    return titleOf(specification).text();
}

std::vector<std::string> distinguishingTitles(const std::vector<Specification>& specifications) {
    std::vector<Title> titles;
    std::map<std::string, std::size_t> count;  // number of specifications with a difference
    for (const Specification& specification : specifications) {
        titles.push_back(titleOf(specification));
        for (const std::string& difference : titles.back().differences)
            ++count[difference];
    }
    std::vector<std::string> texts;
    for (Title& title : titles) {
        if (titles.size() > 1)
            std::erase_if(title.differences,
                          [&](const std::string& difference) { return count[difference] == titles.size(); });
        std::ranges::stable_sort(title.differences, [&](const std::string& a, const std::string& b) {
            return count[a] < count[b];
        });
        texts.push_back(title.text());
    }
    return texts;
}

std::string experimentKey(const Specification& specification, const std::string& experiment) {
    return experiment.empty() ? "settings\n" + specification.about.title + '\n' +
                                    groupKey(withoutMethodAndSeeds(specification))
                              : "name\n" + experiment;
}

std::string experimentName(const Specification& specification, const std::string& experiment) {
    return experiment.empty() ? settingsTitle(specification) : experiment;
}

bool isUserGivenName(const Specification& specification, const std::string& experiment) {
    const std::string title = settingsTitle(specification);
    return !experiment.empty() && experiment != title && !experiment.starts_with(title + ", ");
}

std::string newExperimentName(const Specification& specification, const std::set<std::string>& existing_names,
                              std::time_t now) {
    const std::string name = settingsTitle(specification) + ", " + minuteText(now);
    std::string free = name;
    for (int number = 2; existing_names.count(free) > 0; ++number)
        free = name + " (" + std::to_string(number) + ")";
    return free;
}

std::string seedText(const Specification& specification) {
    if (!seedsAreKnown(specification)) return {};
    const std::string data = std::to_string(specification.training.data_seed),
                      model = std::to_string(specification.training.model_seed);
    return data == model ? "seed " + data : "seeds " + data + ", " + model;
}

std::vector<std::string> displayNames(std::span<const RunRecord> runs) {
    std::vector<std::string> names = mapped(runs, shortName);
    const auto tellApartBy = [&](auto textOf) {
        tellApart(names, [&](const std::vector<std::size_t>& shared) {
            return mapped(shared, [&](std::size_t run) { return textOf(runs[run]); });
        });
    };
    tellApart(names, [&](const std::vector<std::size_t>& shared) {
        return distinguishingSettings(
            mapped(shared, [&](std::size_t run) { return runs[run].specification; }));
    });
    tellApartBy([](const RunRecord& run) {
        const std::string& experiment = run.labels.experiment;
        return isUserGivenName(run.specification, experiment) ? experiment : std::string();
    });
    tellApartBy([](const RunRecord& run) {
        return run.created_at_s > 0 ? minuteText(static_cast<std::time_t>(run.created_at_s)) : std::string();
    });
    tellApartBy([](const RunRecord& run) { return run.name; });
    return names;
}

std::vector<NewRun> groupIntoExperiments(const std::vector<Specification>& specifications,
                                         std::set<std::string> existing_names, std::time_t now) {
    std::map<std::string, std::string> names;  // by `experimentKey`
    std::vector<NewRun> runs;
    for (const Specification& specification : specifications) {
        std::string& name = names[experimentKey(specification, {})];
        if (name.empty()) name = newExperimentName(specification, existing_names, now);
        existing_names.insert(name);
        RunLabels labels;
        labels.experiment = name;
        runs.emplace_back(specification, labels);
    }
    return runs;
}

}  // namespace roper
