#include "core/control/messages.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kCommandNames = {"status", "pause", "resume",   "stop", "checkpoint",
                                                "head",   "maps",  "generate", "look"};

/// Parses a JSON object. Its depth is limited, since the text comes from another process.
Json parseObject(std::string_view line) {
    if (line.size() > kMaxMessageLineBytes)
        throw Error(ErrorKind::usage,
                    "the message is longer than " + std::to_string(kMaxMessageLineBytes) + " bytes");
    constexpr int kMaxDepth = 16;
    Json json;
    try {
        json = parseStrictJson(line, {.depth = kMaxDepth});
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, std::string("the message is not JSON: ") + error.what());
    }
    if (!json.is_object()) throw Error(ErrorKind::usage, "the message is not a JSON object");
    return json;
}

/// A text; empty if absent.
std::string textOf(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end()) return {};
    if (!found->is_string()) throw Error(ErrorKind::usage, std::string("\"") + key + "\" must be text");
    return found->get<std::string>();
}

/// An integer from 0 to `most`; `missing` if absent.
std::int64_t countOf(const Json& json, const char* key, std::int64_t most, std::int64_t missing = 0) {
    const auto found = json.find(key);
    if (found == json.end()) return missing;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
        throw Error(ErrorKind::usage,
                    std::string("\"") + key + "\" must be a whole number from 0 to " + std::to_string(most));
    return found->get<std::int64_t>();
}

double temperatureOf(const Json& json) {
    constexpr double kMaxTemperature = 100;
    const auto found = json.find("temperature");
    if (found == json.end()) return 0;
    const double value = found->is_number() ? found->get<double>() : -1.0;
    if (!(value >= 0 && value <= kMaxTemperature))
        throw Error(ErrorKind::usage, "\"temperature\" must be a number from 0 to 100");
    return value;
}

/// An object of texts; empty if absent.
std::vector<std::pair<std::string, std::string>> settingsOf(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end()) return {};
    std::vector<std::pair<std::string, std::string>> settings;
    if (!found->is_object()) throw Error(ErrorKind::usage, std::string("\"") + key + "\" must be an object");
    for (const auto& [name, value] : found->items()) {
        if (!value.is_string())
            throw Error(ErrorKind::usage,
                        std::string("the values in \"") + key + "\" must be text; \"" + name + "\" is not");
        settings.emplace_back(name, value.get<std::string>());
    }
    return settings;
}

double numberIn(const SafetensorsFile& file, const std::string& key) {
    const auto value = parseNumber(file.entry(key));
    if (!value) throw Error(ErrorKind::checkpoint, file.origin() + ": \"" + key + "\" is not a number");
    return *value;
}

}  // namespace

std::string commandName(Command command) {
    return kCommandNames.at(static_cast<std::size_t>(command));
}

std::string formatRequest(const Request& request) {
    nlohmann::ordered_json json = {{"command", commandName(request.command)}, {"id", request.id}};
    if (request.command == Command::head)
        json.update({{"layer", request.layer}, {"head", request.head}, {"text", request.text}});
    if (request.command == Command::maps) json["text"] = request.text;
    if (request.command == Command::generate)
        json.update({{"text", request.text},
                     {"count", request.count},
                     {"temperature", request.temperature},
                     {"seed", request.seed}});
    if (request.command == Command::question) {
        nlohmann::ordered_json question = nlohmann::ordered_json::object();
        for (const auto& [key, value] : request.question)
            question[key] = value;
        json["question"] = std::move(question);
    }
    return jsonText(json);
}

std::string formatReply(const Reply& reply) {
    nlohmann::ordered_json json = {{"id", reply.id}, {"ok", reply.ok}, {"message", reply.message}};
    if (!reply.payload.empty()) json["payload"] = reply.payload.size();
    return jsonText(json);
}

Request parseRequest(std::string_view line) {
    const Json json = parseObject(line);
    std::string name = textOf(json, "command");
    if (name == "continue") name = "generate";  // its name in older versions
    const auto found = std::ranges::find(kCommandNames, name);
    if (found == kCommandNames.end())
        throw Error(ErrorKind::usage, "unknown command \"" + name + "\"; " + nameHint(name, kCommandNames));
    constexpr std::int64_t kMax = 1 << 20;
    return {static_cast<Command>(found - kCommandNames.begin()),
            textOf(json, "id"),
            countOf(json, "layer", kMax),
            countOf(json, "head", kMax),
            textOf(json, "text"),
            countOf(json, "count", kMaxGeneratedTokens, 64),
            temperatureOf(json),
            countOf(json, "seed", std::numeric_limits<std::int64_t>::max()),
            settingsOf(json, "question")};
}

ReplyLine parseReply(std::string_view line) {
    const Json json = parseObject(line);
    const auto ok = json.find("ok");
    if (ok == json.end() || !ok->is_boolean())
        throw Error(ErrorKind::usage, "a reply must contain \"ok\", true or false");
    return {{textOf(json, "id"), ok->get<bool>(), textOf(json, "message")},
            static_cast<std::size_t>(countOf(json, "payload", static_cast<std::int64_t>(kMaxPayloadBytes)))};
}

std::optional<std::vector<std::string>> LineFramer::add(std::string_view bytes) {
    std::vector<std::string> lines;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        unfinished_ += bytes.substr(0, end);
        if (unfinished_.size() > kMaxMessageLineBytes) return std::nullopt;
        if (end == std::string_view::npos) break;
        lines.push_back(std::exchange(unfinished_, {}));
        bytes.remove_prefix(end + 1);
    }
    return lines;
}

std::map<std::string, std::string> ModelDescription::toMetadata() const {
    return {{"step", std::to_string(step)},
            {"position", position},
            {"attention", nameOf(attention)},
            {"causal", causal ? "true" : "false"},
            {"pairing", nameOf(rotation.pairing)},
            {"frequency_formula", nameOf(rotation.frequency_formula)},
            {"base", formatNumber(rotation.base)},
            {"rotary_fraction", formatNumber(rotation.rotary_fraction)},
            {"rotated_part", nameOf(rotation.rotated_part)},
            {"value_rotary_fraction", formatNumber(value_rotary_fraction)},
            {"value_rotation_strength", formatNumber(value_rotation_strength)},
            {"layers", std::to_string(layers)},
            {"heads", std::to_string(heads)}};
}

ModelDescription ModelDescription::fromFile(const SafetensorsFile& file) {
    ModelDescription model;
    model.step = static_cast<std::int64_t>(numberIn(file, "step"));
    try {
        model.position = positionMethod(file.entry("position")).name;
        model.attention = enumFromName<AttentionKind>(file.entry("attention"));
        model.rotation.pairing = enumFromName<Pairing>(file.entry("pairing"));
        model.rotation.frequency_formula = enumFromName<FrequencyFormula>(file.entry("frequency_formula"));
        model.rotation.rotated_part = enumFromName<RotatedPart>(file.entryOr("rotated_part", "first"));
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint,
                    "the model was written by another version: " + std::string(error.what()));
    }
    model.causal = file.entryOr("causal", "true") == "true";
    model.rotation.base = numberIn(file, "base");
    model.rotation.rotary_fraction = numberIn(file, "rotary_fraction");
    model.value_rotary_fraction = numberIn(file, "value_rotary_fraction");
    // Files of older versions lack this entry, and `rotated_part`.
    if (file.metadata().count("value_rotation_strength") > 0)
        model.value_rotation_strength = numberIn(file, "value_rotation_strength");
    model.layers = static_cast<int>(numberIn(file, "layers"));
    model.heads = static_cast<int>(numberIn(file, "heads"));
    return model;
}

}  // namespace roper
