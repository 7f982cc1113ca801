#include <ATen/ATen.h>

#include <algorithm>

#include "core/model/positions/positions.h"

namespace roper {
namespace {

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
    /// The rotation of queries and keys, or of values and outputs.
    struct Rotation {
        RotaryConfig config;
        Rotary rotary;                         ///< unscaled
        std::vector<at::Tensor> trained = {};  ///< frequencies [pairs] of each layer; empty if they are fixed
        Eigen::VectorXd factors = {};          ///< factor of each frequency due to scaling; empty: 1
        double attention_factor = 1;           ///< YaRN and LongRoPE: factor of cos and sin
        double strength = 1;                   ///< factor of all frequencies (value_rotation_strength)
        at::Tensor strength_tensor = {};  ///< `strength` on the device, for trained frequencies; undefined: 1
        CosSin table = {};                ///< [positions, pairs], extended as needed
        std::vector<CosSin> former_tables = {};  ///< shorter ones, which captured CUDA graphs still read
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
    /// With `shared_kv`, queries are multiplied by the attention factors of both queries and keys, since keys
    /// are also values.
    double query_factor_ = 1;
    Decay decay_;
};

/// Rows of a table for the tokens of a pass: [T, pairs], or [B, 1, pairs] for single tokens.
at::Tensor rowsOf(const at::Tensor& table, const TokenPositions& tokens) {
    return tokens.single.defined() ? table.index_select(0, tokens.single).unsqueeze(1)
                                   : table.narrow(0, 0, tokens.T);
}

/// cos and sin of every layer times a decay of the same shape, or a number.
template <class Factor>
std::vector<CosSin> times(std::vector<CosSin> layers, const Factor& factor) {
    for (CosSin& layer : layers)
        layer = {layer.cosine * factor, layer.sine * factor};
    return layers;
}

}  // namespace

RotaryPositions::RotaryPositions(const Specification& specification, Parameters& parameters,
                                 at::TensorOptions options)
    : Positions(specification, options),
      method_(specification.model.method()),
      rotated_(specification.model.rotatedTensors()),
      shared_kv_(specification.model.shared_kv),
      query_key_(makeRotation(specification.model.rotation(specification.headDim()), "query_key_frequencies",
                              parameters)),
      value_(makeValueRotation(parameters)) {}

RotaryPositions::Rotation RotaryPositions::makeValueRotation(Parameters& parameters) const {
    const Specification& s = specification();
    RotaryConfig config = shared_kv_ ? unrotatedConfig(s.headDim()) : s.model.valueRotation(s.headDim());
    config.frequency_factor = 1;  // replaced by `strength`, which may change during training
    Rotation made = makeRotation(config, "value_frequencies", parameters);
    made.strength = s.valueRotationStrengthAfter(0);
    if (!made.trained.empty() && (made.strength != 1 || s.training.value_rotation_warmup > 0))
        made.strength_tensor = at::full({}, made.strength, options().dtype(at::kDouble));
    return made;
}

void RotaryPositions::setStep(std::int64_t step) {
    const double strength = specification().valueRotationStrengthAfter(step);
    if (strength == value_.strength) return;
    value_.strength = strength;
    if (value_.strength_tensor.defined()) value_.strength_tensor.fill_(strength);
    // Computed on the host even on a GPU, so that a run resumed elsewhere has the same numbers.
    const auto refill = [&](const CosSin& table) {
        const CosSin now = makeTable(value_, table.cosine.size(0));
        table.cosine.copy_(now.cosine);
        table.sine.copy_(now.sine);
    };
    for (const CosSin& table : value_.former_tables)
        refill(table);
    if (value_.table.cosine.defined()) refill(value_.table);
}

RotaryPositions::Rotation RotaryPositions::makeRotation(const RotaryConfig& config, const std::string& name,
                                                        Parameters& parameters) const {
    const auto& model = specification().model;
    Rotation made{config, config.rotationForLength(1)};
    if (!model.trainsFrequencies() || made.rotary.pairs() == 0) return made;
    const at::Tensor theta = at::empty({made.rotary.pairs()}, at::kDouble);
    std::copy_n(made.rotary.theta.data(), made.rotary.pairs(), theta.mutable_data_ptr<double>());
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        made.trained.push_back(
            parameters.from("blocks." + std::to_string(layer) + ".attention." + name, theta));
    return made;
}

void RotaryPositions::contribute(const TokenPositions& tokens, PassPositions& pass) {
    const CosSin unrotated = pass.queries.front();
    rotateAllLayers(tokens, pass);
    if (specification().model.no_rotation_every == 0) return;
    for (std::vector<CosSin>* of_layers : {&pass.queries, &pass.keys, &pass.values, &pass.outputs}) {
        const CosSin rotated = of_layers->front();
        of_layers->clear();
        for (std::int64_t layer = 0; layer < specification().model.layers; ++layer)
            of_layers->push_back(specification().model.rotatesIn(layer) ? rotated : unrotated);
    }
}

void RotaryPositions::rotateAllLayers(const TokenPositions& tokens, PassPositions& pass) {
    const std::vector<CosSin> of_scores = cosSinOf(query_key_, tokens),
                              of_values = shared_kv_ ? of_scores : cosSinOf(value_, tokens);
    if (rotated_.query) pass.queries = query_factor_ == 1 ? of_scores : times(of_scores, query_factor_);
    if (rotated_.key) pass.keys = of_scores;
    if (rotated_.value) pass.values = of_values;
    if (rotated_.output) pass.outputs = of_values;
    if (!method_.decay) return;
    extendDecay(tokens.T);
    pass.queries = times(pass.queries, rowsOf(decay_.queries, tokens));
    pass.keys = times(pass.keys, rowsOf(decay_.keys, tokens));
}

std::vector<CosSin> RotaryPositions::cosSinOf(Rotation& rotation, const TokenPositions& tokens) {
    if (!rotation.trained.empty()) return trainedCosSin(rotation, tokens);
    extendTable(rotation, tokens.T);
    return {{rowsOf(rotation.table.cosine, tokens), rowsOf(rotation.table.sine, tokens)}};
}

CosSin RotaryPositions::makeTable(const Rotation& rotation, std::int64_t positions) const {
    Rotary scaled = rotation.rotary;
    if (rotation.factors.size() > 0) scaled.theta = scaled.theta.cwiseProduct(rotation.factors);
    scaled.theta *= rotation.strength;
    const CosSin table = makeCosSinTable(scaled, 0, positions, options());
    return rotation.attention_factor == 1
               ? table
               : CosSin{table.cosine * rotation.attention_factor, table.sine * rotation.attention_factor};
}

void RotaryPositions::extendTable(Rotation& rotation, std::int64_t T) {
    if (rotation.table.cosine.defined()) {
        if (rotation.table.cosine.size(0) >= T) return;
        rotation.former_tables.push_back(rotation.table);
    }
    rotation.table = makeTable(rotation, tableLength(T));
}

void RotaryPositions::extendDecay(std::int64_t T) {
    if (decay_.queries.defined() && decay_.queries.size(0) >= T) return;
    retire(decay_.queries);
    retire(decay_.keys);
    const auto table = [&](bool is_query) {
        return makeDecayTable(method_.decay, query_key_.rotary.pairs(), 0, tableLength(T), is_query)
            .to(options());
    };
    decay_ = {table(true), table(false)};
}

/// [T, pairs], or [B, 1, pairs] for single tokens, of each layer.
std::vector<CosSin> RotaryPositions::trainedCosSin(const Rotation& rotation,
                                                   const TokenPositions& tokens) const {
    const at::TensorOptions exact = options().dtype(at::kDouble);  // angles grow with position
    const at::Tensor positions = tokens.single.defined() ? tokens.single.to(at::kDouble).view({-1, 1, 1})
                                                         : at::arange(tokens.T, exact).unsqueeze(1);
    const Eigen::VectorXd& factors = rotation.factors;
    std::vector<CosSin> layers;
    for (const at::Tensor& theta : rotation.trained) {
        at::Tensor angles = positions * theta.to(at::kDouble);
        if (factors.size() > 0)
            angles =
                angles *
                at::from_blob(const_cast<double*>(factors.data()), {factors.size()}, at::kDouble).to(exact);
        if (rotation.strength_tensor.defined()) angles = angles * rotation.strength_tensor;
        layers.push_back({(angles.cos() * rotation.attention_factor).to(options()),
                          (angles.sin() * rotation.attention_factor).to(options())});
    }
    return layers;
}

void RotaryPositions::rescale(const Scaling& scaling, double length) {
    for (Rotation* rotation : {&query_key_, &value_}) {
        const ScaledFrequencies scaled = rotation->config.frequenciesForLength(length, {}, scaling);
        rotation->factors = scaled.theta.cwiseQuotient(rotation->rotary.theta);
        rotation->table = {};
        if (rotation != &query_key_) continue;
        const bool on_keys = !shared_kv_;
        query_factor_ = on_keys ? 1 : scaled.attention_factor * scaled.attention_factor;
        rotation->attention_factor = on_keys ? scaled.attention_factor : 1;
    }
}

/// For all methods that rotate (Su et al. 2021, Harik & Jayasiri 2022, Su 2025, Sun et al. 2022). They differ
/// in which tensors rotate and in their decay; both are declared by core/methods.
std::unique_ptr<Positions> rotaryPositions(const Specification& specification, Parameters& parameters,
                                           at::TensorOptions options) {
    return std::make_unique<RotaryPositions>(specification, parameters, options);
}

}  // namespace roper
