#include "core/model_config/rotation_reading.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/model_config/rotation_reader.h"

namespace roper {

static std::vector<std::string> kindNames(const ModelType& type) {
    return mapped(type.kinds, &ModelType::Kind::name);
}

void RotationReader::read() {
    readValues();
    readPerLayerConfig();
    for (const Source& source : sources())
        readKind(source);
    placeLayers();
    noteUnreadMembers();
}

std::optional<ConfigFields> RotationReader::unreadCopyIfAny(const std::optional<ConfigFields>& shared) {
    return shared ? std::optional(shared->unreadCopy()) : std::nullopt;
}

void RotationReader::note(std::string text) const {
    if (!hasElement(reading_.notes, text)) reading_.notes.push_back(std::move(text));
}

std::vector<std::string> RotationReader::namesOf(const std::string& key) const {
    const auto other = type_.names.find(key);
    return other == type_.names.end() ? std::vector{key} : std::vector{key, other->second};
}

std::optional<double> RotationReader::number(const std::string& key, double low, double high) const {
    for (const std::string& name : namesOf(key)) {
        if (const auto value = config_.number(name, low, high)) return value;
        if (config_.contains(name)) return std::nullopt;
    }
    return sizes_ ? sizes_->number(key, low, high) : std::nullopt;
}

std::optional<int> RotationReader::integer(const std::string& key, int low, int high) const {
    const auto value = number(key, low, high);
    if (value && *value != std::floor(*value)) config_.refuse(key, "must be a whole number");
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

void RotationReader::readValues() {
    const bool rotates = !type_.values.empty() ||
                         (!type_.values_key.empty() && config_.flag(type_.values_key).value_or(false));
    if (rotates)
        reading_.values =
            type_.values == "rotated_back" ? ValueRotation::rotated_back : ValueRotation::rotated;
    reading_.has_shared_key_value = type_.has_shared_key_value;
    if (type_.is_known) return;
    for (const char* key : {kByLayer, "block_configs"})
        if (config_.has(key))
            note(std::string(key) +
                 " is not supported here: some layers may differ from what is shown for all");
}

std::optional<ConfigFields> RotationReader::objectUnlessEmpty(const char* key) const {
    auto object = config_.object(key);
    return object && !object->isEmpty() ? object : std::nullopt;
}

std::vector<std::string> RotationReader::kindsIn(const ConfigFields& parameters) const {
    std::vector<std::string> kinds = parameters.objectKeys();
    if (!type_.is_known) return kinds;
    const std::vector<std::string> names = kindNames(type_);
    std::erase_if(kinds, [&](const std::string& key) {
        return !hasElement(names, key) && !hasElement(type_.layer_types, key);
    });
    return kinds;
}

std::vector<RotationReader::Source> RotationReader::sources() {
    const auto parameters = objectUnlessEmpty(kParameters), scaling = objectUnlessEmpty(kScaling);
    if (type_.is_fixed) {
        if (parameters || scaling)
            note(std::string(scaling ? kScaling : kParameters) + " is not read in models of type " +
                 type_.name);
        return {{&type_.kinds.front(), std::nullopt, true}};
    }
    if (type_.is_nested) return sourcesByKind(parameters, scaling);
    if (!parameters && !scaling && config_.object(kParameters) && type_.rope)
        config_.refuse(kParameters,
                       "is empty; transformers 5.24 then rotates with base 10000 instead of the default of "
                       "models of type " +
                           type_.name);
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

std::vector<RotationReader::Source> RotationReader::sourcesByKind(
    const std::optional<ConfigFields>& parameters, const std::optional<ConfigFields>& scaling) {
    if (scaling && type_.refuses_scaling)
        config_.refuse(kScaling, "cannot be read by transformers 5.24 for models of type " + type_.name +
                                     ": they have rope_parameters for each kind of layer");
    if (type_.copies_flat) return copiedSources(parameters, scaling);
    const bool is_flat = parameters && kindsIn(*parameters).empty();
    const auto given_scaling = scaling || !is_flat || !type_.flat_means_scaling ? scaling : parameters;
    if (is_flat && !type_.accepts_flat_parameters)
        config_.refuse(kParameters, "must name kinds of layers: " + join(kindNames(type_), ", "));
    if (is_flat && (scaling || !type_.flat_means_scaling))
        note(
            "rope_parameters name no kind of layer, so transformers 5.24 ignores them for "
            "models of type " +
            type_.name);
    const auto by_kind = is_flat ? std::nullopt : parameters;
    if (by_kind && type_.rotates_last && (scaling || kindsIn(*by_kind).size() < type_.kinds.size()))
        config_.refuse(kParameters,
                       "must be an object for each of " + join(kindNames(type_), ", ") +
                           ", without rope_scaling beside it: transformers 5.24 ignores anything else");
    is_given_by_kind_ = by_kind.has_value();
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
        if (!own && !rope_) continue;
        const bool is_scaled = given_scaling && kind.is_scaled;
        const auto rope = is_scaled ? std::optional(scaledParameters(kind, own, *given_scaling))
                          : by_kind ? own
                                    : rope_->object(kind.name);
        all.push_back({&kind, rope, !own && !is_scaled});
    }
    // transformers looks for YaRN's `truncate` next to the kinds of layers, not inside them.
    if (by_kind) truncate_ = by_kind->flag("truncate");
    return globalFirst(std::move(all));
}

ConfigFields RotationReader::scaledParameters(const ModelType::Kind& kind,
                                              const std::optional<ConfigFields>& own,
                                              const ConfigFields& scaling) const {
    if (own) return own->mergedWith(scaling);
    if (type_.flat_means_scaling) return scaledOutside(kind, scaling);
    const auto usual = rope_ ? rope_->object(kind.name) : std::nullopt;
    return kind.theta_keys.empty() && usual ? usual->mergedWith(scaling)
                                            : plainParameters().mergedWith(scaling);
}

ConfigFields RotationReader::plainParameters() {
    return ConfigFields::parse(R"({"rope_type": "default"})");
}

ConfigFields RotationReader::scaledOutside(const ModelType::Kind& kind, const ConfigFields& scaling) const {
    double theta = kind.theta;
    for (const std::string& key : kind.theta_keys)
        theta = config_.number(key, kMinBase, kMaxBase).value_or(theta);
    nlohmann::json outside = {{"rope_theta", theta}};
    if (const auto fraction = config_.number(kRotaryFraction, 0, 1))
        outside[kRotaryFraction] = *fraction;
    else if (const auto usual = rope_ ? rope_->object(kind.name) : std::nullopt)
        outside[kRotaryFraction] = usual->number(kRotaryFraction, 0, 1).value_or(1);
    // Unlike in Gemma 3, the older name counts, too: published configs of DeepSeek V4 have "type": "yarn".
    if (!scaling.has("rope_type") && !scaling.has("type")) outside["rope_type"] = "default";
    return scaling.mergedWith(ConfigFields::parse(outside.dump()));
}

std::vector<RotationReader::Source> RotationReader::copiedSources(
    const std::optional<ConfigFields>& parameters, const std::optional<ConfigFields>& scaling) {
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
        if (own->equalsJson("rope_type", "\"proportional\"") || own->equalsJson("type", "\"proportional\""))
            own->refuse("rope_type", "\"proportional\" cannot be computed by models of type " + type_.name);
        all.push_back({&kind, own, !given});
    }
    return globalFirst(std::move(all));
}

std::vector<RotationReader::Source> RotationReader::globalFirst(std::vector<Source> sources) {
    std::stable_partition(sources.begin(), sources.end(), [](const Source& source) {
        return source.kind->name == "full_attention" || source.kind->name == "main";
    });
    return sources;
}

std::vector<RotationReader::Source> RotationReader::sourcesOfUnknown(const ConfigFields& given,
                                                                     const std::vector<std::string>& kinds) {
    std::vector<Source> all;
    own_kinds_.reserve(kinds.size());
    for (const std::string& kind : kinds) {
        own_kinds_.push_back(type_.kinds.front());
        own_kinds_.back().name = kinds.size() == 1 ? "" : kind;
        all.push_back({&own_kinds_.back(), given.object(kind)});
    }
    return globalFirst(std::move(all));
}

std::vector<RotationReader::Source> RotationReader::sourcesWithLocalBase(
    const std::optional<ConfigFields>& given) {
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

void RotationReader::readKind(const Source& source) {
    RotaryConfig rotary = unrotatedConfig(headWidth(*source.kind));
    if (rotates(source)) readRotation(source, rotary);
    reading_.layers.push_back({source.kind->name, {}, rotary});
}

void RotationReader::readRotation(const Source& source, RotaryConfig& rotary) {
    rotary.pairing = isInterleaved() ? Pairing::interleaved : Pairing::half;
    const std::string method = source.rope ? typeOf(*source.rope) : "default";
    readWidth(source, method, rotary);
    if (source.rope && rotary.rotatedWidth() > 0) readScaling(*source.rope, method, rotary);
    readBase(source, rotary);
    if (rotary.scaling.method == ScalingMethod::ntk && rotary.scaling.factor > kMaxFactor) applyNtk(rotary);
    if (type_.rotates_last) rotary.rotated_part = RotatedPart::last;
}

/// Applies NTK-aware scaling by s to the base, which it multiplies by s^(r/(r−2)): the explorer pages have no
/// factors beyond `kMaxFactor`.
void RotationReader::applyNtk(RotaryConfig& rotary) {
    const double width = rotary.rotatedWidth();
    if (width <= 2) return;
    rotary.base *= std::pow(rotary.scaling.factor, width / (width - 2));
    rotary.scaling = {};
}

bool RotationReader::isInterleaved() const {
    if (type_.interleave_key.empty()) return type_.interleaved;
    return config_.flagOr(type_.interleave_key, type_.interleaved);
}

bool RotationReader::rotates(const Source& source) const {
    if (noLayerRotates()) {
        note("nothing rotates: models of type " + type_.name + " have no rotary position embeddings");
        return false;
    }
    if (type_.null_theta_means_unrotated && isThetaNull(source)) {
        note("nothing rotates: rope_theta is null");
        return false;
    }
    if (type_.required_key.empty()) return true;
    if (config_.equalsJson(type_.required_key, type_.required_value)) return true;
    const bool is_null = config_.contains(type_.required_key) && !config_.has(type_.required_key);
    if (is_null && type_.required_value == "false") return true;
    const bool is_default_type = sizes_ && sizes_->equalsJson(type_.required_key, type_.required_value) &&
                                 !config_.contains(type_.required_key);
    if (is_default_type) return true;
    note("nothing rotates: models of type " + type_.name + " rotate only if " + type_.required_key + " is " +
         type_.required_value);
    return false;
}

bool RotationReader::isThetaNull(const Source& source) const {
    const bool is_inside = source.rope && !source.is_default && source.rope->contains("rope_theta");
    const ConfigFields& fields = is_inside ? *source.rope : config_;
    return fields.contains("rope_theta") && !fields.has("rope_theta");
}

std::string RotationReader::typeOf(const ConfigFields& rope) const {
    const auto newer = rope.text("rope_type"), older = rope.text("type");
    if (newer && older && *newer != *older)
        note("type is ignored because there is a rope_type, \"" + toSingleLine(*newer) + "\"");
    return newer.value_or(older.value_or("default"));
}

void RotationReader::readBase(const Source& source, RotaryConfig& rotary) {
    const ModelType::Kind& kind = *source.kind;
    const bool keys_first = source.is_default && type_.theta_keys_take_precedence && !kind.theta_keys.empty();
    const auto inside = source.rope && !keys_first
                            ? source.rope->firstNumber(ropeThetaKeys(), kMinBase, kMaxBase)
                            : std::nullopt;
    std::optional<double> outside;
    const bool has_others = !source.is_default && !kind.theta_keys_with_rope_parameters.empty();
    for (const std::string& key : has_others ? kind.theta_keys_with_rope_parameters : kind.theta_keys)
        if (!outside) outside = config_.number(key, kMinBase, kMaxBase);
    if (!outside && keys_first && source.rope)
        outside = source.rope->number("rope_theta", kMinBase, kMaxBase);
    if (source.is_default && source.rope && !type_.theta_keys_take_precedence) outside = {};
    rotary.base = inside.value_or(outside.value_or(kind.theta));
    if (!type_.ratio_key.empty()) rotary.base *= config_.number(type_.ratio_key, 1e-3, 1e6).value_or(1);
    if (inside || outside || !type_.ratio_key.empty() || kind.theta_keys.empty()) return;
    const bool names_any = source.rope || type_.is_known || config_.has("rotary_pct") ||
                           config_.has("rotary_dim") || config_.has(kRotaryFraction);
    reading_.is_assumed = !names_any;
    note(names_any ? "rope_theta is missing; the value used is " + formatNumber(rotary.base)
                   : "the config has no rotary field; what is shown is RoPE with base 10000, if the "
                     "model uses RoPE at all");
}

std::initializer_list<const char*> RotationReader::ropeThetaKeys() const {
    static constexpr std::initializer_list<const char*> kOwn = {"rope_theta"};
    static constexpr std::initializer_list<const char*> kAny = {"rope_theta", "rotary_emb_base",
                                                                "global_rope_theta"};
    return type_.is_known ? kOwn : kAny;
}

/// Whether a member, "key = value", only repeats how many features rotate, as in DeepSeek V4, or the width of
/// a head, as in a DeepSeek V3 that transformers saved.
bool RotationReader::repeatsWidth(const std::string& member) const {
    return std::any_of(reading_.layers.begin(), reading_.layers.end(), [&](const RotatedLayers& of_layers) {
        const RotaryConfig& rotary = of_layers.rotary;
        const auto repeats_head = [&](const std::string& key) {
            return member == key + " = " + std::to_string(rotary.head_dim);
        };
        if (std::any_of(type_.width_keys.begin(), type_.width_keys.end(), repeats_head)) return true;
        if (!type_.rotates_last) return false;
        return member == type_.features_key + " = " + std::to_string(rotary.rotatedWidth()) ||
               member == std::string(kRotaryFraction) + " = " + formatNumber(rotary.rotary_fraction);
    });
}

void RotationReader::noteUnreadMembers() const {
    std::vector<std::string> named;
    for (const char* key : {kParameters, kScaling})
        if (const auto object = config_.object(key))
            for (const std::string& member : unreadIn(*object))
                named.push_back(member);
    for (const std::string& member : config_.unread()) {
        const std::string key = member.substr(0, member.find(' '));
        if (repeatsWidth(member)) continue;
        for (const char* part : {"rope", "rotary", "alibi", "position_embedding", "dynamic_ntk", "logn_attn"})
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
    note(std::string(type_.is_known ? "no effect on the rotation of models of type " + type_.name +
                                          ", as read by transformers 5.24: "
                                    : "not understood and not shown: ") +
         join(named, ", "));
}

std::vector<std::string> RotationReader::unreadIn(const ConfigFields& object) const {
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

namespace {

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

ParsedRotation readRotationFile(const std::filesystem::path& path) {
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    try {
        return readRotation(readFile(path, kMaxBytes));
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        throw Error(ErrorKind::usage, path.string() + ": " + error.what());
    }
}

ParsedRotation readRotation(const ConfigFields& config) {
    ParsedRotation parsed;
    const TextPart part = textPartOf(config, parsed.notes);
    const ModelType& type = findModelType(part.model_type);
    parsed.model_type = part.model_type;
    if (!type.is_known && !part.model_type.empty())
        parsed.notes.push_back("the model type " + quoteExcerpt(part.model_type) +
                               " is unknown; it is read like most models");
    RotationReader(part.config, type, parsed).read();
    if (part.config.has("qk_rope_head_dim"))
        parsed.unrotated_features = part.config.integer("qk_nope_head_dim", 0, kMaxConfigHeadDim).value_or(0);
    return parsed;
}

}  // namespace roper
