#include "core/reading/model_reader.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/this_process.h"
#include "core/operators/sample_token.h"
#include "core/operators/threads.h"
#include "core/pretrained/family.h"
#include "core/reading/reading_memory.h"

namespace roper {
namespace {

/// log Σ exp of the logits of T tokens, accumulated over ranges of the vocabulary. Each tensor [T].
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
            const auto [best, indices] = at::topk(all, std::min(count_, all.size(1)));
            values = best;
            ids = all_ids.gather(1, indices);
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

/// @param normalizer  log Σ exp of every token's logits [T]
std::vector<std::vector<Prediction>> predictionsOf(const TextCodec& codec, const Largest& largest,
                                                   const at::Tensor& normalizer) {
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

double meanOf(const std::vector<double>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

/// Checks the model before anything of it is read, since its parameters may exceed the machine's memory.
PretrainedModel requireRoom(PretrainedModel model) {
    if (const auto available = availableMemory())
        if (const auto problem = modelMemoryProblem(model.architecture, *available))
            throw Error(ErrorKind::memory, *problem);
    return model;
}

}  // namespace

/// For n hidden states: −ln p of their targets, and the most likely tokens.
struct ModelReader::Scores {
    std::vector<double> nll;
    std::vector<std::vector<Prediction>> predictions;
};

ModelReader::ModelReader(OpenedModel model, ReaderOptions options)
    : decoder_(requireRoom(std::move(model.model))),
      codec_(std::move(model.codec)),
      task_(std::move(model.task)),
      problem_seed_(model.problem_seed),
      history_(std::move(model.history)),
      run_metadata_(std::move(model.run_metadata)),
      options_(std::move(options)) {
    // Small models are read a tenth faster if the heap keeps their memory.
    constexpr std::uint64_t kLargeModel = 2'000'000'000;
    if (this->model().tensors->sizeOfFiles() > kLargeModel) returnFreedMemory();
    if (options_.threads) setThreads(*options_.threads);
    decoder_.weights().setMemoryBudget(options_.weight_cache_bytes);
}

std::vector<std::int64_t> ModelReader::encode(std::string_view text) const {
    std::vector<std::int64_t> ids = codec_.encode(text);
    if (ids.empty()) throw Error(ErrorKind::usage, "the text is empty: there is no token to read");
    if (const auto available = availableMemory())
        if (const auto problem = readingMemoryProblem(architecture(), std::ssize(ids), *available))
            throw Error(ErrorKind::memory, *problem);
    return ids;
}

std::vector<std::string> ModelReader::textsOf(std::span<const std::int64_t> ids) const {
    std::vector<std::string> texts;
    for (const std::int64_t id : ids)
        texts.push_back(codec_.textOf(id));
    return texts;
}

at::Tensor ModelReader::hidden(std::span<const std::int64_t> ids, const Intervention& intervention,
                               ForwardHooks recorder, PassIndex pass) {
    const std::int64_t layers = architecture().layers;
    const std::string unit = pass.of == 1 ? "layers" : "layers in " + std::to_string(pass.of) + " passes";
    const auto report = [&, pass](std::int64_t layer) {
        reportProgress(pass.number * layers + layer, pass.of * layers, unit);
    };
    recorder.progress = report;
    at::Tensor final_hidden = decoder_.hidden(ids, intervention, recorder);
    report(layers);
    return final_hidden;
}

TextPredictions ModelReader::read(std::span<const std::int64_t> ids, std::int64_t candidates,
                                  const Intervention& intervention, PassIndex pass) {
    const at::NoGradGuard no_gradients;
    decoder_.head();
    if (architecture().predicts_masked) return readMasked(ids, candidates, intervention, pass);
    return predict(hidden(ids, intervention, {}, pass), ids, candidates);
}

TextPredictions ModelReader::readMasked(std::span<const std::int64_t> ids, std::int64_t candidates,
                                        const Intervention& intervention, PassIndex pass) {
    if (!codec_.mask)
        throw Error(ErrorKind::usage,
                    "this model predicts masked tokens, but its tokenizer has no mask token: mask_token in "
                    "tokenizer_config.json is missing");
    TextPredictions reading{{ids.begin(), ids.end()}, textsOf(ids), {}};
    reading.masked = true;
    for (std::size_t t = codec_.before; t + codec_.after < ids.size(); ++t)
        if (ids[t] != *codec_.mask) reading.positions.push_back(static_cast<std::int64_t>(t));
    if (reading.positions.empty())
        throw Error(ErrorKind::usage, "the text has no token that could be masked");
    const std::int64_t passes = std::ssize(reading.positions);
    std::vector<at::Tensor> predicting;
    std::vector<std::int64_t> masked = reading.ids, targets;
    for (const std::int64_t position : reading.positions) {
        std::int64_t& token = masked[static_cast<std::size_t>(position)];
        targets.push_back(std::exchange(token, *codec_.mask));
        const PassIndex index{pass.number * passes + std::ssize(predicting), pass.of * passes};
        predicting.push_back(hidden(masked, intervention, {}, index).narrow(0, position, 1).clone());
        token = targets.back();
    }
    Scores scores = scoresOf(at::cat(predicting), at::tensor(targets), candidates);
    reading.nll = std::move(scores.nll);
    reading.loss = meanOf(reading.nll);
    reading.predictions = std::move(scores.predictions);
    return reading;
}

TextPredictions ModelReader::predict(const at::Tensor& final_hidden, std::span<const std::int64_t> ids,
                                     std::int64_t candidates) {
    const std::size_t T = ids.size();
    // The last token has no successor in the text; its target is the placeholder 0.
    std::vector<std::int64_t> targets(T);
    std::copy(ids.begin() + 1, ids.end(), targets.begin());
    Scores scores = scoresOf(final_hidden, at::tensor(targets), candidates);
    TextPredictions reading{{ids.begin(), ids.end()}, textsOf(ids), {}};
    reading.nll = std::move(scores.nll);
    reading.nll.pop_back();
    if (T > 1) reading.loss = meanOf(reading.nll);
    reading.predictions = std::move(scores.predictions);
    reading.positions.resize(T - 1);
    std::iota(reading.positions.begin(), reading.positions.end(), 1);
    return reading;
}

ModelReader::Scores ModelReader::scoresOf(const at::Tensor& final_hidden, const at::Tensor& targets,
                                          std::int64_t candidates) {
    const std::int64_t n = targets.size(0);
    LogSumExp normalizer(n);
    Largest largest(candidates);
    at::Tensor of_targets = at::zeros({n});
    decoder_.forEachLogitsBlock(final_hidden, [&](std::int64_t first, const at::Tensor& logits) {
        normalizer.add(logits);
        if (candidates > 0) largest.add(first, logits);
        const at::Tensor token_index = targets - first;
        const at::Tensor is_here = (token_index >= 0).logical_and_(token_index < logits.size(1));
        const at::Tensor found =
            logits.gather(1, token_index.clamp(0, logits.size(1) - 1).unsqueeze(1)).squeeze(1);
        of_targets = at::where(is_here, found, of_targets);
    });
    const at::Tensor nll = (normalizer.value() - of_targets).to(at::kDouble).contiguous();
    Scores scores;
    scores.nll.assign(nll.const_data_ptr<double>(), nll.const_data_ptr<double>() + n);
    if (candidates > 0) scores.predictions = predictionsOf(codec_, largest, normalizer.value());
    return scores;
}

GeneratedText ModelReader::generate(std::span<const std::int64_t> ids, const ContinuationOptions& options,
                                    const std::function<bool(std::int64_t id)>& receive,
                                    const Intervention& intervention) {
    const at::NoGradGuard no_gradients;
    decoder_.head();
    if (!architecture().causal)
        throw Error(ErrorKind::usage, "this model sees the tokens on both sides, so it cannot generate text");
    const Scaling& scaling = architecture().rotations.front().scaling;
    const bool recomputes =
        architecture().recomputes_longer_texts && scaling.method == ScalingMethod::longrope;
    const std::int64_t recomputed_length =
        recomputes ? static_cast<std::int64_t>(scaling.original_length) : -1;
    DecoderCache cache;
    Random random(options.seed, Stream::sampling, 0);
    GeneratedText written{{ids.begin(), ids.end()}, {}, textsOf(ids), {}, {}};
    ForwardHooks recorder;
    if (options.reported_progress != ContinuationOptions::ReportedProgress::nothing)
        recorder.progress = [&](std::int64_t layer) {
            reportProgress(layer, architecture().layers, "layers");
        };
    at::Tensor final_hidden = decoder_.hidden(ids, intervention, recorder, &cache);
    if (recorder.progress) recorder.progress(architecture().layers);
    while (std::ssize(written.generated) < options.count) {
        const at::Tensor logits =
            decoder_.logits(final_hidden.narrow(0, final_hidden.size(0) - 1, 1)).squeeze(0);
        const std::int64_t next = sampleToken(logits, options.temperature, random);
        written.generated.push_back(next);
        written.tokens.push_back(codec_.textOf(next));
        written.probability.push_back(at::softmax(logits, 0)[next].item<double>());
        if (options.reported_progress == ContinuationOptions::ReportedProgress::all)
            reportProgress(std::ssize(written.generated), options.count, "tokens");
        const bool should_continue = !receive || receive(next);
        if (!should_continue || codec_.isSpecial(next)) break;
        if (cache.tokens() == recomputed_length) {
            cache = {};
            std::vector<std::int64_t> all = written.ids;
            all.insert(all.end(), written.generated.begin(), written.generated.end());
            final_hidden = decoder_.hidden(all, intervention, {}, &cache);
        } else {
            final_hidden = decoder_.hidden(std::span(&written.generated.back(), 1), intervention, {}, &cache);
        }
    }
    written.text = codec_.decode(written.generated);
    return written;
}

void ModelReader::attention(std::span<const std::int64_t> ids, const LayerCallback& receive,
                            const Intervention& intervention) {
    const at::NoGradGuard no_gradients;
    const auto T = static_cast<std::int64_t>(ids.size());
    const at::Tensor layer_weights = at::zeros({architecture().heads, T, T});
    const auto send = [&](std::int64_t layer, const at::Tensor& weights) {
        receive(layer, {weights.const_data_ptr<float>(), static_cast<std::size_t>(weights.numel())});
    };
    std::int64_t next = 0;
    // Layers that do not attend have no weights above 0.
    const auto sendZerosUntil = [&](std::int64_t layer) {
        for (; next < layer; ++next)
            send(next, at::zeros_like(layer_weights));
    };
    ForwardHooks recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        const std::int64_t queries = weights.size(1);
        layer_weights.narrow(1, first, queries).narrow(2, 0, weights.size(2)).copy_(weights);
        if (first + queries < T) return;
        sendZerosUntil(layer);
        send(next++, layer_weights);
    };
    hidden(ids, intervention, recorder);
    sendZerosUntil(architecture().layers);
}

}  // namespace roper
