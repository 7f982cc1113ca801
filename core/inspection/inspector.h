#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/inspection/head_report.h"
#include "core/inspection/opened_model.h"
#include "core/inspection/value_kernel.h"
#include "core/language_model/intervention.h"

namespace roper {

/// How well a model predicts a text.
struct TextLoss {
    std::vector<std::int64_t> ids;
    std::vector<double> nll;  ///< −ln p of every token but the first, in nats
    double mean = 0;
};

/// A token that may come next.
struct Prediction {
    std::int64_t id = 0;
    double logit = 0, probability = 0;
};

struct GenerationOptions {
    std::int64_t count = 32;
    double temperature = 0;
    std::uint64_t seed = 0;
};

struct InspectorOptions {
    std::int64_t threads = 0;      ///< 0: one per core
    std::uint64_t kept_bytes = 0;  ///< of memory for decoded parameters, which makes reading again faster
    /// Told how many of all blocks a pass has done; may throw to end it.
    std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

/// A model, published or trained here, ready to answer questions about texts. Its answers are plain
/// numbers, so that who asks needs no LibTorch.
class Inspector {
  public:
    explicit Inspector(OpenedModel model, InspectorOptions options = {});
    ~Inspector();
    Inspector(Inspector&&) noexcept;
    Inspector& operator=(Inspector&&) noexcept;

    const PretrainedModel& model() const;
    const TextCodec& codec() const;

    /// The text as the model reads it.
    /// @throws Error (usage) for a text that has no token
    std::vector<std::int64_t> encode(std::string_view text) const;

    // All of these: @throws Error (usage) for an intervention that names what the model lacks, or too many
    // tokens; Error (memory)

    /// @throws Error (usage) for fewer than two tokens
    TextLoss loss(std::span<const std::int64_t> ids, const Intervention& intervention = {});

    /// The `count` likeliest successors of every token, the likeliest first.
    std::vector<std::vector<Prediction>> predictions(std::span<const std::int64_t> ids, std::size_t count,
                                                     const Intervention& intervention = {});

    /// What the model writes after a text, a token at a time, until it ends the text itself (a special token)
    /// or `GenerationOptions::count` are there. Greedy at temperature 0, otherwise sampled, the same for the
    /// same seed.
    /// @param take  told each token; may return false to end
    std::vector<std::int64_t> generate(std::span<const std::int64_t> ids, const GenerationOptions& options,
                                       const std::function<bool(std::int64_t id)>& take = {},
                                       const Intervention& intervention = {});

    /// What every head does with the text, layer by layer. @throws Error (usage) for fewer than two tokens
    std::vector<HeadReport> heads(std::span<const std::int64_t> ids, const Intervention& intervention = {});

    /// What every head makes of a token 0, 1, … `distances` − 1 positions back, layer by layer; it depends on
    /// no text.
    std::vector<ValueKernel> valueKernels(int distances);

    /// Attention weights of every layer in turn, [heads, T, T] row by row; memory for one layer of them is
    /// taken.
    using TakeLayer = std::function<void(std::int64_t layer, std::span<const float> weights)>;
    void attention(std::span<const std::int64_t> ids, const TakeLayer& take,
                   const Intervention& intervention = {});

    /// Those of one head, [T, T] row by row; memory for no others is taken.
    std::vector<float> attentionOf(std::span<const std::int64_t> ids, std::int64_t layer, std::int64_t head,
                                   const Intervention& intervention = {});

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace roper
