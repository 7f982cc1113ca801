#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/operators/translating_errors.h"
#include "core/reading/head_observer.h"
#include "core/reading/model_reader_parts.h"

// What heads do.

namespace roper {

HeadsAnswer ModelReader::heads(std::span<const std::int64_t> ids, const Intervention& intervention) {
    return translatingErrors([&] {
        if (ids.size() < 2) throw Error(ErrorKind::usage, "what heads do is seen in two tokens or more");
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        HeadObserver observer(model, ids);
        parts_->hidden(ids, intervention, observer.recorder());
        HeadsAnswer answer{parts_->textsOf(ids), {}, observer.reports()};
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            const Eigen::VectorXd theta = frequenciesOf(model, layer, static_cast<double>(ids.size()));
            answer.theta.emplace_back(theta.begin(), theta.end());
        }
        return answer;
    });
}

namespace {

/// How the values of a layer rotate; without a rotation they are the same at every distance.
Rotary valueRotation(const Architecture& model, std::int64_t layer) {
    Rotary values{static_cast<int>(model.head_dim), Pairing::half, {}};
    if (model.value_rotations.empty()) return values;
    const LayerRotation& by = model.value_rotations[model.rotation_of_layer[static_cast<std::size_t>(layer)]];
    values.pairing = by.pairing;
    if (by.width > 0) values.theta = by.frequencies(static_cast<double>(model.context)).theta;
    return values;
}

/// W_O [C × d] and W_V [d × C] of the heads of a layer.
class ValueWeights {
  public:
    ValueWeights(Decoder& decoder, std::int64_t layer) : model_(decoder.architecture()) {
        const BlockWeights& block = decoder.model().weights.blocks[static_cast<std::size_t>(layer)];
        output_ = decoder.weights().matrix(block.output.weight);
        value_ = decoder.weights().matrix(block.value.weight);
    }
    Eigen::MatrixXd output(std::int64_t head) const {
        return matrixOf(output_.narrow(1, head * model_.head_dim, model_.head_dim));
    }
    Eigen::MatrixXd value(std::int64_t head) const {
        const std::int64_t group = head * model_.key_value_heads / model_.heads;
        return matrixOf(value_.narrow(0, group * model_.head_dim, model_.head_dim));
    }

  private:
    const Architecture& model_;
    at::Tensor output_, value_;
};

}  // namespace

std::vector<ValueKernel> ModelReader::valueKernels(int distances) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        std::vector<ValueKernel> kernels;
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            const ValueWeights weights(parts_->decoder, layer);
            for (std::int64_t head = 0; head < model.heads; ++head) {
                parts_->say(layer * model.heads + head, model.layers * model.heads);
                kernels.push_back(valueKernel(weights.output(head), weights.value(head),
                                              valueRotation(model, layer), distances));
            }
        }
        return kernels;
    });
}

KernelHistory ModelReader::kernelHistory(const HeadChoice& of, int distances) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        requireInside(of, parts_->decoder.architecture());
        if (parts_->history.empty())
            throw Error(ErrorKind::usage,
                        "only runs have checkpoints; a published model is as it was in the end");
        const std::int64_t layer = of.layer.value_or(0), head = of.head.value_or(0);
        KernelHistory history{layer, head, {}, {}};
        std::int64_t done = 0;
        for (const TrainedState& state : parts_->history) {
            parts_->say(done++, static_cast<std::int64_t>(parts_->history.size()));
            std::optional<Decoder> decoder;
            try {
                decoder.emplace(state.open());
            } catch (const Error&) {
                if (state.step == parts_->history.back().step) throw;
                continue;  // the trainer keeps the newest ones alone
            }
            const ValueWeights weights(*decoder, layer);
            history.steps.push_back(state.step);
            history.kernels.push_back(valueKernel(weights.output(head), weights.value(head),
                                                  valueRotation(decoder->architecture(), layer), distances));
        }
        return history;
    });
}

TokenMap ModelReader::tokenMap(std::span<const std::int64_t> ids, const HeadChoice& of,
                               std::int64_t distance) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        Decoder& decoder = parts_->decoder;
        const Architecture& model = decoder.architecture();
        requireInside(of, model);
        const std::int64_t layer = of.layer.value_or(0), head = of.head.value_or(0);
        std::vector<std::int64_t> distinct;
        for (const std::int64_t id : ids)
            if (static_cast<std::int64_t>(distinct.size()) < kMostMapped &&
                std::find(distinct.begin(), distinct.end(), id) == distinct.end())
                distinct.push_back(id);
        const ValueWeights weights(decoder, layer);
        const Eigen::MatrixXd K = kernelAt(weights.output(head), weights.value(head),
                                           valueRotation(model, layer), static_cast<double>(distance));
        const Eigen::MatrixXd X = matrixOf(decoder.normedEmbeddings(distinct, layer)),
                              U = matrixOf(decoder.unembeddings(distinct));
        const Eigen::MatrixXd logits = X * K.transpose() * U.transpose();  // [from, to]
        TokenMap map{layer, head, distance, parts_->textsOf(distinct), {}};
        for (Eigen::Index row = 0; row < logits.rows(); ++row)
            map.logits.emplace_back(logits.row(row).begin(), logits.row(row).end());
        return map;
    });
}

HeadVectorsOfText ModelReader::headVectors(std::span<const std::int64_t> ids, std::int64_t layer,
                                           std::int64_t head) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        requireInside({layer, head}, model);
        const std::int64_t group = head * model.key_value_heads / model.heads;
        const auto numbers = [](const at::Tensor& x) {
            const at::Tensor rows = x.contiguous();
            return std::vector<float>(rows.const_data_ptr<float>(),
                                      rows.const_data_ptr<float>() + rows.numel());
        };
        HeadVectorsOfText vectors;
        PassRecorder recorder;
        recorder.vectors = [&](const LayerView& view) {
            if (view.layer == layer)
                vectors = {numbers(view.q.select(0, head)), numbers(view.k.select(0, group)),
                           numbers(view.v.select(0, group))};
        };
        parts_->hidden(ids, {}, recorder);
        return vectors;
    });
}

Thumbnails ModelReader::thumbnails(std::span<const std::int64_t> ids, std::int64_t side,
                                   const Intervention& intervention) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        const auto T = static_cast<std::int64_t>(ids.size());
        const std::int64_t span = (T + side - 1) / side, cells = (T + span - 1) / span;
        const at::Tensor all = at::zeros({model.layers, model.heads, cells, cells});
        PassRecorder recorder;
        recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
            const at::Tensor by_key = at::constant_pad_nd(weights, {0, cells * span - weights.size(2)})
                                          .unflatten(2, {cells, span})
                                          .amax(-1);
            const at::Tensor cell_of_query = at::arange(first, first + weights.size(1)).div(span, "floor");
            all.select(0, layer).scatter_reduce_(1, cell_of_query.view({1, -1, 1}).expand_as(by_key), by_key,
                                                 "amax");
        };
        parts_->hidden(ids, intervention, recorder);
        return Thumbnails{cells, {all.const_data_ptr<float>(), all.const_data_ptr<float>() + all.numel()}};
    });
}

void ModelReader::attention(std::span<const std::int64_t> ids, const TakeLayer& take,
                            const Intervention& intervention) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        const auto T = static_cast<std::int64_t>(ids.size());
        const at::Tensor layer_weights = at::zeros({model.heads, T, T});
        PassRecorder recorder;
        recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
            const std::int64_t queries = weights.size(1);
            layer_weights.narrow(1, first, queries).narrow(2, 0, weights.size(2)).copy_(weights);
            if (first + queries == T)
                take(layer, {layer_weights.const_data_ptr<float>(),
                             static_cast<std::size_t>(layer_weights.numel())});
        };
        parts_->hidden(ids, intervention, recorder);
    });
}

std::vector<float> ModelReader::attentionOf(std::span<const std::int64_t> ids, std::int64_t layer,
                                            std::int64_t head, const Intervention& intervention) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        requireInside({layer, head}, parts_->decoder.architecture());
        const std::size_t T = ids.size();
        std::vector<float> all(T * T);
        PassRecorder recorder;
        recorder.attention = [&](std::int64_t of, std::int64_t first, const at::Tensor& weights) {
            if (of != layer) return;
            const at::Tensor of_head = weights.select(0, head).contiguous();
            const auto keys = static_cast<std::size_t>(of_head.size(1));
            for (std::int64_t row = 0; row < of_head.size(0); ++row)
                std::copy_n(
                    of_head.const_data_ptr<float>() + static_cast<std::size_t>(row) * keys, keys,
                    all.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(first + row)) * T));
        };
        parts_->hidden(ids, intervention, recorder);
        return all;
    });
}

}  // namespace roper
