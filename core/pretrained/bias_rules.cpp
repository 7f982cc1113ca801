#include "core/pretrained/bias_rules.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "core/base/strict_json.h"

namespace roper {
namespace {

constexpr auto kNever = BiasRule::never, kAlways = BiasRule::always, kFile = BiasRule::as_file;

/// What the classes of transformers have where no flag of the config decides.
struct ConfigRow {
    const char* family;
    BiasRules plain;
    const char* attention_flag = nullptr;  ///< decides about q, k, v and the output
    bool attention_usually = false;
    const char* feed_forward_flag = nullptr;
};
constexpr ConfigRow kConfigRows[] = {
    {"llama", {kNever, kNever, kNever, kNever}, "attention_bias", false, "mlp_bias"},
    {"mistral", {kNever, kNever, kNever, kNever}},
    {"qwen2", {kAlways, kNever, kNever, kNever}},
    {"qwen3", {kNever, kNever, kNever, kNever}, "attention_bias"},
    {"gemma", {kNever, kNever, kNever, kNever}, "attention_bias"},
    {"gemma2", {kNever, kNever, kNever, kNever}, "attention_bias"},
    {"gemma3_text", {kNever, kNever, kNever, kNever}, "attention_bias"},
    {"gpt_neox", {kAlways, kAlways, kAlways, kNever}, "attention_bias", true},
    {"gpt2", {kAlways, kAlways, kAlways, kNever}},
};

struct GgufRow {
    const char* family;
    BiasRules rules;
};
constexpr GgufRow kGgufRows[] = {
    {"llama", {kFile, kFile, kFile, kNever}},          {"qwen2", {kFile, kFile, kNever, kFile}},
    {"qwen3", {kFile, kFile, kNever, kNever}},         {"gemma", {kFile, kNever, kNever, kNever}},
    {"gemma2", {kFile, kNever, kNever, kNever}},       {"gemma3_text", {kFile, kNever, kNever, kNever}},
    {"gpt_neox", {kAlways, kAlways, kAlways, kNever}}, {"gpt2", {kAlways, kAlways, kAlways, kNever}},
};

/// A flag of a config; whoever reads the rest of it says what is wrong with it.
bool flagOf(std::string_view config, const char* key, bool otherwise) {
    try {
        const nlohmann::json json = parseStrictJson(config);
        const auto found = json.find(key);
        return found != json.end() && found->is_boolean() ? found->get<bool>() : otherwise;
    } catch (const std::invalid_argument&) {
        return otherwise;
    }
}

}  // namespace

BiasRules biasesOfConfig(const std::string& family, std::string_view config) {
    for (const ConfigRow& row : kConfigRows) {
        if (family != row.family) continue;
        BiasRules rules = row.plain;
        if (row.attention_flag != nullptr)
            rules.query_key_value = rules.output =
                flagOf(config, row.attention_flag, row.attention_usually) ? kAlways : kNever;
        if (row.feed_forward_flag != nullptr)
            rules.feed_forward = flagOf(config, row.feed_forward_flag, false) ? kAlways : kNever;
        return rules;
    }
    return {};
}

BiasRules biasesOfGguf(const std::string& family) {
    for (const GgufRow& row : kGgufRows)
        if (family == row.family) return row.rules;
    return {};
}

}  // namespace roper
