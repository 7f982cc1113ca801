#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// Description of a question, used by `roper-train look --help`, the control socket and the window.
/// core/reading/answer_NAME.cpp computes its answer.
struct QuestionKind {
    /// Meaning of the settings `layer` and `head`.
    enum class Heads {
        none,    ///< the answer is not by head; on the command line they select the heads to change
        chosen,  ///< restrict the answer to some heads; all by default
        one,     ///< the one head that the answer is about
    };

    std::string name;                ///< "token_map"
    std::string help;                ///< description of the answer, a phrase for --help
    std::string former_name = {};    ///< name in older versions, still accepted
    std::string count_meaning = {};  ///< meaning of the setting `count`; empty: not used
    std::int64_t default_count = 0;  ///< default of `count`
    Heads heads = Heads::none;
    bool reads_text = true;       ///< false if it needs only the parameters, or makes its own texts
    bool accepts_changes = true;  ///< whether a change (ModelChange) can be applied
    bool repeats_passes = false;  ///< runs many passes over all parameters
    bool needs_causal = false;    ///< makes no sense for a model that attends to both sides
    bool is_printed = true;       ///< whether `roper-train look` prints it; false: only the socket answers it
    std::vector<std::string> specific_settings = {};  ///< settings used by this and a few other kinds only

    /// Whether a setting of the question (`questionFields`) can affect the answer.
    /// @param scales  whether the change scales frequencies, so that factor and original_length matter
    bool isUsedSetting(std::string_view setting, bool scales = false) const;
};

/// In the order of --help.
const std::vector<QuestionKind>& questionKinds();

/// The question with this name or former name. @throws Error (usage) naming all questions
const QuestionKind& questionKind(std::string_view name);

std::vector<std::string> questionNames();

/// Current names by former names.
const std::map<std::string, std::string>& formerQuestionNames();

}  // namespace roper
