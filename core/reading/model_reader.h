#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/language_model/decoder.h"
#include "core/questions/generated_text.h"
#include "core/questions/text_predictions.h"
#include "core/reading/opened_model.h"

namespace roper {

/// Options for continuing a text.
struct ContinuationOptions {
    std::int64_t count = 32;  ///< maximal number of tokens
    double temperature = 0;   ///< 0: greedy; otherwise tokens are sampled from softmax(logits/temperature)
    std::uint64_t seed = 0;   ///< seed of the sampling
    /// What progress is reported; nothing if this is part of a larger task.
    enum class ReportedProgress { nothing, prompt, all } reported_progress = ReportedProgress::all;
};

/// Receives the progress of an answer; may throw to cancel it.
/// @param unit  the unit of `done` and `all`: "layers", "tokens", "layers in 16 passes"
using ProgressCallback = std::function<void(std::int64_t done, std::int64_t all, const std::string& unit)>;

struct ReaderOptions {
    std::optional<std::int64_t> threads = 0;  ///< 0: one per core; empty: unchanged
    std::uint64_t weight_cache_bytes = 0;  ///< memory for decoded parameters, which speeds up repeated passes
    ProgressCallback progress = {};
};

/// Which of several passes this is: `number`, from 0, of `of`.
struct PassIndex {
    std::int64_t number = 0, of = 1;
};

/// A published model or a model of a run that reads texts: passes with access to activations, predictions,
/// continuations. The answers to questions (core/reading/answer_NAME.cpp) are built on it. T tokens, H heads.
///
/// All methods that run a pass: @throws Error (memory); std::invalid_argument for too many tokens, or an
/// intervention that names something the model lacks
class ModelReader {
  public:
    /// @throws Error (memory) if this machine has too little memory for the model
    explicit ModelReader(OpenedModel model, ReaderOptions options = {});

    const PretrainedModel& model() const { return decoder_.model(); }
    const Architecture& architecture() const { return decoder_.architecture(); }
    Decoder& decoder() { return decoder_; }
    const TextCodec& codec() const { return codec_; }
    const Task* task() const { return task_.get(); }  ///< null for a published model
    std::uint64_t problemSeed() const { return problem_seed_; }
    /// The current checkpoints of a run; none for a published model.
    std::vector<TrainedState> history() const { return history_ ? history_() : std::vector<TrainedState>(); }
    const std::map<std::string, std::string>& runMetadata() const { return run_metadata_; }

    /// The token ids of a text.
    /// @throws Error (usage) for a text without tokens; Error (memory) for one too long for this machine
    std::vector<std::int64_t> encode(std::string_view text) const;

    std::vector<std::string> textsOf(std::span<const std::int64_t> ids) const;

    /// Final hidden states, after the final norm [T, C].
    at::Tensor hidden(std::span<const std::int64_t> ids, const Intervention& intervention,
                      ForwardHooks recorder = {}, PassIndex pass = {});

    /// Surprisals of the text and the `candidates` most likely successors of every token. A model that
    /// predicts masked tokens reads the text once for each token, with this token masked (Salazar et al.
    /// 2020, arXiv 1910.14659: pseudo-log-likelihood), and predicts the most likely tokens in its place.
    /// @throws Error (usage) if such a model's tokenizer has no mask token, or the text no token to mask
    TextPredictions read(std::span<const std::int64_t> ids, std::int64_t candidates,
                         const Intervention& intervention = {}, PassIndex pass = {});

    /// Predictions of the next tokens from final hidden states [T, C], after the final norm.
    TextPredictions predict(const at::Tensor& final_hidden, std::span<const std::int64_t> ids,
                            std::int64_t candidates);

    /// Generates token by token until an end-of-text token (any special token) or
    /// `ContinuationOptions::count`. Greedy at temperature 0, otherwise sampled, reproducibly for a seed.
    /// @param receive  receives each token; may return false to stop
    /// @throws Error (usage) for a bidirectional model
    GeneratedText generate(std::span<const std::int64_t> ids, const ContinuationOptions& options,
                           const std::function<bool(std::int64_t id)>& receive = {},
                           const Intervention& intervention = {});

    /// Receives the attention weights of one layer after another, [H, T, T] row by row; only one layer is
    /// held in memory.
    using LayerCallback = std::function<void(std::int64_t layer, std::span<const float> weights)>;
    void attention(std::span<const std::int64_t> ids, const LayerCallback& receive,
                   const Intervention& intervention = {});

    void reportProgress(std::int64_t done, std::int64_t all, const std::string& unit) const {
        if (options_.progress) options_.progress(done, all, unit);
    }

  private:
    TextPredictions readMasked(std::span<const std::int64_t> ids, std::int64_t candidates,
                               const Intervention& intervention, PassIndex pass);
    struct Scores;
    /// @param targets  [n], the predicted tokens of final hidden states [n, C]
    Scores scoresOf(const at::Tensor& final_hidden, const at::Tensor& targets, std::int64_t candidates);

    Decoder decoder_;
    TextCodec codec_;
    std::shared_ptr<const Task> task_;
    std::uint64_t problem_seed_;
    std::function<std::vector<TrainedState>()> history_;
    std::map<std::string, std::string> run_metadata_;
    ReaderOptions options_;
};

}  // namespace roper
