#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/fields/declared_settings.h"
#include "core/rotary/comparable_vector.h"
#include "core/rotary/head_layout.h"
#include "core/rotary/rotary_config.h"

namespace roper {

struct PositionMethod;

/// The settings of all methods in one list.
const std::vector<DeclaredSetting>& methodSettings();

/// The position settings of a specification. As a RotaryConfig it describes the rotation of queries and keys;
/// the width of heads follows from the rest of the specification.
struct PositionSettings : RotaryConfig {
    std::string position = "roper";      ///< name of the position method
    double value_rotary_fraction = 1;    ///< fraction of the features of values that rotate
    double value_rotation_strength = 1;  ///< factor of the frequencies of values and outputs
    std::string frequencies = "fixed";   ///< or "trained"
    std::int64_t no_rotation_every = 0;  ///< every n-th layer does not rotate; 0: all layers do
    bool shared_kv = false;              ///< keys are also the values, so that these rotate with them
    DeclaredSettings specific_settings;  ///< each method reads its own

    PositionSettings();

    const PositionMethod& method() const;
    bool trainsFrequencies() const;
    bool rotatesIn(std::int64_t layer) const {
        return no_rotation_every == 0 || (layer + 1) % no_rotation_every != 0;
    }

    /// Which tensors rotate: those of the method, and with `shared_kv` the values if the keys do.
    RotatedTensors rotatedTensors() const;

    /// Rotation of queries and keys, and of values and outputs, for heads of d features; with `shared_kv`
    /// both are the same. If none of the tensors rotates, the rotation has no features.
    RotaryConfig rotation(std::int64_t d) const;
    RotaryConfig valueRotation(std::int64_t d) const;
};

/// What a method needs to know about the model.
struct ModelShape {
    std::int64_t width = 0, layers = 0, heads = 0;
    std::int64_t length = 0;           ///< length of a training sequence, tokens
    std::int64_t snapshot_length = 0;  ///< length of the text recorded by snapshots; 0 without snapshots
    bool causal = true;                ///< each token attends only to itself and earlier tokens

    std::int64_t headDim() const { return width / heads; }
};

/// The head for which a bias is computed; some methods treat heads differently.
struct HeadContext {
    int head = 0, heads = 1;  ///< head from 0
    bool causal = true;
    ComparableVector learned_bias = {};                    ///< for trained biases: the values for this head
    DeclaredSettings specific_settings{methodSettings()};  ///< settings of the method

    bool operator==(const HeadContext&) const = default;
};

/// A position method, with everything about it that does not need LibTorch. The LibTorch part is in a file of
/// the same name in core/model/positions.
struct PositionMethod {
    std::string name;                ///< in specifications
    std::string title;               ///< "RoPER"
    std::string summary;             ///< what it does
    std::string source;              ///< publication
    std::string formula;             ///< formula of a score, as rich text
    std::string extrapolation;       ///< behavior on sequences longer than in training
    std::uint32_t color = 0x808080;  ///< 0xRRGGBB, the same on every page

    /// Fields of [model] and [training] that this method reads and some others do not.
    std::vector<std::string> relevant_fields = {};
    std::vector<DeclaredSetting> settings = {};  ///< settings that only this method has

    /// Which tensors rotate; the setting "rotates" overrides this in methods that have it.
    RotatedTensors rotated = {};
    /// Whether it adds a bias to the scores before the softmax; `bias` must then be set. Linear attention has
    /// no such scores.
    bool biases_scores = false;
    /// Whether it only changes the embeddings, so that single heads show no effect.
    bool adds_to_embeddings = false;

    /// Contradictions between the settings; empty if there are none.
    std::function<std::vector<SettingProblem>(const PositionSettings&, const ModelShape&)> check = {};
    /// Number of the method's own parameters; if not set, none.
    std::function<std::int64_t(const PositionSettings&, const ModelShape&)> parameters = {};
    /// Longest supported sequence, in tokens; if not set, any length.
    std::function<std::int64_t(const PositionSettings&, const ModelShape&)> max_length = {};
    /// Beginning of the error for longer texts, before the number: "has a learned table of".
    std::string limit_text = {};
    std::string advice_for_longer = {};  ///< end of that error: what to do instead
    /// Whether LibTorch keeps all attention weights for the backward pass, because the bias is trained.
    bool trains_bias = false;

    /// The bias β added to the score of one head by distance n − j; if not set, none. Equals the bias
    /// computed in core/model/positions.
    std::function<std::function<double(int distance)>(const HeadContext&)> bias = {};
    /// Factor on each pair of rotated queries (`is_query`) or keys at a position; if not set, 1.
    std::function<double(int pair, int pairs, double position, bool is_query)> decay = {};

    bool readsField(const std::string& field) const;

    /// @param chosen  the setting "rotates", which some methods read
    RotatedTensors rotatedTensors(const std::string& chosen) const {
        return readsField("rotates") ? rotatedTensorsFromName(chosen) : rotated;
    }
    bool rotates() const { return rotated.anyOfScores(); }
    bool rotatesValues() const { return rotated.anyOfValues(); }
};

/// All methods in display order.
const std::vector<PositionMethod>& positionMethods();

/// @throws std::invalid_argument naming the known methods
const PositionMethod& positionMethod(const std::string& name);

/// The two methods that are trained as twins: RoPE and RoPER.
const std::vector<std::string>& twinMethods();

/// A method that rotates these tensors, still without name and description.
PositionMethod methodThatRotates(RotatedTensors rotated = kRopeTensors);

/// Names of the fields about the rotation of values and outputs.
const std::vector<std::string>& valueRotationFields();

}  // namespace roper
