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

/// Where the tokens of one pass stand: at positions 0 … T−1 of every sequence, or (decoding with a key/value
/// cache) one token per sequence at a position of its own, whose keys reach back to position 0.
struct TokenPositions {
    std::int64_t T = 0;  ///< tokens of a sequence, or keys that a single token attends to
    at::Tensor single =
        {};  ///< [B] (int64): positions of single tokens; undefined if all of 0 … T−1 go through
};

/// What a position method contributes to one pass. Undefined tensors contribute nothing.
struct PassPositions {
    at::Tensor embedding;      ///< added to the tokens' embeddings: [T, C] or [B, 1, C]
    at::Tensor distance_bias;  ///< to the scores, by query − key + T − 1: [H, 2T − 1]; of whole sequences
    at::Tensor bias;           ///< to the scores: [B, H, 1, T]; of single tokens
    std::vector<CosSin> queries, keys, values;  ///< of rotations: one per layer, or one that all layers share

    const CosSin& ofQueries(std::size_t layer) const { return queries[queries.size() == 1 ? 0 : layer]; }
    const CosSin& ofKeys(std::size_t layer) const { return keys[keys.size() == 1 ? 0 : layer]; }
    const CosSin& ofValues(std::size_t layer) const { return values[values.size() == 1 ? 0 : layer]; }
};

/// What LibTorch does for a position method, with the method's parameters and tables. All else about a method
/// stands in core/methods, in a file of the same name. A base that contributes nothing.
class Positions {
  public:
    Positions(const Specification& specification, at::TensorOptions options)
        : specification_(specification), options_(options) {}
    virtual ~Positions() = default;
    Positions(const Positions&) = delete;
    Positions& operator=(const Positions&) = delete;

    /// @throws Error (usage) if the method has no such positions
    PassPositions forPass(const TokenPositions& tokens);

    /// Reads texts of `length` tokens with changed frequencies, as for evaluating a model on texts longer
    /// than those it was trained on. Trained frequencies are changed by the same factors as fixed ones.
    /// @throws Error (usage) if the method has no frequencies
    virtual void rescale(const Scaling& scaling, double length);

    Pairing pairing() const;

    /// Pairs that rotate; 0 where none does.
    virtual int queryKeyPairs() const { return 0; }
    virtual int valuePairs() const { return 0; }

    /// Trained frequencies, one tensor [pairs] a layer; empty where they are fixed.
    virtual std::vector<at::Tensor> queryKeyFrequencies() const { return {}; }
    virtual std::vector<at::Tensor> valueFrequencies() const { return {}; }

    /// Learned biases [buckets, H]; undefined where there are none.
    virtual at::Tensor relativeBias() const { return {}; }

  protected:
    /// Adds to `pass`, in which nothing rotates yet.
    virtual void contribute(const TokenPositions&, PassPositions& /*pass*/) {}

    /// Adds to `pass` the biases that `ofDistances` gives for distances query − key: any shape → [H, that
    /// shape].
    void addBias(const TokenPositions& tokens, PassPositions& pass,
                 const std::function<at::Tensor(const at::Tensor& distances)>& ofDistances) const;

    const Specification& specification() const { return specification_; }
    const at::TensorOptions& options() const { return options_; }

    /// Tables are made for as many positions as a training sequence has, or more if they are needed.
    std::int64_t atLeastTrained(std::int64_t T) const;

    /// Keeps a table that a longer one replaces: steps that were captured keep reading it.
    void retire(const at::Tensor& table) { retired_tables_.push_back(table); }

  private:
    Specification specification_;
    at::TensorOptions options_;
    std::vector<at::Tensor> retired_tables_;
};

/// The method of a specification; makes its parameters, if it has any.
std::unique_ptr<Positions> makePositions(const Specification& specification, Parameters& parameters,
                                         at::TensorOptions options);

}  // namespace roper
