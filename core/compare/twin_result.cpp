#include "core/compare/twin_result.h"

#include <algorithm>
#include <cmath>

namespace roper {
namespace {

bool mayGoOn(const RunRecord& run) {
    return run.state == RunState::running || run.state == RunState::paused || run.state == RunState::queued;
}

const EvaluationRow* evaluationAt(const RunRecord& run, std::int64_t step) {
    for (const EvaluationRow& row : run.evaluations)
        if (row.step == step && row.correct && row.of.value_or(0) > 0) return &row;
    return nullptr;
}

std::string solvedText(const EvaluationRow& row) {
    return std::to_string(*row.correct) + " of " + std::to_string(*row.of);
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

/// ", and solves 60 of 128 at step 600": the result of a run that never reached the share.
std::string atTheEnd(const RunRecord& run) {
    if (run.evaluations.empty()) return "";
    const EvaluationRow& last = run.evaluations.back();
    return evaluationAt(run, last.step) == nullptr
               ? ""
               : ": " + solvedText(last) + " are solved at step " + std::to_string(last.step);
}

}  // namespace

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
