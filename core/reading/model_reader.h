#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/language_model/intervention.h"
#include "core/questions/answers.h"
#include "core/reading/opened_model.h"

namespace roper {

/// How a model that is only read continues a text.
struct ContinuationOptions {
    std::int64_t count = 32;  ///< tokens at most
    double temperature = 0;  ///< 0 takes the likeliest token; else one drawn from softmax(logits/temperature)
    std::uint64_t seed = 0;  ///< of the draws
};

/// Attention weights of all heads, small: cell (a, b) of a head is the largest weight of the queries and keys
/// that it stands for, as many of each.
struct Thumbnails {
    std::int64_t side = 0;       ///< cells
    std::vector<float> weights;  ///< [L, H, side, side]
};

/// What a head works with, before rotation: [T, d] each, row by row; keys and values of its group.
struct HeadVectorsOfText {
    std::vector<float> q, k, v;
};

struct ReaderOptions {
    std::int64_t threads = 0;      ///< 0: one per core
    std::uint64_t kept_bytes = 0;  ///< of memory for decoded parameters, which makes reading again faster
    /// Told how many of all blocks, or of a text's tokens, are done; may throw to end it.
    std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

inline constexpr std::int64_t kMostBands = 8, kLongestLens = 1024, kMostMapped = 64;

/// A model, published or trained here, ready to answer questions about texts. Its answers are plain
/// numbers, so that who asks needs no LibTorch.
class ModelReader {
  public:
    explicit ModelReader(OpenedModel model, ReaderOptions options = {});
    ~ModelReader();
    ModelReader(ModelReader&&) noexcept;
    ModelReader& operator=(ModelReader&&) noexcept;

    const PretrainedModel& model() const;
    const TextCodec& codec() const;

    /// What the model is; measures how fast the machine is, which takes some milliseconds.
    ModelSummary summary();

    /// The text as the model reads it.
    /// @throws Error (usage) for a text that has no token; Error (memory) for one of so many that the model
    /// cannot read them on this machine
    std::vector<std::int64_t> encode(std::string_view text) const;

    // All of these: @throws Error (usage) for an intervention that names what the model lacks, or too many
    // tokens; Error (memory)

    /// How the model reads the text, with the `candidates` likeliest successors of every token.
    TextReading read(std::span<const std::int64_t> ids, std::int64_t candidates,
                     const Intervention& intervention = {});

    /// What the model writes after a text, a token at a time, until it ends the text itself (a special token)
    /// or `ContinuationOptions::count` are there. Greedy at temperature 0, otherwise sampled, the same for
    /// the same seed.
    /// @param take  told each token; may return false to end
    GeneratedText generate(std::span<const std::int64_t> ids, const ContinuationOptions& options,
                           const std::function<bool(std::int64_t id)>& take = {},
                           const Intervention& intervention = {});

    /// What every head does with the text. @throws Error (usage) for fewer than two tokens
    HeadsAnswer heads(std::span<const std::int64_t> ids, const Intervention& intervention = {});

    /// The loss with every subset of the bands, when the pairs that rotate are cut into so many of equal
    /// width (the last may be wider); the others are left out of the scores of all heads, in place of pairs
    /// that `intervention` mutes. 2^bands passes.
    /// @throws Error (usage) for fewer than two tokens, more than `kMostBands` bands, or more than there are
    /// pairs
    SubsetsAnswer bandSubsets(std::span<const std::int64_t> ids, std::int64_t bands,
                              const Intervention& intervention = {});

    /// What every head makes of a token 0, 1, … `distances` − 1 positions back, layer by layer; it depends on
    /// no text.
    std::vector<ValueKernel> valueKernels(int distances);

    /// The same of one head at every checkpoint of a run. Those that training has put away meanwhile are left
    /// out. @throws Error (usage) for a published model, which has none
    KernelHistory kernelHistory(const HeadChoice& of, int distances);

    /// −ln p by position with frequencies as they are (and as `intervention` has them), by linear scaling,
    /// NTK and YaRN, all by `factor` from texts of `trained` tokens on.
    LengthsAnswer lossByLength(std::span<const std::int64_t> ids, double factor, double trained,
                               const Intervention& intervention = {});

    /// Whether the answer is found after beginnings of the text of four lengths, the needle at `depths`
    /// places in each. 4·depths passes.
    struct Needle {
        std::string sentence, question, answer;
    };
    /// @throws Error (usage) for a text that is too short for the needle
    NeedleAnswer findNeedle(std::span<const std::int64_t> ids, const Needle& needle, std::int64_t depths,
                            const Intervention& intervention = {});

    /// What every layer would predict. @throws Error (usage) for more than `kLongestLens` tokens
    LensAnswer logitLens(std::span<const std::int64_t> ids, const Intervention& intervention = {});

    /// Gives a run the first `count` problems that it is evaluated on, as it was trained and with a change,
    /// and takes the likeliest token each time. @throws Error (usage) for a model without problems
    SolvedAnswer solve(std::int64_t count, const Intervention& change);

    /// What each head's output of the text restores when it stands in a pass over the other, or what one
    /// head's does at each position. A pass for every head or position.
    /// @throws Error (usage) for texts of different lengths, or that lead to the same answer
    PatchAnswer patchHeads(std::span<const std::int64_t> ids, std::span<const std::int64_t> other,
                           const std::optional<HeadChoice>& by_position = {},
                           const Intervention& intervention = {});

    HeadVectorsOfText headVectors(std::span<const std::int64_t> ids, std::int64_t layer, std::int64_t head);

    /// What one head makes of each token for the logits, `distance` tokens back; of the text's tokens, each
    /// once, the first `kMostMapped`.
    TokenMap tokenMap(std::span<const std::int64_t> ids, const HeadChoice& of, std::int64_t distance);

    /// @param side  cells at most
    Thumbnails thumbnails(std::span<const std::int64_t> ids, std::int64_t side,
                          const Intervention& intervention = {});

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
