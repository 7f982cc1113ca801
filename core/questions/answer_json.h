#pragma once

#include <Eigen/Core>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/strict_json.h"

namespace nlohmann {

template <>
struct adl_serializer<Eigen::VectorXd> {
    static void to_json(json& to, const Eigen::VectorXd& numbers) {
        to = std::vector<double>(numbers.begin(), numbers.end());
    }
    static void from_json(const json& from, Eigen::VectorXd& numbers) {
        const auto values = from.get<std::vector<double>>();
        numbers = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    }
};

}  // namespace nlohmann

namespace roper {

// Answers are sent as JSON objects whose keys are the names of their C++ members (docs/control-socket.md).

/// Parses an answer. NaN is represented by null, since JSON has no NaN.
/// @throws Error (checkpoint) if the text is not JSON
nlohmann::json readAnswerJson(std::string_view text);

/// @throws Error (checkpoint) saying that the answer cannot be read, and why
[[noreturn]] void refuseAnswer(const nlohmann::json::exception& error);

/// Serializes an answer. Invalid UTF-8, such as a token that is part of a character, becomes U+FFFD.
template <class Answer>
std::string formatAnswer(const Answer& answer) {
    return jsonText(nlohmann::json(answer));
}

/// Deserializes an answer. @throws Error (checkpoint) if it does not have the expected type
template <class Answer>
Answer parseAnswer(std::string_view text) {
    try {
        return readAnswerJson(text).get<Answer>();
    } catch (const nlohmann::json::exception& error) {
        refuseAnswer(error);
    }
}

}  // namespace roper
