#include "core/specification/cost.h"

#include <cmath>
#include <fstream>

#include "core/base/text.h"

namespace roper {
namespace {

/// Weights that every token is multiplied by, of one layer.
double layerWeights(const Specification::Model& m) {
    const auto C = static_cast<double>(m.width), F = static_cast<double>(m.feed_forward);
    return 4 * C * C + 2 * C * F;
}

std::int64_t parametersOf(const Specification& s, std::int64_t V) {
    const std::int64_t C = s.model.width, F = s.model.feed_forward;
    const std::int64_t block = 3 * C * C + 3 * C + C * C + C + 2 * C * F + F + C + 4 * C;
    const std::int64_t final_norm = s.model.norm == "pre" ? 2 * C : 0;
    return V * C + s.model.layers * block + final_norm + V * C + V +
           (s.model.method().parameters ? s.model.method().parameters(s.model, s.shape()) : 0);
}

/// Forward and backward of the attention proper for one token: scores and mixing, without its linear layers.
double attentionFlop(const Specification& s, double T) {
    const auto L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width);
    if (s.model.attention == "softmax")
        return 12 * L * T * C / (s.isMasked() ? 1 : 2);  // causal: half of the keys are ahead
    constexpr double kChunk = 64;  // of core/operators/linear_attention.cpp: four running products
    return 16 * L * C * (kChunk + static_cast<double>(s.headDim()));
}

/// Numbers that the forward pass keeps for the backward one, for one token: inputs of the linear layers, of
/// the norms and of the non-linearity, q, k, v rotated and as they were, and what the attention kernel keeps.
double keptNumbers(const Specification& s, double T, double V) {
    const auto L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width),
               F = static_cast<double>(s.model.feed_forward), H = static_cast<double>(s.model.heads);
    const bool trained = s.model.trainsFrequencies();
    const bool by_kernels = s.device.kernel == "auto" && !s.device.name.starts_with("cuda");
    const bool fused = by_kernels && s.model.attention == "softmax" && !trained;
    double layer = (fused ? 8 : 10) * C + (by_kernels && s.model.activation == "relu" ? 1 : 2) * F;
    if (s.model.attention != "softmax") layer += 12 * C;
    if (s.model.method().trains_bias && !fused) layer += 2 * H * T;  // weights are kept
    if (trained) layer += 12 * C;
    const double dropped = s.model.dropout > 0 ? L * 2 * C * 1.25 : 0;  // what is left, and the mask
    return L * layer + dropped + 4 * V + 2 * C;
}

}  // namespace

Cost costOf(const Specification& s) {
    constexpr double kProgram = 1.9e8;  // LibTorch loaded, its threads and buffers
    constexpr double kState = 5 * 4;    // bytes per parameter: itself, its gradient twice, AdamW's two means
    constexpr double kPassing = 1.3;    // what the backward pass makes and drops on its way
    const auto V = static_cast<double>(vocabularySize(s.task) + (s.isMasked() ? 1 : 0));
    const double T = static_cast<double>(s.inputLength()), B = static_cast<double>(s.training.batch);
    const double L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width);
    Cost cost;
    cost.parameters = parametersOf(s, static_cast<std::int64_t>(V));
    cost.flop_a_step = B * T * (6 * (L * layerWeights(s.model) + V * C) + attentionFlop(s, T));
    cost.memory_bytes = kProgram + kState * static_cast<double>(cost.parameters) +
                        4 * kPassing * B * T * keptNumbers(s, T, V);
    return cost;
}

std::optional<double> availableMemory() {
    std::ifstream info("/proc/meminfo");
    std::string name;
    double kibibytes = 0;
    while (info >> name) {
        if (name == "MemAvailable:" && info >> kibibytes) return 1024 * kibibytes;
        std::getline(info, name);
    }
    return std::nullopt;
}

std::string costText(const Cost& cost) {
    /// Three digits, with the prefix that fits.
    const auto scaled = [](double value, const std::vector<std::string>& units) {
        std::size_t unit = 0;
        while (value >= 999.5 && unit + 1 < units.size()) {
            value /= 1000;
            ++unit;
        }
        const double digits = value >= 99.5 ? 1 : value >= 9.95 ? 10 : 100;
        return formatNumber(std::round(value * digits) / digits) + " " + units[unit];
    };
    return scaled(static_cast<double>(cost.parameters),
                  {"parameters", "thousand parameters", "million parameters", "billion parameters"}) +
           ", " + scaled(cost.flop_a_step, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"}) +
           " a step, about " + scaled(cost.memory_bytes, {"bytes", "kB", "MB", "GB", "TB", "PB"}) +
           " of memory";
}

}  // namespace roper
