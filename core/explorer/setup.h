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

/// Where q, k and v of the attention pages come from.
enum class Source { random, hand, run };

/// Which values the Value mixing page adds up, from the simplest case to attention as it is.
enum class Mixture {
    one,  ///< one token with all the weight
    two,  ///< two equal ones, one of them at the query
    all,  ///< every token with the weight that attention gives it
};

/// Which map the Attention page shows.
enum class MapKind {
    scores,
    weights,
    shift_difference,  ///< what moving all positions by S changes
    form_difference,   ///< what the mistake changes against the right form
};

/// What a run has learned about positions, in place of what would be computed. Asked of the run each time, so
/// neither copied as text nor kept in sessions; of no effect unless the source is a run.
struct Learned {
    RotaryConfig rotation;              ///< with trained frequencies; another base or formula shows its own
    ValueVector value_theta;            ///< trained frequencies of values; empty where they are fixed
    ValueVector bias;                   ///< of the head, where its method trains one
    OwnSettings own{methodSettings()};  ///< of its method

    bool operator==(const Learned&) const = default;
};

/// No scaling; its parameters are such that each method shows what it does.
Scaling scalingToBeginWith();

/// Everything that the explorer pages show follows from this: one plain struct that pages, pictures without
/// a window and tests share. Change the page and keep your place.
struct Setup : RotaryConfig {
    // The rotation: of queries and keys, and as them but for its share that of values.
    double value_rotary_fraction = 1.0;
    double context_length = 4096;  ///< L', positions of the text that is read

    // One vector, two vectors.
    double position = 3;      ///< m
    int pair = 4;             ///< θ = 0.32: round after 20 positions, about a sentence
    ValueVector x;            ///< [head_dim] of Rotation; the query of the two vectors
    ValueVector y;            ///< [head_dim] the key of the two vectors
    double key_position = 1;  ///< n of the two vectors
    double shift = 0;         ///< S, added to every position
    std::string words = "I saw the cat sit on the mat and wait for the dog";

    // Spectrum.
    int distances = 257;                  ///< δ = 0 … distances − 1
    std::vector<ScalingMethod> overlays;  ///< drawn besides the one in use
    bool xpos_decay = false;              ///< xPos is drawn in the decay curve
    bool other_formula = false;           ///< the formula that is not in use is drawn too, unscaled

    // Attention and Value mixing.
    Source source = Source::random;
    int tokens = 13;  ///< T of the random and hand-set sources
    std::uint64_t seed = 1;
    double similarity = 0.8;
    HeadVectors by_hand;  ///< [tokens × head_dim] each, empty unless source is `hand`
    std::string run;      ///< name of the run
    Learned learned;      ///< by the run
    std::string run_text;
    int layer = 0;
    int head = 0;  ///< from 0
    int heads = 8;
    std::string method = "roper";  ///< name of a position method
    AttentionKind attention = AttentionKind::softmax;
    bool causal = true;
    Mistake mistake = Mistake::none;
    MapKind map = MapKind::scores;
    int query = 9;
    int key = 3;
    std::vector<int> muted;  ///< pairs left out of scores, ascending
    double blend = 1.0;      ///< share of the value rotation on Value mixing
    Mixture mixture = Mixture::one;

    Setup() : RotaryConfig{.head_dim = 64, .scaling = scalingToBeginWith()} {}

    bool operator==(const Setup&) const = default;

    int pairs() const { return head_dim / 2; }

    /// The rotation of queries and keys; values have a fraction of their own.
    Rotary rotary() const;
    Rotary valueRotary() const;
    /// YaRN's factor on cos and sin of queries and keys, otherwise 1.
    double attentionFactor() const;
    /// θ_i and attention factor under another scaling method with this setup's parameters.
    ScaledFrequencies scaled(ScalingMethod method) const;

    /// @throws std::invalid_argument if there is no such method
    const PositionMethod& positionMethod() const { return roper::positionMethod(method); }
    /// The head that is looked at. T5's biases are learned ones, or a stand-in that follows from the seed.
    HeadContext headOfMethod() const;

    /// The mixture that is shown: vectors of one's own or of a run are all mixed, as attention does.
    Mixture shownMixture() const { return source == Source::random ? mixture : Mixture::all; }

    /// Whether the method rotates queries and keys.
    bool rotates() const { return positionMethod().rotates; }
    /// The form of attention that the method asks for, without its mistake and with it.
    AttentionForm rightForm() const;
    AttentionForm form() const;

  private:
    /// With a share of the head, and with what a run has learned unless another base or formula is asked for.
    Rotary rotaryOf(double fraction, const ValueVector& learned_theta) const;
};

/// A vector to begin with: every pair has length 1 and a direction of its own, rotated by a further
/// `further_angle` radians.
double startingFeature(const Setup& setup, int feature, double further_angle = 0.0);

/// Puts every value inside its field's range and every vector to its length: entries that were there stay,
/// new ones are `startingFeature`s. What it returns it leaves alone the second time.
Setup sanitized(Setup setup);

/// How far positions are moved to show what moving changes, where S is 0.
inline constexpr double kExampleShift = 7;

/// Bounds that more than one reader of settings keeps.
namespace bounds {
inline constexpr int kLeastHeadDim = 2, kMostHeadDim = 512;
inline constexpr double kLeastBase = 1.01, kMostBase = 1e15;
inline constexpr double kFarthestPosition = 100000, kFarthestShift = 100000;
inline constexpr double kLongestContext = 1 << 20;
inline constexpr double kLargestFactor = 10000;
inline constexpr double kSmallestFactor = 0.001;  // of LongRoPE's lists
inline constexpr double kLargestFeature = 1e6;
inline constexpr int kMostDistances = 8193;
inline constexpr int kMostTokens = 4096, kMostTokensByHand = 64;
}  // namespace bounds

/// Whether two setups have heads of the same width that rotate alike, and texts of the same length.
bool rotateAlike(const Setup& a, const Setup& b);
/// A setup with the head width, rotation and text length of another.
Setup withRotationOf(Setup setup, const Setup& other);

/// The worked example in a setup: "cat" at position 3, d = 4, its formula, interleaved.
Setup withWorkedExample(Setup setup);
bool isWorkedExample(const Setup& setup);

}  // namespace roper
