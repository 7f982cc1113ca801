#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/operators/parameters.h"
#include "core/operators/rotary_operator.h"
#include "core/rotary/scaling.h"
#include "core/specification/specification.h"

namespace roper {

/// Positions of the tokens in a pass: 0 … T−1 in every sequence, or (decoding with a key/value cache) one
/// token per sequence at its own position, with keys from position 0 on.
struct TokenPositions {
    std::int64_t T = 0;  ///< tokens per sequence, or keys to which a single token attends
    at::Tensor single =
        {};  ///< [B] (int64): positions of single tokens; undefined for whole sequences 0 … T−1
};

/// What a position method contributes to one pass. Undefined tensors contribute nothing.
struct PassPositions {
    at::Tensor embedding;      ///< added to the tokens' embeddings: [T, C] or [B, 1, C]
    at::Tensor distance_bias;  ///< added to scores of whole sequences, by query − key + T − 1: [H, 2T − 1]
    at::Tensor bias;           ///< added to scores of single tokens: [B, H, 1, T]
    /// cos and sin of rotation angles: one entry per layer, or one for all layers. Outputs rotate back by
    /// theirs.
    std::vector<CosSin> queries, keys, values, outputs;

    const CosSin& queryCosSin(std::size_t layer) const { return queries[queries.size() == 1 ? 0 : layer]; }
    const CosSin& keyCosSin(std::size_t layer) const { return keys[keys.size() == 1 ? 0 : layer]; }
    const CosSin& valueCosSin(std::size_t layer) const { return values[values.size() == 1 ? 0 : layer]; }
    const CosSin& outputCosSin(std::size_t layer) const { return outputs[outputs.size() == 1 ? 0 : layer]; }
};

/// The LibTorch implementation of a position method, with its parameters and tables. Everything else about a
/// method is in core/methods, in a file of the same name. This base class contributes nothing.
class Positions {
  public:
    Positions(const Specification& specification, at::TensorOptions options)
        : specification_(specification), options_(options) {}
    virtual ~Positions() = default;
    Positions(const Positions&) = delete;
    Positions& operator=(const Positions&) = delete;

    /// @throws Error (usage) if the method does not support these positions
    PassPositions makePassPositions(const TokenPositions& tokens);

    /// Changes frequencies for texts of `length` tokens, to evaluate a model on texts longer than those of
    /// its training. Trained frequencies are scaled by the same factors as fixed ones.
    /// @throws Error (usage) if the method has no frequencies
    virtual void rescale(const Scaling& scaling, double length);

    /// Sets settings that change during training to their values after `step` steps. Works in place on the
    /// device, because steps captured as CUDA graphs read the same tensors.
    virtual void setStep(std::int64_t /*step*/) {}

    Pairing pairing() const { return specification_.model.pairing; }

    /// Number of rotating pairs of queries and keys, and of values and outputs; 0 if there are none.
    virtual int queryKeyPairs() const { return 0; }
    virtual int valuePairs() const { return 0; }

    /// Trained frequencies, one tensor [pairs] per layer; empty if they are fixed.
    virtual std::vector<at::Tensor> queryKeyFrequencies() const { return {}; }
    virtual std::vector<at::Tensor> valueFrequencies() const { return {}; }

    /// Learned biases [buckets, H]; undefined if there are none.
    virtual at::Tensor relativeBias() const { return {}; }

  protected:
    /// Adds the method's contributions to `pass`, which has no rotation yet.
    virtual void contribute(const TokenPositions&, PassPositions& /*pass*/) {}

    /// Adds to `pass` the biases that `biasOfDistances` returns for distances query − key: any shape → [H,
    /// that shape].
    void addBias(const TokenPositions& tokens, PassPositions& pass,
                 const std::function<at::Tensor(const at::Tensor& distances)>& biasOfDistances) const;

    const Specification& specification() const { return specification_; }
    const at::TensorOptions& options() const { return options_; }

    /// Number of positions in a table: the length of training sequences, or more if needed.
    std::int64_t tableLength(std::int64_t T) const;

    /// Keeps a table that a longer one replaces, since steps captured as CUDA graphs still read it.
    void retire(const at::Tensor& table) { retired_tables_.push_back(table); }

  private:
    Specification specification_;
    at::TensorOptions options_;
    std::vector<at::Tensor> retired_tables_;
};

/// Creates the method of a specification, with its parameters, if any.
std::unique_ptr<Positions> makePositions(const Specification& specification, Parameters& parameters,
                                         at::TensorOptions options);

}  // namespace roper
