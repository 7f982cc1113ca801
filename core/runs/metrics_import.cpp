#include "core/runs/metrics_import.h"

#include <algorithm>

#include "core/runs/import_columns.h"
#include "core/runs/run_recorder.h"
#include "core/runs/step_merger.h"

namespace roper {
namespace {

/// Writes the rows. The status names no machine, since the duration of an imported run says nothing about
/// this machine.
void fillRun(const RunFolder& folder, StepMerger&& merger, const std::vector<std::string>& log_lines) {
    std::int64_t last_step = 0;
    {
        RunRecorder recorder(folder);
        last_step = merger.make({[&](const MetricsRow& row) { recorder.record(row); },
                                 [&](const EvaluationRow& row) { recorder.record(row); }});
        for (const std::string& line : log_lines)
            recorder.log(line);
    }
    Status status = folder.status();
    status.state = RunState::finished;
    status.step = status.steps = std::max<std::int64_t>(1, last_step);
    status.device = "imported";
    status.heartbeat = secondsSinceEpoch();
    writeStatus(folder.statusPath(), status);
}

/// Title of the run in lists: if the method is unknown, it includes the run's name, since files of many runs
/// share a name.
std::string titleOf(const Specification& specification, const std::string& name, const std::string& origin) {
    std::filesystem::path path = origin;
    if (path.filename().empty()) path = path.parent_path();  // a folder with a trailing slash
    const std::string title = "imported from " + path.filename().string();
    const bool is_unknown = specification.about.method == kUnknownMethod;
    return is_unknown && !name.empty() ? name + ", " + title : title;
}

/// The known settings, with defaults for the rest.
/// @param steps  last step in the table
Specification onlyKnownSettings(Specification specification, std::int64_t steps) {
    static const Specification defaults;
    static const std::string steps_key = "training.steps";
    std::string& known = specification.about.known;
    const bool has_method = !known.empty() && isKnown("model.position", specification);
    if (known.empty() || !isKnown(steps_key, specification)) known += (known.empty() ? "" : " ") + steps_key;
    if (specification.about.method.empty() && !has_method) specification.about.method = kUnknownMethod;
    for (const SpecificationField& field : specificationFields())
        if (!isKnown(field, specification)) field.set(specification, field.text(defaults));
    specification.training.steps = steps;
    return specification;
}

}  // namespace

ImportedRun importRun(const std::filesystem::path& runs, const std::string& name, Specification specification,
                      const ExternalTable& table, const std::map<std::string, std::string>& mapping) {
    const ImportColumns columns(table, mapping);
    StepAnalysis analysis(table, columns);
    // A first pass without writing, so that errors are found before a run is created.
    StepMerger trial(table, columns, analysis);
    const std::int64_t last_step = trial.make({[](const MetricsRow&) {}, [](const EvaluationRow&) {}});
    std::vector<std::string> notes =
        concatenated<std::string>({columns.notes(), analysis.notes(), trial.notes()});
    const std::int64_t stated_steps = specification.training.steps;
    const bool steps_are_known =
        !specification.about.known.empty() && isKnown("training.steps", specification);
    specification = onlyKnownSettings(std::move(specification), std::max<std::int64_t>(1, last_step));
    specification.about.title = titleOf(specification, name, table.origin);
    const std::string known =
        "known settings: " + join(split(specification.about.known, ' '), ", ") + "; the others are unknown";
    if (steps_are_known && stated_steps != specification.training.steps)
        notes.push_back("training.steps is " + std::to_string(specification.training.steps) +
                        ", the last step of the file, not " + std::to_string(stated_steps));
    const std::vector<std::string> log_lines =
        concatenated<std::string>({{"imported; " + columns.text(), known}, notes});
    const RunFolder folder = createRun(runs, name, specification);
    try {
        fillRun(folder, StepMerger(table, columns, analysis), log_lines);
    } catch (...) {
        std::error_code ignored;  // incomplete runs are removed
        std::filesystem::remove_all(folder.path(), ignored);
        throw;
    }
    return {folder, columns.text(), known, notes};
}

}  // namespace roper
