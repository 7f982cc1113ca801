#include "core/explorer/setup_text.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/explorer/setup_fields.h"

namespace roper {
namespace {

constexpr std::string_view kPrefix = "roper-lab:setup?";
constexpr std::string_view kViewPrefix = "view.";
constexpr std::size_t kMaxLineBytes = 1 << 20;

// A line contains the differences from the defaults. The defaults have changed once; a line states which
// version it refers to.
constexpr std::string_view kDefaultsKey = "defaults", kDefaults = "2";

/// The defaults of lines that do not state a version.
Setup version1Defaults() {
    Setup setup;
    setup.head_dim = 16;
    setup.pair = 2;
    setup.similarity = 0.25;
    setup.mixed_tokens = MixedTokens::all;
    return setup;
}

std::string encoded(const std::string& text) {
    constexpr std::string_view kPlain = "-._~,:/|+";
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string made;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos)
            made += c;
        else
            made += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
    return made;
}

std::string decoded(const std::string& text) {
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            made += text[i];
            continue;
        }
        const std::string digits = text.substr(i + 1, 2);
        if (digits.size() != 2 || std::isxdigit(static_cast<unsigned char>(digits[0])) == 0 ||
            std::isxdigit(static_cast<unsigned char>(digits[1])) == 0)
            throw Error(ErrorKind::usage, "\"%" + digits + "\" is not a percent-encoded character");
        made += static_cast<char>(std::stoi(digits, nullptr, 16));
        i += 2;
    }
    return made;
}

/// The defaults, adapted to members on which other defaults depend: lengths of vectors, and the seed.
Setup defaultsFor(const Setup& setup) {
    Setup plain;
    plain.head_dim = setup.head_dim;
    plain.pairing = setup.pairing;
    plain.source = setup.source;
    plain.tokens = setup.tokens;
    plain.seed = setup.seed;
    plain.similarity = setup.similarity;
    return sanitized(plain);
}

bool isDerivedField(const std::string& key) {
    return key == "x" || key == "y" || key == "q" || key == "k" || key == "v";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> changedSettings(const Setup& setup) {
    const Setup plain = sanitized(Setup{}), matching_defaults = defaultsFor(setup);
    std::vector<std::pair<std::string, std::string>> settings;
    for (const SetupField& field : setupFields()) {
        const std::string value = field.text(setup);
        if (value != field.text(isDerivedField(field.key()) ? matching_defaults : plain))
            settings.emplace_back(field.key(), value);
    }
    return settings;
}

std::string formatSetup(const SetupText& text) {
    std::vector<std::string> parts{std::string(kDefaultsKey).append("=").append(kDefaults)};
    for (const auto& [key, value] : changedSettings(text.setup))
        parts.push_back(key + "=" + encoded(value));
    for (const auto& [key, value] : text.view)
        parts.push_back(encoded(key) + "=" + encoded(value));
    return std::string(kPrefix).append(join(parts, "&"));
}

Setup withSettings(Setup setup, const std::vector<std::pair<std::string, std::string>>& settings) {
    applySettings(setupFields(), setup, settings);
    for (const auto& [name, vector] : {std::pair{"x", &setup.x}, {"y", &setup.y}}) {
        const auto sets = [key = name](const auto& setting) { return setting.first == key; };
        if (std::ranges::any_of(settings, sets) && vector->size() != setup.head_dim)
            throw Error(ErrorKind::usage, std::string(name) + " has " + std::to_string(vector->size()) +
                                              " numbers, but head_dim is " + std::to_string(setup.head_dim));
    }
    const Setup inside = sanitized(setup);
    for (const auto& [key, value] : settings) {
        const SetupField& field = findSetupField(key);
        if (field.text(setup) == field.text(inside)) continue;
        throw Error(ErrorKind::usage,
                    key + "=" + value.substr(0, 80) +
                        " is out of bounds or conflicts with other settings; the nearest valid value is " +
                        field.text(inside).substr(0, 80));
    }
    return inside;
}

SetupText parseSetup(std::string_view line) {
    if (line.size() > kMaxLineBytes) throw Error(ErrorKind::usage, "the text is too long for a setup");
    const std::string text = trimmed(line);
    if (!text.starts_with(kPrefix))
        throw Error(ErrorKind::usage, "this is not a setup: it must begin with \"" + std::string(kPrefix) +
                                          "\", not \"" + text.substr(0, 40) + "\"");
    SetupText parsed;
    Setup defaults = version1Defaults();
    std::vector<std::pair<std::string, std::string>> settings;
    const std::string rest = text.substr(kPrefix.size());
    for (const std::string& part : rest.empty() ? std::vector<std::string>{} : split(rest, '&')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos)
            throw Error(ErrorKind::usage, "a setting must be key=value, not \"" + part.substr(0, 80) + "\"");
        const std::string key = decoded(part.substr(0, equals)), value = decoded(part.substr(equals + 1));
        if (key.starts_with(kViewPrefix)) {
            parsed.view[key] = value;
        } else if (key == kDefaultsKey) {
            if (value != kDefaults)
                throw Error(ErrorKind::usage, "this setup was written by a newer version of RoPER Lab");
            defaults = {};
        } else {
            settings.emplace_back(key, value);
        }
    }
    parsed.setup = withSettings(defaults, settings);
    return parsed;
}

}  // namespace roper
