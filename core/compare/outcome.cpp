#include "core/compare/outcome.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/fields/registry.h"

namespace roper {
namespace {

OutcomeValue known(double value) {
    return std::isfinite(value) ? OutcomeValue{Outcome::known, value} : OutcomeValue{};
}

template <class Number>
OutcomeValue known(const std::optional<Number>& value) {
    return value ? known(static_cast<double>(*value)) : OutcomeValue{};
}

/// Mean loss over the last tenth of the steps: steps 91 to 100 of 100.
OutcomeValue lastTenth(const RunRecord& run) {
    const std::int64_t steps = run.specification.training.steps,
                       before = steps - std::max<std::int64_t>(1, steps / 10);
    double sum = 0;
    std::size_t count = 0;
    for (auto row = run.metrics.rbegin(); row != run.metrics.rend() && row->step > before; ++row) {
        sum += row->loss;
        ++count;
    }
    return count > 0 ? known(sum / static_cast<double>(count)) : OutcomeValue{};
}

OutcomeValue meanCorrect(const RunRecord& run) {
    double sum = 0;
    for (const EvaluationRow& row : run.evaluations) {
        if (!row.correct) return {};
        sum += static_cast<double>(*row.correct);
    }
    return run.evaluations.empty() ? OutcomeValue{}
                                   : known(sum / static_cast<double>(run.evaluations.size()));
}

OutcomeValue stepsUntil(const RunRecord& run, double solved_fraction) {
    if (run.evaluations.empty() || !run.evaluations.front().correct) return {};
    for (const EvaluationRow& row : run.evaluations)
        if (row.correct && row.total.value_or(0) > 0 &&
            static_cast<double>(*row.correct) >= solved_fraction * static_cast<double>(*row.total))
            return known(static_cast<double>(row.step));
    return {Outcome::not_reached, 0};
}

bool mayGoOn(const RunRecord& run) {
    return run.state == RunState::running || run.state == RunState::paused || run.state == RunState::queued;
}

const EvaluationRow* evaluationAt(const RunRecord& run, std::int64_t step) {
    for (const EvaluationRow& row : run.evaluations)
        if (row.step == step && row.correct && row.total.value_or(0) > 0) return &row;
    return nullptr;
}

std::string solvedText(const EvaluationRow& row) {
    return std::to_string(*row.correct) + " of " + std::to_string(*row.total);
}

std::string whileTraining(const RunRecord& rope, const RunRecord& roper) {
    for (std::size_t i = rope.evaluations.size(); i > 0; --i) {
        const std::int64_t step = rope.evaluations[i - 1].step;
        const EvaluationRow *a = evaluationAt(rope, step), *b = evaluationAt(roper, step);
        if (a == nullptr || b == nullptr || step == 0) continue;
        return "Step " + std::to_string(step) + " of " + std::to_string(rope.specification.training.steps) +
               ": RoPE solves " + solvedText(*a) + " problems, RoPER " + solvedText(*b) + ".";
    }
    if (rope.state == RunState::queued && roper.state == RunState::queued)
        return "Both runs are waiting to start.";
    return "Training: the first evaluation comes at step " +
           std::to_string(rope.specification.evaluation.every) + ".";
}

/// ": 60 of 128 are solved at step 600", the last result of a run that never reached the target.
std::string atTheEnd(const RunRecord& run) {
    if (run.evaluations.empty()) return "";
    const EvaluationRow& last = run.evaluations.back();
    return evaluationAt(run, last.step) == nullptr
               ? ""
               : ": " + solvedText(last) + " are solved at step " + std::to_string(last.step);
}

}  // namespace

const std::vector<MeasureInfo>& measures() {
    static const std::vector<MeasureInfo> all = {
        {Measure::final_correct, "final_correct", "problems solved at the end", "problems", true, true},
        {Measure::best_correct, "best_correct", "most problems solved", "problems", true, true},
        {Measure::final_loss, "final_loss", "loss on fresh sequences at the end", "nats", false},
        {Measure::training_loss, "training_loss", "training loss, mean of the last tenth", "nats", false},
        {Measure::final_token_accuracy, "final_token_accuracy", "token accuracy at the end", "%", true},
        {Measure::steps_until, "steps_until", "steps until a fraction is solved", "steps", false, true},
        {Measure::mean_correct, "mean_correct", "problems solved, mean of all evaluations", "problems", true},
        {Measure::final_fully_correct, "final_fully_correct", "problems fully solved at the end", "problems",
         true, true},
        {Measure::step_time, "step_time", "time per step, median", "ms", false},
    };
    return all;
}

const MeasureInfo& infoOf(Measure measure) {
    return measures().at(static_cast<std::size_t>(measure));
}

bool hasMeasure(const Specification& specification, Measure measure) {
    const bool of_problems = measure == Measure::steps_until || infoOf(measure).unit == "problems";
    return !of_problems || specification.task.hasProblems();
}

std::string titleOf(Measure measure, double solved_fraction) {
    if (measure != Measure::steps_until) return infoOf(measure).title;
    return "steps until " + formatRounded(100 * solved_fraction, 3) + " % are solved";
}

Measure parseMeasure(const std::string& name) {
    if (name == "final_recall") return Measure::final_token_accuracy;  // its name in older versions
    return findUserEntry(measures(), name, "measure").measure;
}

Measure defaultMeasure(const Specification& specification) {
    return specification.task.hasProblems() ? Measure::final_correct : Measure::final_loss;
}

Interval possibleRange(const RunRecord& run, Measure measure) {
    const std::string& unit = infoOf(measure).unit;
    if (unit == "%") return {0, 100};
    if (unit == "steps") return {0, static_cast<double>(run.specification.training.steps)};
    const bool is_counted = unit == "problems" && !run.evaluations.empty() && run.evaluations.back().total;
    return {0, is_counted ? static_cast<double>(*run.evaluations.back().total)
                          : std::numeric_limits<double>::infinity()};
}

std::optional<double> medianStepSeconds(std::span<const MetricsRow> rows) {
    constexpr std::size_t kFewestRows = 10;
    if (rows.size() < kFewestRows) return std::nullopt;
    std::vector<double> seconds;
    for (std::size_t i = rows.size() / 2; i < rows.size(); ++i) {
        const auto steps = static_cast<double>(rows[i].step - rows[i - 1].step);
        if (steps > 0 && rows[i].time_s && rows[i - 1].time_s)
            seconds.push_back((*rows[i].time_s - *rows[i - 1].time_s) / steps);
    }
    if (seconds.empty()) return std::nullopt;
    return median(std::move(seconds));
}

OutcomeValue outcomeOf(const RunRecord& run, Measure measure, double solved_fraction) {
    // An unfinished run has no outcome yet, even if it has reached the target: otherwise fast runs would be
    // counted first.
    if (run.state == RunState::failed) return {};
    if (run.state != RunState::finished) return {Outcome::unfinished, 0};
    if (measure == Measure::steps_until) return stepsUntil(run, solved_fraction);
    if (measure == Measure::training_loss) return lastTenth(run);
    if (measure == Measure::mean_correct) return meanCorrect(run);
    if (measure == Measure::step_time) {
        constexpr double kMilliseconds = 1000;
        const auto seconds = medianStepSeconds(run.metrics);
        return seconds ? known(kMilliseconds * *seconds) : OutcomeValue{};
    }
    if (run.evaluations.empty()) return {};
    const EvaluationRow& last = run.evaluations.back();
    switch (measure) {
        case Measure::final_correct:
            return known(last.correct);
        case Measure::final_fully_correct:
            return known(last.fully_correct);
        case Measure::final_loss:
            return known(last.loss);
        case Measure::final_token_accuracy:
            if (const auto accuracy = tokenAccuracy(last)) return known(100 * *accuracy);
            return {};
        default: {
            const auto best = bestOf({run.evaluations.begin(), run.evaluations.end()});
            return known(best->correct);
        }
    }
}

std::vector<double> knownOutcomes(std::span<const RunRecord> runs, const std::vector<std::size_t>& members,
                                  Measure measure, double solved_fraction) {
    std::vector<double> values;
    for (const std::size_t member : members) {
        const OutcomeValue outcome = outcomeOf(runs[member], measure, solved_fraction);
        if (outcome.kind == Outcome::known) values.push_back(outcome.value);
    }
    return values;
}

RunTable::RunTable(const std::filesystem::path& runs, bool with_metrics)
    : RunTable(listRuns(runs), with_metrics) {}

RunTable::RunTable(std::span<const RunFolder> runs, bool with_metrics) {
    for (const RunFolder& folder : runs) {
        try {
            auto rows = std::make_unique<Rows>();
            if (with_metrics) rows->metrics = folder.metrics();
            rows->evaluations = folder.evaluations();
            const Status status = folder.status();
            records_.push_back({folder.name(), folder.specification(), folder.effectiveState(status),
                                status.host, rows->metrics, rows->evaluations, readLabels(folder),
                                computeEnvironmentsOf(readSessions(folder))});
            rows_.push_back(std::move(rows));
        } catch (const Error& error) {
            problems_.emplace_back(error.what());
        }
    }
}

std::string twinSentence(const RunRecord& rope, const RunRecord& roper, double solved_fraction) {
    if (mayGoOn(rope) || mayGoOn(roper)) return whileTraining(rope, roper);
    for (const auto& [run, name] : {std::pair{&rope, "RoPE"}, std::pair{&roper, "RoPER"}})
        if (run->state != RunState::finished)
            return std::string(name) +
                   "'s run ended before its last step; it can be resumed in the list of runs.";
    const OutcomeValue a = outcomeOf(rope, Measure::steps_until, solved_fraction);
    const OutcomeValue b = outcomeOf(roper, Measure::steps_until, solved_fraction);
    const std::string percent = std::to_string(std::lround(100 * solved_fraction)) + " %";
    const auto steps = [](double value) { return std::to_string(std::lround(value)); };
    if (a.kind == Outcome::known && b.kind == Outcome::known) {
        if (a.value == b.value) return "Both solved " + percent + " by step " + steps(a.value) + ".";
        const bool roper_first = b.value < a.value;
        return std::string(roper_first ? "RoPER" : "RoPE") + " solved " + percent + " " +
               steps(std::abs(a.value - b.value)) + " steps earlier here: by step " +
               steps(std::min(a.value, b.value)) + " instead of " + steps(std::max(a.value, b.value)) + ".";
    }
    if (b.kind == Outcome::known)
        return "RoPER solved " + percent + " by step " + steps(b.value) + " here. RoPE never did" +
               atTheEnd(rope) + ".";
    if (a.kind == Outcome::known)
        return "RoPE solved " + percent + " by step " + steps(a.value) + " here. RoPER never did" +
               atTheEnd(roper) + ".";
    return "Neither solved " + percent + " of the problems here.";
}

}  // namespace roper
