#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// A question that a model can answer, as data: what `roper-train look --help`, the control socket and the
/// window have to know about it. core/reading/answer_NAME.cpp computes its answer.
struct QuestionKind {
    /// What the settings `layer` and `head` mean.
    enum class Heads {
        none,    ///< nothing is shown by head: on the command line they say which heads are changed
        chosen,  ///< all heads are shown, or those that they choose
        one,     ///< the head that is shown
    };

    std::string name;              ///< "token_map"
    std::string help;              ///< what the answer is, a phrase for --help
    std::string counted = {};      ///< what the setting `count` counts; empty: it is not read
    std::int64_t usual_count = 0;  ///< unless a question says otherwise
    Heads heads = Heads::none;
    bool reads_text = true;             ///< or it is about the parameters alone, or brings its own texts
    bool can_change = true;             ///< the model may be changed (ModelChange) while it answers
    bool repeats_passes = false;        ///< all parameters are read again and again
    bool is_printed = true;             ///< by `roper-train look`; otherwise it is only sent
    std::vector<std::string> own = {};  ///< settings that no or few other kinds read

    /// Whether a setting of the question (`questionFields`) can make a difference to the answer.
    /// @param scales  the frequencies are scaled, so that how much is read, too
    bool reads(std::string_view setting, bool scales = false) const;
};

/// In the order in which --help lists them.
const std::vector<QuestionKind>& questionKinds();

/// @throws Error (usage) naming the nearest name that is known
const QuestionKind& questionKind(std::string_view name);

std::vector<std::string> questionNames();

}  // namespace roper
