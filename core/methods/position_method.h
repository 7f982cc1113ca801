#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/fields/own_settings.h"
#include "core/rotary/rotary_config.h"

namespace roper {

struct PositionMethod;

/// The settings that methods declare, all in one list.
const std::vector<OwnSetting>& methodSettings();

/// What a specification says about positions, and of rotations what it says of queries and keys. How wide
/// heads are follows from the rest of it.
struct PositionSettings : RotaryConfig {
    std::string position = "roper";    ///< name of the method
    double value_rotary_fraction = 1;  ///< share of the features of values that rotate
    std::string frequencies = "fixed";
    OwnSettings own;  ///< each method reads its own

    PositionSettings();

    const PositionMethod& method() const;
    bool trainsFrequencies() const;

    /// Of queries and keys, and of values, in heads of d features.
    RotaryConfig rotation(std::int64_t d) const;
    RotaryConfig valueRotation(std::int64_t d) const;
};

/// What a method has to know of the model around it.
struct ModelShape {
    std::int64_t width = 0, layers = 0, heads = 0;
    std::int64_t length = 0;           ///< tokens of a training sequence
    std::int64_t snapshot_length = 0;  ///< of the text that snapshots are taken of; 0 where none is
    bool causal = true;                ///< tokens attend to those before them alone

    std::int64_t headDim() const { return width / heads; }
};

/// The head that a bias is for; some methods differ between heads.
struct HeadContext {
    int head = 0, heads = 1;  ///< head from 0
    bool causal = true;
    Eigen::VectorXd learned_bias = {};  ///< of a bias that is trained: its values for this head
    OwnSettings own{methodSettings()};  ///< those of the method
};

/// A way in which a model knows positions: all about it that needs no LibTorch, found by its name. What
/// LibTorch must do for it stands in core/model/positions, in a file of the same name.
struct PositionMethod {
    std::string name;                ///< in specifications
    std::string title;               ///< "RoPER"
    std::string summary;             ///< what it does
    std::string source;              ///< who published it
    std::string formula;             ///< of a score, as rich text
    std::string extrapolation;       ///< what it does with sequences longer than in training
    std::uint32_t color = 0x808080;  ///< 0xRRGGBB, the same on every page

    /// Names of the fields of [model] and [training] that only some methods read and that this one does.
    std::vector<std::string> reads = {};
    std::vector<OwnSetting> settings = {};  ///< fields of this method alone

    bool rotates = false;         ///< queries and keys
    bool rotates_values = false;  ///< values too, and the output back
    /// Whether it adds to the scores of a softmax, which linear attention never makes: `bias` is then given.
    bool biases_scores = false;
    /// Whether it acts on the embeddings alone, so that a head shows no effect of its own.
    bool adds_to_embeddings = false;

    /// What contradicts; empty if nothing does.
    std::function<std::vector<SettingProblem>(const PositionSettings&, const ModelShape&)> check = {};
    /// Parameters of the method alone; none where empty.
    std::function<std::int64_t(const PositionSettings&, const ModelShape&)> parameters = {};
    /// The longest sequence that it can read, in tokens; any length where empty.
    std::function<std::int64_t(const PositionSettings&, const ModelShape&)> longest = {};
    std::string limit = {};       ///< "has a learned table of": how an error begins, before that number
    std::string for_longer = {};  ///< how the error ends: what to do for a longer text
    /// Whether LibTorch keeps the weights of every query for the backward pass, because the bias is trained.
    bool trains_bias = false;

    /// The bias β of a score by distance n − j, for one head; none where empty. The same as the file in
    /// core/model/positions adds.
    std::function<std::function<double(int distance)>(const HeadContext&)> bias = {};
    /// What each pair of rotated queries (`is_query`) or keys is multiplied by at a position; 1 where empty.
    std::function<double(int pair, int pairs, double position, bool is_query)> decay = {};

    bool readsField(const std::string& field) const;
};

/// Every method, in the order in which lists show them.
const std::vector<PositionMethod>& positionMethods();

/// @throws std::invalid_argument naming the known ones
const PositionMethod& positionMethod(const std::string& name);

/// The two methods that are trained as twins: RoPE, and RoPER beside it.
const std::vector<std::string>& twinMethods();

/// What all methods that rotate have in common, for their files.
PositionMethod rotaryMethod();

}  // namespace roper
