#pragma once

#include <Eigen/Core>
#include <array>

#include "core/rotary/comparable_vector.h"
#include "core/rotary/enum_names.h"
#include "core/rotary/frequencies.h"

namespace roper {

/// Methods of changing frequencies so that a model can read texts longer than its training context. s:
/// factor, b: base, r: rotated width, L: training context length, L': length of the text.
enum class ScalingMethod {
    none,
    linear,  ///< θ/s: position interpolation (Chen et al. 2023, arXiv 2306.15595)
    ntk,     ///< b' = b·s^(r/(r−2)), worked example b·s^(2r/(r−2)): the slowest pair is s times slower
    dynamic_ntk,  ///< ntk with s replaced by s·L'/L − (s−1) if the text is longer than L (Hugging Face)
    yarn,         ///< θ/s and θ blended by a ramp over the pairs (Peng et al. 2023, arXiv 2309.00071)
    llama3,       ///< θ/s, θ or a blend of both by wavelength (Llama 3.1, as in Hugging Face)
    /// θ_i/f_i with factors found by search for each model, separate ones for texts beyond L (Ding et al.
    /// 2024, arXiv 2402.13753)
    longrope,
    p_rope,  ///< the slowest pairs do not rotate (Barbero et al. 2024, arXiv 2410.06205)
};

inline constexpr std::array kScalingMethods = {
    ScalingMethod::none, ScalingMethod::linear, ScalingMethod::ntk,      ScalingMethod::dynamic_ntk,
    ScalingMethod::yarn, ScalingMethod::llama3, ScalingMethod::longrope, ScalingMethod::p_rope};

/// The names of these values in files and on command lines.
template <>
inline constexpr EnumNames<8> kEnumNames<ScalingMethod>{
    "scaling", {"none", "linear", "ntk", "dynamic", "yarn", "llama3", "longrope", "p-rope"}};

/// A scaling method with its parameters; each method uses some of them.
struct Scaling {
    ScalingMethod method = ScalingMethod::none;
    double factor = 4.0;            ///< s ≥ 1
    double original_length = 4096;  ///< L, training context length
    double beta_fast = 32;          ///< YaRN: pairs with more rotations than this within L are not scaled
    double beta_slow = 1;           ///< YaRN: pairs with fewer rotations than this are divided by s
    /// YaRN and LongRoPE: multiplies cos and sin; 0 means 0.1·ln s + 1 and √(1 + ln s/ln L), respectively
    double attention_factor = 0;
    double long_attention_factor = 0;  ///< LongRoPE: replaces it in texts longer than L; 0: does not
    double low_frequency_factor = 1;   ///< Llama 3: θ with wavelengths above L/(this factor) become θ/s
    double high_frequency_factor = 4;  ///< Llama 3: θ with wavelengths below L/(this factor) are kept
    bool truncate = true;              ///< YaRN: the ramp starts and ends at integer pairs
    ComparableVector short_factors;    ///< LongRoPE: f_i of each pair in texts up to L; empty: all 1
    ComparableVector long_factors;     ///< LongRoPE: f_i in longer texts; empty: all 1
    double proportion = 0.75;  ///< p-RoPE: fraction of pairs that rotate, the fastest: ⌊p·r/2⌋ of r/2
    double proportion_factor = 1;  ///< p-RoPE: divides all frequencies (Hugging Face)

    bool operator==(const Scaling&) const = default;
};

struct ScaledFrequencies {
    Eigen::VectorXd theta;  ///< radians per position, one per pair
    /// Multiplies cos and sin of queries and keys, and thus multiplies scores by its square.
    double attention_factor = 1;
};

/// Frequencies of the `rotated_width`/2 pairs under a scaling method.
/// @param length  L', length of the text in positions; used only by dynamic NTK and LongRoPE
/// @param exponent_width  as in `frequencies`
/// @throws std::invalid_argument for a width or base that `frequencies` refuses, a factor below 1 (in
/// LongRoPE's lists: not above 0), a length not above 0, beta_fast below beta_slow, a low frequency factor
/// above the high one, or a proportion outside 0 … 1
ScaledFrequencies scaledFrequencies(int rotated_width, double base, FrequencyFormula formula,
                                    const Scaling& scaling, double length, int exponent_width = 0);

/// LongRoPE's factors for the 48 pairs of Phi-3-vision-128k: the initial values on explorer pages.
ComparableVector exampleShortFactors();
ComparableVector exampleLongFactors();

/// LongRoPE's factors for this many pairs: a list of another length is interpolated, an empty one is all 1.
Eigen::VectorXd factorsPerPair(const Eigen::VectorXd& listed, Eigen::Index pairs);

/// The base b' of NTK scaling, which makes the slowest pair `factor` times slower; a single pair keeps θ = 1.
double ntkBase(double base, double factor, int rotated_width, FrequencyFormula formula);
/// The factor that dynamic NTK uses for a text of `length` positions.
double dynamicNtkFactor(const Scaling& scaling, double length);

/// YaRN's correction dimension c(β): the unrounded index of the pair that rotates β times within L.
/// r·ln(L/(2πβ)) / (2·ln b) for the standard formula, r·ln(L/(2πβ)) / ln b for that of the worked example.
double yarnCorrectionPair(double rotations, int rotated_width, double base, FrequencyFormula formula,
                          double original_length);

}  // namespace roper
