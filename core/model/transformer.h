#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/attention.h"
#include "core/model/kernel_cache.h"
#include "core/model/key_value_cache.h"
#include "core/model/pass.h"
#include "core/model/positions/positions.h"
#include "core/operators/parameters.h"
#include "core/specification/specification.h"

namespace roper {

/// Targets of this value count for nothing in a loss, as in PyTorch.
inline constexpr std::int64_t kIgnoreIndex = -100;

/// A transformer, causal or (`training.objective` masked) looking both ways, with any position method and
/// attention of the specification (docs/run-folder.md gives its order of operations and the names and shapes
/// of its parameters). B sequences, T tokens, C = width, H heads, d = C/H, V = size of the vocabulary.
class Transformer {
  public:
    /// Weights follow from model_seed alone: each parameter has a generator of its own, seeded by its name,
    /// so two methods start from the same weights wherever their shapes agree.
    Transformer(const Specification& specification, std::int64_t vocabulary_size, at::Device device,
                at::ScalarType dtype = at::kFloat);

    /// tokens [B, T] (int64) → logits [B, T, V].
    at::Tensor forward(const at::Tensor& tokens, bool training = false);

    /// tokens [B, T], mean cross-entropy in nats of predicting tokens 1 … T−1 from those before.
    at::Tensor loss(const at::Tensor& tokens, bool training = false);

    /// tokens, targets [B, T]: mean cross-entropy in nats of saying each target that is not `kIgnoreIndex`.
    at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets, bool training);

    /// Whether a token attends to those before it alone, so that a text can be written on.
    bool causal() const { return causal_; }

    /// Texts that are written on token by token: the keys and values of their tokens, and the weights as
    /// products read them, which are cast once. It is for the weights as they were when it was made.
    class Decoding;

    /// Begins with no text, and room for `capacity` tokens of each. By the kernels and in the numbers of a
    /// pass over whole sequences (`computation`) where that is; by LibTorch's operations otherwise.
    Decoding startDecoding(std::int64_t capacity) const;

    /// Reads the prompts. tokens [B, T], right-padded → logits [B, T, V]
    at::Tensor prefill(const at::Tensor& tokens, Decoding& texts);

    /// One more token for every text. tokens [B], positions [B] (int64) → logits [B, V]
    at::Tensor decode(const at::Tensor& tokens, const at::Tensor& positions, Decoding& texts);

    /// The numbers in which a model is looked into: those of its parameters, by LibTorch's operations, or
    /// those that its passes compute in (`computeType`), rounded where they round.
    enum class Numbers { master, compute };

    /// Attention weights of every layer and head for tokens [B, T] → [L, B, H, T, T].
    at::Tensor attentionWeights(const at::Tensor& tokens, Numbers numbers = Numbers::master);

    /// What every head does with tokens [1, T].
    struct Inside {
        at::Tensor attention;  ///< weights [L, H, T, T]
        at::Tensor norms;      ///< lengths by pair of q, k, v and output, means over tokens: [4, L, H, d/2]
    };
    Inside inside(const at::Tensor& tokens, Numbers numbers = Numbers::master);

    /// The smallest denominator of each head's linear attention over tokens [B, T] → [L, H]; undefined for
    /// softmax, which has none that could vanish.
    at::Tensor leastDenominators(const at::Tensor& tokens);

    /// What computes passes over whole sequences, and why: a line for the run's log.
    std::string computation() const;

    /// Whether they go by our kernels.
    bool usesOurKernels() const { return by_kernels_; }

    /// What the operands of matrix products are in such passes.
    at::ScalarType computeType() const { return compute_type_; }

    /// On a GPU: has LibTorch's attention take what is fastest for B sequences of T tokens, as
    /// `chooseAttention`. → a line for the log; empty on the CPU and for linear attention
    std::string chooseAttention(std::int64_t B, std::int64_t T);

    const std::vector<NamedParameter>& parameters() const { return parameters_.all(); }
    std::int64_t parameterCount() const;

    Positions& positions() { return *positions_; }
    const Positions& positions() const { return *positions_; }

  private:
    struct Block {
        Affine attention_norm, qkv, output, feed_forward_norm, up, down;
    };
    struct Layers {
        std::vector<Block> blocks;
        Affine final_norm, head;
    };
    Affine normLayer(const std::string& name);
    Affine linearLayer(const std::string& name, std::int64_t out, std::int64_t in);

    /// What one layer's attention worked with, of one pass.
    struct LayerRecord {
        std::size_t layer;
        at::Tensor qkv;      ///< before rotation [3, B, H, T, d]
        Heads heads;         ///< rotated
        at::Tensor weights;  ///< [B, H, T, T], if the recorder wants them
        at::Tensor mixed;    ///< Σ_j a_nj v_j [B, H, T, d], before it is rotated back
    };
    struct Recorder {
        bool with_weights = false;  ///< has weights computed as a matrix, which training never does
        std::function<void(const LayerRecord&)> take;
    };

    /// One pass of tokens through the blocks: what it reads, and how it is computed.
    struct Forward {
        at::Tensor tokens;  ///< [B, T] (int64)
        PassPositions positions;
        AttentionMask mask;
        Pass pass;
        bool fused = false;         ///< attention by our kernels, which need no mask
        Decoding* texts = nullptr;  ///< whose caches keys and values go into, or come from too
        at::Tensor decoded = {};    ///< [B] (int64): positions of single tokens that a cache precedes
        const Recorder* recorder = nullptr;
    };
    at::Tensor run(const Forward& forward, const Layers& layers);
    at::Tensor attend(const Forward& forward, std::size_t layer, const at::Tensor& qkv);
    at::Tensor attendFused(const Forward& forward, std::size_t layer, const at::Tensor& qkv);
    Forward plainForward(const at::Tensor& tokens);
    Forward fastForward(const at::Tensor& tokens, PassPositions positions) const;
    void record(const at::Tensor& tokens, const Recorder& recorder, Numbers numbers = Numbers::master);
    at::Tensor attendRounded(const Forward& forward, std::size_t layer, const at::Tensor& qkv);

    Pass plainPass() const;
    Layers castLayers() const;
    Layers layersForKernels() const;
    at::Tensor splitHeads(const at::Tensor& qkv) const;
    Heads rotatedHeads(const at::Tensor& qkv, std::size_t layer, const PassPositions& positions) const;
    at::Tensor mergeHeads(const at::Tensor& mixed, std::size_t layer, const PassPositions& positions) const;
    std::string whyPlain() const;
    std::string whyNotFused() const;
    at::ScalarType chosenComputeType() const;

    Specification specification_;
    std::int64_t heads_, head_dim_;
    AttentionKind attention_;
    bool pre_norm_, causal_;
    at::TensorOptions options_;
    bool by_kernels_;              ///< passes over whole sequences
    at::ScalarType compute_type_;  ///< of matrix products in such passes
    Parameters parameters_;
    std::unique_ptr<Positions> positions_;
    at::Tensor embedding_;
    Layers layers_;
};

class Transformer::Decoding {
  public:
    /// Keeps these texts alone, in this order. rows [B′] (int64)
    void keep(const at::Tensor& rows) {
        if (kernel_cache_)
            kernel_cache_->keep(rows);
        else
            cache_.keep(rows);
    }

  private:
    friend class Transformer;

    Layers layers_;
    KeyValueCache cache_;
    std::optional<KernelCache> kernel_cache_;  ///< instead, where attention is by our kernels
};

}  // namespace roper
