#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/runs/rows.h"

namespace roper {

/// Quantities recorded during training, for curves.
enum class Quantity {
    training_loss,
    correct,          ///< problems solved, %
    fully_correct,    ///< problems solved with correct working, %
    evaluation_loss,  ///< on sequences not used in training, nats
    token_accuracy,   ///< scored tokens predicted correctly, %
    accuracy,         ///< problems solved or, for tasks with scored tokens, token accuracy, %
    perplexity,       ///< of the evaluation loss
    gradient_norm,    ///< over all parameters, before clipping
    learning_rate,
    tokens_per_second,
    min_denominator,  ///< smallest denominator over layers and heads of linear attention with 1 + cosine
};

/// How a quantity is computed from the records of a run. Exactly one of the three functions is set.
struct QuantityInfo {
    Quantity quantity;
    std::string name;   ///< in saved views and exported files: "training_loss"
    std::string title;  ///< on the screen
    std::string unit;   ///< empty if dimensionless
    std::function<std::optional<double>(const MetricsRow&)> from_metrics = {};
    std::function<std::optional<double>(const EvaluationRow&)> from_evaluation = {};
    std::function<std::optional<double>(const MethodRow&)> from_method = {};

    bool isPercentage() const { return unit == "%"; }
    /// "training loss, nats"
    std::string titleWithUnit() const { return unit.empty() ? title : title + ", " + unit; }
};

/// All quantities, in the order of the enumeration.
const std::vector<QuantityInfo>& quantities();
const QuantityInfo& infoOf(Quantity quantity);
/// The quantities that runs of any method can record; they come first.
std::span<const QuantityInfo> commonQuantities();

}  // namespace roper
