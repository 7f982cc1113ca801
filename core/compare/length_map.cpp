#include "core/compare/length_map.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "core/base/text.h"
#include "core/compare/paired.h"

namespace roper {
namespace {

using Metric = LengthMap::Metric;

/// A run's contribution to one cell.
struct Entry {
    std::string scaling;  // of the frequencies, with its factor; "none" without
    double factor;
    std::int64_t length;
    double sum;  // as in `LengthMap::Cell`
    std::int64_t total;
};

/// The specification without lengths: what the runs of a panel have in common.
Specification withoutLengths(Specification specification) {
    const Specification defaults;
    for (const std::string& setting : specification.task.kind().length_settings)
        specification.task.specific_settings.set(setting, defaults.task.specific_settings.integer(setting));
    specification.training.length = defaults.training.length;
    specification.model.specific_settings.set("table_positions",
                                              defaults.model.specific_settings.integer("table_positions"));
    return specification;
}

std::vector<Entry> solvedBy(const MeasuredRun& run) {
    std::vector<Entry> entries;
    for (const SizeRow& row : run.sizes)
        if (const auto length = problemLength(run.record.specification.task.name, {row.first, row.second}))
            entries.push_back(
                {row.scaling, row.factor, *length, static_cast<double>(row.correct), row.total});
    return entries;
}

std::vector<Entry> tokenAccuracyOf(const MeasuredRun& run) {
    return mapped(run.lengths, [](const LengthRow& row) {
        return Entry{row.scaling, row.factor, row.length, static_cast<double>(row.tokens_correct),
                     row.tokens_scored};
    });
}

/// Losses of the longest sequences measured with each scaling, since they contain every position.
std::vector<Entry> lossesOf(const MeasuredRun& run) {
    std::map<std::pair<std::string, double>, std::int64_t> longest;
    for (const PositionRow& row : run.positions) {
        std::int64_t& most = longest[{row.scaling, row.factor}];
        most = std::max(most, row.length);
    }
    std::vector<Entry> entries;
    for (const PositionRow& row : run.positions)
        if (row.length == longest[{row.scaling, row.factor}])
            entries.push_back(
                {row.scaling, row.factor,
                 static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(row.position) + 1)),
                 row.loss, 1});
    return entries;
}

std::vector<Entry> entriesOf(const MeasuredRun& run, Metric metric) {
    if (metric == Metric::loss) return lossesOf(run);
    return metric == Metric::token_accuracy ? tokenAccuracyOf(run) : solvedBy(run);
}

LengthMap::Panel& panelOf(LengthMap& map, const std::string& label, const std::string& position) {
    const auto found = std::ranges::find(map.panels, label, &LengthMap::Panel::label);
    if (found != map.panels.end()) return *found;
    map.panels.push_back({label, position, {}});
    return map.panels.back();
}

/// The training length that selects a run's row. For losses it is that of the model's input, which excludes
/// the last token of a causal sequence.
std::optional<std::int64_t> rowIn(const LengthMap& map, const Specification& specification) {
    return map.metric == Metric::loss ? std::optional(specification.inputLength())
                                      : trainedLength(specification);
}

void addRun(const MeasuredRun& run, const std::string& label, std::int64_t trained, LengthMap& map) {
    const Specification& specification = run.record.specification;
    std::set<std::pair<std::string, std::int64_t>> counted;
    for (const Entry& entry : entriesOf(run, map.metric)) {
        if (entry.total <= 0) continue;
        const std::string scaled = entry.scaling == "none" ? label
                                                           : label + ", read with " + entry.scaling + " " +
                                                                 formatNumber(entry.factor);
        LengthMap::Cell& cell =
            panelOf(map, scaled, specification.model.position).cells[{trained, entry.length}];
        cell.sum += entry.sum;
        cell.total += entry.total;
        if (counted.emplace(scaled, entry.length).second) ++cell.runs;
    }
}

/// Adds the runs of a panel, in each row one run per seed, as in pairs and in the means of groups.
/// @param records  records of `runs` without lengths (`withoutLengths`)
void addGroup(const std::vector<MeasuredRun>& runs, const std::vector<RunRecord>& records,
              const RunGroup& group, LengthMap& map) {
    std::map<std::int64_t, RunGroup> rows;
    for (const std::size_t i : group.runs) {
        const auto trained = rowIn(map, runs[i].record.specification);
        if (trained && !entriesOf(runs[i], map.metric).empty()) rows[*trained].runs.push_back(i);
    }
    for (const auto& [trained, row] : rows) {
        const std::vector<std::size_t> counted = oneRunPerSeed(records, row);
        map.left_out += static_cast<int>(row.runs.size() - counted.size());
        for (const std::size_t i : counted)
            addRun(runs[i], group.label, trained, map);
    }
}

void collectAxes(LengthMap& map) {
    std::set<std::int64_t> trained, lengths;
    for (const LengthMap::Panel& panel : map.panels)
        for (const auto& [key, cell] : panel.cells) {
            trained.insert(key.first);
            lengths.insert(key.second);
        }
    map.trained.assign(trained.begin(), trained.end());
    map.lengths.assign(lengths.begin(), lengths.end());
    std::ranges::sort(map.panels, {}, &LengthMap::Panel::label);
}

std::vector<LengthMap> mapsOf(const std::vector<MeasuredRun>& runs,
                              const std::function<Metric(const Specification&)>& metric) {
    std::vector<RunRecord> records;
    for (const MeasuredRun& run : runs) {
        records.push_back(run.record);
        records.back().specification = withoutLengths(records.back().specification);
    }
    std::map<std::pair<std::string, std::string>, LengthMap> by_task;
    for (const RunGroup& group : groupRuns(records)) {
        LengthMap& map = by_task[{group.specification.task.name, group.specification.training.objective}];
        map.task = group.specification.task.name;
        map.metric = metric(group.specification);
        addGroup(runs, records, group, map);
    }
    std::vector<LengthMap> maps;
    for (auto& [task, map] : by_task) {
        if (map.panels.empty()) continue;
        collectAxes(map);
        maps.push_back(std::move(map));
    }
    return maps;
}

std::string nameOf(Metric metric) {
    if (metric == Metric::loss) return "loss";
    return metric == Metric::token_accuracy ? "token_accuracy" : "solved";
}

}  // namespace

std::optional<std::int64_t> problemLength(const std::string& task, ProblemSize size) {
    const TaskKind& kind = taskKind(task);
    return kind.length ? std::optional(kind.length(size)) : std::nullopt;
}

std::optional<std::int64_t> trainedLength(const Specification& specification) {
    const TaskSettings& task = specification.task;
    if (task.isText()) return specification.training.length;
    const std::vector<std::string>& lengths = task.kind().length_settings;
    return lengths.empty() ? std::nullopt : std::optional(task.specific_settings.integer(lengths.back()));
}

std::vector<LengthMap> lengthMaps(const std::vector<MeasuredRun>& runs) {
    return mapsOf(runs, [](const Specification& specification) {
        return specification.task.isText() ? Metric::token_accuracy : Metric::solved;
    });
}

std::vector<LengthMap> positionMaps(const std::vector<MeasuredRun>& runs) {
    return mapsOf(runs, [](const Specification&) { return Metric::loss; });
}

std::string toCsv(const std::vector<LengthMap>& maps) {
    std::string csv = "task,shows,method,trained,length,mean,of,runs\n";
    for (const LengthMap& map : maps)
        for (const LengthMap::Panel& panel : map.panels)
            for (const auto& [key, cell] : panel.cells)
                csv +=
                    csvLine({map.task, nameOf(map.metric), "\"" + panel.label + "\"",
                             std::to_string(key.first), std::to_string(key.second), formatNumber(cell.mean()),
                             std::to_string(cell.total), std::to_string(cell.runs)});
    return csv;
}

}  // namespace roper
