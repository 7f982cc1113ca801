#include "core/compare/grouping.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/runs/text.h"

namespace roper {
namespace {

bool makesADifference(const SpecificationField& field) {
    static const std::set<std::string> sections = {"about", "device", "checkpoints", "snapshots"};
    static const std::set<std::string> fields = {"training.data_seed", "training.model_seed",
                                                 "training.report_every"};
    return sections.count(field.section) == 0 && fields.count(field.key()) == 0;
}

/// Fields of other tasks say nothing about a run.
bool concerns(const SpecificationField& field, const Specification& specification) {
    static const std::map<std::string, std::string> task_of = {
        {"task.digits_max", "addition"},     {"task.string_min", "index"},  {"task.string_max", "index"},
        {"task.substring_length", "prefix"}, {"task.random_min", "prefix"}, {"task.random_max", "prefix"}};
    const auto found = task_of.find(field.key());
    if (found != task_of.end()) return found->second == specification.task.name;
    if (field.key() == "model.value_rotary_fraction") return specification.model.position == "roper";
    return makesADifference(field);
}

/// Values of the fields that make a difference, by key.
std::map<std::string, std::string> identityOf(const Specification& specification) {
    std::map<std::string, std::string> identity;
    for (const SpecificationField& field : specificationFields())
        if (concerns(field, specification)) identity[field.key()] = fieldText(field, specification);
    return identity;
}

std::string labelOf(const Specification& specification, const std::set<std::string>& differing) {
    std::vector<std::string> parts;
    if (differing.count("task.name") > 0) parts.push_back(specification.task.name);
    parts.push_back(methodTitle(specification.model.position));
    for (const SpecificationField& field : specificationFields()) {
        const std::string key = field.key();
        if (key == "task.name" || key == "model.position" || differing.count(key) == 0) continue;
        if (!concerns(field, specification)) continue;
        std::string name = field.name;
        std::replace(name.begin(), name.end(), '_', ' ');
        parts.push_back(name + " " + fieldText(field, specification));
    }
    return join(parts, ", ");
}

}  // namespace

std::string methodTitle(const std::string& position) {
    if (position == "rope") return "RoPE";
    if (position == "roper") return "RoPER";
    return position;
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
    std::map<std::string, std::set<std::string>> values;
    for (const auto& [key, group] : by_key)
        for (const auto& [name, value] : identityOf(group.specification))
            values[name].insert(value);
    std::set<std::string> differing;
    for (const auto& [name, of_name] : values)
        if (of_name.size() > 1) differing.insert(name);
    std::vector<RunGroup> groups;
    for (auto& [key, group] : by_key) {
        group.key = key;
        group.label = labelOf(group.specification, differing);
        std::sort(group.runs.begin(), group.runs.end(), [&](std::size_t a, std::size_t b) {
            const auto seeds = [&](std::size_t i) {
                const auto& training = runs[i].specification.training;
                return std::tuple(training.data_seed, training.model_seed, runs[i].name);
            };
            return seeds(a) < seeds(b);
        });
        groups.push_back(std::move(group));
    }
    std::sort(groups.begin(), groups.end(),
              [](const RunGroup& a, const RunGroup& b) { return a.label < b.label; });
    return groups;
}

}  // namespace roper
