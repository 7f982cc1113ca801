#include "core/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace roper {

double learningRate(const Specification::Training& training, std::int64_t step) {
    const double warmup = static_cast<double>(training.warmup_steps);
    const double at = static_cast<double>(step);
    if (at < warmup) return training.learning_rate * at / warmup;
    if (training.lr_schedule == "constant") return training.learning_rate;
    const double decay_steps = static_cast<double>(training.steps) - warmup;
    const double progress = decay_steps > 0 ? std::min(1.0, (at - warmup) / decay_steps) : 1.0;
    const double remaining = training.lr_schedule == "cosine"
                                 ? 0.5 * (1.0 + std::cos(std::numbers::pi * progress))
                                 : 1.0 - progress;
    return training.learning_rate * (training.final_fraction + (1.0 - training.final_fraction) * remaining);
}

}  // namespace roper
