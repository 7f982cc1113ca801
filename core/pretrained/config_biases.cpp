#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/strict_json.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

/// A flag of the config; errors in it are reported where the rest of the config is read.
bool flagOf(std::string_view config, const char* key, bool default_value) {
    try {
        const nlohmann::json json = parseStrictJson(config);
        const auto found = json.find(key);
        return found != json.end() && found->is_boolean() ? found->get<bool>() : default_value;
    } catch (const std::invalid_argument&) {
        return default_value;
    }
}

}  // namespace

BiasRules readConfigBiases(const Family& family, std::string_view config) {
    const ConfigBiases& by = family.config_rules.biases;
    BiasRules rules = by.plain;
    const auto decide = [&](const ConfigBiases::Flag& flag, BiasRule& rule) {
        if (flag.key != nullptr)
            rule = flagOf(config, flag.key, flag.default_value) ? BiasRule::always : BiasRule::never;
    };
    decide(by.query_key_value, rules.query_key_value);
    decide(by.output, rules.output);
    decide(by.feed_forward, rules.feed_forward);
    decide(by.head, rules.head);
    decide(by.head_dense, rules.head_dense);
    return rules;
}

}  // namespace roper
