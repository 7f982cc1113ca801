#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fields/field.h"
#include "core/questions/question_kind.h"
#include "core/rotary/scaling.h"

namespace roper {

/// Ablations and changes of positions applied to a model. The default changes nothing.
struct ModelChange {
    /// Heads to which mute, mute_heads and the no_… changes apply; empty: all.
    std::optional<std::int64_t> layer = {}, head = {};
    /// Ablated heads, and pairs ablated from scores: "2.1;0;all:24-31" are head 1 of layer 2, all heads of
    /// layer 0, and pairs 24 to 31 of all heads (core/questions/ablation.h).
    std::string ablate = {};
    std::string mute = {};           ///< pairs ablated from scores, "24-31"; superseded by `ablate`
    bool mute_heads = false;         ///< ablates the heads; superseded by `ablate`
    bool no_rotation = false;        ///< queries and keys are not rotated
    bool no_value_rotation = false;  ///< RoPER: values and outputs are not rotated
    bool no_inverse = false;         ///< RoPER: outputs are not rotated back
    std::int64_t shift = 0;          ///< added to every position of the rotation
    double base = 0;                 ///< of the frequencies; 0: the model's own
    ScalingMethod scaling = ScalingMethod::none;  ///< none: the model's own
    double factor = 4;                            ///< of the scaling
    double original_length = 0;  ///< of the scaling: training context, tokens; 0: the model's own

    bool operator==(const ModelChange&) const = default;
    /// Whether nothing is changed.
    bool isEmpty() const;
};

/// A question about a model.
struct Question {
    std::string what = "loss";  ///< the name of a QuestionKind
    std::string text = {};
    std::optional<std::int64_t> layer = {}, head = {};  ///< heads to show, as `QuestionKind::heads` says
    std::optional<std::int64_t> count = {};  ///< as `QuestionKind::count_meaning` says; empty: its default
    std::int64_t distance = 0;               ///< for `token_map`: n − j of query and key
    std::optional<std::int64_t> token = {};  ///< for `walkthrough`: the token to follow; empty: the last
    double temperature = 0;                  ///< for `generate`; 0: always the most likely token
    std::int64_t seed = 0;                   ///< for `generate` and `induction`
    std::string needle = "The secret number is 7481.";  ///< for `needle`: inserted into the text
    std::string question =
        " What is the secret number? The secret number is";  ///< for `needle`: appended to it
    std::string answer = " 7481";                            ///< for `needle`: the expected continuation
    /// For `patch`: a text with the same number of tokens, but a different predicted token.
    std::string other = {};
    bool positions = false;  ///< for `patch`: patch the head `layer`, `head` position by position
    ModelChange change = {};

    bool operator==(const Question&) const = default;
    const QuestionKind& kind() const { return questionKind(what); }
    std::int64_t countOrDefault() const { return count.value_or(kind().default_count); }
};

/// The settings of a question, as sent over the control socket. Settings of the change keep their names,
/// except that its layer and head are named change_layer and change_head.
const std::vector<Field<Question>>& questionFields();

/// Whether a setting belongs to the change.
bool isChangeSetting(std::string_view setting);

/// Settings that differ from the defaults, as "key", "value".
std::vector<std::pair<std::string, std::string>> questionSettings(const Question& question);

/// @throws Error (usage) naming the invalid setting and what it accepts
Question parseQuestion(const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace roper
