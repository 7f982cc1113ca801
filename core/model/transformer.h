#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/attention.h"
#include "core/model/kernel_attention.h"
#include "core/model/layer_operations.h"
#include "core/model/positions/positions.h"
#include "core/operators/parameters.h"
#include "core/specification/specification.h"

namespace roper {

/// Targets with this value are ignored in the loss, as in PyTorch.
inline constexpr std::int64_t kIgnoreIndex = -100;

/// A transformer, causal or (`training.objective` masked) bidirectional, with any position method and
/// attention of the specification (docs/run-folder.md describes the order of operations and the names and
/// shapes of parameters). B sequences, T tokens, C = width, H heads, d = C/H, V = size of the vocabulary.
class Transformer {
  public:
    /// Initial weights depend only on model_seed: each parameter has its own generator, seeded by its name,
    /// so two methods start from the same weights wherever their shapes agree.
    Transformer(const Specification& specification, std::int64_t vocabulary_size, at::Device device,
                at::ScalarType dtype = at::kFloat);

    /// tokens [B, T] (int64) → logits [B, T, V].
    at::Tensor forward(const at::Tensor& tokens, bool training = false);

    /// tokens [B, T] → mean cross-entropy in nats of predicting tokens 1 … T−1 from the preceding ones.
    at::Tensor loss(const at::Tensor& tokens, bool training = false);

    /// tokens, targets [B, T] → mean cross-entropy in nats over the targets other than `kIgnoreIndex`.
    at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets, bool training);

    /// Whether attention is causal, so that texts can be generated.
    bool causal() const { return scope_.causal; }

    /// State of token-by-token generation: KV cache of the texts, and the weights, cast once to the type of
    /// the products. Not valid after the model's weights have changed.
    class Decoding;

    /// Starts with empty texts, and space for `capacity` tokens each. Uses the kernels and number type of a
    /// pass over whole sequences (`describeComputation`) if they support generation, otherwise LibTorch's
    /// operations.
    Decoding startDecoding(std::int64_t capacity) const;

    /// Processes the prompts. tokens [B, T], right-padded → logits [B, T, V]
    at::Tensor prefill(const at::Tensor& tokens, Decoding& decoding);

    /// Processes one more token of every text. tokens [B], positions [B] (int64) → logits [B, V]
    at::Tensor decode(const at::Tensor& tokens, const at::Tensor& positions, Decoding& decoding);

    /// Number type for inspecting a model: of its parameters, by LibTorch's operations (master), or of its
    /// passes (`computeType`), with the same rounding (compute).
    enum class NumberMode { master, compute };

    /// Attention weights of every layer and head for tokens [B, T] → [L, B, H, T, T].
    at::Tensor attentionWeights(const at::Tensor& tokens, NumberMode numbers = NumberMode::master);

    /// Activation statistics of every head for tokens [1, T].
    struct ActivationStatistics {
        at::Tensor attention;  ///< weights [L, H, T, T]
        at::Tensor norms;      ///< norms by pair of q, k, v and output, means over tokens: [4, L, H, d/2]
    };
    ActivationStatistics statistics(const at::Tensor& tokens, NumberMode numbers = NumberMode::master);

    /// The smallest denominator of each head's linear attention over tokens [B, T] → [L, H]; undefined for
    /// softmax, whose denominator cannot vanish.
    at::Tensor minNormalizers(const at::Tensor& tokens);

    /// Which code computes passes over whole sequences, and why: a line for the run's log.
    std::string describeComputation() const;

    /// Whether our kernels are used.
    bool usesKernels() const { return uses_kernels_; }

    /// Type of the operands of matrix products in passes over whole sequences.
    at::ScalarType computeType() const { return compute_type_; }

    /// On a GPU: makes LibTorch's attention use the fastest implementation for B sequences of T tokens, by
    /// roper::selectAttentionBackend. → a line for the log; empty if LibTorch's attention is not used
    std::string selectAttentionBackend(std::int64_t B, std::int64_t T);

    const std::vector<NamedParameter>& parameters() const { return parameters_.all(); }
    std::int64_t parameterCount() const;

    Positions& positions() { return *positions_; }
    const Positions& positions() const { return *positions_; }

  private:
    struct Block {
        Affine attention_norm, qkv, output, feed_forward_norm, up, down;
        Affine gate;                      ///< undefined in a classic block
        Affine query, latent, latent_up;  ///< in place of `qkv` in latent attention, without biases
        at::Tensor latent_norm;           ///< [rank]
        at::Tensor query_norm, key_norm;  ///< [d] each; undefined without `model.qk_norm`
        at::Tensor sinks;                 ///< [H]; undefined without `model.attention_sinks`
    };
    struct Layers {
        std::vector<Block> blocks;
        Affine final_norm, head;
    };
    at::Tensor biasOf(const std::string& layer, std::int64_t size);
    Affine normLayer(const std::string& name);
    Affine linearLayer(const std::string& name, std::int64_t out, std::int64_t in);
    Affine productLayer(const std::string& name, std::int64_t out, std::int64_t in);

    /// Activations of one layer's attention in a pass.
    struct LayerRecord {
        std::size_t layer;
        SplitHeads split;    ///< before rotation
        Heads heads;         ///< rotated
        at::Tensor weights;  ///< [B, H, T, T], if requested by the recorder
        at::Tensor mixed;    ///< Σ_j a_nj v_j [B, H, T, d], before it is rotated back
    };
    struct Recorder {
        bool with_weights = false;  ///< computes the weights as a matrix, which training never does
        std::function<void(const LayerRecord&)> receive;
    };

    /// Inputs and options of one pass through the blocks.
    struct Forward {
        at::Tensor tokens;  ///< [B, T] (int64)
        PassPositions positions;
        AttentionMask mask;
        LayerOperations pass;
        bool fused = false;            ///< whether our kernels compute attention; `mask` is then unused
        Decoding* decoding = nullptr;  ///< generation whose KV cache is filled, or extended; null: none
        at::Tensor decode_positions =
            {};  ///< [B] (int64): positions of single tokens that follow cached ones
        const Recorder* recorder = nullptr;
    };
    at::Tensor run(const Forward& forward, const Layers& layers);
    AttentionMask maskOf(const Forward& forward, std::size_t layer) const;
    at::Tensor latentHeads(const LayerOperations& pass, const at::Tensor& x, const Block& block) const;
    at::Tensor preparedHeads(const at::Tensor& qkv, const Block& block) const;
    at::Tensor inOriginalOrder(const at::Tensor& attended) const;
    at::Tensor attend(const Forward& forward, std::size_t layer, const at::Tensor& qkv);
    at::Tensor attendFused(const Forward& forward, std::size_t layer, const at::Tensor& qkv);
    Forward makeForward(const at::Tensor& tokens, PassPositions positions, bool as_in_training) const;
    Forward sequenceForward(const at::Tensor& tokens, bool as_in_training,
                            const Recorder* recorder = nullptr);
    void record(const at::Tensor& tokens, const Recorder& recorder, NumberMode numbers = NumberMode::master);
    at::Tensor attendRounded(const Forward& forward, std::size_t layer, const at::Tensor& qkv);

    LayerOperations plainPass() const;
    static std::vector<Affine*> productsOf(Layers& layers);
    Layers castLayers() const;
    Layers layersForKernels() const;
    std::string reasonForPlain() const;
    std::string reasonNotFused() const;
    at::ScalarType selectComputeType() const;

    Specification specification_;
    HeadLayout layout_;
    /// Index of the first rotating feature of queries and keys, and of values and outputs.
    std::int64_t first_rotated_ = 0, first_rotated_value_ = 0;
    AttentionKind attention_;
    bool pre_norm_;
    AttentionScope scope_;
    at::TensorOptions options_;
    bool uses_kernels_;            ///< in passes over whole sequences
    at::ScalarType compute_type_;  ///< type of the operands of matrix products in such passes
    Parameters parameters_;
    std::unique_ptr<Positions> positions_;
    at::Tensor embedding_;
    Layers layers_;
};

class Transformer::Decoding {
  public:
    /// Keeps only these texts, in this order. rows [B′] (int64)
    void selectSequences(const at::Tensor& rows) {
        if (kernel_cache_)
            kernel_cache_->selectSequences(rows);
        else
            cache_.selectSequences(rows);
    }

  private:
    friend class Transformer;

    Layers layers_;
    KeyValueCache cache_;
    std::optional<KernelKeyValueCache> kernel_cache_;  ///< used instead if our kernels compute attention
};

}  // namespace roper
