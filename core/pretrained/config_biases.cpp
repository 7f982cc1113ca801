#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/strict_json.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

/// A flag of the config; errors in it are reported where the rest of the config is read.
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

BiasRules biasesOfConfig(const Family& family, std::string_view config) {
    const ConfigBiases& by = family.in_config.biases;
    BiasRules rules = by.plain;
    if (by.attention_flag != nullptr)
        rules.query_key_value = rules.output =
            flagOf(config, by.attention_flag, by.attention_usually) ? BiasRule::always : BiasRule::never;
    if (by.feed_forward_flag != nullptr)
        rules.feed_forward = flagOf(config, by.feed_forward_flag, false) ? BiasRule::always : BiasRule::never;
    return rules;
}

}  // namespace roper
