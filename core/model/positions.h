#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/parameters.h"
#include "core/model/rotary_operator.h"
#include "core/rotary/scaling.h"
#include "core/specification/specification.h"

namespace roper {

/// Which tokens go through the model in one pass: positions 0 … T−1 of every sequence, or one token a
/// sequence at a position of its own, whose keys reach back to position 0.
struct Places {
    std::int64_t T = 0;        ///< tokens of a sequence, or keys that a single token sees
    at::Tensor one_each = {};  ///< [B] (int64); undefined if all of 0 … T−1 go through
};

/// What a position method contributes to one pass. Undefined tensors contribute nothing.
struct PassPositions {
    at::Tensor added;          ///< to the embeddings: [T, C] or [B, 1, C]
    at::Tensor distance_bias;  ///< to the scores, by query − key + T − 1: [H, 2T − 1]; of whole sequences
    at::Tensor bias;           ///< to the scores: [B, H, 1, T]; of single tokens
    std::vector<Turns> query_key_turns, value_turns;  ///< one a layer, or one that all layers share

    const Turns& queryKey(std::size_t layer) const {
        return query_key_turns[query_key_turns.size() == 1 ? 0 : layer];
    }
    const Turns& value(std::size_t layer) const { return value_turns[value_turns.size() == 1 ? 0 : layer]; }
};

/// How a model knows positions: the value of `model.position`, with its parameters.
///
/// RoPE turns queries and keys, RoPER values too (Su et al. 2021; Harik & Jayasiri 2022); a learned table and
/// sinusoids are added to the embeddings (Gehring et al. 2017; Vaswani et al. 2017); T5's buckets and ALiBi's
/// slopes are added to the scores (Raffel et al. 2020; Press et al. 2021); "none" does nothing.
class PositionMethod {
  public:
    /// Makes the method's parameters, if it has any.
    PositionMethod(const Specification& specification, Parameters& parameters, at::TensorOptions options);

    /// @throws Error (usage) if a learned table has no such positions
    PassPositions forPass(const Places& places);

    /// Reads texts of `length` tokens with changed frequencies, as for evaluating a model on texts longer
    /// than those it was trained on. Trained frequencies are changed by the same factors as fixed ones.
    /// @throws Error (usage) if the method has no frequencies
    void rescale(const Scaling& scaling, double length);

    Pairing pairing() const { return query_key_.pairing; }
    int queryKeyPairs() const { return query_key_.pairs(); }
    int valuePairs() const { return value_.pairs(); }

    /// Trained frequencies, one tensor [pairs] a layer; empty where they are fixed.
    const std::vector<at::Tensor>& queryKeyFrequencies() const { return query_key_parameters_; }
    const std::vector<at::Tensor>& valueFrequencies() const { return value_parameters_; }

    /// The learned table [positions, C]; undefined for other methods.
    at::Tensor learnedTable() const { return kind_ == Kind::learned ? table_ : at::Tensor(); }

    /// T5's biases [buckets, H]; undefined for other methods.
    const at::Tensor& relativeBias() const { return relative_bias_; }

  private:
    enum class Kind { none, learned, sinusoidal, t5, alibi, rope, roper };

    at::Tensor addedAt(const Places& places);
    at::Tensor biasOf(const at::Tensor& distances, std::int64_t T);
    std::vector<Turns> turnsAt(const Places& places, const Rotary& rotary, RotaryTable& table,
                               const std::vector<at::Tensor>& trained, const Eigen::VectorXd& factors,
                               double size);
    std::int64_t atLeastTrained(std::int64_t T) const;
    bool turns() const { return kind_ == Kind::rope || kind_ == Kind::roper; }

    Specification specification_;
    Kind kind_;
    bool causal_;
    at::TensorOptions options_;
    at::Tensor table_;          ///< learned: [positions, C]; sinusoidal: as long as has been needed
    at::Tensor relative_bias_;  ///< [buckets, H]
    at::Tensor buckets_;        ///< T5: of each distance, those to the right first, as far as has been needed
    std::vector<at::Tensor> outgrown_;  ///< earlier tables: steps that were captured go on reading them
    at::Tensor slopes_;                 ///< ALiBi: [H, 1, 1]
    Rotary query_key_, value_;
    RotaryTable query_key_table_, value_table_;
    std::vector<at::Tensor> query_key_parameters_, value_parameters_;
    Eigen::VectorXd query_key_factors_, value_factors_;  ///< what scaling multiplies each frequency by
    double turn_size_ = 1;                               ///< YaRN: cos and sin of queries and keys times this
};

/// The pairing and schedule that a specification names.
Pairing pairingOf(const Specification& specification);
Schedule scheduleOf(const Specification& specification);

}  // namespace roper
