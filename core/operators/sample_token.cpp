#include "core/operators/sample_token.h"

#include <ATen/ATen.h>

#include <cmath>

namespace roper {

std::int64_t sampleToken(const at::Tensor& logits, double temperature, Random& random) {
    const auto values = logits.accessor<float, 1>();
    const std::int64_t V = values.size(0);
    std::int64_t likeliest = 0;
    for (std::int64_t token = 1; token < V; ++token)
        if (values[token] > values[likeliest]) likeliest = token;
    if (temperature <= 0) return likeliest;
    const auto weight = [&](std::int64_t token) {
        return std::exp((static_cast<double>(values[token]) - static_cast<double>(values[likeliest])) /
                        temperature);
    };
    double total = 0;
    for (std::int64_t token = 0; token < V; ++token)
        total += weight(token);
    double left = random.unit() * total;
    for (std::int64_t token = 0; token < V; ++token) {
        left -= weight(token);
        if (left < 0) return token;
    }
    return likeliest;  // due to rounding, the sum did not reach the drawn number
}

}  // namespace roper
