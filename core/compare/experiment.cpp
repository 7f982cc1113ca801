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

/// The same run with RoPE and seeds 0, without settings that only other methods read.
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
        std::stable_sort(title.differences.begin(), title.differences.end(),
                         [&](const std::string& a, const std::string& b) { return count[a] < count[b]; });
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
    std::array<char, 32> minute{};
    std::tm local{};
    ::localtime_r(&now, &local);
    std::strftime(minute.data(), minute.size(), "%Y-%m-%d %H:%M", &local);
    const std::string name = settingsTitle(specification) + ", " + minute.data();
    std::string free = name;
    for (int number = 2; existing_names.count(free) > 0; ++number)
        free = name + " (" + std::to_string(number) + ")";
    return free;
}

std::vector<NewRun> groupIntoExperiments(const std::vector<Specification>& specifications,
                                         std::set<std::string> existing_names, std::time_t now) {
    std::map<std::string, std::string> names;  // by settings
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
