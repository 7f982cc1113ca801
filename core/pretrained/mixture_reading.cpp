#include "core/pretrained/feature_reading.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr int kMax = static_cast<int>(kMaxFeedForward);

/// A count in the config, or its default, also if it is null. A list with one number for each layer
/// must repeat the same number.
std::int64_t countOf(const ConfigFields& config, const MixtureRules::Count& count, int least, int most) {
    if (count.key == nullptr) return count.default_value;
    for (const char* const key : {count.key, count.other_key}) {
        if (key == nullptr || !config.has(key)) continue;
        if (config.isNumber(key)) return *config.integer(key, least, most);
        const auto all = config.numbers(key, least, most, kMaxLayers);
        if (all->empty() || std::floor(all->front()) != all->front() ||
            std::any_of(all->begin(), all->end(), [&](double one) { return one != all->front(); }))
            config.refuse(key, "must be a whole number, or a list with the same one for every layer");
        return static_cast<std::int64_t>(all->front());
    }
    return count.default_value;
}

/// For each layer, whether the list `key` contains its number, counted from 0.
std::vector<bool> listedLayers(const ConfigFields& config, const char* key, std::int64_t layers) {
    std::vector<bool> listed(static_cast<std::size_t>(layers));
    const auto numbers = config.integers(key, 0, static_cast<int>(kMaxLayers), kMaxLayers);
    for (const int number : numbers.value_or(std::vector<int>()))
        if (number < layers) listed[static_cast<std::size_t>(number)] = true;
    return listed;
}

/// Which layers `mlp_layer_types` calls sparse.
std::vector<bool> layersOfKinds(const ConfigFields& config, std::int64_t layers) {
    const auto kinds = config.kindsByLayer("mlp_layer_types", layers, {"dense", "sparse"});
    return {kinds->begin(), kinds->end()};
}

std::vector<bool> mixtureLayers(const ConfigFields& config, const MixtureRules& rules, std::int64_t layers) {
    const auto step = [&](const char* key) { return config.integer(key, 1, kMaxLayers).value_or(1); };
    std::vector<bool> all(static_cast<std::size_t>(layers), true);
    const auto keep = [&](auto is_mixture) {
        for (std::int64_t layer = 0; layer < layers; ++layer)
            all[static_cast<std::size_t>(layer)] = is_mixture(layer);
    };
    switch (rules.layers) {
        case MixtureLayers::all:
            break;
        case MixtureLayers::by_sparse_step: {
            const int nth = step("decoder_sparse_step");
            const std::vector<bool> dense = listedLayers(config, "mlp_only_layers", layers);
            keep([&](std::int64_t i) { return (i + 1) % nth == 0 && !dense[static_cast<std::size_t>(i)]; });
            break;
        }
        case MixtureLayers::listed_or_after_first_dense:
            countOf(config, rules.first_dense, 0, kMaxLayers);  // has no effect if there is a list
            if (config.has("mlp_layer_types")) return layersOfKinds(config, layers);
            [[fallthrough]];
        case MixtureLayers::after_first_dense: {
            const std::int64_t first = countOf(config, rules.first_dense, 0, kMaxLayers);
            keep([&](std::int64_t i) { return i >= first; });
            break;
        }
        case MixtureLayers::by_interval: {
            const int nth = step("moe_layer_interval");
            const int first = config.integer("moe_layer_start_index", 0, kMaxLayers).value_or(1);
            int last = config.integer("moe_layer_end_index", -1, kMaxLayers).value_or(-1);
            if (last == -1) last = kMaxLayers;
            keep([&](std::int64_t i) { return (i + 1) % nth == 0 && i >= first && i <= last; });
            break;
        }
        case MixtureLayers::every_second:
            keep([&](std::int64_t i) { return i % 2 == 0; });
            break;
        case MixtureLayers::listed_or_by_step: {
            const int nth = step("interleave_moe_layer_step");
            if (config.has("moe_layers")) return listedLayers(config, "moe_layers", layers);
            keep([&](std::int64_t i) { return (i + 1) % nth == 0; });
            break;
        }
    }
    return all;
}

/// Whether experts form groups. @throws Error (usage) for a method of choosing experts that the class lacks
bool hasGroups(const ConfigFields& config, const MixtureRules& rules) {
    if (rules.groups_method_key == nullptr) return true;
    const std::string method = config.text(rules.groups_method_key).value_or("greedy");
    if (method != "greedy" && method != rules.groups_method)
        config.refuse(rules.groups_method_key, "must be greedy or " + std::string(rules.groups_method) +
                                                   ", not \"" + toSingleLine(method) + "\"");
    return method == rules.groups_method;
}

/// @param refuse  called with "per_token" or "groups" and what is wrong with it; throws
template <class Refuse>
void requireSound(const ExpertMixture& mixture, const Refuse& refuse) {
    if (mixture.per_token > mixture.choices())
        refuse("per_token", "is " + std::to_string(mixture.per_token) + ", but there are " +
                                std::to_string(mixture.choices()) + " experts");
    if (mixture.scores == RouterScores::sparse_mixer && mixture.per_token != 2)
        refuse("per_token", "is " + std::to_string(mixture.per_token) +
                                "; this family's router always chooses two experts");
    // A single group contains all choices, and so the experts of a token.
    const bool fits = mixture.groups_per_token <= mixture.groups &&
                      (mixture.groups == 1 ||
                       (mixture.experts % mixture.groups == 0 &&
                        mixture.experts / mixture.groups >= mixture.experts_summed_per_group &&
                        mixture.experts / mixture.groups * mixture.groups_per_token >= mixture.per_token));
    if (!fits)
        refuse("groups", "is " + std::to_string(mixture.groups) + ": " + std::to_string(mixture.experts) +
                             " experts do not form groups of two or more, " +
                             std::to_string(mixture.groups_per_token) + " of which contain the " +
                             std::to_string(mixture.per_token) + " experts of a token");
}

}  // namespace

/// Reads members that have no effect without experts. @throws Error (usage) if a layer is to have experts
void readWithoutExperts(const ConfigFields& config, const MixtureRules& rules, Architecture& model) {
    for (const char* const unused : {rules.per_token.key, "interleave_moe_layer_step"})
        config.integer(unused, 0, kMax);
    if (!config.has("moe_layers") || hasElement(listedLayers(config, "moe_layers", model.layers), true))
        config.refuse("moe_layers", "must be an empty list in a model without experts");
    model.feed_forward = countOf(config, rules.dense_feed_forward, 1, kMax);
    model.mixture = {};
}

void readMixture(const ConfigFields& config, const ConfigRules& of_family, Architecture& model) {
    const MixtureRules& rules = of_family.mixture;
    if (rules.experts.key == nullptr) return;
    if (rules.flag != nullptr && !config.flag(rules.flag).value_or(false)) {
        for (const MixtureRules::Count* const unused :
             {&rules.experts, &rules.per_token, &rules.feed_forward})
            config.integer(unused->key, 1, kMax);  // no effect
        model.mixture = {};
        return;
    }
    const int max_experts = static_cast<int>(kMaxExperts);
    if (rules.may_lack_experts && countOf(config, rules.experts, 0, max_experts) == 0)
        return readWithoutExperts(config, rules, model);
    ExpertMixture& mixture = model.mixture;
    mixture.experts = countOf(config, rules.experts, 1, max_experts);
    mixture.per_token = countOf(config, rules.per_token, 1, max_experts);
    mixture.feed_forward =
        rules.feed_forward.key == nullptr ? model.feed_forward : countOf(config, rules.feed_forward, 1, kMax);
    const std::int64_t shared = rules.is_shared ? 1 : countOf(config, rules.shared_experts, 0, max_experts);
    // Families give a width or a number of experts, not both.
    mixture.shared_feed_forward =
        countOf(config, rules.shared_feed_forward, 0, kMax) + shared * mixture.feed_forward;
    mixture.identity_experts = countOf(config, rules.identity_experts, 0, max_experts);
    if (rules.dense_feed_forward.key != nullptr)
        model.feed_forward = countOf(config, rules.dense_feed_forward, 1, kMax);
    for (const MixtureRules::Count* const count : {&rules.experts, &rules.per_token, &rules.feed_forward})
        if (count->key != nullptr && count->default_value == 0 && !config.has(count->key))
            config.refuse(count->key, "is missing");
    mixture.layers = mixtureLayers(config, rules, model.layers);
    if (rules.normalizes_flag != nullptr)
        mixture.normalizes = config.flagOr(rules.normalizes_flag, rules.normalizes_usually);
    // Without effect unless the method of choosing experts uses groups (DeepSeek V2 Lite's does not).
    const std::int64_t groups = countOf(config, rules.groups, 1, max_experts),
                       groups_per_token = countOf(config, rules.groups_per_token, 1, max_experts);
    if (hasGroups(config, rules)) {
        mixture.groups = groups;
        mixture.groups_per_token = groups_per_token;
    }
    const auto read = [&](const char* key, double low, double high, double& value) {
        if (key != nullptr) value = config.number(key, low, high).value_or(value);
    };
    read(rules.scale_key, -1e6, 1e6, mixture.scale);
    read(rules.min_weight_sum_key, 0, 1e6, mixture.min_weight_sum);
    read(rules.jitter_epsilon_key, 0, 1e6, mixture.jitter_epsilon);
    requireSound(mixture, [&](const std::string& what, const std::string& why) {
        config.refuse(what == "groups" ? rules.groups.key : rules.per_token.key, why);
    });
}

void readGgufMixture(const GgufEntries& entries, const Family& family, Architecture& model) {
    const GgufRules& rules = family.gguf_rules;
    if (family.config_rules.mixture.experts.key == nullptr) return;
    ExpertMixture& mixture = model.mixture;
    const MixtureRules& of_config = family.config_rules.mixture;
    const bool may_lack_experts = of_config.flag != nullptr || of_config.may_lack_experts;
    if (may_lack_experts && entries.integer("expert_count", 0, kMaxExperts, 0) == 0) {
        mixture = {};
        return;
    }
    mixture.experts = entries.required("expert_count", kMaxExperts);
    mixture.per_token = entries.required("expert_used_count", kMaxExperts);
    mixture.feed_forward = model.feed_forward;
    if (rules.has_expert_width)
        mixture.feed_forward =
            entries.integer("expert_feed_forward_length", 1, kMaxFeedForward, model.feed_forward);
    if (rules.has_shared_width)
        mixture.shared_feed_forward =
            entries.integer("expert_shared_feed_forward_length", 0, kMaxFeedForward, 0);
    if (rules.has_shared_count)
        mixture.shared_feed_forward =
            entries.integer("expert_shared_count", 0, kMaxExperts, 0) * mixture.feed_forward;
    if (of_config.is_shared) mixture.shared_feed_forward = mixture.feed_forward;
    const std::int64_t dense =
        rules.has_dense_first ? entries.integer("leading_dense_block_count", 0, kMaxLayers, 0) : 0;
    const std::int64_t step =
        rules.has_mixture_step ? entries.integer("interleave_moe_layer_step", 1, kMaxLayers, 1) : 1;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        mixture.layers.push_back(layer >= dense && (layer + 1) % step == 0);
    mixture.normalizes = entries.flag("expert_weights_norm",
                                      rules.expert_weights_norm_off_by_default ? false : mixture.normalizes);
    // As in llama.cpp, 0 means that weights are not scaled.
    mixture.scale = entries.number("expert_weights_scale", -1e6, 1e6, 1);
    if (mixture.scale == 0) mixture.scale = 1;
    mixture.groups = std::max<std::int64_t>(1, entries.integer("expert_group_count", 0, kMaxExperts, 1));
    mixture.groups_per_token =
        std::max<std::int64_t>(1, entries.integer("expert_group_used_count", 0, kMaxExperts, 1));
    const std::int64_t scores = entries.integer("expert_gating_func", 0, 1 << 10, 0);
    constexpr std::int64_t kSoftmax = 1, kSigmoid = 2, kSoftmaxOfChosen = 3;
    const bool is_as_expected =
        scores == 0 || (mixture.scores == RouterScores::sigmoid
                            ? scores == kSigmoid
                            : scores == kSoftmax || (scores == kSoftmaxOfChosen && mixture.normalizes));
    if (!is_as_expected)
        entries.refuse("expert_gating_func", "is " + std::to_string(scores) +
                                                 ", which is not how this family's router computes scores");
    requireSound(mixture, [&](const std::string& what, const std::string& why) {
        entries.refuse(what == "groups" ? "expert_group_count" : "expert_used_count", why);
    });
}

}  // namespace roper
