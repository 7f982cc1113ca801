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

/// A question, with the inputs prepared for answering it.
struct QuestionContext {
    ModelReader& reader;
    const Question& question;
    const std::vector<std::int64_t> ids = {};  ///< of the text; empty if the question reads none
    const Intervention change = {};            ///< empty if the question supports no changes

    const Architecture& model() const { return reader.architecture(); }
    std::int64_t count() const { return question.countOrDefault(); }
    /// Whether an answer about all heads includes this one.
    bool isSelected(std::int64_t layer, std::int64_t head) const {
        return model().hasHeads(layer) && HeadSelection{question.layer, question.head}.contains(layer, head);
    }
    /// The one head that is shown.
    struct Head {
        std::int64_t layer, head;
    };
    /// @throws Error (usage) if the question does not name one
    Head selectedHead() const;
    /// The first 64 distinct tokens of the text, in order of occurrence.
    std::vector<std::int64_t> distinctIds() const;
    /// @throws Error (usage) for a text of one token, unless the model predicts masked tokens
    void requireLoss() const;
    /// @throws Error (usage) if the LM head has an activation: what one vector, such as a head's
    /// output, adds to the logits is then undefined
    void requireLinearHead() const;
};

/// Implementation of a question, returned by its file answer_NAME.cpp.
struct AnswerHandler {
    /// Computes the answer to send on the control socket: JSON or a safetensors file.
    std::function<std::string(const QuestionContext&)> serialize = {};
    /// Prints the answer; empty if only the control socket answers the question.
    std::function<void(const QuestionContext&, AnswerWriter&)> print = {};
};

/// An answer sent as JSON.
/// @param answer  computes it
/// @param print   prints it as lines of JSON, rows of a table, or text
template <class Answer>
AnswerHandler answerHandler(Answer (*answer)(const QuestionContext&),
                            void (*print)(const Answer&, const QuestionContext&, AnswerWriter&)) {
    return {[answer](const QuestionContext& context) { return formatAnswer(answer(context)); },
            [answer, print](const QuestionContext& context, AnswerWriter& to) {
                const Answer computed = answer(context);
                context.reader.reportProgress(1, 1, {});  // clears the progress line
                print(computed, context, to);
            }};
}

/// Prints a number for each selected head: a row of a table per head, or one line of JSON.
/// @param name    of the number
/// @param scores  [layers][heads]
/// @param more    additional members of a line of JSON
void writeScores(const std::string& name, const std::vector<std::vector<double>>& scores,
                 const QuestionContext& context, AnswerWriter& to, const nlohmann::ordered_json& more);

/// The answer to a question, as the control socket sends it (core/questions/answer_json.h).
/// @throws Error (usage) for a text without tokens, a head that does not exist, or an unsupported change;
/// Error (memory)
std::string serializeAnswer(ModelReader& reader, Question question);

/// Prints the answer. @throws like `serializeAnswer`, and Error (usage) for questions without `print`
void printAnswer(ModelReader& reader, const Question& question, AnswerWriter& to);

}  // namespace roper
