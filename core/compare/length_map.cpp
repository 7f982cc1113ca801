#include "core/compare/length_map.h"

#include <algorithm>
#include <set>

#include "core/compare/grouping.h"
#include "core/runs/text.h"

namespace roper {
namespace {

/// The same experiment whatever the length of its problems: what a panel has in common.
Specification withoutLengths(Specification specification) {
    const Specification usual;
    specification.task.digits_max = usual.task.digits_max;
    specification.task.string_min = usual.task.string_min;
    specification.task.string_max = usual.task.string_max;
    specification.training.length = usual.training.length;
    specification.model.table_positions = usual.model.table_positions;
    return specification;
}

std::string scaledLabel(const std::string& label, const SizeRow& row) {
    if (row.scaling == "none") return label;
    return label + ", read with " + row.scaling + " " + formatNumber(row.factor);
}

void addRun(const SizedRun& run, std::int64_t trained, const std::string& label, LengthMap& map) {
    const std::string& task = run.record.specification.task.name;
    std::set<std::pair<std::string, std::pair<std::int64_t, std::int64_t>>> counted;
    for (const SizeRow& row : run.rows) {
        const auto length = problemLength(task, {row.first, row.second});
        if (!length || row.of <= 0) continue;
        const std::string scaled = scaledLabel(label, row);
        auto panel = std::find_if(map.panels.begin(), map.panels.end(),
                                  [&](const LengthMap::Panel& one) { return one.label == scaled; });
        if (panel == map.panels.end()) {
            map.panels.push_back({scaled, run.record.specification.model.position, {}});
            panel = std::prev(map.panels.end());
        }
        const std::pair place{trained, *length};
        LengthMap::Cell& cell = panel->cells[place];
        cell.correct += row.correct;
        cell.of += row.of;
        if (counted.emplace(scaled, place).second) ++cell.runs;
    }
}

void listPlaces(LengthMap& map) {
    std::set<std::int64_t> trained, lengths;
    for (const LengthMap::Panel& panel : map.panels)
        for (const auto& [place, cell] : panel.cells) {
            trained.insert(place.first);
            lengths.insert(place.second);
        }
    map.trained.assign(trained.begin(), trained.end());
    map.lengths.assign(lengths.begin(), lengths.end());
    std::sort(map.panels.begin(), map.panels.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
}

}  // namespace

std::vector<SizeRow> newestSizes(const std::vector<SizeRow>& rows) {
    std::int64_t newest = 0;
    for (const SizeRow& row : rows)
        newest = std::max(newest, row.step);
    std::vector<SizeRow> kept;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept),
                 [&](const SizeRow& row) { return row.step == newest; });
    return kept;
}

std::optional<std::int64_t> problemLength(const std::string& task, ProblemSize size) {
    if (task == "addition") return std::max(size.first, size.second);
    return task == "index" ? std::optional(size.first) : std::nullopt;
}

std::optional<std::int64_t> trainedLength(const Specification& specification) {
    const TaskSettings& task = specification.task;
    if (task.name == "addition") return task.digits_max;
    return task.name == "index" ? std::optional(task.string_max) : std::nullopt;
}

std::vector<LengthMap> lengthMaps(const std::vector<SizedRun>& runs) {
    std::vector<RunRecord> alike;
    for (const SizedRun& run : runs) {
        alike.push_back(run.record);
        alike.back().specification = withoutLengths(alike.back().specification);
    }
    std::map<std::string, LengthMap> by_task;
    for (const RunGroup& group : groupRuns(alike)) {
        const std::string& task = group.specification.task.name;
        LengthMap& map = by_task[task];
        map.task = task;
        for (const std::size_t i : group.runs)
            if (const auto trained = trainedLength(runs[i].record.specification))
                addRun(runs[i], *trained, group.label, map);
    }
    std::vector<LengthMap> maps;
    for (auto& [task, map] : by_task) {
        if (map.panels.empty()) continue;
        listPlaces(map);
        maps.push_back(std::move(map));
    }
    return maps;
}

std::string csvOf(const std::vector<LengthMap>& maps) {
    std::string csv = "task,method,trained,length,correct,of,runs\n";
    for (const LengthMap& map : maps)
        for (const LengthMap::Panel& panel : map.panels)
            for (const auto& [place, cell] : panel.cells)
                csv += join({map.task, "\"" + panel.label + "\"", std::to_string(place.first),
                             std::to_string(place.second), std::to_string(cell.correct),
                             std::to_string(cell.of), std::to_string(cell.runs)},
                            ",") +
                       "\n";
    return csv;
}

}  // namespace roper
