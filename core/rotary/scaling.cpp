#include "core/rotary/scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace roper {
namespace {

void require(bool holds, const char* what, double value) {
    if (!holds) throw std::invalid_argument(std::string(what).append(", not ").append(std::to_string(value)));
}

void requireSensible(const Scaling& s, double length) {
    require(std::isfinite(s.factor) && s.factor >= 1, "the scaling factor must be at least 1", s.factor);
    require(s.original_length > 0, "the original length must be above 0", s.original_length);
    require(length > 0, "the length of the text must be above 0", length);
    require(s.beta_slow > 0 && s.beta_fast >= s.beta_slow, "beta_fast must be at least beta_slow",
            s.beta_fast);
    require(s.attention_factor >= 0, "the attention factor must not be negative", s.attention_factor);
    require(s.low_frequency_factor > 0 && s.high_frequency_factor > s.low_frequency_factor,
            "high_freq_factor must be above low_freq_factor", s.high_frequency_factor);
    require(s.proportion >= 0 && s.proportion <= 1, "the proportion of rotating pairs lies between 0 and 1",
            s.proportion);
}

/// How much faster the exponent of b falls than under the formula of the worked example, where it is −i/r.
double exponentsPerPair(FrequencyFormula formula) {
    return formula == FrequencyFormula::standard ? 2.0 : 1.0;
}

/// The base whose slowest pair is `factor` times slower; a single pair always has θ = 1.
double ntkBase(double base, double factor, int width, FrequencyFormula formula) {
    if (width <= 2) return base;
    return base * std::pow(factor, 2 * width / (exponentsPerPair(formula) * (width - 2.0)));
}

Eigen::VectorXd yarn(Eigen::VectorXd theta, int width, double base, FrequencyFormula formula,
                     const Scaling& s) {
    const auto end = [&](double rotations, double (*round)(double)) {
        const double pair = yarnCorrectionPair(rotations, width, base, formula, s.original_length);
        return s.truncate ? round(pair) : pair;
    };
    const double first = std::max(end(s.beta_fast, std::floor), 0.0);
    double last = std::min(end(s.beta_slow, std::ceil), width - 1.0);
    if (first == last) last += 0.001;  // as Hugging Face does: no division by zero
    for (Eigen::Index i = 0; i < theta.size(); ++i) {
        const double ramp = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
        theta[i] = theta[i] / s.factor * ramp + theta[i] * (1 - ramp);
    }
    return theta;
}

Eigen::VectorXd llama3(Eigen::VectorXd theta, const Scaling& s) {
    const double longest = s.original_length / s.low_frequency_factor;
    const double shortest = s.original_length / s.high_frequency_factor;
    for (double& frequency : theta) {
        const double wavelength = 2 * std::numbers::pi / frequency;
        if (wavelength < shortest) continue;
        if (wavelength > longest) {
            frequency /= s.factor;
            continue;
        }
        const double kept = (s.original_length / wavelength - s.low_frequency_factor) /
                            (s.high_frequency_factor - s.low_frequency_factor);
        frequency = (1 - kept) * frequency / s.factor + kept * frequency;
    }
    return theta;
}

}  // namespace

double yarnCorrectionPair(double rotations, int rotated_width, double base, FrequencyFormula formula,
                          double original_length) {
    return rotated_width * std::log(original_length / (rotations * 2 * std::numbers::pi)) /
           (exponentsPerPair(formula) * std::log(base));
}

ScaledFrequencies scaledFrequencies(int rotated_width, double base, FrequencyFormula formula,
                                    const Scaling& scaling, double length) {
    requireSensible(scaling, length);
    const double s = scaling.factor;
    ScaledFrequencies scaled{frequencies(rotated_width, base, formula), 1.0};
    switch (scaling.method) {
        case ScalingMethod::none:
            break;
        case ScalingMethod::linear:
            scaled.theta /= s;
            break;
        case ScalingMethod::ntk:
            scaled.theta = frequencies(rotated_width, ntkBase(base, s, rotated_width, formula), formula);
            break;
        case ScalingMethod::dynamic_ntk: {
            const double grown = s * std::max(length / scaling.original_length, 1.0) - (s - 1);
            scaled.theta = frequencies(rotated_width, ntkBase(base, grown, rotated_width, formula), formula);
            break;
        }
        case ScalingMethod::yarn:
            scaled.theta = yarn(scaled.theta, rotated_width, base, formula, scaling);
            scaled.attention_factor =
                scaling.attention_factor > 0 ? scaling.attention_factor : 0.1 * std::log(s) + 1;
            break;
        case ScalingMethod::llama3:
            scaled.theta = llama3(scaled.theta, scaling);
            break;
        case ScalingMethod::p_rope:
            for (Eigen::Index i = 0; i < scaled.theta.size(); ++i)
                if (static_cast<double>(i) >= scaling.proportion * rotated_width / 2) scaled.theta[i] = 0;
            break;
    }
    return scaled;
}

}  // namespace roper
