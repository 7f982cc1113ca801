#include "core/compare/run_filter.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/experiment.h"

namespace roper {
namespace {

constexpr auto kPosition = "model.position";

/// Keys that are not fields of a specification.
const std::vector<std::string> kOwnKeys = {"step",     "loss", "correct", "solved", "last", "best",
                                           "accuracy", "seed", "state",   "name",   "tag"};

/// Problems solved, or the loss for tasks without problems; empty before the first evaluation.
std::string resultOf(const std::optional<EvaluationRow>& row) {
    if (!row) return {};
    if (row->correct) return std::to_string(*row->correct);
    return row->loss ? formatNumber(*row->loss) : std::string();
}

/// The full name of a key. @throws Error (usage)
std::string resolve(const std::string& key) {
    if (hasElement(kOwnKeys, key)) return key;
    try {
        return findField(key).key();
    } catch (const Error&) {
        std::vector<std::string> known = kOwnKeys;
        for (const SpecificationField& field : specificationFields())
            known.push_back(key.find('.') == std::string::npos ? field.name : field.key());
        const auto nearest = closestName(key, known);
        throw Error(ErrorKind::usage,
                    "unknown key \"" + key + "\"" + (nearest ? "; did you mean " + *nearest + "?" : ""));
    }
}

/// A run's value of a key as text; empty if it has none.
std::string valueOf(const std::string& key, const RunRecord& run) {
    if (key == "state") return stateName(run.state);
    if (key == "name") return run.name;
    if (key == "seed") return std::to_string(run.specification.training.model_seed);
    if (key == "step") return run.metrics.empty() ? "0" : std::to_string(run.metrics.back().step);
    if (key == "loss") return run.metrics.empty() ? "" : formatNumber(run.metrics.back().loss);
    if (key == "best") return resultOf(bestOf(run.evaluations));
    if (key == "last") return run.evaluations.empty() ? std::string() : resultOf(run.evaluations.back());
    if (key == "correct" || key == "solved" || key == "accuracy") {
        if (run.evaluations.empty() || !run.evaluations.back().correct) return {};
        const EvaluationRow& last = run.evaluations.back();
        const auto correct = static_cast<double>(*last.correct);
        return formatNumber(key == "accuracy" ? 100 * correct / static_cast<double>(last.total.value_or(1))
                                              : correct);
    }
    if (key == kPosition) return run.specification.methodName();
    return findField(key).text(run.specification);
}

/// Whether this setting of the run is unknown: neither "=" nor "!=" then matches.
bool asksForUnknown(const std::string& key, const Specification& specification) {
    if (key == kPosition) return specification.about.method == kUnknownMethod;
    if (key == "seed") return !isKnown("training.model_seed", specification);
    const bool is_setting = key.find('.') != std::string::npos;
    return is_setting && !isKnown(key, specification);
}

}  // namespace

RunFilter::RunFilter(std::string_view text) {
    for (const std::string& word : split(text, ' ')) {
        if (word.empty()) continue;
        const std::size_t at = word.find_first_of("<>=!");
        if (at == std::string::npos || at == 0) {
            words_.push_back(lowerCase(word));
            continue;
        }
        const std::size_t after = word.find_first_not_of("<>=!", at);
        Comparison comparison{word.substr(0, at), word.substr(at, after - at),
                              after == std::string::npos ? "" : word.substr(after)};
        static const std::vector<std::string> operators = {"<", "<=", ">", ">=", "=", "==", "!="};
        if (!hasElement(operators, comparison.op))
            throw Error(ErrorKind::usage,
                        "unknown operator \"" + comparison.op + "\"; use one of " + join(operators, " "));
        comparison.key = resolve(comparison.key);
        const bool orders = comparison.op.front() == '<' || comparison.op.front() == '>';
        if (orders && !comparison.value.empty() && !parseNumber(comparison.value))
            throw Error(ErrorKind::usage, "\"" + comparison.value + "\" in \"" + word + "\" is not a number");
        comparisons_.push_back(std::move(comparison));
    }
}

bool RunFilter::isSatisfied(const Comparison& comparison, const RunRecord& run) {
    if (comparison.value.empty()) return true;  // still being typed
    if (comparison.key == "tag") {
        const auto& tags = run.labels.tags;
        const bool has = std::ranges::any_of(
            tags, [&](const std::string& tag) { return lowerCase(tag) == lowerCase(comparison.value); });
        return comparison.op == "!=" ? !has : has;
    }
    if (asksForUnknown(comparison.key, run.specification)) return false;
    const std::string text = valueOf(comparison.key, run);
    const std::string& op = comparison.op;
    const bool is_equality = op == "=" || op == "==";
    const auto left = parseNumber(text), right = parseNumber(comparison.value);
    if (!left || !right) {
        const bool same = lowerCase(text) == lowerCase(comparison.value);
        return is_equality ? same : op == "!=" ? !same : false;
    }
    if (is_equality) return *left == *right;
    if (op == "!=") return *left != *right;
    if (op == "<") return *left < *right;
    if (op == "<=") return *left <= *right;
    return op == ">" ? *left > *right : *left >= *right;
}

bool RunFilter::isUnfinished() const {
    return std::ranges::any_of(comparisons_,
                               [](const Comparison& comparison) { return comparison.value.empty(); });
}

bool RunFilter::matches(const RunRecord& run) const {
    const std::string text = lowerCase(
        run.name + " " + (isKnown("task.name", run.specification) ? run.specification.task.name + " " : "") +
        run.specification.methodName() + " " + stateName(run.state) + " " +
        experimentName(run.specification, run.labels.experiment) + " " + join(run.labels.tags, " ") + " " +
        run.labels.note);
    return std::ranges::all_of(
               words_, [&](const std::string& word) { return text.find(word) != std::string::npos; }) &&
           std::ranges::all_of(comparisons_,
                               [&](const Comparison& comparison) { return isSatisfied(comparison, run); });
}

}  // namespace roper
