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

/// What is taken out of a model, or done to its positions, while it reads. By itself it changes nothing.
struct ModelChange {
    std::optional<std::int64_t> layer = {}, head = {};  ///< the heads that it is about; all if not given
    /// Heads that add nothing, and pairs that their scores do without: "2.1;0;all:24-31" (`Ablation`).
    std::string ablate = {};
    std::string mute = {};           ///< pairs that scores do without, such as 24-31
    bool mute_heads = false;         ///< the heads add nothing
    bool no_rotation = false;        ///< queries and keys are not rotated
    bool no_value_rotation = false;  ///< of RoPER: values, and outputs, are not
    bool no_inverse = false;         ///< of RoPER: outputs are not rotated back
    std::int64_t shift = 0;          ///< added to every position of the rotation
    double base = 0;                 ///< of the frequencies; 0: the model's own
    ScalingMethod scaling = ScalingMethod::none;
    double factor = 4;           ///< of the scaling
    double original_length = 0;  ///< of the scaling: tokens of the texts of training; 0: what the model says

    bool operator==(const ModelChange&) const = default;
    /// Whether the model computes as it was trained to.
    bool isNothing() const;
};

/// A question about a model.
struct Question {
    std::string what = "loss";  ///< the name of a QuestionKind
    std::string text = {};
    std::optional<std::int64_t> layer = {}, head = {};                          ///< what is shown by head
    std::optional<std::int64_t> count = {};                                     ///< of what the kind counts
    std::int64_t distance = 0;                                                  ///< of `token_map`: δ
    double temperature = 0;                                                     ///< of `generate`
    std::int64_t seed = 0;                                                      ///< of `generate`
    std::string needle = "The secret number is 7481.";                          ///< hidden in the text
    std::string question = " What is the secret number? The secret number is";  ///< put after it
    std::string answer = " 7481";
    std::string other = {};  ///< of `patch`: a text of as many tokens, to which another answer is right
    bool positions = false;  ///< of `patch`: position by position of the head that `layer` and `head` name
    ModelChange change = {};

    bool operator==(const Question&) const = default;
    const QuestionKind& kind() const { return questionKind(what); }
    std::int64_t countOrUsual() const { return count.value_or(kind().usual_count); }
};

/// The settings of a question, by which it is sent: those of the change under their own names, its layer and
/// head as change_layer and change_head.
const std::vector<Field<Question>>& questionFields();

/// Whether a setting is one of the change.
bool isOfChange(std::string_view setting);

/// Those that differ from a question that asks nothing in particular, as "key", "value".
std::vector<std::pair<std::string, std::string>> questionSettings(const Question& question);

/// @throws Error (usage) naming the setting that is wrong, and what it accepts
Question questionOf(const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace roper
