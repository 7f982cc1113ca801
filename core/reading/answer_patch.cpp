#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/patch_answer.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// Passes over the other text with activations of this one patched in. T tokens.
class Patching {
  public:
    /// @throws Error (usage) for texts of different lengths, or with the same answer
    Patching(const QuestionContext& context, std::int64_t patches) : context_(context), passes_(2 + patches) {
        if (context.question.other.empty())
            throw Error(
                ErrorKind::usage,
                "patch needs --other: a second text with the same number of tokens, after which the model "
                "predicts another token");
        other_ = context.reader.encode(context.question.other);
        if (context.ids.size() != other_.size())
            throw Error(ErrorKind::usage, "both texts must have the same number of tokens; they have " +
                                              std::to_string(context.ids.size()) + " and " +
                                              std::to_string(other_.size()));
        ForwardHooks keep;
        keep.heads = [&](std::int64_t layer, at::Tensor& mixed) { outputs_[layer] = mixed.clone(); };
        const at::Tensor logits = lastLogits(context.ids, keep), other_logits = lastLogits(other_, {});
        right_ = logits.argmax().item<std::int64_t>();
        wrong_ = other_logits.argmax().item<std::int64_t>();
        answer.tokens = context.reader.textsOf(context.ids);
        answer.other_tokens = context.reader.textsOf(other_);
        answer.answer = context.reader.codec().textOf(right_);
        answer.other_answer = context.reader.codec().textOf(wrong_);
        if (right_ == wrong_)
            throw Error(ErrorKind::usage, "both texts lead to the same answer, “" + answer.answer + "”");
        answer.difference = difference(logits);
        answer.other_difference = difference(other_logits);
    }

    /// Recovered share of the logit difference with a head's output patched, at all positions or at one.
    double recoveredBy(std::int64_t layer, std::int64_t head, std::optional<std::int64_t> position = {}) {
        ForwardHooks patch;
        patch.heads = [&](std::int64_t at, at::Tensor& mixed) {
            if (at != layer) return;
            at::Tensor to = mixed.select(0, head), from = outputs_.at(layer).select(0, head);
            if (position) {
                to = to.narrow(0, *position, 1);
                from = from.narrow(0, *position, 1);
            }
            to.copy_(from);
        };
        return (difference(lastLogits(other_, patch)) - answer.other_difference) /
               (answer.difference - answer.other_difference);
    }

    PatchAnswer answer;  ///< without the recovered shares

  private:
    /// Logits after the last token [V].
    at::Tensor lastLogits(std::span<const std::int64_t> text, const ForwardHooks& recorder) {
        const at::Tensor hidden = context_.reader.hidden(text, context_.change, recorder, {pass_++, passes_});
        return context_.reader.decoder().logits(hidden.narrow(0, hidden.size(0) - 1, 1)).squeeze(0);
    }
    double difference(const at::Tensor& logits) const {
        return (logits[right_] - logits[wrong_]).item<double>();
    }

    const QuestionContext& context_;
    const std::int64_t passes_;
    std::int64_t pass_ = 0, right_ = 0, wrong_ = 0;
    std::vector<std::int64_t> other_;
    std::map<std::int64_t, at::Tensor> outputs_;  ///< of this text, by layer [H, T, d]
};

PatchAnswer patchOf(const QuestionContext& context) {
    const Question& question = context.question;
    if (question.layer.has_value() != question.head.has_value())
        throw Error(ErrorKind::usage,
                    "to patch one head at each position, give both --layer and --head; without them, all "
                    "heads are patched");
    if (question.positions) {
        const QuestionContext::Head head = context.selectedHead();
        Patching patching(context, std::ssize(context.ids));
        patching.answer.layer = head.layer;
        patching.answer.head = head.head;
        patching.answer.restored.emplace_back();
        for (std::int64_t position = 0; position < std::ssize(context.ids); ++position)
            patching.answer.restored.back().push_back(patching.recoveredBy(head.layer, head.head, position));
        return patching.answer;
    }
    const Architecture& model = context.model();
    Patching patching(context, model.layers * model.heads);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        patching.answer.restored.emplace_back();
        for (std::int64_t head = 0; head < model.heads; ++head)
            patching.answer.restored.back().push_back(
                model.hasHeads(layer) ? patching.recoveredBy(layer, head) : NAN);
    }
    return patching.answer;
}

void printPatch(const PatchAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    if (to.isJson())
        return to.line({{"answer", answer.answer},
                        {"other_answer", answer.other_answer},
                        {"difference", answer.difference},
                        {"other_difference", answer.other_difference},
                        {"restored", answer.restored}});
    reportToUser("roper-train: the text leads to “" + toSingleLine(answer.answer) + "”, the other to “" +
                 toSingleLine(answer.other_answer) + "”");
    const bool by_position = context.question.positions;
    to.columns(by_position ? "position,token,other_token,restored" : "layer,head,restored");
    for (std::size_t i = 0; i < answer.restored.size(); ++i)
        for (std::size_t k = 0; k < answer.restored[i].size(); ++k) {
            if (std::isnan(answer.restored[i][k])) continue;  // no head
            const std::string restored = formatRounded(answer.restored[i][k], 4);
            if (by_position)
                to.row({std::to_string(k), tableCell(answer.tokens[k]), tableCell(answer.other_tokens[k]),
                        restored});
            else
                to.row({std::to_string(i), std::to_string(k), restored});
        }
}

}  // namespace

AnswerHandler patchAnswer() {
    return answerHandler(patchOf, printPatch);
}

}  // namespace roper
