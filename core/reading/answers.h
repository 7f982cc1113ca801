#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/language_model/intervention.h"
#include "core/questions/answer_json.h"
#include "core/questions/question.h"
#include "core/reading/answer_writer.h"
#include "core/reading/model_reader.h"

namespace roper {

/// A question, with what has been read and made ready for its answer.
struct Asked {
    ModelReader& reader;
    const Question& question;
    const std::vector<std::int64_t> ids = {};  ///< of the text, where the kind reads one
    const Intervention change = {};            ///< where the kind can be changed

    const Architecture& model() const { return reader.architecture(); }
    std::int64_t count() const { return question.countOrUsual(); }
    /// Whether an answer about all heads is to show one.
    bool isWanted(std::int64_t layer, std::int64_t head) const {
        return HeadChoice{question.layer, question.head}.holds(layer, head);
    }
    /// The one head that is shown.
    struct Head {
        std::int64_t layer, head;
    };
    /// @throws Error (usage) if the question names none
    Head oneHead() const;
    /// The text's tokens, each once, in their order: the first 64.
    std::vector<std::int64_t> distinctIds() const;
    /// @throws Error (usage) for a text of one token
    void requireLoss() const;
};

/// How a question is answered: what its file answer_NAME.cpp returns.
struct Answering {
    /// As it is sent: JSON, or a safetensors file.
    std::function<std::string(const Asked&)> send = {};
    /// As it is printed; empty if it is only sent.
    std::function<void(const Asked&, AnswerWriter&)> print = {};
};

/// An answer that is sent as JSON.
/// @param answer  computes it
/// @param print   puts it into lines of JSON, rows of a table, or text
template <class Answer>
Answering answering(Answer (*answer)(const Asked&),
                    void (*print)(const Answer&, const Asked&, AnswerWriter&)) {
    return {[answer](const Asked& asked) { return formatAnswer(answer(asked)); },
            [answer, print](const Asked& asked, AnswerWriter& to) {
                const Answer computed = answer(asked);
                asked.reader.tellProgress(1, 1, {});  // all is done: the line of progress makes room
                print(computed, asked, to);
            }};
}

/// Prints a number of each wanted head: a column, or a line of JSON.
/// @param name    of the number
/// @param scores  [layers][heads]
/// @param more    what else a line of JSON says
void writeScores(const std::string& name, const std::vector<std::vector<double>>& scores, const Asked& asked,
                 AnswerWriter& to, const nlohmann::ordered_json& more);

/// Answers a question about a model, as it is sent (core/questions/answer_json.h).
/// @throws Error (usage) for a text without tokens, a head that the model lacks, or a change that it cannot
/// take; Error (memory)
std::string sentAnswer(ModelReader& reader, Question question);

/// The same, printed. A kind whose answer is only sent: Error (usage).
void printAnswer(ModelReader& reader, const Question& question, AnswerWriter& to);

}  // namespace roper
