#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/language_model/intervention.h"
#include "core/language_model/weight_reader.h"
#include "core/operators/rotary_operator.h"
#include "core/pretrained/pretrained_model.h"

namespace roper {

/// Inputs of one block's attention. T tokens, H heads, K key/value heads, d = head_dim, v the width of
/// values.
struct LayerView {
    std::int64_t layer = 0;
    at::Tensor q = {}, k = {}, v = {};  ///< before rotation [H, T, d], [K, T, d], [K, T, v]
    /// q and k, or φ(q) and φ(k) of linear attention, before rotation.
    at::Tensor unrotated_q = {}, unrotated_k = {};
    /// As used in the scores and the weighted sum; H heads each if an intervention changes part of a group.
    at::Tensor rotated_q = {}, rotated_k = {}, rotated_v = {};
    /// True where a key is hidden from a query [T, all tokens so far] (`KeyIndexer`); undefined: none is.
    at::Tensor masked_keys = {};
};

/// Which keys a layer's attention hides from which queries: later ones if it is causal, and those outside its
/// window or chunk.
/// @param n  positions of queries [Q, 1]
/// @param j  positions of keys [K]
/// @returns [Q, K], true where a key is hidden
at::Tensor maskedByPosition(const Architecture& model, std::int64_t layer, const at::Tensor& n,
                            const at::Tensor& j);

/// Stops a computation at NaN or infinity. The message names a parameter with such numbers, if there is one.
/// @param x      output of a layer or of the LM head
/// @param where  "layer 3" or "the head", for the message
/// @throws Error (checkpoint) if an element of `x` is not finite
void requireFinite(const at::Tensor& x, const std::string& where, const PretrainedModel& model);

/// The experts that a router chose for T tokens, k for each, the one with the largest score first.
struct ChosenExperts {
    at::Tensor experts;  ///< [T, k], int64
    at::Tensor weights;  ///< [T, k], by which their outputs (or inputs) are multiplied
};

/// Chooses experts and their weights.
/// @param logits       the router's, [T, experts]
/// @param choice_bias  [experts]; undefined without `ExpertMixture::choice_bias`
/// @param given        fixed experts of each token [T, k] (`ExpertMixture::hashed`); undefined: by the logits
ChosenExperts chooseExperts(const ExpertMixture& mixture, const at::Tensor& logits,
                            const at::Tensor& choice_bias, const at::Tensor& given = {});

/// Callbacks during a pass. Each may be empty.
struct ForwardHooks {
    std::function<void(const LayerView&)> vectors = {};  ///< called in each layer with attention
    /// Attention weights of one block of queries after another, [H, queries, keys]. The block begins at
    /// `first_query`; keys range from 0 to the last one that the block can see.
    std::function<void(std::int64_t layer, std::int64_t first_query, const at::Tensor& weights)> attention =
        {};
    /// The only layer whose weights `attention` receives; others attend by a faster kernel. Empty: all
    /// layers.
    std::optional<std::int64_t> attention_layer = {};
    /// Output of every head [H, T, v] before the output projection; may be modified.
    std::function<void(std::int64_t layer, at::Tensor& mixed)> heads = {};
    /// The residual stream after each block [T, C]; layer −1 is the embeddings.
    std::function<void(std::int64_t layer, const at::Tensor& residual)> residual = {};
    /// Called in layers that are mixtures of experts.
    std::function<void(std::int64_t layer, const ChosenExperts& chosen)> experts = {};
    /// Called before every block; may throw to end the pass.
    std::function<void(std::int64_t layer)> progress = {};
    /// The layer after which the pass ends; the hidden states are then those after it. Empty: the last.
    /// Not with a cache.
    std::optional<std::int64_t> last_layer = {};

    bool receivesAttention(std::int64_t layer) const {
        return attention && attention_layer.value_or(layer) == layer;
    }
};

/// Keys and values of the preceding tokens (KV cache), so that only new tokens are computed. Valid for one
/// model and intervention.
class DecoderCache {
  public:
    std::int64_t tokens() const { return tokens_; }

  private:
    friend class Decoder;
    struct Layer {
        at::Tensor k, v;              ///< [heads, capacity, d], keys rotated
        at::Tensor unrotated_k = {};  ///< for the denominator of linear attention
        at::Tensor indexer_k = {};    ///< [1, capacity, d] (`KeyIndexer`)
        at::Tensor convolved = {};    ///< the last inputs of a convolution [K − 1, features]
        at::Tensor state = {};        ///< of `Mixer::gated_delta` [heads, d, v]
    };
    Layer& at(std::int64_t layer);
    /// Appends vectors to a layer's cached ones → all of them [heads, tokens, d]
    at::Tensor append(std::int64_t layer, at::Tensor Layer::*member, const at::Tensor& added);
    /// Appends k, v and, if defined, unrotated_k.
    Layer append(std::int64_t layer, const Layer& added);

    std::vector<Layer> layers_;
    std::int64_t tokens_ = 0;  ///< number of cached tokens
};

/// A head's output on another text, which replaces what the head computes.
struct HeadPatch {
    std::int64_t layer = 0, head = 0;
    std::optional<std::int64_t> position = {};  ///< all positions if empty
    at::Tensor output = {};                     ///< [T, v]

    /// Replaces what the head computed.
    /// @param mixed  outputs of all heads [H, tokens, v]
    /// @param first  index in `mixed` of the patched text's first token
    void applyTo(const at::Tensor& mixed, std::int64_t first = 0) const;
};

/// @throws std::invalid_argument for a layer or head that does not exist, stating the valid range
void requireValidHeads(const HeadSelection& choice, const Architecture& model);

/// A published model: a decoder, or an encoder, in which every token attends to both sides. Each forward pass
/// follows the formula of the model's family, in float32 on the CPU, and decodes the parameters of a block
/// when it reaches it. T tokens, C = width, H heads, K key/value heads, d = head_dim, V vocabulary. Query
/// head h uses key/value head ⌊h·K/H⌋.
class Decoder {
  public:
    /// Queries processed at a time: their scores take little memory, and most scores of masked keys are never
    /// computed.
    static constexpr std::int64_t kQueries = 128;
    /// Logits of a token computed at a time.
    static constexpr std::int64_t kLogits = 8192;

    /// Tokens of patched texts that are computed together.
    static constexpr std::int64_t kPatchedTokens = 512;

    explicit Decoder(PretrainedModel model);

    const PretrainedModel& model() const { return model_; }
    const Architecture& architecture() const { return model_.architecture; }
    WeightReader& weights() { return weights_; }

    /// The last hidden states, after the final norm [T, C].
    /// @param cache  KV cache of the preceding tokens, to which these are added; null: no preceding tokens
    /// @throws std::invalid_argument if there is a cache although the model attends to both sides, there are
    /// no tokens, an id is out of range, a position is beyond the model's table of positions, or the
    /// intervention names a layer, head or pair that does not exist
    at::Tensor hidden(std::span<const std::int64_t> tokens, const Intervention& intervention = {},
                      const ForwardHooks& recorder = {}, DecoderCache* cache = nullptr);

    /// Whether `lastHiddenPatched` can be used: every layer needs only the residual stream of the layer
    /// before it, and only attention mixes tokens.
    bool canPatchTogether() const;

    /// The last hidden state of the last token, after the final norm, with one patch at a time [patches, C].
    /// Equals a pass for each patch, with a hook that changes the head's output. But layers below a patch are
    /// not recomputed, and the layers above compute several patched texts as a batch.
    /// @param residuals  of the text without patches: the embeddings, and the residual stream after each
    /// layer [T, C]
    /// @param progress   receives the number of layers computed, and of all to compute
    /// @throws std::invalid_argument like `hidden`
    at::Tensor lastHiddenPatched(std::span<const std::int64_t> tokens, std::span<const at::Tensor> residuals,
                                 std::span<const HeadPatch> patches, const Intervention& intervention,
                                 const std::function<void(std::int64_t done, std::int64_t all)>& progress);

    /// The matrix by which the outputs of all heads of a layer are multiplied [C, H·v].
    at::Tensor outputMatrix(std::int64_t layer);

    /// Location of the LM head's matrix. @throws std::invalid_argument if the model has none
    const LinearLocation& head() const;

    /// Computes the logits of every token's successor (or, with `Architecture::predicts_masked`, of the
    /// masked token itself) from `hidden` [T, C], for one range of token ids after another: `receive`
    /// receives the first id of the range and the logits [T, ids].
    void forEachLogitsBlock(const at::Tensor& hidden,
                            const std::function<void(std::int64_t first, const at::Tensor& logits)>& receive);

    /// All logits [T, V].
    at::Tensor logits(const at::Tensor& hidden);

    /// Applies the final norm to a residual stream, as the logit lens does.
    at::Tensor finalNorm(const at::Tensor& residual);

    /// Embeddings of tokens as a layer's attention would see them without the preceding layers: after the
    /// layer's norm, if it precedes attention [tokens, C].
    at::Tensor normedEmbeddings(std::span<const std::int64_t> tokens, std::int64_t layer);

    /// Directions of the residual stream that the logits of tokens measure: rows of the head times the weight
    /// of the final norm [tokens, C].
    at::Tensor unembeddings(std::span<const std::int64_t> tokens);

  private:
    struct Rotation {
        CosSin queries, keys;         ///< [T, r/2], including the attention factor and decay
        double attention_factor = 1;  ///< not included, but divided out by a norm after the rotation
    };
    /// State of one forward pass, over one sequence of tokens, or several of the same length one after
    /// another.
    struct Pass {
        std::span<const std::int64_t> ids;  ///< the tokens of the sequences
        const Intervention& intervention;
        const ForwardHooks& recorder;
        std::vector<Rotation> rotations, value_rotations;  ///< in the order of `Architecture::rotations`
        /// Bias of the scores [H, 2N − 1], indexed by n − j + N − 1 for N tokens so far; undefined: none.
        at::Tensor bias;
        at::Tensor key_bias;         ///< bias by position of the key [H, N]; undefined: none
        std::int64_t first, tokens;  ///< position of the first token, and number of tokens of a sequence
        DecoderCache* cache;
        at::Tensor layer_embeddings;  ///< [T, L, n] (`Architecture::layer_embeddings`)
        /// Tensors that layers pass to later layers, besides the residual stream.
        struct Carried {
            /// Keys and values before rotation, by layer: [K, T, d] each.
            struct KeysAndValues {
                at::Tensor k, v;
            };
            std::map<std::int64_t, KeysAndValues> shared = {};
            at::Tensor skipping = {};  ///< output of a mixture [T, C] (`ExpertMixture::skips_layer`)
        };
        Carried& carried;
        std::int64_t sequences = 1;
    };
    Pass passOver(std::span<const std::int64_t> tokens, const Intervention& intervention,
                  const ForwardHooks& recorder, DecoderCache* cache, Pass::Carried& carried);
    /// The residual stream after a block [tokens of all sequences, C], or all S streams [S, T, C].
    at::Tensor afterBlock(const at::Tensor& x, std::int64_t layer, const Pass& pass);
    void check(std::span<const std::int64_t> tokens, std::int64_t first,
               const Intervention& intervention) const;
    /// Embeddings of tokens without positions [T, C].
    at::Tensor embedTokens(std::span<const std::int64_t> tokens);
    at::Tensor embed(std::span<const std::int64_t> tokens, std::int64_t first);
    at::Tensor norm(const at::Tensor& x, const NormLocation& location);
    at::Tensor norm(const at::Tensor& x, const NormLocation& location, double epsilon);
    /// The input of the LM head's matrix (`Architecture::head_activation`).
    at::Tensor headInput(const at::Tensor& hidden);
    at::Tensor optionalNorm(const at::Tensor& x, const std::optional<NormLocation>& location);
    /// Queries, keys or values of every head [heads, T, d], from x [T, C].
    /// @param attention_factor  that of the rotation before the norm (`Architecture::norms_rotated`)
    at::Tensor heads(const at::Tensor& x, const LinearLocation& by, std::int64_t count,
                     const std::optional<NormLocation>& normed = {}, double attention_factor = 1);
    /// Queries, keys and values of a layer, before rotation.
    LayerView project(const at::Tensor& x, std::int64_t layer, const Pass& pass);
    LayerView projectLatent(const at::Tensor& x, std::int64_t layer, const Pass& pass);
    /// `LayerView::masked_keys`, in decoder_attention.cpp.
    at::Tensor keysHiddenByIndexer(const at::Tensor& x, const at::Tensor& queries, std::int64_t layer,
                                   const Pass& pass);
    /// Causal convolution of every feature by itself, in decoder_recurrent.cpp: x [T, F], taps [F, K] →
    /// [T, F]
    at::Tensor convolved(const at::Tensor& x, const MatrixLocation& taps, std::int64_t layer,
                         const Pass& pass);
    /// In decoder_recurrent.cpp. x [T, C] → [T, C]
    at::Tensor gatedDelta(const at::Tensor& x, const GatedDeltaWeights& by, std::int64_t layer,
                          const Pass& pass);
    /// In decoder_recurrent.cpp. x [T, C] → [T, C]
    at::Tensor shortConvolution(const at::Tensor& x, const ShortConvolutionWeights& by, std::int64_t layer,
                                const Pass& pass);
    at::Tensor linear(const at::Tensor& x, const LinearLocation& location,
                      WeightReader::Part part = WeightReader::Part::of_all_tokens);
    at::Tensor attention(const at::Tensor& x, std::int64_t layer, const Pass& pass);
    at::Tensor groupedOutput(const at::Tensor& x, const BlockWeights& block);
    at::Tensor feedForward(const at::Tensor& x, const FeedForwardWeights& layer);
    at::Tensor expertOutput(const at::Tensor& x, const FeedForwardWeights& expert);
    at::Tensor hashedExperts(const MatrixLocation& table, const Pass& pass);
    /// @param router_input  [T, C]; usually x
    at::Tensor mixExperts(const at::Tensor& x, const at::Tensor& router_input, const MixtureWeights& by,
                          std::int64_t layer, const Pass& pass);
    at::Tensor mixExpertsBesideDense(const at::Tensor& x, const at::Tensor& residual,
                                     const BlockWeights& block, std::int64_t layer, const Pass& pass);
    /// Output of the layer's feed-forward network or mixture of experts for x, the normed residual.
    at::Tensor feedForwardOf(std::int64_t layer, const at::Tensor& x, const at::Tensor& residual,
                             const Pass& pass);
    // In decoder_attention.cpp.
    bool isPlain(const LayerView& view, const DecoderCache::Layer& all, const Pass& pass) const;
    at::Tensor fusedWeightedSum(const LayerView& view, const DecoderCache::Layer& all,
                                const Pass& pass) const;
    at::Tensor singleQueryWeightedSum(const LayerView& view, const DecoderCache::Layer& all,
                                      std::int64_t from, const at::Tensor& sinks) const;
    at::Tensor blockwiseWeightedSum(const LayerView& view, const DecoderCache::Layer& all, const Pass& pass);
    at::Tensor weightedSum(const LayerView& view, const DecoderCache::Layer& all, const Pass& pass);
    at::Tensor linearWeights(const LayerView& view, const DecoderCache::Layer& all, std::int64_t begin,
                             std::int64_t queries, std::int64_t keys, const at::Tensor& hidden) const;
    /// Whether cos and sin are multiplied by the attention factor. For values and outputs it would apply
    /// twice, since rotating by the negative angle does not divide by it; norms after the rotation undo it.
    enum class AttentionFactorUse { scores, nothing };
    std::vector<Rotation> rotationsFor(const std::vector<RotaryConfig>& kinds, std::int64_t first,
                                       std::int64_t T, const Intervention& intervention,
                                       AttentionFactorUse scaled) const;
    static at::Tensor biasesOfHeads(const std::vector<std::function<double(int)>>& bias_of_head,
                                    std::int64_t first, std::int64_t count);
    at::Tensor preNormBlock(const at::Tensor& x, const BlockWeights& block, std::int64_t layer,
                            const Pass& pass);
    at::Tensor postNormBlock(const at::Tensor& x, const BlockWeights& block, std::int64_t layer,
                             const Pass& pass);
    // Alternating updates and hyper-connections, in decoder_streams.cpp: S streams [S, T, C].
    at::Tensor splitStreams(const at::Tensor& x);
    at::Tensor joinStreams(const at::Tensor& streams);
    at::Tensor streamWeights(const at::Tensor& x, const AltUpWeights& by);
    at::Tensor alternatingBlock(const at::Tensor& streams, const BlockWeights& block, std::int64_t layer,
                                const Pass& pass);
    at::Tensor learnedResidual(const at::Tensor& x, const LaurelWeights& by);
    at::Tensor mapOfStreams(const at::Tensor& streams, const HyperConnectionWeights& by);
    at::Tensor weightedStreams(const at::Tensor& streams, const at::Tensor& r) const;
    at::Tensor hyperConnected(const at::Tensor& streams, const HyperConnectionWeights& by,
                              const std::function<at::Tensor(const at::Tensor& x)>& compute);
    at::Tensor hyperConnectedBlock(const at::Tensor& streams, const BlockWeights& block, std::int64_t layer,
                                   const Pass& pass);
    // Embeddings of layers, in decoder_layer_embeddings.cpp.
    at::Tensor layerEmbeddings(std::span<const std::int64_t> tokens);
    at::Tensor gatedLayerEmbedding(const at::Tensor& x, const LayerEmbeddingWeights& by, std::int64_t layer,
                                   const Pass& pass);
    at::Tensor rotatedBack(const at::Tensor& mixed, std::int64_t layer, const Pass& pass) const;
    at::Tensor rotated(const at::Tensor& x, const RotaryConfig& by, const CosSin& angles,
                       Direction direction = Direction::forward) const;
    void intervene(LayerView& view, const Intervention& intervention) const;

    PretrainedModel model_;
    WeightReader weights_;
};

}  // namespace roper
