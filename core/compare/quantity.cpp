#include "core/compare/quantity.h"

#include <algorithm>
#include <cmath>

namespace roper {
namespace {

/// A count in percent of the problems in an evaluation.
std::optional<double> percentOfProblems(const std::optional<std::int64_t>& count, const EvaluationRow& row) {
    if (!count || row.total.value_or(0) == 0) return std::nullopt;
    return 100 * static_cast<double>(*count) / static_cast<double>(*row.total);
}

std::optional<double> percentSolved(const EvaluationRow& row) {
    return percentOfProblems(row.correct, row);
}

std::optional<double> percentFullySolved(const EvaluationRow& row) {
    return percentOfProblems(row.fully_correct, row);
}

std::optional<double> tokensPredicted(const EvaluationRow& row) {
    const auto predicted = tokenAccuracy(row);
    return predicted ? std::optional(100 * *predicted) : std::nullopt;
}

std::optional<double> accuracy(const EvaluationRow& row) {
    const auto of_tokens = tokensPredicted(row);
    return of_tokens ? of_tokens : percentSolved(row);
}

std::optional<double> perplexity(const EvaluationRow& row) {
    return row.loss ? std::optional(std::exp(*row.loss)) : std::nullopt;
}

std::optional<double> denominator(const MethodRow& row) {
    return row.quantity == "least_denominator" ? std::optional(row.value) : std::nullopt;
}

QuantityInfo ofMetrics(Quantity quantity, std::string name, std::string title, std::string unit,
                       auto MetricsRow::*member) {
    return {quantity, std::move(name), std::move(title), std::move(unit),
            [member](const MetricsRow& row) -> std::optional<double> { return row.*member; }};
}

QuantityInfo ofEvaluations(Quantity quantity, std::string name, std::string title, std::string unit,
                           std::function<std::optional<double>(const EvaluationRow&)> value) {
    return {quantity, std::move(name), std::move(title), std::move(unit), {}, std::move(value)};
}

}  // namespace

const std::vector<QuantityInfo>& quantities() {
    static const std::vector<QuantityInfo> all = {
        ofMetrics(Quantity::training_loss, "training_loss", "training loss", "nats", &MetricsRow::loss),
        ofEvaluations(Quantity::correct, "correct", "problems solved", "%", percentSolved),
        ofEvaluations(Quantity::fully_correct, "fully_correct", "problems fully solved", "%",
                      percentFullySolved),
        ofEvaluations(Quantity::evaluation_loss, "evaluation_loss", "loss on fresh sequences", "nats",
                      [](const EvaluationRow& row) { return row.loss; }),
        ofEvaluations(Quantity::token_accuracy, "token_accuracy", "token accuracy", "%", tokensPredicted),
        ofEvaluations(Quantity::accuracy, "accuracy", "solved, or token accuracy", "%", accuracy),
        ofEvaluations(Quantity::perplexity, "perplexity", "perplexity on fresh sequences", "", perplexity),
        ofMetrics(Quantity::gradient_norm, "gradient_norm", "gradient norm before clipping", "",
                  &MetricsRow::grad_norm),
        ofMetrics(Quantity::learning_rate, "learning_rate", "learning rate", "", &MetricsRow::learning_rate),
        ofMetrics(Quantity::tokens_per_second, "tokens_per_second", "speed", "tokens/s",
                  &MetricsRow::tokens_per_s),
        {Quantity::min_denominator, "least_denominator", "smallest denominator", "", {}, {}, denominator},
    };
    return all;
}

const QuantityInfo& infoOf(Quantity quantity) {
    return quantities().at(static_cast<std::size_t>(quantity));
}

std::span<const QuantityInfo> commonQuantities() {
    const auto& all = quantities();
    const auto end =
        std::ranges::find_if(all, [](const QuantityInfo& info) { return info.from_method != nullptr; });
    return {all.begin(), end};
}

}  // namespace roper
