#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rotary/attention_form.h"
#include "core/rotary/head_vectors.h"
#include "core/rotary/scaling.h"

namespace roper {

/// How attention learns of positions.
enum class Method {
    none,
    rope,
    roper,
    xpos,              ///< RoPE whose queries and keys also decay
    t5,                ///< a bias for each bucket of distances
    alibi,             ///< a bias that falls with distance
    linear_numerator,  ///< linear attention, φ(q) and φ(k) turned in the numerator only
    linear_cosine,     ///< linear attention, similarity 1 + cosine of the turned q and k
};

/// Where q, k and v of the attention pages come from.
enum class Source { random, hand, run };

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
    Eigen::VectorXd theta, value_theta;  ///< trained frequencies; empty where they are fixed
    double base = 0;                     ///< that they began with: another base shows its own frequencies
    Schedule schedule = Schedule::standard;
    Eigen::VectorXd t5_biases;  ///< of the head, one a bucket
    int t5_distance = 0;        ///< distances from here on share the last bucket

    bool operator==(const Learned& other) const;
};

/// Everything that the explorer pages show follows from this: one plain struct that pages, pictures without
/// a window and tests share. Change the page and keep your place.
struct Setup {
    // The rotation.
    int head_dim = 16;
    double base = 10000.0;
    Schedule schedule = Schedule::standard;
    Pairing pairing = Pairing::half;
    double rotary_fraction = 1.0;        ///< share of the features of queries and keys that turn
    double value_rotary_fraction = 1.0;  ///< the same for values
    Scaling scaling;
    double context_length = 4096;  ///< L', positions of the text that is read

    // One vector, two vectors.
    double position = 3;  ///< m
    int pair = 2;
    Eigen::VectorXd x;        ///< [head_dim] of Rotation; the query of the two vectors
    Eigen::VectorXd y;        ///< [head_dim] the key of the two vectors
    double key_position = 1;  ///< n of the two vectors
    double shift = 0;         ///< S, added to every position
    std::string words = "I saw the cat sit on the mat and wait for the dog";

    // Spectrum.
    int distances = 257;                  ///< Δ = 0 … distances − 1
    std::vector<ScalingMethod> overlays;  ///< drawn besides the one in use
    bool xpos_decay = false;              ///< xPos is drawn in the decay curve
    bool other_schedule = false;          ///< the schedule that is not in use is drawn too, unscaled

    // Attention and Value mixing.
    Source source = Source::random;
    int tokens = 13;  ///< T of the random and hand-set sources
    std::uint64_t seed = 1;
    double likeness = 0.25;
    HeadVectors by_hand;  ///< [tokens × head_dim] each, empty unless source is `hand`
    std::string run;      ///< name of the run
    Learned learned;      ///< by the run
    std::string run_text;
    int layer = 0;
    int head = 0;  ///< from 0
    int heads = 8;
    Method method = Method::roper;
    bool causal = true;
    Mistake mistake = Mistake::none;
    MapKind map = MapKind::scores;
    int query = 9;
    int key = 3;
    std::vector<int> muted;  ///< pairs left out of scores, ascending
    double blend = 1.0;      ///< share of the value rotation on Value mixing

    /// Equal in everything, shapes included.
    bool operator==(const Setup& other) const;

    int pairs() const { return head_dim / 2; }

    /// The rotation of queries and keys; values have a fraction of their own.
    Rotary rotary() const;
    Rotary valueRotary() const;
    /// YaRN's factor on cos and sin of queries and keys, otherwise 1.
    double attentionFactor() const;
    /// θ_i and attention factor under another scaling method with this setup's parameters.
    ScaledFrequencies scaled(ScalingMethod method) const;

    /// T5's biases of this setup's head, one a bucket: learned, or a stand-in that follows from the seed.
    Eigen::VectorXd t5Biases() const;
    int t5Distance() const;

    /// Whether the method rotates queries and keys.
    bool rotates() const;
    /// The form of attention that the method asks for, without its mistake and with it.
    AttentionForm rightForm() const;
    AttentionForm form() const;

  private:
    /// `computed` frequencies, or learned ones under the same scaling.
    Eigen::VectorXd thetaOf(const Eigen::VectorXd& computed, const Eigen::VectorXd& of_run) const;
};

/// A vector to begin with: every pair has length 1 and a direction of its own, turned on by `turn` radians.
double startingFeature(const Setup& setup, int feature, double turn = 0.0);

/// Puts every value inside its bounds and every vector to its length: entries that were there stay, new ones
/// are `startingFeature`s. What it returns it leaves alone the second time.
Setup sanitized(Setup setup);

/// The bounds that `sanitized` keeps.
namespace bounds {
inline constexpr int kLeastHeadDim = 2, kMostHeadDim = 256;
inline constexpr double kLeastBase = 1.01, kMostBase = 1e15;
inline constexpr double kFarthestPosition = 100000, kFarthestShift = 100000;
inline constexpr double kLargestFeature = 1e6;
inline constexpr int kMostTokens = 4096, kMostTokensByHand = 64;
inline constexpr int kMostDistances = 8193;
inline constexpr double kLongestContext = 1 << 20;
inline constexpr double kLargestFactor = 1000;
inline constexpr int kMostHeads = 1024;
}  // namespace bounds

/// The introduction's example in a setup: "cat" at position 3, d = 4, its schedule, interleaved.
Setup withIntroExample(Setup setup);
bool isIntroExample(const Setup& setup);

}  // namespace roper
