#include "core/inspection/inspector.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/inspection/head_observer.h"
#include "core/language_model/decoder.h"
#include "core/operators/products.h"
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

/// Multiply-adds of float32 that products of matrices reach, counted as two, in 10⁹ a second.
double measuredGflops() {
    constexpr std::int64_t kSide = 768;
    const at::Tensor a = at::randn({kSide, kSide}), b = at::randn({kSide, kSide});
    const at::Tensor out = at::empty({kSide, kSide});
    double best = 0;
    for (int i = 0; i < 4; ++i) {  // the first makes threads and buffers
        const auto begin = std::chrono::steady_clock::now();
        multiplyInto(out, a, b);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        best = std::max(best, 2e-9 * kSide * kSide * kSide / took.count());
    }
    return best;
}

/// Which of several passes one is.
struct Part {
    std::int64_t number = 0, of = 1;
};

}  // namespace

struct Inspector::Parts {
    Parts(OpenedModel model, InspectorOptions given)
        : decoder(std::move(model.model)), codec(std::move(model.codec)), options(std::move(given)) {}

    /// The last residuals after the final norm [T, C].
    at::Tensor hidden(std::span<const std::int64_t> ids, const Intervention& intervention,
                      PassRecorder recorder = {}, Part part = {}) {
        const std::int64_t layers = decoder.architecture().layers;
        const auto say = [this, layers, part](std::int64_t done) {
            if (options.progress) options.progress(part.number * layers + done, part.of * layers);
        };
        recorder.progress = say;
        at::Tensor last = decoder.hidden(ids, intervention, recorder);
        say(layers);
        return last;
    }

    TextReading read(std::span<const std::int64_t> ids, std::int64_t candidates,
                     const Intervention& intervention, Part part = {});

    std::vector<std::string> textsOf(std::span<const std::int64_t> ids) const {
        std::vector<std::string> texts;
        for (const std::int64_t id : ids)
            texts.push_back(codec.textOf(id));
        return texts;
    }

    /// @param normalizer  log Σ exp of every token's logits
    std::vector<std::vector<Prediction>> predictionsOf(const Largest& largest,
                                                       const at::Tensor& normalizer) const {
        const at::Tensor probabilities = at::exp(largest.values() - normalizer.unsqueeze(1));
        const auto id = largest.ids().accessor<std::int64_t, 2>();
        const auto logit = largest.values().accessor<float, 2>(),
                   probability = probabilities.accessor<float, 2>();
        std::vector<std::vector<Prediction>> predictions(static_cast<std::size_t>(id.size(0)));
        for (std::int64_t t = 0; t < id.size(0); ++t)
            for (std::int64_t k = 0; k < id.size(1); ++k)
                predictions[static_cast<std::size_t>(t)].push_back({id[t][k], codec.textOf(id[t][k]),
                                                                    static_cast<double>(logit[t][k]),
                                                                    static_cast<double>(probability[t][k])});
        return predictions;
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

ModelSummary Inspector::summary() {
    const PretrainedModel& model = this->model();
    const Architecture& a = model.architecture;
    ModelSummary summary{model.name, a.family, a.layers,       a.heads,      a.key_value_heads,
                         a.head_dim, a.width,  a.feed_forward, a.vocabulary, a.context};
    for (const auto& [name, tensor] : model.tensors->tensors())
        summary.parameters += tensor.count();
    summary.causal = a.causal;
    const Eigen::VectorXd theta = frequenciesOf(a, 0, static_cast<double>(a.context));
    summary.theta.assign(theta.begin(), theta.end());
    for (const LayerRotation& rotation : a.rotations)
        summary.rotates = summary.rotates || rotation.width > 0;
    summary.rotates_values = !a.value_rotations.empty();
    summary.notes = model.notes;
    summary.gflops = translatingErrors([] { return measuredGflops(); });
    return summary;
}

TextReading Inspector::Parts::read(std::span<const std::int64_t> ids, std::int64_t candidates,
                                   const Intervention& intervention, Part part) {
    const at::NoGradGuard no_gradients;
    const auto T = static_cast<std::int64_t>(ids.size());
    const at::Tensor last = hidden(ids, intervention, {}, part);
    // The last token has no successor in the text: 0 stands for it.
    at::Tensor targets = at::zeros({T}, at::kLong);
    if (T > 1)
        targets.narrow(0, 0, T - 1)
            .copy_(at::tensor(at::ArrayRef<std::int64_t>(ids.data() + 1, ids.size() - 1)));
    LogSumExp normalizer(T);
    Largest largest(candidates);
    at::Tensor of_targets = at::zeros({T});
    decoder.forLogits(last, [&](std::int64_t first, const at::Tensor& logits) {
        normalizer.add(logits);
        if (candidates > 0) largest.add(first, logits);
        const at::Tensor place = targets - first;
        const at::Tensor is_here = (place >= 0).logical_and_(place < logits.size(1));
        const at::Tensor found = logits.gather(1, place.clamp(0, logits.size(1) - 1).unsqueeze(1)).squeeze(1);
        of_targets = at::where(is_here, found, of_targets);
    });
    TextReading reading{{ids.begin(), ids.end()}, textsOf(ids), {}};
    if (T > 1) {
        const at::Tensor nll =
            (normalizer.value() - of_targets).narrow(0, 0, T - 1).to(at::kDouble).contiguous();
        reading.nll.assign(nll.const_data_ptr<double>(), nll.const_data_ptr<double>() + T - 1);
        reading.loss = nll.mean().item<double>();
    }
    if (candidates > 0) reading.predictions = predictionsOf(largest, normalizer.value());
    return reading;
}

TextReading Inspector::read(std::span<const std::int64_t> ids, std::int64_t candidates,
                            const Intervention& intervention) {
    return translatingErrors([&] { return parts_->read(ids, candidates, intervention); });
}

GeneratedText Inspector::generate(std::span<const std::int64_t> ids, const GenerationOptions& options,
                                  const std::function<bool(std::int64_t id)>& take,
                                  const Intervention& intervention) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        DecoderCache cache;
        Random random(options.seed, Stream::sampling, 0);
        GeneratedText written{{ids.begin(), ids.end()}, {}, parts_->textsOf(ids), {}, {}};
        at::Tensor last = parts_->decoder.hidden(ids, intervention, {}, &cache);
        while (static_cast<std::int64_t>(written.generated.size()) < options.count) {
            const at::Tensor logits = parts_->decoder.logits(last.narrow(0, last.size(0) - 1, 1)).squeeze(0);
            const std::int64_t next = chosenToken(logits, options.temperature, random);
            written.generated.push_back(next);
            written.tokens.push_back(parts_->codec.textOf(next));
            written.probability.push_back(at::softmax(logits, 0)[next].item<double>());
            const bool goes_on = !take || take(next);
            if (!goes_on || parts_->codec.isSpecial(next)) break;
            if (parts_->options.progress)
                parts_->options.progress(static_cast<std::int64_t>(written.generated.size()), options.count);
            last = parts_->decoder.hidden(std::span(&written.generated.back(), 1), intervention, {}, &cache);
        }
        written.text = parts_->codec.decode(written.generated);
        return written;
    });
}

HeadsAnswer Inspector::heads(std::span<const std::int64_t> ids, const Intervention& intervention) {
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

SubsetsAnswer Inspector::bandSubsets(std::span<const std::int64_t> ids, std::int64_t bands,
                                     const Intervention& intervention) {
    int pairs = 0;
    for (const LayerRotation& rotation : model().architecture.rotations)
        pairs = std::max(pairs, rotation.width / 2);
    if (bands > kMostBands || bands > pairs)
        throw Error(ErrorKind::usage, "pairs are cut into 1 to " +
                                          std::to_string(std::min<std::int64_t>(kMostBands, pairs)) +
                                          " bands, not " + std::to_string(bands));
    std::vector<std::vector<int>> pairs_of(static_cast<std::size_t>(bands));
    for (int pair = 0; pair < pairs; ++pair)
        pairs_of[static_cast<std::size_t>(std::min<std::int64_t>(pair / (pairs / bands), bands - 1))]
            .push_back(pair);
    SubsetsAnswer answer;
    for (const std::vector<int>& band : pairs_of)
        answer.bands.push_back(band.size() == 1
                                   ? std::to_string(band.front())
                                   : std::to_string(band.front()) + "-" + std::to_string(band.back()));
    const std::int64_t subsets = std::int64_t{1} << bands;
    for (std::int64_t kept = 0; kept < subsets; ++kept) {
        BandSubset subset;
        Intervention changed = intervention;
        Intervention::MutedPairs muted;
        for (std::int64_t band = 0; band < bands; ++band) {
            const std::vector<int>& of_band = pairs_of[static_cast<std::size_t>(band)];
            if ((kept >> band & 1) != 0)
                subset.kept.push_back(static_cast<int>(band));
            else
                muted.pairs.insert(muted.pairs.end(), of_band.begin(), of_band.end());
        }
        if (!muted.pairs.empty()) changed.muted_pairs.push_back(muted);
        subset.loss = translatingErrors([&] { return parts_->read(ids, 0, changed, {kept, subsets}); }).loss;
        answer.subsets.push_back(std::move(subset));
    }
    return answer;
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

Thumbnails Inspector::thumbnails(std::span<const std::int64_t> ids, std::int64_t side,
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
