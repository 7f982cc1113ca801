#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/language_model/intervention.h"
#include "core/language_model/weight_reader.h"
#include "core/operators/rotary_operator.h"
#include "core/pretrained/pretrained_model.h"

namespace roper {

/// What one block's attention works with. T tokens, H heads, K key/value heads, d features of a head.
struct LayerView {
    std::int64_t layer = 0;
    at::Tensor q = {}, k = {}, v = {};  ///< before rotation [H, T, d], [K, T, d], [K, T, d]
    /// The same as the products take them without a rotation: φ(q) and φ(k) of linear attention.
    at::Tensor unrotated_q = {}, unrotated_k = {};
    /// As they enter the scores and the mixture; [H, T, d] each where heads of a group differ.
    at::Tensor rotated_q = {}, rotated_k = {}, rotated_v = {};
};

/// Told what happens in a pass. Each may be empty.
struct PassRecorder {
    std::function<void(const LayerView&)> vectors = {};
    /// Attention weights of some queries in turn: [H, queries, keys], the first query, and as many keys
    /// as the last of them sees.
    std::function<void(std::int64_t layer, std::int64_t first_query, const at::Tensor& weights)> attention =
        {};
    /// What every head made of its values [H, T, d], before the output projection adds it up; may be changed.
    std::function<void(std::int64_t layer, at::Tensor& mixed)> heads = {};
    /// The residual stream after each block [T, C]; layer −1 is the embeddings.
    std::function<void(std::int64_t layer, const at::Tensor& residual)> residual = {};
    /// Called before every block; may throw to end the pass.
    std::function<void(std::int64_t layer)> progress = {};
};

/// Keys and values of the tokens that a text began with, so that it can be read on. It is for one model and
/// intervention.
class DecoderCache {
  public:
    std::int64_t tokens() const { return tokens_; }

  private:
    friend class Decoder;
    struct Layer {
        at::Tensor k, v;              ///< [heads, capacity, d], the keys rotated
        at::Tensor unrotated_k = {};  ///< of linear attention, whose denominator is of them
    };
    /// Those of a layer with new ones behind them → [heads, tokens, d] each
    Layer append(std::int64_t layer, const Layer& added);

    std::vector<Layer> layers_;
    std::int64_t tokens_ = 0;  ///< that all layers have
};

/// @throws std::invalid_argument for a layer or head that the model lacks, saying which there are
void requireInside(const HeadChoice& choice, const Architecture& model);

/// A published decoder at work: one pass from top to bottom that reads as its family's formula does, in
/// float32 on the CPU, a block's parameters decoded when it is reached. T tokens, C = width, H heads, K
/// key/value heads, d = head_dim, V vocabulary. Query head h goes with key/value head ⌊h·K/H⌋.
class Decoder {
  public:
    /// How many queries are worked on at a time: their scores take little memory, and most keys that they do
    /// not see are never computed.
    static constexpr std::int64_t kQueries = 128;
    /// How many logits of a token are computed at a time.
    static constexpr std::int64_t kLogits = 8192;

    explicit Decoder(PretrainedModel model);

    const PretrainedModel& model() const { return model_; }
    const Architecture& architecture() const { return model_.architecture; }
    WeightReader& weights() { return weights_; }

    /// The last residuals after the final norm [T, C].
    /// @param cache  of what stands before these tokens; what is read now is added to it. Null: nothing
    /// stands before
    /// @throws std::invalid_argument for no tokens, an id that is none, more tokens than a table of positions
    /// has, or an intervention that names no layer, head or pair of this model
    at::Tensor hidden(std::span<const std::int64_t> tokens, const Intervention& intervention = {},
                      const PassRecorder& recorder = {}, DecoderCache* cache = nullptr);

    /// Where the head stands. @throws std::invalid_argument for a model that has none
    const LinearPlace& head() const;

    /// Logits of every token's successor from `hidden` [T, C], a part of the vocabulary at a time: `take`
    /// gets the first id and [T, ids].
    void forLogits(const at::Tensor& hidden,
                   const std::function<void(std::int64_t first, const at::Tensor& logits)>& take);

    /// All of them [T, V].
    at::Tensor logits(const at::Tensor& hidden);

    /// A residual stream after the final norm: what the head would make of a block's output (the logit lens).
    at::Tensor finalNorm(const at::Tensor& residual);

    /// Embeddings of tokens as a layer's attention would see them if nothing stood between: after its norm,
    /// where it has one before attention [tokens, C].
    at::Tensor normedEmbeddings(std::span<const std::int64_t> tokens, std::int64_t layer);

    /// What of a residual is a token's logit: rows of the head, with the weight of the final norm [tokens,
    /// C].
    at::Tensor unembeddings(std::span<const std::int64_t> tokens);

  private:
    struct Rotation {
        CosSin queries, keys;  ///< [T, r/2], with the attention factor and decay
    };
    /// One pass: what it reads and how it is changed.
    struct Pass {
        const Intervention& intervention;
        const PassRecorder& recorder;
        std::vector<Rotation> rotations, value_rotations;  ///< as `Architecture::rotations`
        at::Tensor bias;  ///< to the scores [H, 2N − 1], by distance n − j + N − 1, N tokens read so far; or
                          ///< undefined
        std::int64_t first, tokens;  ///< position of the first token, and how many there are
        DecoderCache* cache;
    };
    void check(std::span<const std::int64_t> tokens, std::int64_t first,
               const Intervention& intervention) const;
    at::Tensor embed(std::span<const std::int64_t> tokens, std::int64_t first);
    at::Tensor norm(const at::Tensor& x, const NormPlace& place);
    at::Tensor normIfAny(const at::Tensor& x, const std::optional<NormPlace>& place);
    /// Queries, keys or values of every head [heads, T, d], from x [T, C].
    at::Tensor heads(const at::Tensor& x, const LinearPlace& by, std::int64_t count,
                     const std::optional<NormPlace>& normed = {});
    at::Tensor linear(const at::Tensor& x, const LinearPlace& place);
    at::Tensor attention(const at::Tensor& x, std::int64_t layer, const Pass& pass);
    at::Tensor feedForward(const at::Tensor& x, const BlockWeights& block);
    at::Tensor mix(const LayerView& view, const DecoderCache::Layer& all, const Pass& pass) const;
    at::Tensor linearWeights(const LayerView& view, const DecoderCache::Layer& all, std::int64_t begin,
                             std::int64_t queries, std::int64_t keys, const at::Tensor& hidden) const;
    /// Whether cos and sin are multiplied by the attention factor: that is for scores. Of values and outputs
    /// it would be counted twice, since a rotation by its negative angle does not divide by it.
    enum class Scaled { scores, nothing };
    std::vector<Rotation> rotationsFor(const std::vector<RotaryConfig>& kinds, std::int64_t first,
                                       std::int64_t T, const Intervention& intervention, Scaled scaled) const;
    at::Tensor biasFor(std::int64_t N) const;
    at::Tensor preNormBlock(const at::Tensor& x, const BlockWeights& block, std::int64_t layer,
                            const Pass& pass);
    at::Tensor postNormBlock(const at::Tensor& x, const BlockWeights& block, std::int64_t layer,
                             const Pass& pass);
    at::Tensor rotatedBack(const at::Tensor& mixed, std::int64_t layer, const Pass& pass) const;
    at::Tensor rotated(const at::Tensor& x, const RotaryConfig& by, const CosSin& angles,
                       Direction direction = Direction::forward) const;
    void intervene(LayerView& view, const Intervention& intervention) const;

    PretrainedModel model_;
    WeightReader weights_;
};

}  // namespace roper
