#include "core/model_config/rotation_reading.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/text.h"
#include "core/model_config/model_type.h"

namespace roper {
namespace {

constexpr double kMaxTextLength = 1e9, kMinBase = 1.0001, kMaxBase = 1e15;
constexpr double kMaxFactor = 10000, kMinListedFactor = 1e-3, kMaxListedFactor = 1e6;
constexpr int kMaxHeadDim = 1 << 16, kMaxLayers = 1024;
constexpr const char *kParameters = "rope_parameters", *kScaling = "rope_scaling",
                     *kTrained = "original_max_position_embeddings",
                     *kRotaryFraction = "partial_rotary_factor", *kByLayer = "per_layer_config";

/// The state while a config is read.
class Reader {
  public:
    Reader(const ConfigFields& config, const ModelType& type, ParsedRotation& reading)
        : config_(config),
          type_(type),
          sizes_(unreadCopyIfAny(type.sizes)),
          rope_(unreadCopyIfAny(type.rope)),
          reading_(reading) {
        reading.positions = number("max_position_embeddings", 0, kMaxTextLength).value_or(0);
    }

    void read() {
        readValues();
        readPerLayerConfig();
        for (const Source& source : sources())
            readKind(source);
        placeLayers();
        noteUnreadMembers();
    }

  private:
    /// Rotary parameters of one kind of layer.
    struct Source {
        const ModelType::Kind* kind;
        std::optional<ConfigFields> rope;  ///< none: the config's own members
        bool is_default = false;           ///< the default of the class
    };

    /// Model types are shared by all readers and threads; records of what was read must not be.
    static std::optional<ConfigFields> unreadCopyIfAny(const std::optional<ConfigFields>& shared) {
        return shared ? std::optional(shared->unreadCopy()) : std::nullopt;
    }

    void note(std::string text) const {
        if (std::find(reading_.notes.begin(), reading_.notes.end(), text) == reading_.notes.end())
            reading_.notes.push_back(std::move(text));
    }

    /// Names of a member, the usual one first.
    std::vector<std::string> namesOf(const std::string& key) const {
        const auto other = type_.names.find(key);
        return other == type_.names.end() ? std::vector{key} : std::vector{key, other->second};
    }

    /// The config's member, or the class's default if it is missing. null means none, not the default.
    std::optional<double> number(const std::string& key, double low, double high) const {
        for (const std::string& name : namesOf(key)) {
            if (const auto value = config_.number(name, low, high)) return value;
            if (config_.contains(name)) return std::nullopt;
        }
        return sizes_ ? sizes_->number(key, low, high) : std::nullopt;
    }

    std::optional<int> integer(const std::string& key, int low, int high) const {
        const auto value = number(key, low, high);
        if (value && *value != std::floor(*value)) config_.refuse(key, "must be a whole number");
        return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
    }

    void readValues() {
        const bool rotates = !type_.values.empty() ||
                             (!type_.values_key.empty() && config_.flag(type_.values_key).value_or(false));
        if (rotates)
            reading_.values =
                type_.values == "rotated_back" ? ValueRotation::rotated_back : ValueRotation::rotated;
        if (type_.is_known) return;
        for (const char* key : {kByLayer, "block_configs"})
            if (config_.has(key))
                note(std::string(key) +
                     " is not supported here: some layers may differ from what is shown for all");
    }

    /// Reads per_layer_config, the settings of single layers. transformers resolves the rotation members in
    /// `per_layer_keys` by the first layer of a kind, and fails if later layers of that kind differ. It
    /// refuses any other setting that differs from the config.
    void readPerLayerConfig() {
        // A fresh reader, so that other settings of a layer still count as unread.
        const ConfigFields config = config_.unreadCopy();
        const auto layers = config.object(kByLayer);
        if (!layers || !type_.is_known) return;
        for (const std::string& key : layers->objectKeys()) {
            const auto layer = parseNumber(key);
            const ConfigFields own = *layers->object(key);
            if (!layer || *layer != std::floor(*layer) || *layer < 0 || *layer >= kMaxLayers)
                layers->refuse(key, "must be the number of a layer, from 0");
            for (const char* member :
                 {kParameters, kScaling, "rope_theta", kRotaryFraction, "max_position_embeddings", kTrained,
                  "layer_types", "head_dim", "qk_rope_head_dim", "hidden_size", "num_attention_heads"})
                if (own.contains(member)) readPerLayerMember(own, member, static_cast<int>(*layer));
        }
        requireSameWidthPerKind();
    }

    void readPerLayerMember(const ConfigFields& own, const std::string& member, int layer) {
        const auto is_by_layer = std::find(type_.per_layer_keys.begin(), type_.per_layer_keys.end(), member);
        if (is_by_layer != type_.per_layer_keys.end()) {
            if (const auto value = own.integer(member, 2, kMaxHeadDim)) per_layer_[member][layer] = *value;
            return;
        }
        const bool is_width = member == "hidden_size" || member == "num_attention_heads";
        // The width of these models' heads does not depend on it.
        if (is_width && !type_.per_layer_keys.empty()) return;
        const bool is_number = own.isNumber(member);
        if (is_number && own.number(member, 0, kMaxTextLength) == number(member, 0, kMaxTextLength)) return;
        own.refuse(member, "is set for one layer; models of type " + type_.name +
                               " cannot vary it from layer to layer");
    }

    /// @throws Error (usage) if layers of one kind differ, as in transformers
    void requireSameWidthPerKind() const {
        if (per_layer_.empty()) return;
        const std::vector<std::string> kinds = layerKinds();
        if (kinds.empty())
            config_.refuse("layer_types",
                           std::string("is missing; ") + kByLayer + " cannot be read without it");
        for (const auto& [member, of_layer] : per_layer_) {
            if (of_layer.rbegin()->first >= static_cast<int>(kinds.size()))
                config_.refuse(kByLayer, "names layer " + std::to_string(of_layer.rbegin()->first) +
                                             ", but there are " + std::to_string(kinds.size()) +
                                             " layers, numbered from 0");
            std::map<std::string, std::optional<int>> of_kind;
            for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
                const auto own = of_layer.find(static_cast<int>(layer));
                const auto value = own != of_layer.end() ? std::optional(own->second) : ofAll(member);
                const auto& first = of_kind.emplace(kinds[layer], value).first->second;
                if (first != value)
                    config_.refuse(kByLayer, "gives layers of the kind " + kinds[layer] +
                                                 " different values of " + member +
                                                 ", which models of type " + type_.name + " cannot compute");
            }
        }
    }

    /// The setting for layers without one of their own.
    std::optional<int> ofAll(const std::string& member) const { return integer(member, 2, kMaxHeadDim); }

    /// The setting for layers of a kind according to per_layer_config.
    std::optional<int> byLayer(const std::string& member, const std::string& kind) const {
        const auto own = per_layer_.find(member);
        if (own != per_layer_.end()) {
            const std::vector<std::string> kinds = layerKinds();
            for (const auto& [layer, value] : own->second)
                if (kinds[static_cast<std::size_t>(layer)] == kind) return value;
        }
        return ofAll(member);
    }

    /// Width of a head in layers of this kind.
    int headWidth(const ModelType::Kind& kind) const {
        if (!type_.per_layer_keys.empty() && config_.contains(kByLayer))
            if (const auto own = byLayer(type_.per_layer_keys.front(), kind.name)) return *own;
        for (const std::string& key : kind.width_keys)
            if (const auto given = config_.integer(key, 2, kMaxHeadDim)) return *given;
        if (!kind.width_difference.empty()) return widthDifference(kind);
        if (kind.features > 0 && (!kind.width_keys.empty() || type_.width_keys.empty())) return kind.features;
        for (const std::string& key : type_.width_keys)
            for (const std::string& name : namesOf(key))
                if (const auto given = config_.integer(name, 2, kMaxHeadDim)) return *given;
        for (const std::string& key : type_.width_keys)
            if (sizes_ && !config_.contains(key))
                if (const auto usual = sizes_->integer(key, 2, kMaxHeadDim)) return *usual;
        if (type_.width_keys.empty() && sizes_)
            if (const auto fixed = sizes_->integer("head_dim", 2, kMaxHeadDim)) return *fixed;
        return derivedHeadWidth();
    }

    int widthDifference(const ModelType::Kind& kind) const {
        const auto [all, usual] = kind.width_difference[0];
        const auto [others, usual_others] = kind.width_difference[1];
        const int width = config_.integer(all, 2, kMaxHeadDim).value_or(usual) -
                          config_.integer(others, 0, kMaxHeadDim).value_or(usual_others);
        if (width < 2) config_.refuse(others, "leaves fewer than 2 of a head's features to rotate");
        return width;
    }

    int derivedHeadWidth() const {
        const auto width = integer("hidden_size", 2, 1 << 24);
        auto heads = integer("num_attention_heads", 1, 1 << 16);
        if (!heads) heads = config_.integer("decoder_num_attention_heads", 1, 1 << 16);
        if (!width || !heads)
            throw Error(ErrorKind::usage,
                        "the head's width is missing: head_dim, or hidden_size and num_attention_heads");
        if (*width < *heads) config_.refuse("hidden_size", "is less than num_attention_heads");
        if (*width % *heads != 0 && !type_.is_known)
            throw Error(ErrorKind::usage, "hidden_size " + std::to_string(*width) +
                                              " is not divisible by num_attention_heads " +
                                              std::to_string(*heads));
        return type_.head_width_factor * *width / *heads;
    }

    std::optional<ConfigFields> objectUnlessEmpty(const char* key) const {
        auto object = config_.object(key);
        return object && !object->isEmpty() ? object : std::nullopt;
    }

    /// Kinds of layers for which the object has parameters.
    std::vector<std::string> kindsIn(const ConfigFields& parameters) const {
        std::vector<std::string> kinds;
        for (const std::string& key : parameters.objectKeys()) {
            const bool is_kind =
                std::any_of(type_.kinds.begin(), type_.kinds.end(),
                            [&](const ModelType::Kind& kind) { return kind.name == key; }) ||
                std::find(type_.layer_types.begin(), type_.layer_types.end(), key) != type_.layer_types.end();
            if (is_kind || !type_.is_known) kinds.push_back(key);
        }
        return kinds;
    }

    std::vector<Source> sources() {
        const auto parameters = objectUnlessEmpty(kParameters), scaling = objectUnlessEmpty(kScaling);
        if (type_.is_nested) return sourcesByKind(parameters, scaling);
        if (parameters && scaling)
            note("rope_scaling takes precedence over rope_parameters, as in transformers 5.24");
        const auto& given = scaling ? scaling : parameters;
        if (given) {
            const std::vector<std::string> kinds = kindsIn(*given);
            const bool is_flat = given->has("rope_type") || given->has("type");
            if (!kinds.empty() && !type_.is_known && !is_flat) return sourcesOfUnknown(*given, kinds);
            if (!kinds.empty() && type_.is_known)
                given->refuse(kinds.front(), "is set for one kind of layer; models of type " + type_.name +
                                                 " use the same rotation in all layers");
        }
        if (!type_.is_known) return sourcesWithLocalBase(given);
        if (scaling && !type_.kinds.front().is_scaled) {
            note("rope_scaling is not read in models of type " + type_.name);
            return {{&type_.kinds.front(), parameters ? parameters : rope_, !parameters}};
        }
        return {{&type_.kinds.front(), given ? given : rope_, !given}};
    }

    std::vector<Source> sourcesByKind(const std::optional<ConfigFields>& parameters,
                                      const std::optional<ConfigFields>& scaling) {
        if (scaling && type_.refuses_scaling)
            config_.refuse(kScaling, "cannot be read by transformers 5.24 for models of type " + type_.name +
                                         ": they have rope_parameters for each kind of layer");
        if (type_.copies_flat) return copiedSources(parameters, scaling);
        const bool is_flat = parameters && kindsIn(*parameters).empty();
        if (is_flat && !type_.reads_flat)
            config_.refuse(kParameters, "must name kinds of layers: " + join(kindNames(), ", "));
        if (is_flat)
            note(
                "rope_parameters name no kind of layer, so transformers 5.24 ignores them for "
                "models of type " +
                type_.name);
        const auto by_kind = is_flat ? std::nullopt : parameters;
        // transformers inserts this before the config's own members, so `type` alone, the older name, is not
        // read.
        const auto plain = ConfigFields::parse(R"({"rope_type": "default"})");
        if (scaling && config_.has(kRotaryFraction))
            note("partial_rotary_factor next to rope_scaling may be read differently by models of type " +
                 type_.name);
        std::vector<Source> all;
        for (const ModelType::Kind& kind : type_.kinds) {
            const auto own = by_kind ? by_kind->object(kind.name) : std::nullopt;
            if (by_kind && by_kind->contains(kind.name) && !own) {
                reading_.layers.push_back({kind.name, {}, {}});  // null: these layers do not rotate
                continue;
            }
            if (by_kind && !own && type_.needs_theta)
                by_kind->refuse(kind.name, "is missing, although the model has layers of this kind");
            if (own && type_.needs_theta && !own->has("rope_theta")) own->refuse("rope_theta", "is missing");
            const auto usual = rope_ ? rope_->object(kind.name) : std::nullopt;
            if (!own && !rope_) continue;
            const bool is_scaled = scaling && kind.is_scaled;
            auto rope = own || by_kind ? own : usual;
            if (is_scaled) {
                const ConfigFields& under = own ? *own : kind.theta_keys.empty() && usual ? *usual : plain;
                rope = under.mergedWith(*scaling);
            }
            all.push_back({&kind, rope, !own && !is_scaled});
        }
        // YaRN's `truncate` is next to the kinds: transformers does not look for it inside them.
        if (by_kind) truncate_ = by_kind->flag("truncate");
        return globalFirst(std::move(all));
    }

    /// For classes that copy flat parameters to every kind and treat rope_scaling as another name of
    /// rope_parameters.
    std::vector<Source> copiedSources(const std::optional<ConfigFields>& parameters,
                                      const std::optional<ConfigFields>& scaling) {
        if (parameters && scaling)
            config_.refuse(kScaling,
                           "is given in addition to rope_parameters, which transformers 5.24 cannot read in "
                           "models of type " +
                               type_.name);
        const auto given = scaling ? scaling : config_.object(kParameters);  // may be empty
        const bool is_flat = given && kindsIn(*given).empty();
        std::vector<Source> all;
        for (const ModelType::Kind& kind : type_.kinds) {
            const auto own = !given    ? std::optional(*rope_->object(kind.name))
                             : is_flat ? given
                                       : given->object(kind.name);
            if (!own) given->refuse(kind.name, "is missing, although the model has layers of this kind");
            if (own->equalsJson("rope_type", "\"proportional\"") ||
                own->equalsJson("type", "\"proportional\""))
                own->refuse("rope_type",
                            "\"proportional\" cannot be computed by models of type " + type_.name);
            all.push_back({&kind, own, !given});
        }
        return globalFirst(std::move(all));
    }

    static std::vector<Source> globalFirst(std::vector<Source> sources) {
        std::stable_partition(sources.begin(), sources.end(), [](const Source& source) {
            return source.kind->name == "full_attention" || source.kind->name == "main";
        });
        return sources;
    }

    std::vector<std::string> kindNames() const {
        std::vector<std::string> names;
        for (const ModelType::Kind& kind : type_.kinds)
            names.push_back(kind.name);
        return names;
    }

    /// For model types that transformers does not have: uses the parameters of each kind unchanged.
    std::vector<Source> sourcesOfUnknown(const ConfigFields& given, const std::vector<std::string>& kinds) {
        std::vector<Source> all;
        own_kinds_.reserve(kinds.size());
        for (const std::string& kind : kinds) {
            own_kinds_.push_back(type_.kinds.front());
            own_kinds_.back().name = kinds.size() == 1 ? "" : kind;
            all.push_back({&own_kinds_.back(), given.object(kind)});
        }
        return globalFirst(std::move(all));
    }

    /// Local layers of such models have their own base and are never scaled.
    std::vector<Source> sourcesWithLocalBase(const std::optional<ConfigFields>& given) {
        for (const char* key : {"rope_local_base_freq", "local_rope_theta"}) {
            if (!config_.has(key)) continue;
            own_kinds_ = {
                type_.kinds.front(),
                {.name = "sliding_attention", .theta_keys = {key}, .width_keys = {}, .is_scaled = false}};
            own_kinds_.front().name = "full_attention";
            return {{&own_kinds_[0], given}, {&own_kinds_[1], std::nullopt}};
        }
        return {{&type_.kinds.front(), given}};
    }

    void readKind(const Source& source) {
        RotaryConfig rotary = unrotatedConfig(headWidth(*source.kind));
        if (rotates(source)) readRotation(source, rotary);
        reading_.layers.push_back({source.kind->name, {}, rotary});
    }

    void readRotation(const Source& source, RotaryConfig& rotary) {
        rotary.pairing = isInterleaved() ? Pairing::interleaved : Pairing::half;
        const std::string method = source.rope ? typeOf(*source.rope) : "default";
        readWidth(source, method, rotary);
        if (source.rope && rotary.rotatedWidth() > 0) readScaling(*source.rope, method, rotary);
        readBase(source, rotary);
        if (type_.rotates_last) rotary.first = rotary.head_dim - rotary.rotatedWidth();
    }

    bool isInterleaved() const {
        if (type_.interleave_key.empty()) return type_.interleaved;
        return config_.flag(type_.interleave_key).value_or(type_.interleaved);
    }

    /// Whether the config enables rotation.
    bool rotates(const Source& source) const {
        if (type_.null_theta_means_unrotated && isThetaNull(source)) {
            note("nothing rotates: rope_theta is null");
            return false;
        }
        if (type_.required_key.empty()) return true;
        if (config_.equalsJson(type_.required_key, type_.required_value)) return true;
        const bool is_default_type = sizes_ && sizes_->equalsJson(type_.required_key, type_.required_value) &&
                                     !config_.contains(type_.required_key);
        if (is_default_type) return true;
        note("nothing rotates: models of type " + type_.name + " rotate only if " + type_.required_key +
             " is " + type_.required_value);
        return false;
    }

    bool isThetaNull(const Source& source) const {
        const bool is_inside = source.rope && !source.is_default && source.rope->contains("rope_theta");
        const ConfigFields& fields = is_inside ? *source.rope : config_;
        return fields.contains("rope_theta") && !fields.has("rope_theta");
    }

    std::string typeOf(const ConfigFields& rope) const {
        const auto newer = rope.text("rope_type"), older = rope.text("type");
        if (newer && older && *newer != *older)
            note("type is ignored because there is a rope_type, \"" + toSingleLine(*newer) + "\"");
        return newer.value_or(older.value_or("default"));
    }

    static bool isScaled(const std::string& method) { return method != "default" && method != "mrope"; }

    /// Reads how many features rotate. A fraction that gives an odd number is rounded up, but not in the
    /// exponents.
    void readWidth(const Source& source, const std::string& method, RotaryConfig& rotary) {
        const int fixed =
            type_.features > 0 ? type_.features
            : type_.features_key.empty() || (type_.rotates_last && !config_.has(type_.features_key))
                ? 0
                : integer(type_.features_key, 0, rotary.head_dim).value_or(rotary.head_dim);
        if (fixed > 0) {
            if (fixed > rotary.head_dim)
                config_.refuse("hidden_size", "makes heads smaller than the " + std::to_string(fixed) +
                                                  " features that rotate");
            rotateFeatures(fixed + fixed % 2, rotary);
            return;
        }
        rotary.rotary_fraction = 1;
        if (!type_.unrotated_features_key.empty()) return requireAllRotate(source, method, rotary.head_dim);
        const double rotary_fraction =
            method == "proportional" ? 1 : rotaryFraction(source, method, rotary.head_dim);
        // transformers truncates the product, even if it is just below a whole number.
        const double rounding = type_.is_known ? 0 : 1e-9;
        const int features = static_cast<int>(rotary_fraction * rotary.head_dim + rounding);
        const int width = features + features % 2;
        rotateFeatures(width, rotary);
        if (width != features) rotary.exponent_width = features;
        if (width > rotary.head_dim)
            config_.refuse("head_dim", "must be even, not " + std::to_string(rotary.head_dim));
        if (features % 2 != 0 && (method == "yarn" || method == "longrope"))
            config_.refuse(kRotaryFraction, "makes an odd number of features rotate, " +
                                                std::to_string(features) + ", which " + method +
                                                " cannot scale");
    }

    static void rotateFeatures(int width, RotaryConfig& rotary) {
        rotary.rotary_fraction = static_cast<double>(width) / rotary.head_dim;
    }

    /// The head consists of the rotating features and those next to them, and the frequencies follow from a
    /// fraction of both. The number of frequencies must match the rotating features of the queries.
    void requireAllRotate(const Source& source, const std::string& method, int rotating) const {
        if (rotating % 2 != 0)
            config_.refuse("qk_rope_head_dim", "must be even, not " + std::to_string(rotating));
        const int both =
            rotating +
            config_.integer(type_.unrotated_features_key, 0, kMaxHeadDim).value_or(type_.unrotated_features);
        const int all = config_.integer("head_dim", 2, kMaxHeadDim).value_or(both);
        const bool is_scaling = objectUnlessEmpty(kScaling).has_value();
        auto rotary_fraction = source.is_default ? std::nullopt : source.rope->number(kRotaryFraction, 0, 1);
        if (!rotary_fraction && is_scaling)
            rotary_fraction = config_.number(kRotaryFraction, 0, 1).value_or(1);
        if (!rotary_fraction) rotary_fraction = static_cast<double>(rotating) / both;
        const int features = isScaled(method) ? static_cast<int>(all * *rotary_fraction) : all;
        if (features == rotating) return;
        const ConfigFields& named = source.rope && !source.is_default ? *source.rope : config_;
        named.refuse(isScaled(method) ? kRotaryFraction : "rope_type",
                     "makes " + std::to_string(features) + " of a head's " + std::to_string(all) +
                         " features rotate, but its queries have " + std::to_string(rotating) +
                         " for rotation: models of type " + type_.name + " cannot compute that");
    }

    double rotaryFraction(const Source& source, const std::string& method, int head_dim) {
        if (type_.copies_flat) {  // the class replaces it by its own
            if (source.rope) source.rope->number(kRotaryFraction, 0, 1);
            return 1;
        }
        const double usual = source.kind->rotary_fraction.value_or(type_.rotary_fraction);
        const auto given = configuredRotaryFraction(source, head_dim);
        const double rotary_fraction = given.value_or(isScaled(method) && source.is_default ? 1 : usual);
        if (rotary_fraction == 1 || type_.reads_rotary_fraction) {
            if (!given && rotary_fraction != 1)
                note(std::string(kRotaryFraction) + " is missing; the value used is " +
                     formatNumber(rotary_fraction) + ", as in models of type " + type_.name);
            return rotary_fraction;
        }
        if (isScaled(method))
            config_.refuse(kRotaryFraction,
                           "is " + formatNumber(rotary_fraction) + ", which models of type " + type_.name +
                               " cannot compute with " + method + ": all features of their heads rotate");
        note(std::string(kRotaryFraction) + " is not read: in models of type " + type_.name +
             " all features of a head rotate");
        return 1;
    }

    std::optional<double> configuredRotaryFraction(const Source& source, int head_dim) const {
        if (source.rope && !source.is_default)
            if (const auto inside = source.rope->number(kRotaryFraction, 0, 1)) return inside;
        const auto usual =
            source.is_default && source.rope ? source.rope->number(kRotaryFraction, 0, 1) : std::nullopt;
        if (usual && !type_.rotary_fraction_first) return usual;
        std::vector<std::string> keys = type_.rotary_fraction_keys;
        const bool has_own =
            (type_.is_nested && !(source.is_default && type_.rotary_fraction_first)) ||
            (type_.is_known && std::find(keys.begin(), keys.end(), "rotary_pct") != keys.end());
        if (!has_own && std::find(keys.begin(), keys.end(), kRotaryFraction) == keys.end())
            keys.insert(keys.begin(), kRotaryFraction);
        for (const std::string& key : keys) {
            if (key == "rotary_dim") {
                if (const auto width = config_.integer(key, 0, head_dim))
                    return static_cast<double>(*width) / head_dim;
                continue;
            }
            if (const auto rotary_fraction = config_.number(key, 0, 1)) return rotary_fraction;
        }
        return usual;
    }

    void readBase(const Source& source, RotaryConfig& rotary) {
        const ModelType::Kind& kind = *source.kind;
        const bool keys_first = source.is_default && type_.theta_first && !kind.theta_keys.empty();
        const auto inside = source.rope && !keys_first
                                ? source.rope->firstNumber(ropeThetaKeys(), kMinBase, kMaxBase)
                                : std::nullopt;
        std::optional<double> outside;
        const bool has_others = !source.is_default && !kind.nested_theta_keys.empty();
        for (const std::string& key : has_others ? kind.nested_theta_keys : kind.theta_keys)
            if (!outside) outside = config_.number(key, kMinBase, kMaxBase);
        if (!outside && keys_first && source.rope)
            outside = source.rope->number("rope_theta", kMinBase, kMaxBase);
        if (source.is_default && source.rope && !type_.theta_first) outside = {};
        rotary.base = inside.value_or(outside.value_or(kind.theta));
        if (!type_.ratio_key.empty()) rotary.base *= config_.number(type_.ratio_key, 1e-3, 1e6).value_or(1);
        if (inside || outside || !type_.ratio_key.empty() || kind.theta_keys.empty()) return;
        const bool names_any = source.rope || type_.is_known || config_.has("rotary_pct") ||
                               config_.has("rotary_dim") || config_.has(kRotaryFraction);
        note(names_any ? "rope_theta is missing; the value used is " + formatNumber(rotary.base)
                       : "the config has no rotary field; what is shown is RoPE with base 10000, if the "
                         "model uses RoPE at all");
    }

    std::initializer_list<const char*> ropeThetaKeys() const {
        static constexpr std::initializer_list<const char*> kOwn = {"rope_theta"};
        static constexpr std::initializer_list<const char*> kAny = {"rope_theta", "rotary_emb_base",
                                                                    "global_rope_theta"};
        return type_.is_known ? kOwn : kAny;
    }

    ScalingMethod methodOf(const ConfigFields& rope, const std::string& name) const {
        static const std::vector<std::pair<std::string, ScalingMethod>> kKnown = {
            {"default", ScalingMethod::none},
            {"linear", ScalingMethod::linear},
            {"dynamic", ScalingMethod::dynamic_ntk},
            {"yarn", ScalingMethod::yarn},
            {"llama3", ScalingMethod::llama3},
            {"longrope", ScalingMethod::longrope},
            {"proportional", ScalingMethod::p_rope},
            {"su", ScalingMethod::longrope}};  // Phi-3's first name for it
        if (name == "mrope") {
            note("mrope gives each part of the head its own positions; for text they are all the same");
            return ScalingMethod::none;
        }
        if (name == "yarn" && type_.yarn_means_longrope) return ScalingMethod::longrope;
        std::vector<std::string> names;
        for (const auto& [known, method] : kKnown) {
            if (known == name) return method;
            names.push_back(known);
        }
        rope.refuse(rope.has("rope_type") ? "rope_type" : "type",
                    "\"" + toSingleLine(name) + "\" is unknown; expected one of " + join(names, ", "));
    }

    void readScaling(const ConfigFields& rope, const std::string& name, RotaryConfig& rotary) {
        Scaling& scaling = rotary.scaling;
        scaling.method = methodOf(rope, name);
        if (scaling.method == ScalingMethod::none) return;
        if (scaling.method == ScalingMethod::p_rope) {
            scaling.proportion = rope.number(kRotaryFraction, 0, 1).value_or(1);
            scaling.proportion_factor = rope.number("factor", 1, kMaxFactor).value_or(1);
            return;
        }
        scaling.original_length = reading_.positions > 0 ? reading_.positions : 2048;
        if (scaling.method == ScalingMethod::dynamic_ntk) {
            if (type_.reads_alpha || !type_.is_known)
                if (const auto alpha = rope.number("alpha", 1, kMaxFactor)) {
                    note("alpha increases the base whatever the length of the text: NTK-aware scaling");
                    scaling.method = ScalingMethod::ntk;
                    scaling.factor = *alpha;
                    return;
                }
        } else {
            scaling.original_length = trainedLength(rope);
        }
        scaling.factor = factorOf(rope, scaling);
        if (scaling.method == ScalingMethod::yarn) readYarn(rope, scaling);
        if (scaling.method == ScalingMethod::longrope) readLongRope(rope, rotary);
        if (scaling.method == ScalingMethod::llama3) readLlama3(rope, scaling);
    }

    /// Positions seen in training: the model's own member, else the rotation's, else the maximum length. The
    /// model's member is ignored if parameters are given by kind of layer.
    double trainedLength(const ConfigFields& rope) const {
        const auto of_model = number(kTrained, 1, kMaxTextLength),
                   own = rope.number(kTrained, 1, kMaxTextLength);
        const double all = reading_.positions > 0 ? reading_.positions : 4096;
        if (type_.is_nested) return own.value_or(all);
        return of_model.value_or(own.value_or(all));
    }

    double factorOf(const ConfigFields& rope, const Scaling& scaling) const {
        if (const auto factor = rope.number("factor", 1, kMaxFactor)) return *factor;
        const bool follows =
            scaling.method == ScalingMethod::longrope || scaling.method == ScalingMethod::yarn;
        if (!follows || reading_.positions == 0) rope.refuse("factor", "is missing");
        return std::clamp(reading_.positions / scaling.original_length, 1.0, kMaxFactor);
    }

    void readYarn(const ConfigFields& rope, Scaling& scaling) const {
        const auto orUsual = [](const std::optional<double>& given, double usual) {
            return given && *given > 0 ? *given : usual;
        };
        scaling.beta_fast = orUsual(rope.number("beta_fast", 0, 1e6), 32);
        scaling.beta_slow = orUsual(rope.number("beta_slow", 0, 1e6), 1);
        if (scaling.beta_fast < scaling.beta_slow) rope.refuse("beta_fast", "must not be below beta_slow");
        const auto own = rope.number("attention_factor", 1e-6, 100);
        const double scale = rope.number("mscale", 0, 100).value_or(0),
                     all = rope.number("mscale_all_dim", 0, 100).value_or(0);
        const double grown = 0.1 * std::log(scaling.factor);
        const bool by_scales = !own && scale > 0 && all > 0;
        scaling.attention_factor = by_scales ? (scale * grown + 1) / (all * grown + 1) : own.value_or(0);
        if (type_.yarn_factor > 0) scaling.attention_factor = type_.yarn_factor;
        if (!type_.is_nested) {
            scaling.truncate = rope.flag("truncate").value_or(true);
            return;
        }
        scaling.truncate = truncate_.value_or(true);
        if (!rope.flag("truncate").value_or(true))
            note("truncate is not read in " + rope.nameOf("truncate") +
                 ": transformers 5.24 expects it next to the kinds of layers");
    }

    void readLongRope(const ConfigFields& rope, RotaryConfig& rotary) const {
        Scaling& scaling = rotary.scaling;
        scaling.attention_factor = rope.number("attention_factor", 1e-6, 100).value_or(0);
        if (type_.reads_mscales) {
            scaling.attention_factor =
                rope.number("short_mscale", 1e-6, 100).value_or(scaling.attention_factor);
            scaling.long_attention_factor =
                rope.number("long_mscale", 1e-6, 100).value_or(scaling.attention_factor);
        }
        const auto pairs = static_cast<std::size_t>(rotary.rotatedWidth() / 2);
        const auto factors = [&](const char* key) {
            const auto listed = rope.numbers(key, kMinListedFactor, kMaxListedFactor, 1 << 16);
            if (!listed) rope.refuse(key, "is missing: a list of " + std::to_string(pairs) + " numbers");
            if (listed->size() != pairs)
                rope.refuse(key, "has " + std::to_string(listed->size()) +
                                     " numbers; it needs one for each of " + std::to_string(pairs) +
                                     " pairs");
            ComparableVector made;
            made =
                Eigen::Map<const Eigen::VectorXd>(listed->data(), static_cast<Eigen::Index>(listed->size()));
            return made;
        };
        scaling.short_factors = factors("short_factor");
        scaling.long_factors = factors("long_factor");
        if (!type_.reads_mscales || scaling.long_factors == scaling.short_factors) return;
        scaling.long_factors = scaling.short_factors;
        note("long_factor is not read in models of type " + type_.name +
             ": transformers 5.24 also rotates long texts by short_factor, unlike Microsoft's own "
             "code");
    }

    void readLlama3(const ConfigFields& rope, Scaling& scaling) const {
        const auto required = [&](const char* key) {
            const auto value = rope.number(key, 0.001, 1e6);
            if (!value) rope.refuse(key, "is missing");
            return *value;
        };
        scaling.low_frequency_factor = required("low_freq_factor");
        scaling.high_frequency_factor = required("high_freq_factor");
        if (scaling.high_frequency_factor < scaling.low_frequency_factor)
            rope.refuse("high_freq_factor", "must not be below low_freq_factor");
    }

    /// Kinds of all layers, if the config or the class names them.
    std::vector<std::string> layerKinds() const {
        const auto count = integer("num_hidden_layers", 1, kMaxLayers);
        if (auto listed = config_.texts("layer_types", kMaxLayers)) {
            if (type_.forces_last && !listed->empty()) listed->back() = type_.last_layer;
            return *listed;
        }
        std::vector<std::string> kinds;
        if (!count || type_.layers.empty()) return kinds;
        const auto own =
            config_.firstInteger({"sliding_window_pattern", "_sliding_window_pattern"}, 1, kMaxLayers);
        const auto global = config_.integer("global_attn_every_n_layers", 1, kMaxLayers);
        for (int i = 0; i < *count; ++i) {
            const bool is_dense = i < denseLayers();
            const int layer = is_dense ? i : i - denseLayers();  // patterns start after the dense layers
            if (is_dense)
                kinds.emplace_back((layer + 1) % densePattern() != 0 ? "sliding_attention"
                                                                     : "full_attention");
            else if (own)
                kinds.emplace_back((layer + 1) % *own != 0 ? "sliding_attention" : "full_attention");
            else if (global)
                kinds.emplace_back(layer % *global != 0 ? "sliding_attention" : "full_attention");
            else
                kinds.push_back(type_.layers[static_cast<std::size_t>(layer) % type_.layers.size()]);
        }
        if (!type_.last_layer.empty()) kinds.back() = type_.last_layer;
        return kinds;
    }

    /// Number of dense layers before those with experts, if rotation depends on it.
    int denseLayers() const {
        if (type_.rotating != RotatingLayers::sliding_or_dense) return 0;
        return config_.integer("first_k_dense_replace", 0, kMaxLayers).value_or(0);
    }

    /// n, if every n-th dense layer attends to all tokens.
    int densePattern() const {
        return config_.integer("prefix_dense_sliding_window_pattern", 1, kMaxLayers).value_or(1);
    }

    /// Layers with global attention that rotate nevertheless (Cohere2MoeAttention.force_rope in
    /// transformers).
    std::vector<bool> forcedLayers(int layers) const {
        std::vector<bool> forced(static_cast<std::size_t>(layers));
        if (type_.rotating != RotatingLayers::sliding_or_dense || densePattern() != 1) return forced;
        const auto kinds = config_.texts("mlp_layer_types", kMaxLayers);
        for (std::size_t layer = 0; layer < forced.size(); ++layer)
            forced[layer] = kinds ? layer < kinds->size() && (*kinds)[layer] == "dense"
                                  : static_cast<int>(layer) < denseLayers();
        return forced;
    }

    /// Assigns layers to the rotations that were read, or to those without rotation.
    void placeLayers() {
        const std::vector<std::string> kinds = layerKinds();
        const auto count = integer("num_hidden_layers", 1, kMaxLayers);
        const int layers = !kinds.empty() ? static_cast<int>(kinds.size()) : count.value_or(0);
        const std::vector<bool> rotates = rotatingLayers(kinds, layers);
        std::vector<int> still;
        for (int layer = 0; layer < layers; ++layer) {
            const std::string kind = kinds.empty() ? "" : kinds[static_cast<std::size_t>(layer)];
            if (!rotates[static_cast<std::size_t>(layer)]) {
                still.push_back(layer);
                continue;
            }
            RotatedLayers* const of_kind = layersOf(kind);
            if (of_kind != nullptr) of_kind->layers.push_back(layer);
        }
        if (still.empty()) return;
        reading_.layers.push_back(
            {kNotRotated, still, unrotatedConfig(reading_.layers.front().rotary.head_dim)});
        const auto isEmpty = [](const RotatedLayers& one) { return one.layers.empty(); };
        const bool any_rotates = static_cast<int>(still.size()) < layers;
        if (any_rotates) std::erase_if(reading_.layers, isEmpty);
        const auto rotate = [](const RotatedLayers& one) { return one.rotary.rotatedWidth() > 0; };
        if (std::none_of(reading_.layers.begin(), reading_.layers.end(), rotate)) return;  // already noted
        note(countOf(still.size(), "layer") + " of " + std::to_string(layers) +
             (still.size() == 1 ? " does" : " do") + " not rotate");
    }

    /// @param kinds  of the layers; empty if unknown
    std::vector<bool> rotatingLayers(const std::vector<std::string>& kinds, int layers) const {
        const auto isSliding = [](const std::string& kind) {
            return kind.find("sliding") != std::string::npos;
        };
        const bool sliding_alone = type_.rotating == RotatingLayers::sliding ||
                                   type_.rotating == RotatingLayers::sliding_or_dense ||
                                   (type_.rotating == RotatingLayers::sliding_if_any &&
                                    std::any_of(kinds.begin(), kinds.end(), isSliding));
        const bool none_rotates = type_.layers.size() == 1 && type_.layers.front().empty();
        const std::vector<bool> marked =
            type_.rotating == RotatingLayers::listed ? markedLayers(layers) : std::vector<bool>();
        const std::vector<bool> forced = forcedLayers(layers);
        std::vector<bool> rotates;
        for (int layer = 0; layer < layers; ++layer) {
            const auto at = static_cast<std::size_t>(layer);
            const std::string kind = kinds.empty() ? "" : kinds[at];
            const bool attends = !kind.starts_with("linear_attention") && kind != "conv" && kind != "mamba";
            rotates.push_back(!none_rotates && attends && (!sliding_alone || isSliding(kind) || forced[at]) &&
                              (marked.empty() || marked[at]));
        }
        return rotates;
    }

    /// Layers marked 1 in no_rope_layers; by default all but every n-th, n being no_rope_layer_interval or 4.
    std::vector<bool> markedLayers(int layers) const {
        const auto listed = config_.numbers("no_rope_layers", 0, 1, kMaxLayers);
        const int interval = config_.integer("no_rope_layer_interval", 1, kMaxLayers).value_or(4);
        std::vector<bool> marked;
        for (int layer = 0; layer < layers; ++layer) {
            const auto at = static_cast<std::size_t>(layer);
            const bool is_listed = listed && !listed->empty();
            marked.push_back(is_listed ? at >= listed->size() || (*listed)[at] != 0
                                       : (layer + 1) % interval != 0);
        }
        return marked;
    }

    RotatedLayers* layersOf(const std::string& kind) {
        if (reading_.layers.size() == 1) return &reading_.layers.front();
        for (RotatedLayers& one : reading_.layers)
            if (one.kind == kind) return &one;
        return nullptr;
    }

    /// Notes members about rotation that were not read, of the rotation's object and, by their names, of the
    /// model's.
    void noteUnreadMembers() const {
        std::vector<std::string> named;
        for (const char* key : {kParameters, kScaling})
            if (const auto object = config_.object(key))
                for (const std::string& member : unreadIn(*object))
                    named.push_back(member);
        for (const std::string& member : config_.unread()) {
            const std::string key = member.substr(0, member.find(' '));
            for (const char* part :
                 {"rope", "rotary", "alibi", "position_embedding", "dynamic_ntk", "logn_attn"})
                if (key.find(part) != std::string::npos) {
                    named.push_back(member);
                    break;
                }
        }
        constexpr std::size_t kMaxNamed = 20;
        const std::size_t left_out = named.size() - std::min(named.size(), kMaxNamed);
        named.resize(named.size() - left_out);
        if (left_out > 0) named.push_back(std::to_string(left_out) + " more");
        if (named.empty()) return;
        note(std::string(type_.is_known ? "no effect in models of type " + type_.name +
                                              ", as read by transformers 5.24: "
                                        : "not understood and not shown: ") +
             join(named, ", "));
    }

    std::vector<std::string> unreadIn(const ConfigFields& object) const {
        std::vector<std::string> named;
        const std::vector<std::string> kinds = kindsIn(object);
        for (const std::string& kind : kinds)
            if (const auto inner = object.object(kind))
                for (const std::string& member : inner->unread())
                    named.push_back(member);
        for (const std::string& member : object.unread())
            named.push_back(member);
        return named;
    }

    const ConfigFields& config_;
    const ModelType& type_;
    const std::optional<ConfigFields> sizes_, rope_;  ///< of the model type
    ParsedRotation& reading_;
    std::vector<ModelType::Kind> own_kinds_;
    std::map<std::string, std::map<int, int>> per_layer_;  ///< from per_layer_config: member, layer, value
    std::optional<bool> truncate_;
};

/// The language part of a composite model's config, and the model type by which it is read.
struct TextPart {
    ConfigFields config;
    std::string model_type;
};

TextPart textPartOf(const ConfigFields& config, std::vector<std::string>& notes) {
    TextPart part{config, config.text("model_type").value_or("")};
    constexpr int kMaxDepth = 3;
    for (int depth = 0; depth < kMaxDepth; ++depth) {
        const std::string of_type = findModelType(part.model_type).language_model_type;
        bool found_nested = false;
        for (const char* key : {"thinker_config", "text_config", "llm_config", "language_config"}) {
            const auto inner = part.config.object(key);
            if (!inner) continue;
            notes.push_back(inner->where() + " is read: the language part of the model");
            part = {*inner, inner->text("model_type").value_or(of_type)};
            found_nested = true;
            break;
        }
        if (!found_nested) {
            if (!of_type.empty()) part.model_type = of_type;
            break;
        }
    }
    return part;
}

}  // namespace

ParsedRotation readRotation(std::string_view json) {
    return readRotation(ConfigFields::parse(json));
}

ParsedRotation readRotation(const ConfigFields& config) {
    ParsedRotation reading;
    const TextPart part = textPartOf(config, reading.notes);
    const ModelType& type = findModelType(part.model_type);
    reading.model_type = part.model_type;
    if (!type.is_known && !part.model_type.empty())
        reading.notes.push_back("the model type " + quoteExcerpt(part.model_type) +
                                " is unknown; it is read like most models");
    Reader(part.config, type, reading).read();
    return reading;
}

}  // namespace roper
