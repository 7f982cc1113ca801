#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model_config/model_type.h"
#include "core/model_config/rotation_reading.h"

namespace roper {

/// Bounds of members. Lengths are in tokens; listed factors are LongRoPE's, one for each pair.
inline constexpr double kMaxTextLength = 1e9, kMinBase = 1.0001, kMaxBase = 1e15;
inline constexpr double kMaxAlpha = 1e9;  ///< of Hunyuan's NTK-aware scaling
inline constexpr double kMaxFactor = 10000, kMinListedFactor = 1e-3, kMaxListedFactor = 1e6;
inline constexpr int kMaxConfigHeadDim = 1 << 16, kMaxConfigLayers = 1024;
inline constexpr const char *kParameters = "rope_parameters", *kScaling = "rope_scaling",
                            *kTrained = "original_max_position_embeddings",
                            *kRotaryFraction = "partial_rotary_factor", *kByLayer = "per_layer_config";

/// Implements `readRotation`, and holds its state.
class RotationReader {
  public:
    RotationReader(const ConfigFields& config, const ModelType& type, ParsedRotation& reading)
        : config_(config),
          type_(type),
          sizes_(unreadCopyIfAny(type.sizes)),
          rope_(unreadCopyIfAny(type.rope)),
          reading_(reading) {
        reading.positions = number("max_position_embeddings", 0, kMaxTextLength).value_or(0);
    }

    void read();

  private:
    /// Where the rotary parameters of one kind of layer are.
    struct Source {
        const ModelType::Kind* kind;
        std::optional<ConfigFields> rope;  ///< nullopt: in the config itself
        bool is_default = false;           ///< `rope` is the default of the class
    };

    /// A copy that records what is read by itself, since all readers and threads share the model types.
    static std::optional<ConfigFields> unreadCopyIfAny(const std::optional<ConfigFields>& shared);
    void note(std::string text) const;

    /// Names that a member may have, the usual one first.
    std::vector<std::string> namesOf(const std::string& key) const;

    /// The config's member, or the class's default if it is missing. A member that is null gives nullopt.
    std::optional<double> number(const std::string& key, double low, double high) const;
    std::optional<int> integer(const std::string& key, int low, int high) const;
    void readValues();

    /// Reads per_layer_config, the settings of single layers. transformers resolves the rotation members in
    /// `per_layer_keys` by the first layer of a kind, and fails if later layers of that kind differ. It
    /// refuses any other setting that differs from the config.
    void readPerLayerConfig();
    void readPerLayerMember(const ConfigFields& own, const std::string& member, int layer);

    /// @throws Error (usage) if layers of one kind differ, as in transformers
    void requireSameWidthPerKind() const;

    /// The value of a member for layers that per_layer_config does not mention.
    std::optional<int> ofAll(const std::string& member) const {
        return integer(member, 2, kMaxConfigHeadDim);
    }

    /// The value of a member for layers of a kind, from per_layer_config if it is there.
    std::optional<int> byLayer(const std::string& member, const std::string& kind) const;

    /// Width of a head in layers of this kind.
    int headWidth(const ModelType::Kind& kind) const;
    int widthDifference(const ModelType::Kind& kind) const;
    int derivedHeadWidth() const;
    std::optional<ConfigFields> objectUnlessEmpty(const char* key) const;

    /// Kinds of layers for which the object has parameters.
    std::vector<std::string> kindsIn(const ConfigFields& parameters) const;
    std::vector<Source> sources();
    std::vector<Source> sourcesByKind(const std::optional<ConfigFields>& parameters,
                                      const std::optional<ConfigFields>& scaling);

    /// For classes that copy flat parameters to every kind and treat rope_scaling as another name of
    /// rope_parameters.
    std::vector<Source> copiedSources(const std::optional<ConfigFields>& parameters,
                                      const std::optional<ConfigFields>& scaling);
    /// Moves layers that attend to all tokens to the front.
    static std::vector<Source> globalFirst(std::vector<Source> sources);

    /// For model types that transformers does not have: uses the parameters of each kind unchanged.
    std::vector<Source> sourcesOfUnknown(const ConfigFields& given, const std::vector<std::string>& kinds);

    /// For the same types: if the config has a base of its own for local layers, these are never scaled.
    std::vector<Source> sourcesWithLocalBase(const std::optional<ConfigFields>& given);
    /// Parameters of a kind to which rope_scaling applies.
    /// @param own  what rope_parameters say for this kind
    ConfigFields scaledParameters(const ModelType::Kind& kind, const std::optional<ConfigFields>& own,
                                  const ConfigFields& scaling) const;
    /// {"rope_type": "default"}. transformers merges it with the config's parameters, so that a method given
    /// only by the older name, "type", is not read.
    static ConfigFields plainParameters();
    /// The same if base and rotating fraction are members of the config (`ModelType::flat_means_scaling`).
    ConfigFields scaledOutside(const ModelType::Kind& kind, const ConfigFields& scaling) const;
    void readKind(const Source& source);
    void readRotation(const Source& source, RotaryConfig& rotary);
    static void applyNtk(RotaryConfig& rotary);
    bool isInterleaved() const;

    /// Whether the class rotates nothing, whatever the config says.
    bool noLayerRotates() const { return type_.layers.size() == 1 && type_.layers.front().empty(); }
    /// Whether the config enables rotation.
    bool rotates(const Source& source) const;
    bool isThetaNull(const Source& source) const;
    std::string typeOf(const ConfigFields& rope) const;
    static bool isScaled(const std::string& method) { return method != "default" && method != "mrope"; }

    /// Whether `ModelType::features_key` gives the number of rotating features. In DeepSeek V4, a rotating
    /// fraction and parameters by kind of layer take precedence.
    bool countsFeatures() const;
    /// That number. @throws Error (usage) if the model type cannot compute it
    int countedFeatures(int head_dim) const;
    /// @throws Error (usage) naming the member `key` if the model type cannot rotate so many features
    void requireEven(const ConfigFields& fields, const std::string& key, int features) const;
    /// Reads how many features rotate. An odd number is rounded up, but not in the exponents of frequencies.
    void readWidth(const Source& source, const std::string& method, RotaryConfig& rotary);

    /// With `ModelType::unrotated_features_key`, the rotating fraction refers to rotating and unrotated
    /// features together. @throws Error (usage) if it does not give the `rotating` features of a query
    void requireAllRotate(const Source& source, const std::string& method, int rotating) const;
    double rotaryFraction(const Source& source, const std::string& method, int head_dim);
    std::optional<double> configuredRotaryFraction(const Source& source, int head_dim) const;
    void readBase(const Source& source, RotaryConfig& rotary);
    std::initializer_list<const char*> ropeThetaKeys() const;
    ScalingMethod methodOf(const ConfigFields& rope, const std::string& name) const;
    void readScaling(const ConfigFields& rope, const std::string& name, RotaryConfig& rotary);

    /// Positions seen in training: the model's own member, else the rotation's, else the maximum length. The
    /// model's member is ignored if parameters are given by kind of layer.
    double trainedLength(const ConfigFields& rope) const;
    double factorOf(const ConfigFields& rope, const Scaling& scaling) const;
    void readYarn(const ConfigFields& rope, Scaling& scaling) const;
    void readLongRope(const ConfigFields& rope, RotaryConfig& rotary) const;
    void readLlama3(const ConfigFields& rope, Scaling& scaling) const;

    /// Kinds of all layers, if the config or the class names them.
    std::vector<std::string> layerKinds() const;

    /// Number of dense layers before those with experts, if rotation depends on it.
    int denseLayers() const;

    /// n: every n-th dense layer attends to all tokens.
    int densePattern() const;

    /// Layers with global attention that rotate nevertheless (Cohere2MoeAttention.force_rope in
    /// transformers).
    std::vector<bool> forcedLayers(int layers) const;

    /// Assigns each layer to a rotation that was read, or to the unrotated layers.
    void placeLayers();

    /// For each layer, whether it rotates. @param kinds  of the layers; empty if unknown
    std::vector<bool> rotatingLayers(const std::vector<std::string>& kinds, int layers) const;

    /// Layers marked 1 in no_rope_layers; by default all but every n-th, n being no_rope_layer_interval or 4.
    std::vector<bool> markedLayers(int layers) const;
    /// Null if no rotation is known for this kind.
    RotatedLayers* layersOf(const std::string& kind);

    /// Notes unread members: all of rope_parameters and rope_scaling, and others whose names suggest
    /// rotation.
    void noteUnreadMembers() const;
    bool repeatsWidth(const std::string& member) const;
    std::vector<std::string> unreadIn(const ConfigFields& object) const;

    const ConfigFields& config_;
    const ModelType& type_;
    const std::optional<ConfigFields> sizes_, rope_;  ///< of the model type
    ParsedRotation& reading_;
    std::vector<ModelType::Kind> own_kinds_;  ///< those that the config of an unknown type defines
    std::map<std::string, std::map<int, int>> per_layer_;  ///< from per_layer_config: member, layer, value
    bool is_given_by_kind_ = false;                        ///< rope_parameters name kinds of layers
    std::optional<bool> truncate_;                         ///< YaRN's `truncate` next to the kinds of layers
};

}  // namespace roper
