#include <ATen/ATen.h>

#include "core/operators/tensor_data.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// "weights" [L, H, cells, cells]: cell (a, b) of a head is the largest weight within an equal block of
/// queries and keys.
std::string thumbnailsOf(const QuestionContext& context) {
    const Architecture& model = context.model();
    const auto T = static_cast<std::int64_t>(context.ids.size());
    const std::int64_t span = (T + context.count() - 1) / context.count(), cells = (T + span - 1) / span;
    const at::Tensor all = at::zeros({model.layers, model.heads, cells, cells});
    ForwardHooks recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        const at::Tensor by_key = at::constant_pad_nd(weights, {0, cells * span - weights.size(2)})
                                      .unflatten(2, {cells, span})
                                      .amax(-1);
        const at::Tensor cell_of_query = at::arange(first, first + weights.size(1)).div(span, "floor");
        all.select(0, layer).scatter_reduce_(1, cell_of_query.view({1, -1, 1}).expand_as(by_key), by_key,
                                             "amax");
    };
    context.reader.hidden(context.ids, context.change, recorder);
    return serializeTensors({{"weights", all}});
}

}  // namespace

AnswerHandler thumbnailsAnswer() {
    return {&thumbnailsOf, {}};
}

}  // namespace roper
