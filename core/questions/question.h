#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/fields/field.h"
#include "core/rotary/scaling.h"

namespace roper {

/// What is taken out of a model, or done to its positions, while it reads. By itself it changes nothing.
struct ModelChange {
    std::optional<std::int64_t> layer = {}, head = {};  ///< the heads that it is about; all if not given
    std::string mute = {};                              ///< pairs that scores do without, such as 24-31
    bool mute_heads = false;                            ///< the heads add nothing
    bool no_rotation = false;                           ///< queries and keys are not rotated
    bool no_value_rotation = false;                     ///< of RoPER: values, and outputs, are not
    bool no_inverse = false;                            ///< of RoPER: outputs are not rotated back
    std::int64_t shift = 0;                             ///< added to every position of the rotation
    double base = 0;                                    ///< of the frequencies; 0: the model's own
    ScalingMethod scaling = ScalingMethod::none;
    double factor = 4;           ///< of the scaling
    double original_length = 0;  ///< of the scaling: tokens of the texts of training; 0: what the model says

    bool operator==(const ModelChange&) const = default;
    /// Whether the model computes as it was trained to.
    bool isNothing() const;
};

/// What can be asked of a model. The names in `questionNames` are in the same order.
enum class QuestionKind {
    model,           ///< what it is
    loss,            ///< −ln p of every token
    logits,          ///< the same, and the likeliest successors of every token
    generate,        ///< what the model writes after the text
    heads,           ///< what every head does, with its bands
    thumbnails,      ///< attention of all heads, small
    attention,       ///< of one head
    kernels,         ///< what every head makes of a value by its distance
    kernel_history,  ///< of a run: what one head made of a value by its distance at each checkpoint
    token_map,  ///< what a head makes of each token of the text, some tokens back, for every token's logit
    subsets,    ///< loss with every subset of bands
    lengths,    ///< loss by position with frequencies as they are and scaled for longer texts
    needle,     ///< whether a sentence is found again, by the length of the text and its depth in it
    lens,       ///< what every layer would predict (logit lens)
    solve,      ///< which problems a run of ours solves, as it was trained and with the change
    patch,      ///< which heads carry what makes the answer to one text differ from that to another
};
const std::vector<std::string>& questionNames();

/// How many of what a topic counts there are unless a question says so: candidates, tokens, distances, a
/// thumbnail's cells, bands, depths, problems. 0 for topics that count nothing.
std::int64_t usualCount(QuestionKind topic);

/// A question about a model.
struct Question {
    QuestionKind what = QuestionKind::loss;
    std::string text = {};
    std::int64_t layer = 0, head = 0;        ///< of `attention`
    std::optional<std::int64_t> count = {};  ///< candidates (5), tokens to generate (32), distances (32),
                                             ///< cells of a thumbnail's side (40), bands (4), depths (5),
                                             ///< problems (64)
    std::int64_t distance = 0;               ///< of `token_map`: δ
    double temperature = 0;                  ///< of `generate`
    std::int64_t seed = 0;                   ///< of `generate`
    std::string needle = "The secret number is 7481.";                          ///< hidden in the text
    std::string question = " What is the secret number? The secret number is";  ///< put after it
    std::string answer = " 7481";
    std::string other = {};  ///< of `patch`: a text of as many tokens, to which another answer is right
    bool positions = false;  ///< of `patch`: position by position of the head that `layer` and `head` name
    ModelChange change = {};

    bool operator==(const Question&) const = default;
    std::int64_t countOrUsual() const { return count.value_or(usualCount(what)); }
};

/// The settings of a question, by which it is sent: those of the change under their own names, its layer and
/// head as change_layer and change_head.
const std::vector<Field<Question>>& questionFields();

/// Those that differ from a question that asks nothing in particular, as "key", "value".
std::vector<std::pair<std::string, std::string>> questionSettings(const Question& question);

/// @throws Error (usage) naming the setting that is wrong, and what it accepts
Question questionOf(const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace roper
