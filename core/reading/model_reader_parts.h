#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/language_model/decoder.h"
#include "core/reading/model_reader.h"

namespace roper {

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

/// Which of several passes one is.
struct Part {
    std::int64_t number = 0, of = 1;
};

struct ModelReader::Parts {
    Parts(OpenedModel model, ReaderOptions given)
        : decoder(std::move(model.model)),
          codec(std::move(model.codec)),
          task(std::move(model.task)),
          problem_seed(model.problem_seed),
          history(std::move(model.history)),
          options(std::move(given)) {}

    /// The last residuals after the final norm [T, C].
    at::Tensor hidden(std::span<const std::int64_t> ids, const Intervention& intervention,
                      PassRecorder recorder = {}, Part part = {}) {
        const std::int64_t layers = decoder.architecture().layers;
        recorder.progress = [this, layers, part](std::int64_t layer) {
            say(part.number * layers + layer, part.of * layers);
        };
        at::Tensor last = decoder.hidden(ids, intervention, recorder);
        say((part.number + 1) * layers, part.of * layers);
        return last;
    }

    /// Tells how far the work is; throws if it is to end.
    void say(std::int64_t done, std::int64_t all) const {
        if (options.progress) options.progress(done, all);
    }

    GeneratedText write(std::span<const std::int64_t> ids, const ContinuationOptions& how,
                        const std::function<bool(std::int64_t id)>& take, const Intervention& intervention);

    /// What is predicted from the last residuals [T, C], after the final norm.
    TextReading predict(const at::Tensor& last, std::span<const std::int64_t> ids, std::int64_t candidates);

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
    std::shared_ptr<const Task> task;  ///< null of a published model
    std::uint64_t problem_seed;
    std::vector<TrainedState> history;  ///< empty of a published model
    ReaderOptions options;
};

}  // namespace roper
