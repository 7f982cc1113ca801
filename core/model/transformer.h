#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/rotary_operator.h"
#include "core/runs/specification.h"

namespace roper {

/// Keys and values of the tokens seen so far, for writing a text on token by token. Keys are kept turned by
/// their position, and so are RoPER's values: only the output's rotation depends on the query, so nothing is
/// turned twice.
struct KeyValueCache {
    std::vector<at::Tensor> keys;    ///< one a layer [B, H, capacity, d]
    std::vector<at::Tensor> values;  ///< one a layer [B, H, capacity, d]
    std::int64_t capacity = 0;

    /// Keeps these sequences alone, in this order. rows [B′] (int64)
    void keep(const at::Tensor& rows);
};

/// A causal transformer with RoPE or RoPER attention (docs/run-folder.md gives its order of operations and
/// the names and shapes of its parameters). B sequences, T tokens, C = width, H heads, d = C/H, V = size of
/// the vocabulary.
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

    using NamedParameter = std::pair<std::string, at::Tensor>;
    const std::vector<NamedParameter>& parameters() const { return parameters_; }
    std::int64_t parameterCount() const;

  private:
    struct Block {
        at::Tensor attention_norm_weight, attention_norm_bias;
        at::Tensor qkv_weight, qkv_bias, output_weight, output_bias;
        at::Tensor feed_forward_norm_weight, feed_forward_norm_bias;
        at::Tensor up_weight, up_bias, down_weight, down_bias;
    };
    struct Heads {
        at::Tensor q, k, v;  ///< [B, H, T, d]
    };
    struct Positions {
        at::Tensor cosine, sine;  ///< [T, pairs] or [B, T, pairs]
    };

    at::Tensor makeLinear(const std::string& name, std::int64_t out, std::int64_t in);
    at::Tensor makeConstant(const std::string& name, std::int64_t size, double value);
    at::Tensor addParameter(const std::string& name, at::Tensor value);

    template <class Attend>
    at::Tensor run(const at::Tensor& tokens, bool training, Attend attend);
    at::Tensor feedForward(const Block& block, const at::Tensor& x) const;
    at::Tensor drop(const at::Tensor& x, bool training) const;
    at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) const;

    at::Tensor splitHeads(const Block& block, const at::Tensor& x) const;
    Heads turnedHeads(const Block& block, const at::Tensor& x, const Positions& qk,
                      const Positions& value) const;
    at::Tensor mergeHeads(const Block& block, const at::Tensor& mixed, const Positions& value) const;

    at::Tensor causalWeights(const at::Tensor& q, const at::Tensor& k, const at::Tensor& hidden) const;
    at::Tensor pairNorms(const at::Tensor& x, const RotaryTable& table) const;

    void growTables(std::int64_t positions);
    Positions firstPositions(const RotaryTable& table, std::int64_t T) const;
    Positions positionsOf(const RotaryTable& table, const at::Tensor& positions) const;

    Specification specification_;
    std::int64_t heads_, head_dim_;
    bool turns_values_;
    bool pre_norm_;
    at::TensorOptions options_;
    Rotary query_key_rotary_, value_rotary_;
    RotaryTable query_key_table_, value_table_;
    std::vector<NamedParameter> parameters_;
    at::Tensor embedding_, final_norm_weight_, final_norm_bias_, head_weight_, head_bias_;
    std::vector<Block> blocks_;
};

/// The pairing and schedule that a specification names.
Pairing pairingOf(const Specification& specification);
Schedule scheduleOf(const Specification& specification);

}  // namespace roper
