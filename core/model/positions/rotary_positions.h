#pragma once

#include "core/model/positions/positions.h"

namespace roper {

/// Rotation of queries, keys, values and outputs, or of some of them (`RotatedTensors`): the common part of
/// all rotary methods. Frequencies are fixed, or parameters of each layer; pairs may decay by position
/// (`PositionMethod::decay`).
class RotaryPositions : public Positions {
  public:
    RotaryPositions(const Specification& specification, Parameters& parameters, at::TensorOptions options);

    void rescale(const Scaling& scaling, double length) override;
    void setStep(std::int64_t step) override;

    int queryKeyPairs() const override { return query_key_.rotary.pairs(); }
    int valuePairs() const override { return valueRotation().rotary.pairs(); }
    std::vector<at::Tensor> queryKeyFrequencies() const override { return query_key_.trained; }
    std::vector<at::Tensor> valueFrequencies() const override { return value_.trained; }

  protected:
    void contribute(const TokenPositions& tokens, PassPositions& pass) override;

  private:
    /// One kind of rotation: that of queries and keys, or that of values and outputs.
    struct Rotation {
        RotaryConfig config;
        Rotary rotary;                         ///< unscaled
        std::vector<at::Tensor> trained = {};  ///< frequencies [pairs] of each layer; empty if they are fixed
        Eigen::VectorXd factors = {};          ///< factor of each frequency due to scaling; empty: 1
        double attention_factor = 1;           ///< YaRN: factor of cos and sin
        double strength = 1;                   ///< factor of all frequencies
        at::Tensor strength_tensor = {};  ///< the same on the device, for trained frequencies; undefined: 1
        CosSin table = {};                ///< [positions, pairs], extended as needed
        std::vector<CosSin> former_tables = {};  ///< shorter ones, which captured steps still read
    };
    /// Decay factors of cos and sin: [positions, pairs] each, extended as needed.
    struct Decay {
        at::Tensor queries, keys;
    };
    /// Shared keys and values have one rotation.
    const Rotation& valueRotation() const { return shared_kv_ ? query_key_ : value_; }
    void rotateAllLayers(const TokenPositions& tokens, PassPositions& pass);
    Rotation makeValueRotation(Parameters& parameters) const;
    Rotation makeRotation(const RotaryConfig& config, const std::string& name, Parameters& parameters) const;
    CosSin makeTable(const Rotation& rotation, std::int64_t positions) const;
    void extendTable(Rotation& rotation, std::int64_t positions);
    std::vector<CosSin> cosSinOf(Rotation& rotation, const TokenPositions& tokens);
    std::vector<CosSin> trainedCosSin(const Rotation& rotation, const TokenPositions& tokens) const;
    void extendDecay(std::int64_t positions);

    const PositionMethod& method_;
    const RotatedTensors rotated_;
    const bool shared_kv_;
    Rotation query_key_, value_;
    /// Factor of queries alone: YaRN's of queries and keys, where it must not reach values (`shared_kv`).
    double query_factor_ = 1;
    Decay decay_;
};

}  // namespace roper
