#include <ATen/ATen.h>

#include "core/operators/rotary_operator.h"
#include "core/operators/tensor_data.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"
#include "core/reading/model_facts.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

/// "attention" [L, H, T, T], "norms" [4, L, H, d/2]: mean norms by pair of q, k, v (of the head's group) and
/// output, and "tokens" [T].
std::string serializeMaps(const QuestionContext& context) {
    requireTextLengthLimit(context);
    const Architecture& model = context.model();
    const std::int64_t T = std::ssize(context.ids);
    requireMapsFitReply(context, T, T);
    const at::Tensor norms = at::zeros({4, model.layers, model.heads, (model.head_dim + 1) / 2});
    // A rotation preserves every pair's norm.
    const auto addNorms = [&](std::int64_t index, std::int64_t layer, const at::Tensor& x, const Rotary& by) {
        norms.select(0, index).select(0, layer).copy_(
            pairNorms(withWidth(x, model.head_dim), by.pairing, by.pairs(), by.first)
                .repeat_interleave(model.heads / x.size(0), 0));
    };
    ForwardHooks recorder;
    recorder.vectors = [&](const LayerView& view) {
        const Rotary by = model.rotationOf(view.layer).rotationForLength(static_cast<double>(T));
        addNorms(0, view.layer, view.q, by);
        addNorms(1, view.layer, view.k, by);
        addNorms(2, view.layer, view.v, valueRotation(model, view.layer));
    };
    recorder.heads = [&](std::int64_t layer, const at::Tensor& mixed) {
        addNorms(3, layer, mixed, valueRotation(model, layer));
    };
    const at::Tensor attention = computeAttentionMaps(context, context.ids, T, recorder).attention;
    return serializeTensors({{"attention", attention}, {"norms", norms}, {"tokens", at::tensor(context.ids)}},
                            answerMetadata(context, context.ids, 0));
}

}  // namespace

AnswerHandler mapsAnswer() {
    return {&serializeMaps, {}};
}

}  // namespace roper
