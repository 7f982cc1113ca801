#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/runs/rows.h"

namespace roper {

/// What runs record while they train, for curves.
enum class Quantity {
    training_loss,
    correct,          ///< problems solved, %
    fully_correct,    ///< problems solved with all their working right, %
    evaluation_loss,  ///< on sequences that training has not shown, nats
    token_accuracy,   ///< scored tokens predicted correctly, %
    accuracy,         ///< problems solved, or of tasks that score tokens their accuracy, %
    perplexity,       ///< of the evaluation loss
    gradient_norm,    ///< before clipping
    learning_rate,
    tokens_per_second,
    least_denominator,  ///< of linear attention with 1 + cosine: the least of all layers and heads
};

/// How a quantity follows from what a run recorded. Exactly one of the three functions is there.
struct QuantityInfo {
    Quantity quantity;
    std::string name;   ///< in saved views and exported files: "training_loss"
    std::string title;  ///< on the screen
    std::string unit;   ///< empty for a number without one
    std::function<std::optional<double>(const MetricsRow&)> of_metrics = {};
    std::function<std::optional<double>(const EvaluationRow&)> of_evaluation = {};
    std::function<std::optional<double>(const MethodRow&)> of_method = {};

    bool isShare() const { return unit == "%"; }
    /// "training loss, nats"
    std::string titleWithUnit() const { return unit.empty() ? title : title + ", " + unit; }
};

/// All, in the order of the enumeration.
const std::vector<QuantityInfo>& quantities();
const QuantityInfo& infoOf(Quantity quantity);
/// Those that a run of any method can record; the others come after them.
std::span<const QuantityInfo> commonQuantities();

}  // namespace roper
