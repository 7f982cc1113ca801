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

/// Passes over `Question::other` with outputs of heads on `Question::text` patched in; both have T tokens.
class Patching {
  public:
    /// @throws Error (usage) for texts of different lengths, or with the same answer
    explicit Patching(const QuestionContext& context) : context_(context) {
        if (context.question.other.empty())
            throw Error(
                ErrorKind::usage,
                "patch needs --other: a second text with the same number of tokens, after which the model "
                "predicts a different token");
        other_ = context.reader.encode(context.question.other);
        if (context.ids.size() != other_.size())
            throw Error(ErrorKind::usage, "both texts must have the same number of tokens; they have " +
                                              std::to_string(context.ids.size()) + " and " +
                                              std::to_string(other_.size()));
        ForwardHooks keep_outputs, keep_residuals;
        keep_outputs.heads = [&](std::int64_t layer, at::Tensor& mixed) { outputs_[layer] = mixed.clone(); };
        keep_residuals.residual = [&](std::int64_t, const at::Tensor& residual) {
            residuals_.push_back(residual.clone());
        };
        const at::Tensor hidden = lastHidden(context.ids, keep_outputs),
                         other_hidden = lastHidden(other_, keep_residuals);
        right_ = context.reader.decoder().logits(hidden).argmax().item<std::int64_t>();
        wrong_ = context.reader.decoder().logits(other_hidden).argmax().item<std::int64_t>();
        answer.tokens = context.reader.textsOf(context.ids);
        answer.other_tokens = context.reader.textsOf(other_);
        answer.answer = context.reader.codec().textOf(right_);
        answer.other_answer = context.reader.codec().textOf(wrong_);
        if (right_ == wrong_)
            throw Error(ErrorKind::usage, "both texts lead to the same answer, “" + answer.answer + "”");
        answer.difference = differences(hidden).item<double>();
        answer.other_difference = differences(other_hidden).item<double>();
    }

    /// The share of the logit difference that each patch by itself restores.
    std::vector<double> restoredBy(std::vector<HeadPatch> patches) {
        for (HeadPatch& patch : patches)
            patch.output = outputs_.at(patch.layer).select(0, patch.head);
        const at::Tensor found = differences(
            context_.reader.decoder().canPatchTogether() ? patchedTogether(patches) : patchedInTurn(patches));
        std::vector<double> shares;
        for (std::int64_t i = 0; i < found.size(0); ++i)
            shares.push_back((found[i].item<double>() - answer.other_difference) /
                             (answer.difference - answer.other_difference));
        return shares;
    }

    PatchAnswer answer;  ///< without `restored`

  private:
    /// The last hidden state of the last token [1, C].
    at::Tensor lastHidden(std::span<const std::int64_t> text, const ForwardHooks& recorder) {
        const at::Tensor hidden = context_.reader.hidden(text, context_.change, recorder, {pass_++, passes_});
        return hidden.narrow(0, hidden.size(0) - 1, 1);
    }
    at::Tensor patchedTogether(const std::vector<HeadPatch>& patches) {
        return context_.reader.decoder().lastHiddenPatched(
            other_, residuals_, patches, context_.change, [&](std::int64_t done, std::int64_t all) {
                context_.reader.reportProgress(done, all, "layers of patched texts");
            });
    }
    at::Tensor patchedInTurn(const std::vector<HeadPatch>& patches) {
        passes_ += std::ssize(patches);
        std::vector<at::Tensor> states;
        for (const HeadPatch& patch : patches) {
            ForwardHooks hooks;
            hooks.heads = [&](std::int64_t layer, at::Tensor& mixed) {
                if (layer == patch.layer) patch.applyTo(mixed);
            };
            states.push_back(lastHidden(other_, hooks));
        }
        return at::cat(states);
    }
    /// The logit of the text's answer minus that of the other text's answer, for hidden states [n, C] → [n]
    at::Tensor differences(const at::Tensor& hidden) {
        at::Tensor found = at::zeros({hidden.size(0)});
        context_.reader.decoder().forEachLogitsBlock(
            hidden, [&](std::int64_t first, const at::Tensor& logits) {
                for (const auto& [id, sign] : {std::pair(right_, 1.0), std::pair(wrong_, -1.0)})
                    if (id >= first && id < first + logits.size(1))
                        found.add_(logits.select(1, id - first), sign);
            });
        return found;
    }

    const QuestionContext& context_;
    std::int64_t pass_ = 0, passes_ = 2;  ///< index of the next pass, and number of passes
    std::int64_t right_ = 0, wrong_ = 0;  ///< ids of the text's answer and of the other text's
    std::vector<std::int64_t> other_;
    std::map<std::int64_t, at::Tensor> outputs_;  ///< of the text's heads, by layer [H, T, v]
    std::vector<at::Tensor> residuals_;  ///< of the other text: embeddings, and after each layer [T, C]
};

PatchAnswer patchOf(const QuestionContext& context) {
    const Question& question = context.question;
    if (question.layer.has_value() != question.head.has_value())
        throw Error(ErrorKind::usage,
                    "to patch one head at each position, give both --layer and --head; without them, all "
                    "heads are patched");
    if (question.positions) {
        const QuestionContext::Head head = context.selectedHead();
        Patching patching(context);
        patching.answer.layer = head.layer;
        patching.answer.head = head.head;
        std::vector<HeadPatch> patches;
        for (std::int64_t position = 0; position < std::ssize(context.ids); ++position)
            patches.push_back({head.layer, head.head, position});
        patching.answer.restored.push_back(patching.restoredBy(std::move(patches)));
        return patching.answer;
    }
    const Architecture& model = context.model();
    Patching patching(context);
    std::vector<HeadPatch> patches;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        for (std::int64_t head = 0; model.hasHeads(layer) && head < model.heads; ++head)
            patches.push_back({layer, head});
    const std::vector<double> shares = patching.restoredBy(patches);
    patching.answer.restored.assign(static_cast<std::size_t>(model.layers),
                                    std::vector<double>(static_cast<std::size_t>(model.heads), NAN));
    for (std::size_t i = 0; i < patches.size(); ++i)
        patching.answer
            .restored[static_cast<std::size_t>(patches[i].layer)][static_cast<std::size_t>(patches[i].head)] =
            shares[i];
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
