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
#include "core/questions/text_reading.h"
#include "core/reading/opened_model.h"

namespace roper {

/// How a model continues a text.
struct ContinuationOptions {
    std::int64_t count = 32;  ///< tokens at most
    double temperature = 0;  ///< 0 takes the likeliest token; else one drawn from softmax(logits/temperature)
    std::uint64_t seed = 0;  ///< of the draws
    /// What progress is told of; nothing where it is a part of larger work.
    enum class Tells { nothing, prompt, all } tells = Tells::all;
};

/// Told how much of the work on an answer is done; may throw to end it.
/// @param counted  what `done` and `all` count: "layers", "tokens", "layers in 16 passes"
using TakeProgress = std::function<void(std::int64_t done, std::int64_t all, const std::string& counted)>;

struct ReaderOptions {
    std::optional<std::int64_t> threads = 0;  ///< 0: one per core; nothing: as many as the process uses
    std::uint64_t kept_bytes = 0;  ///< of memory for decoded parameters, which makes reading again faster
    TakeProgress progress = {};
};

/// Which of several passes one is.
struct PassNumber {
    std::int64_t number = 0, of = 1;
};

/// A model, published or trained here, that reads texts: passes with what happens in them, predictions,
/// continuations. The answers to questions (core/reading/answer_NAME.cpp) are made of these. T tokens, H
/// heads.
///
/// What reads: @throws Error (memory); std::invalid_argument for an intervention that names what the model
/// lacks, or too many tokens
class ModelReader {
  public:
    /// @throws Error (memory) for a model that this machine cannot read
    explicit ModelReader(OpenedModel model, ReaderOptions options = {});

    const PretrainedModel& model() const { return decoder_.model(); }
    const Architecture& architecture() const { return decoder_.architecture(); }
    Decoder& decoder() { return decoder_; }
    const TextCodec& codec() const { return codec_; }
    const Task* task() const { return task_.get(); }  ///< null for a published model
    std::uint64_t problemSeed() const { return problem_seed_; }
    /// The checkpoints that a run has now; none of a published model.
    std::vector<TrainedState> history() const { return history_ ? history_() : std::vector<TrainedState>(); }
    const std::map<std::string, std::string>& runFacts() const { return run_facts_; }

    /// The text as the model reads it.
    /// @throws Error (usage) for a text that has no token; Error (memory) for one of so many that the model
    /// cannot read them on this machine
    std::vector<std::int64_t> encode(std::string_view text) const;

    std::vector<std::string> textsOf(std::span<const std::int64_t> ids) const;

    /// The last residuals after the final norm [T, C].
    at::Tensor hidden(std::span<const std::int64_t> ids, const Intervention& intervention,
                      PassRecorder recorder = {}, PassNumber pass = {});

    /// How the model reads the text, with the `candidates` likeliest successors of every token.
    /// @throws Error (usage) for a model that predicts masked tokens
    TextReading read(std::span<const std::int64_t> ids, std::int64_t candidates,
                     const Intervention& intervention = {}, PassNumber pass = {});

    /// What is predicted from the last residuals [T, C], after the final norm.
    TextReading predict(const at::Tensor& last, std::span<const std::int64_t> ids, std::int64_t candidates);

    /// What the model writes after a text, a token at a time, until it ends the text itself (a special token)
    /// or `ContinuationOptions::count` are there. Greedy at temperature 0, otherwise sampled, the same for
    /// the same seed.
    /// @param take  told each token; may return false to end
    /// @throws Error (usage) for a model that sees the tokens on both sides
    GeneratedText generate(std::span<const std::int64_t> ids, const ContinuationOptions& options,
                           const std::function<bool(std::int64_t id)>& take = {},
                           const Intervention& intervention = {});

    /// Attention weights of every layer in turn, [H, T, T] row by row; memory for one layer of them is taken.
    using TakeLayer = std::function<void(std::int64_t layer, std::span<const float> weights)>;
    void attention(std::span<const std::int64_t> ids, const TakeLayer& take,
                   const Intervention& intervention = {});

    void tellProgress(std::int64_t done, std::int64_t all, const std::string& counted) const {
        if (options_.progress) options_.progress(done, all, counted);
    }

  private:
    Decoder decoder_;
    TextCodec codec_;
    std::shared_ptr<const Task> task_;
    std::uint64_t problem_seed_;
    std::function<std::vector<TrainedState>()> history_;
    std::map<std::string, std::string> run_facts_;
    ReaderOptions options_;
};

}  // namespace roper
