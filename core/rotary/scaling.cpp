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

void requireValidScaling(const Scaling& s, double length) {
    require(std::isfinite(s.factor) && s.factor >= 1, "the scaling factor must be at least 1", s.factor);
    require(s.original_length > 0, "the original length must be above 0", s.original_length);
    require(length > 0, "the length of the text must be above 0", length);
    require(s.beta_slow > 0 && s.beta_fast >= s.beta_slow, "beta_fast must be at least beta_slow",
            s.beta_fast);
    require(s.attention_factor >= 0, "the attention factor must not be negative", s.attention_factor);
    require(s.low_frequency_factor > 0 && s.high_frequency_factor >= s.low_frequency_factor,
            "high_freq_factor must not be below low_freq_factor", s.high_frequency_factor);
    require(s.proportion >= 0 && s.proportion <= 1,
            "the proportion of rotating pairs must be between 0 and 1", s.proportion);
    require(s.proportion_factor >= 1, "p-RoPE's factor must be at least 1", s.proportion_factor);
    for (const ComparableVector* list : {&s.short_factors, &s.long_factors})
        for (const double factor : *list)
            require(std::isfinite(factor) && factor > 0, "LongRoPE's factors must be above 0", factor);
}

/// k of the frequency formula θ_i = b^(−k·i/r).
double exponentsPerPair(FrequencyFormula formula) {
    return formula == FrequencyFormula::standard ? 2.0 : 1.0;
}

Eigen::VectorXd yarn(Eigen::VectorXd theta, int width, double base, FrequencyFormula formula,
                     const Scaling& s) {
    const auto end = [&](double rotations, double (*round)(double)) {
        const double pair = yarnCorrectionPair(rotations, width, base, formula, s.original_length);
        return s.truncate ? round(pair) : pair;
    };
    const double first = std::max(end(s.beta_fast, std::floor), 0.0);
    double last = std::min(end(s.beta_slow, std::ceil), width - 1.0);
    if (first == last) last += 0.001;  // as in Hugging Face, to avoid division by zero
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

/// The factor of cos and sin if the config does not give one. (Hugging Face; Ding et al. 2024, section 3.3)
double longRopeAttentionFactor(const Scaling& s, bool is_long) {
    if (is_long && s.long_attention_factor > 0) return s.long_attention_factor;
    if (s.attention_factor > 0) return s.attention_factor;
    if (s.factor <= 1 || s.original_length <= 1) return 1.0;
    return std::sqrt(1 + std::log(s.factor) / std::log(s.original_length));
}

/// Keeps the fastest ⌊p·r/2⌋ pairs, as in Hugging Face.
void zeroSlowFrequencies(Eigen::VectorXd& theta, double proportion) {
    const auto kept = static_cast<Eigen::Index>(std::floor(proportion * static_cast<double>(theta.size())));
    theta.tail(theta.size() - kept).setZero();
}

template <std::size_t count>
ComparableVector vectorOf(const double (&numbers)[count]) {
    ComparableVector made;
    made = Eigen::Map<const Eigen::VectorXd>(numbers, count);
    return made;
}

}  // namespace

ComparableVector exampleShortFactors() {
    static constexpr double kFactors[] = {
        1.05, 1.05, 1.05, 1.1,  1.1,  1.1,  1.25, 1.25, 1.4, 1.45, 1.55, 1.85, 1.9,  2.0,  2.0,  2.0,
        2.0,  2.0,  2.0,  2.0,  2.0,  2.0,  2.0,  2.0,  2.0, 2.0,  2.0,  2.0,  2.0,  2.0,  2.0,  2.0,
        2.1,  2.1,  2.2,  2.35, 2.35, 2.35, 2.35, 2.4,  2.4, 2.65, 2.7,  2.9,  2.95, 3.05, 3.05, 3.05};
    return vectorOf(kFactors);
}

ComparableVector exampleLongFactors() {
    static constexpr double kFactors[] = {
        1.0299999713897705, 1.0499999523162842, 1.0499999523162842, 1.0799999237060547, 1.2299998998641968,
        1.2299998998641968, 1.2999999523162842, 1.4499999284744263, 1.5999999046325684, 1.6499998569488525,
        1.8999998569488525, 2.859999895095825,  3.68999981880188,   5.419999599456787,  5.489999771118164,
        5.489999771118164,  9.09000015258789,   11.579999923706055, 15.65999984741211,  15.769999504089355,
        15.789999961853027, 18.360000610351562, 21.989999771118164, 23.079999923706055, 30.009998321533203,
        32.35000228881836,  32.590003967285156, 35.56000518798828,  39.95000457763672,  53.840003967285156,
        56.20000457763672,  57.95000457763672,  59.29000473022461,  59.77000427246094,  59.920005798339844,
        61.190006256103516, 61.96000671386719,  62.50000762939453,  63.3700065612793,   63.48000717163086,
        63.48000717163086,  63.66000747680664,  63.850006103515625, 64.08000946044922,  64.760009765625,
        64.80001068115234,  64.81001281738281,  64.81001281738281};
    return vectorOf(kFactors);
}

double ntkBase(double base, double factor, int width, FrequencyFormula formula) {
    if (width <= 2) return base;
    return base * std::pow(factor, 2 * width / (exponentsPerPair(formula) * (width - 2.0)));
}

double dynamicNtkFactor(const Scaling& s, double length) {
    return s.factor * std::max(length / s.original_length, 1.0) - (s.factor - 1);
}

Eigen::VectorXd factorsPerPair(const Eigen::VectorXd& listed, Eigen::Index pairs) {
    if (listed.size() == 0) return Eigen::VectorXd::Ones(pairs);
    if (listed.size() == pairs) return listed;
    const double step =
        pairs > 1 ? static_cast<double>(listed.size() - 1) / static_cast<double>(pairs - 1) : 0.0;
    Eigen::VectorXd fitted(pairs);
    for (Eigen::Index i = 0; i < pairs; ++i) {
        const double index = step * static_cast<double>(i);
        const Eigen::Index below = std::min(static_cast<Eigen::Index>(index), listed.size() - 1),
                           above = std::min(below + 1, listed.size() - 1);
        const double fraction = index - static_cast<double>(below);
        fitted[i] = (1 - fraction) * listed[below] + fraction * listed[above];
    }
    return fitted;
}

double yarnCorrectionPair(double rotations, int rotated_width, double base, FrequencyFormula formula,
                          double original_length) {
    return rotated_width * std::log(original_length / (rotations * 2 * std::numbers::pi)) /
           (exponentsPerPair(formula) * std::log(base));
}

ScaledFrequencies scaledFrequencies(int rotated_width, double base, FrequencyFormula formula,
                                    const Scaling& scaling, double length, int exponent_width) {
    requireValidScaling(scaling, length);
    const double s = scaling.factor;
    const int r = exponent_width > 0 ? exponent_width : rotated_width;
    const auto withBase = [&](double other) { return frequencies(rotated_width, other, formula, r); };
    ScaledFrequencies scaled{withBase(base), 1.0};
    switch (scaling.method) {
        case ScalingMethod::none:
            break;
        case ScalingMethod::linear:
            scaled.theta /= s;
            break;
        case ScalingMethod::ntk:
            scaled.theta = withBase(ntkBase(base, s, r, formula));
            break;
        case ScalingMethod::dynamic_ntk:
            scaled.theta = withBase(ntkBase(base, dynamicNtkFactor(scaling, length), r, formula));
            break;
        case ScalingMethod::yarn:
            scaled.theta = yarn(scaled.theta, r, base, formula, scaling);
            scaled.attention_factor =
                scaling.attention_factor > 0 ? scaling.attention_factor : 0.1 * std::log(s) + 1;
            break;
        case ScalingMethod::llama3:
            scaled.theta = llama3(scaled.theta, scaling);
            break;
        case ScalingMethod::longrope: {
            const bool is_long = length > scaling.original_length;
            const Eigen::VectorXd& listed = is_long ? scaling.long_factors : scaling.short_factors;
            scaled.theta = scaled.theta.cwiseQuotient(factorsPerPair(listed, scaled.theta.size()));
            scaled.attention_factor = longRopeAttentionFactor(scaling, is_long);
            break;
        }
        case ScalingMethod::p_rope:
            zeroSlowFrequencies(scaled.theta, scaling.proportion);
            scaled.theta /= scaling.proportion_factor;
            break;
    }
    return scaled;
}

}  // namespace roper
