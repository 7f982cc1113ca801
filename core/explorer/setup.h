#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "core/methods/position_method.h"
#include "core/rotary/attention_form.h"
#include "core/rotary/attention_kind.h"
#include "core/rotary/head_vectors.h"

namespace roper {

/// Source of q, k and v on the attention pages.
enum class VectorSource { random, hand, run };

/// Which values the Value mixing page sums, from the simplest case to actual attention.
enum class MixedTokens {
    one,  ///< one token with all the weight
    two,  ///< two tokens with equal values and weights, one of them at the query
    all,  ///< every token with its attention weight
};

/// Which map the Attention page shows.
enum class MapKind {
    scores,
    weights,
    shift_difference,  ///< the effect of shifting all positions by S
    form_difference,   ///< the difference between the mistake and the correct form
};

/// Positional parameters learned by a run, which replace computed ones. They are requested from the run each
/// time, so the setup's text does not contain them. Unused unless the source is a run.
struct LearnedParameters {
    RotaryConfig rotation;         ///< with trained frequencies; unused with another base or formula
    ComparableVector value_theta;  ///< trained frequencies of values; empty if they are fixed
    ComparableVector bias;         ///< of the head, if its method trains one
    DeclaredSettings specific_settings{methodSettings()};  ///< settings of its method

    bool operator==(const LearnedParameters&) const = default;
};

/// No scaling, with parameters for which the effect of each method is visible.
Scaling initialScaling();

/// The complete state of the explorer pages: one plain struct shared by pages, figures rendered without a
/// window, and tests. It is kept when the page changes.
struct Setup : RotaryConfig {
    // The base class is the rotation of queries and keys; that of values differs only in this fraction.
    double value_rotary_fraction = 1.0;
    double context_length = 4096;  ///< L', length of the text in positions

    // Rotation, which shows one vector, or a query and a key.
    double position = 3;      ///< m, of the vector or the query
    int pair = 4;             ///< θ = 0.32: one rotation in 20 positions, about a sentence
    ComparableVector x;       ///< [head_dim] the vector, or the query
    ComparableVector y;       ///< [head_dim] the key
    double key_position = 1;  ///< of the key
    double shift = 0;         ///< S, added to every position
    std::string words = "I saw the cat sit on the mat and wait for the dog";

    // Spectrum.
    int distances = 257;                  ///< δ = 0 … distances − 1
    std::vector<ScalingMethod> overlays;  ///< methods drawn in addition to the selected one
    bool xpos_decay = false;              ///< whether the decay curve includes xPos
    bool other_formula = false;           ///< whether the other formula is also drawn, unscaled

    // Attention and Value mixing.
    VectorSource source = VectorSource::random;
    int tokens = 13;  ///< T of the random and hand-set sources
    std::uint64_t seed = 1;
    double similarity = 0.8;
    HeadVectors manual_vectors;  ///< [tokens × head_dim] each, empty unless source is `hand`
    std::string run;             ///< name of the run
    LearnedParameters learned;   ///< by the run
    std::string run_text;
    int layer = 0;
    int head = 0;  ///< from 0
    int heads = 8;
    std::string method = "roper";  ///< name of a position method
    std::string rotates = "qkvo";  ///< which tensors the method "rotary" rotates (`RotatedTensors`)
    AttentionKind attention = AttentionKind::softmax;
    bool causal = true;
    Mistake mistake = Mistake::none;
    MapKind map = MapKind::scores;
    int query = 9;
    int key = 3;
    bool shared_key_value = false;         ///< whether V = K, unless the vectors are a run's
    std::vector<int> ablated_pairs;        ///< pairs ablated from scores, ascending
    double value_rotation_strength = 1.0;  ///< factor of the frequencies of values and outputs, 0 to 1
    MixedTokens mixed_tokens = MixedTokens::one;

    Setup() : RotaryConfig{.head_dim = 64, .scaling = initialScaling()} {}

    bool operator==(const Setup&) const = default;

    /// All pairs of a head, rotating or not (`Rotary::planes`); RotaryConfig::pairs() counts rotating ones.
    int pairs() const { return head_dim / 2; }

    /// The rotation of queries and keys; values have their own fraction.
    Rotary rotary() const;
    Rotary valueRotary() const;
    /// YaRN's or LongRoPE's factor of cos and sin of queries and keys, otherwise 1.
    double attentionFactor() const;
    /// θ_i and attention factor under another scaling method with this setup's parameters.
    ScaledFrequencies scaled(ScalingMethod method) const;

    /// @throws std::invalid_argument if there is no such method
    const PositionMethod& positionMethod() const { return roper::positionMethod(method); }
    /// The selected head. T5's biases are those learned by the run, or random ones determined by the seed.
    HeadContext headContext() const;

    /// The displayed mixture: vectors set by hand or from a run are always summed with all attention weights.
    MixedTokens effectiveMixedTokens() const {
        return source == VectorSource::random ? mixed_tokens : MixedTokens::all;
    }

    /// Which tensors the method rotates.
    RotatedTensors rotatedTensors() const { return positionMethod().rotatedTensors(rotates); }
    /// Whether queries or keys rotate; whether values or outputs do.
    bool rotatesScores() const { return rotatedTensors().anyOfScores(); }
    bool rotatesValues() const { return rotatedTensors().anyOfValues(); }
    /// The rotations of the method, without and with the setup's mistake.
    AttentionForm correctForm() const;
    AttentionForm form() const;

  private:
    /// The rotation of a fraction of the head, with frequencies learned by a run unless another base or
    /// formula is selected.
    Rotary makeRotation(double fraction, const ComparableVector& learned_theta) const;
};

/// A feature of an initial vector, in which every pair has length 1 and its own direction, plus
/// `further_angle` radians.
double initialFeature(const Setup& setup, int feature, double further_angle = 0.0);

/// Clamps every value to its field's range and adjusts every vector to its length: existing entries are kept,
/// new ones are `initialFeature`s. Idempotent.
Setup sanitized(Setup setup);

/// Shift used to demonstrate the effect of shifting when S is 0.
inline constexpr double kExampleShift = 7;

/// Bounds shared by several readers of settings.
namespace bounds {
inline constexpr int kMinHeadDim = 2, kMaxHeadDim = 512;
inline constexpr double kMinBase = 1.01, kMaxBase = 1e15;
inline constexpr double kMaxPosition = 100000, kMaxShift = 100000;
inline constexpr double kMaxContextLength = 1 << 20;
inline constexpr double kMaxFactor = 10000;
inline constexpr double kMinFactor = 0.001;  // of LongRoPE's lists
inline constexpr double kMaxFeature = 1e6;
inline constexpr int kMaxDistances = 8193;
inline constexpr int kMaxTokens = 4096, kMaxManualTokens = 64;
}  // namespace bounds

/// Whether two setups have the same head width, rotation and text length.
bool haveSameRotation(const Setup& a, const Setup& b);
/// A setup with the head width, rotation and text length of another.
Setup withRotationOf(Setup setup, const Setup& other);

/// The worked example in a setup: "cat" at position 3, d = 4, its formula, interleaved.
Setup withWorkedExample(Setup setup);
bool isWorkedExample(const Setup& setup);

}  // namespace roper
