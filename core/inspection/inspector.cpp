#include "core/inspection/inspector.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/inspection/head_observer.h"
#include "core/language_model/decoder.h"
#include "core/training/loaded_model.h"

namespace roper {
namespace {

/// log Σ exp over the vocabulary, a part at a time. Each [T].
class LogSumExp {
  public:
    explicit LogSumExp(std::int64_t T) : largest_(at::full({T}, -INFINITY)), sum_(at::zeros({T})) {}

    /// @param logits  [T, ids]
    void add(const at::Tensor& logits) {
        const at::Tensor now = at::maximum(largest_, logits.amax(1));
        sum_ = sum_ * at::exp(largest_ - now) + at::exp(logits - now.unsqueeze(1)).sum(1);
        largest_ = now;
    }
    at::Tensor value() const { return largest_ + at::log(sum_); }

  private:
    at::Tensor largest_, sum_;
};

/// The largest logits of every token so far.
class Largest {
  public:
    explicit Largest(std::int64_t count) : count_(count) {}

    /// @param logits  [T, ids], of the ids from `first` on
    void add(std::int64_t first, const at::Tensor& logits) {
        auto [values, ids] = at::topk(logits, std::min(count_, logits.size(1)));
        ids = ids + first;
        if (values_.defined()) {
            const at::Tensor all = at::cat({values_, values}, 1), all_ids = at::cat({ids_, ids}, 1);
            const auto [best, places] = at::topk(all, std::min(count_, all.size(1)));
            values = best;
            ids = all_ids.gather(1, places);
        }
        values_ = values;
        ids_ = ids;
    }
    const at::Tensor& values() const { return values_; }  ///< [T, count]
    const at::Tensor& ids() const { return ids_; }

  private:
    std::int64_t count_;
    at::Tensor values_, ids_;
};

/// The likeliest token, or one drawn with probabilities softmax(logits / temperature). logits [V]
std::int64_t chosenToken(const at::Tensor& logits, double temperature, Random& random) {
    if (temperature <= 0) return logits.argmax().item<std::int64_t>();
    const at::Tensor sums = at::softmax(logits.to(at::kDouble) / temperature, 0).cumsum(0);
    const at::Tensor place = at::searchsorted(
        sums, at::scalar_tensor(random.unit() * sums[-1].item<double>(), at::kDouble), false, true);
    return std::min(place.item<std::int64_t>(), logits.size(0) - 1);
}

}  // namespace

struct Inspector::Parts {
    Parts(OpenedModel model, InspectorOptions given)
        : decoder(std::move(model.model)), codec(std::move(model.codec)), options(std::move(given)) {}

    /// The last residuals after the final norm [T, C].
    at::Tensor hidden(std::span<const std::int64_t> ids, const Intervention& intervention,
                      PassRecorder recorder = {}) {
        const std::int64_t layers = decoder.architecture().layers;
        if (options.progress)
            recorder.progress = [this, layers](std::int64_t layer) { options.progress(layer, layers); };
        at::Tensor last = decoder.hidden(ids, intervention, recorder);
        if (options.progress) options.progress(layers, layers);
        return last;
    }

    Decoder decoder;
    TextCodec codec;
    InspectorOptions options;
};

Inspector::Inspector(OpenedModel model, InspectorOptions options) {
    setThreads(options.threads);
    parts_ = std::make_unique<Parts>(std::move(model), std::move(options));
    parts_->decoder.weights().keepUpTo(parts_->options.kept_bytes);
}

Inspector::~Inspector() = default;
Inspector::Inspector(Inspector&&) noexcept = default;
Inspector& Inspector::operator=(Inspector&&) noexcept = default;

const PretrainedModel& Inspector::model() const {
    return parts_->decoder.model();
}

const TextCodec& Inspector::codec() const {
    return parts_->codec;
}

std::vector<std::int64_t> Inspector::encode(std::string_view text) const {
    return translatingErrors([&] {
        std::vector<std::int64_t> ids = parts_->codec.encode(text);
        if (ids.empty()) throw Error(ErrorKind::usage, "the text is empty: there is no token to read");
        return ids;
    });
}

TextLoss Inspector::loss(std::span<const std::int64_t> ids, const Intervention& intervention) {
    return translatingErrors([&] {
        const auto T = static_cast<std::int64_t>(ids.size());
        if (T < 2)
            throw Error(ErrorKind::usage,
                        "a loss needs at least two tokens; the text has " + std::to_string(T));
        const at::NoGradGuard no_gradients;
        const at::Tensor hidden = parts_->hidden(ids, intervention).narrow(0, 0, T - 1);
        const at::Tensor targets = at::tensor(at::ArrayRef<std::int64_t>(ids.data() + 1, ids.size() - 1));
        LogSumExp normalizer(T - 1);
        at::Tensor of_targets = at::zeros({T - 1});
        parts_->decoder.forLogits(hidden, [&](std::int64_t first, const at::Tensor& logits) {
            normalizer.add(logits);
            const at::Tensor place = targets - first;
            const at::Tensor is_here = (place >= 0).logical_and_(place < logits.size(1));
            const at::Tensor found =
                logits.gather(1, place.clamp(0, logits.size(1) - 1).unsqueeze(1)).squeeze(1);
            of_targets = at::where(is_here, found, of_targets);
        });
        const at::Tensor nll = (normalizer.value() - of_targets).to(at::kDouble).contiguous();
        TextLoss loss{{ids.begin(), ids.end()}, {}, nll.mean().item<double>()};
        loss.nll.assign(nll.const_data_ptr<double>(), nll.const_data_ptr<double>() + T - 1);
        return loss;
    });
}

std::vector<std::vector<Prediction>> Inspector::predictions(std::span<const std::int64_t> ids,
                                                            std::size_t count,
                                                            const Intervention& intervention) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const auto T = static_cast<std::int64_t>(ids.size());
        const at::Tensor hidden = parts_->hidden(ids, intervention);
        LogSumExp normalizer(T);
        Largest largest(static_cast<std::int64_t>(count));
        parts_->decoder.forLogits(hidden, [&](std::int64_t first, const at::Tensor& logits) {
            normalizer.add(logits);
            largest.add(first, logits);
        });
        const at::Tensor probabilities = at::exp(largest.values() - normalizer.value().unsqueeze(1));
        std::vector<std::vector<Prediction>> predictions(ids.size());
        for (std::int64_t t = 0; t < T; ++t)
            for (std::int64_t k = 0; k < largest.ids().size(1); ++k)
                predictions[static_cast<std::size_t>(t)].push_back({largest.ids()[t][k].item<std::int64_t>(),
                                                                    largest.values()[t][k].item<double>(),
                                                                    probabilities[t][k].item<double>()});
        return predictions;
    });
}

std::vector<std::int64_t> Inspector::generate(std::span<const std::int64_t> ids,
                                              const GenerationOptions& options,
                                              const std::function<bool(std::int64_t id)>& take,
                                              const Intervention& intervention) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        DecoderCache cache;
        Random random(options.seed, Stream::sampling, 0);
        std::vector<std::int64_t> written;
        at::Tensor last = parts_->decoder.hidden(ids, intervention, {}, &cache);
        while (static_cast<std::int64_t>(written.size()) < options.count) {
            const at::Tensor logits = parts_->decoder.logits(last.narrow(0, last.size(0) - 1, 1)).squeeze(0);
            const std::int64_t next = chosenToken(logits, options.temperature, random);
            written.push_back(next);
            const bool goes_on = !take || take(next);
            if (!goes_on || parts_->codec.isSpecial(next)) break;
            last = parts_->decoder.hidden(std::span(&written.back(), 1), intervention, {}, &cache);
        }
        return written;
    });
}

std::vector<HeadReport> Inspector::heads(std::span<const std::int64_t> ids,
                                         const Intervention& intervention) {
    return translatingErrors([&] {
        if (ids.size() < 2) throw Error(ErrorKind::usage, "what heads do is seen in two tokens or more");
        const at::NoGradGuard no_gradients;
        HeadObserver observer(parts_->decoder.architecture(), ids);
        parts_->hidden(ids, intervention, observer.recorder());
        return observer.reports();
    });
}

std::vector<ValueKernel> Inspector::valueKernels(int distances) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        const std::int64_t d = model.head_dim;
        std::vector<ValueKernel> kernels;
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            const BlockWeights& block =
                parts_->decoder.model().weights.blocks[static_cast<std::size_t>(layer)];
            const at::Tensor output = parts_->decoder.weights().matrix(block.output.weight),
                             value = parts_->decoder.weights().matrix(block.value.weight);
            Rotary values{static_cast<int>(d), Pairing::half, {}};
            if (!model.value_rotations.empty()) {
                const LayerRotation& by =
                    model.value_rotations[model.rotation_of_layer[static_cast<std::size_t>(layer)]];
                values.pairing = by.pairing;
                if (by.width > 0) values.theta = by.frequencies(static_cast<double>(model.context)).theta;
            }
            for (std::int64_t head = 0; head < model.heads; ++head) {
                const std::int64_t group = head * model.key_value_heads / model.heads;
                kernels.push_back(valueKernel(matrixOf(output.narrow(1, head * d, d)),
                                              matrixOf(value.narrow(0, group * d, d)), values, distances));
            }
        }
        return kernels;
    });
}

void Inspector::attention(std::span<const std::int64_t> ids, const TakeLayer& take,
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

std::vector<float> Inspector::attentionOf(std::span<const std::int64_t> ids, std::int64_t layer,
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
