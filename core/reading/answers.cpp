#include "core/reading/answers.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/operators/translate_errors.h"
#include "core/questions/list.h"
#include "core/reading/model_change.h"

namespace roper {

#define DECLARE(name, ...) AnswerHandler name##Answer();
ROPER_QUESTIONS(DECLARE)
#undef DECLARE

namespace {

const AnswerHandler& findAnswerHandler(const Question& question) {
#define ROW(name, ...) {#name, name##Answer()},
    static const std::map<std::string, AnswerHandler> all = {ROPER_QUESTIONS(ROW)};
#undef ROW
    return all.at(question.kind().name);
}

/// @throws Error (usage) for a question about the next token to a model that attends to both sides
void requireSense(const QuestionKind& kind, const PretrainedModel& opened) {
    const Architecture& model = opened.architecture;
    if (!kind.needs_causal || model.causal) return;
    throw Error(
        ErrorKind::usage,
        kind.name +
            " is available only for models that predict each token from those before it; this model sees "
            "the tokens on both sides" +
            (model.predicts_masked && opened.weights.head
                 ? " and predicts masked ones, as loss and logits show"
                 : ""));
}

/// Encodes the text and calls `answer` with the question.
template <class Answer>
auto answerWith(ModelReader& reader, const Question& question, const Answer& answer) {
    return translateErrors([&] {
        const at::NoGradGuard no_gradients;
        const QuestionKind& kind = question.kind();
        requireSense(kind, reader.model());
        requireValidSelection({question.layer, question.head}, reader.architecture());
        Intervention change =
            kind.accepts_changes ? makeIntervention(question.change, reader.architecture()) : Intervention();
        std::vector<std::int64_t> ids;
        if (kind.reads_text) ids = reader.encode(question.text);
        return answer(QuestionContext{reader, question, std::move(ids), std::move(change)});
    });
}

}  // namespace

QuestionContext::Head QuestionContext::selectedHead() const {
    if (!question.layer || !question.head)
        throw Error(ErrorKind::usage, question.what + " needs one head: choose it with --layer and --head");
    return {*question.layer, *question.head};
}

std::vector<std::int64_t> QuestionContext::distinctIds() const {
    constexpr std::ptrdiff_t kMaxTokens = 64;
    std::vector<std::int64_t> distinct;
    for (const std::int64_t id : ids)
        if (std::ssize(distinct) < kMaxTokens &&
            std::find(distinct.begin(), distinct.end(), id) == distinct.end())
            distinct.push_back(id);
    return distinct;
}

void QuestionContext::requireLoss() const {
    if (ids.size() < 2 && !model().predicts_masked)
        throw Error(ErrorKind::usage, "a loss needs at least two tokens");
}

void QuestionContext::requireLinearHead() const {
    if (reader.model().weights.head_dense)
        throw Error(
            ErrorKind::usage,
            question.what +
                " needs an output head that is a single matrix; this model's head has another layer with an "
                "activation, so the effect of one attention head on the logits is not defined");
}

void writeScores(const std::string& name, const std::vector<std::vector<double>>& scores,
                 const QuestionContext& context, AnswerWriter& to, const nlohmann::ordered_json& more) {
    to.columns("layer,head," + name);
    for (std::size_t layer = 0; layer < scores.size(); ++layer)
        for (std::size_t head = 0; head < scores[layer].size(); ++head) {
            if (!context.isSelected(static_cast<std::int64_t>(layer), static_cast<std::int64_t>(head)))
                continue;
            std::vector<AnswerWriter::Value> values = {
                {"layer", layer}, {"head", head}, {name, scores[layer][head], 4}};
            if (to.isJson())
                for (const auto& [key, value] : more.items())
                    values.push_back({key, value});
            to.record(std::move(values));
        }
}

std::string serializeAnswer(ModelReader& reader, Question question) {
    // Requests may omit layer and head, meaning the first ones.
    if (question.kind().heads == QuestionKind::Heads::one || question.positions) {
        std::int64_t first = 0;
        while (first + 1 < reader.architecture().layers && !reader.architecture().hasHeads(first))
            ++first;
        question.layer = question.layer.value_or(first);
        question.head = question.head.value_or(0);
    }
    return answerWith(reader, question, findAnswerHandler(question).serialize);
}

void printAnswer(ModelReader& reader, const Question& question, AnswerWriter& to) {
    const AnswerHandler& handler = findAnswerHandler(question);
    if (!handler.print)
        throw Error(ErrorKind::usage, question.what + " is available only on the control socket");
    answerWith(reader, question, [&](const QuestionContext& context) { handler.print(context, to); });
}

}  // namespace roper
