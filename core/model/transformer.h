#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/attention.h"
#include "core/model/parameters.h"
#include "core/model/pass.h"
#include "core/model/positions.h"
#include "core/specification/specification.h"

namespace roper {

/// Keys and values of the tokens seen so far, for writing a text on token by token. Keys are kept turned by
/// their position, and so are RoPER's values: only the output's rotation depends on the query, so nothing is
/// turned twice.
struct KeyValueCache {
    std::vector<at::Tensor> keys;        ///< one a layer [B, H, capacity, d]
    std::vector<at::Tensor> values;      ///< one a layer [B, H, capacity, d]
    std::vector<at::Tensor> plain_keys;  ///< the same before turning, where the attention asks for them
    std::int64_t capacity = 0;

    /// Keeps these sequences alone, in this order. rows [B′] (int64)
    void keep(const at::Tensor& rows);
};

/// Where this is the target, nothing is asked of a model.
inline constexpr std::int64_t kNotAsked = -100;

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

    /// tokens, targets [B, T]: mean cross-entropy in nats of saying each target that is not `kNotAsked`.
    at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets, bool training);

    /// Whether a token sees those before it alone, so that a text can be written on.
    bool causal() const { return causal_; }

    /// Reads the prompts. tokens [B, T], right-padded; cache room for `capacity` tokens a sequence. → logits
    /// [B, T, V]
    at::Tensor prefill(const at::Tensor& tokens, std::int64_t capacity, KeyValueCache& cache);

    /// One more token for every sequence. tokens [B], positions [B] (int64) → logits [B, V]
    at::Tensor decode(const at::Tensor& tokens, const at::Tensor& positions, KeyValueCache& cache);

    /// Attention weights of every layer and head for tokens [B, T] → [L, B, H, T, T].
    at::Tensor attentionWeights(const at::Tensor& tokens);

    /// What every head does with tokens [1, T].
    struct Inside {
        at::Tensor attention;  ///< weights [L, H, T, T]
        at::Tensor norms;      ///< lengths by pair of q, k, v and output, means over tokens: [4, L, H, d/2]
    };
    Inside inside(const at::Tensor& tokens);

    /// q, k and v of one head for tokens [1, T], before any rotation → [3, T, d].
    /// @throws std::invalid_argument if there is no such layer or head
    at::Tensor headVectors(const at::Tensor& tokens, std::int64_t layer, std::int64_t head);

    /// The smallest denominator of each head's linear attention over tokens [B, T] → [L, H]; undefined for
    /// softmax, which has none that could vanish.
    at::Tensor leastDenominators(const at::Tensor& tokens);

    /// What computes passes over whole sequences, and why: a line for the run's log.
    std::string computation() const;

    /// What the factors of products are in such passes.
    at::ScalarType factors() const { return factors_; }

    /// On a GPU: has LibTorch's attention take what is fastest for B sequences of T tokens, as
    /// `chooseAttention`. → a line for the log; empty on the CPU and for linear attention
    std::string chooseAttention(std::int64_t B, std::int64_t T);

    const std::vector<NamedParameter>& parameters() const { return parameters_.all(); }
    std::int64_t parameterCount() const;

    PositionMethod& positions() { return positions_; }
    const PositionMethod& positions() const { return positions_; }

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

    Pass plainPass() const;
    Layers roundedLayers() const;
    template <class Attend>
    at::Tensor run(const at::Tensor& tokens, const PassPositions& places, const Pass& pass,
                   const Layers& layers, Attend attend);
    template <class Attend>
    at::Tensor runPlain(const at::Tensor& tokens, const PassPositions& places, Attend attend) {
        return run(tokens, places, plainPass(), layers_, attend);
    }

    template <class Mix>
    auto byHeads(const PassPositions& places, Mix mix) const;
    at::Tensor splitHeads(const at::Tensor& product) const;
    Heads turnedHeads(const at::Tensor& qkv, std::size_t layer, const PassPositions& places) const;
    at::Tensor mergeHeads(const at::Tensor& mixed, std::size_t layer, const PassPositions& places) const;
    std::string whyPlain() const;
    std::string whyNotFused() const;
    at::ScalarType factorType() const;
    bool trainsFrequencies() const;
    at::Tensor pairNorms(const at::Tensor& x, int pairs) const;

    Specification specification_;
    std::int64_t heads_, head_dim_;
    AttentionKind attention_;
    bool pre_norm_, causal_;
    at::TensorOptions options_;
    bool by_kernels_;         ///< passes over whole sequences
    at::ScalarType factors_;  ///< of products in such passes
    Parameters parameters_;
    PositionMethod positions_;
    at::Tensor embedding_;
    Layers layers_;
};

}  // namespace roper
