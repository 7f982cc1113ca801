#include "core/model/positions/rotary_positions.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace roper {
namespace {

/// Those of the tokens of a pass: [T, pairs], or [B, 1, pairs] of single tokens.
CosSin rowsOf(const CosSin& table, const TokenPositions& tokens) {
    const auto rows = [&](const at::Tensor& all) {
        return tokens.single.defined() ? all.index_select(0, tokens.single).unsqueeze(1)
                                       : all.narrow(0, 0, tokens.T);
    };
    return {rows(table.cosine), rows(table.sine)};
}

/// θ' / θ of each pair under a scaling, and what cos and sin are multiplied by.
std::pair<Eigen::VectorXd, double> scaledBy(const Rotary& rotary, const Specification& specification,
                                            const Scaling& scaling, double length) {
    if (rotary.pairs() == 0) return {{}, 1.0};
    const ScaledFrequencies scaled = scaledFrequencies(rotary.rotatedWidth(), specification.model.base,
                                                       frequencyFormulaOf(specification), scaling, length);
    return {scaled.theta.cwiseQuotient(rotary.theta), scaled.attention_factor};
}

}  // namespace

RotaryPositions::RotaryPositions(const Specification& specification, Parameters& parameters,
                                 at::TensorOptions options)
    : Positions(specification, options),
      method_(specification.model.method()),
      query_key_(makeRotation(specification.model.rotary_fraction, "query_key_frequencies", parameters)),
      value_(makeRotation(method_.rotates_values ? specification.model.value_rotary_fraction : 0.0,
                          "value_frequencies", parameters)) {}

RotaryPositions::Rotation RotaryPositions::makeRotation(double fraction, const std::string& name,
                                                        Parameters& parameters) const {
    const auto& model = specification().model;
    Rotation made;
    made.rotary = makeRotary(static_cast<int>(specification().headDim()), pairing(), model.base,
                             frequencyFormulaOf(specification()), fraction);
    if (!model.trainsFrequencies() || made.rotary.pairs() == 0) return made;
    const at::Tensor theta = at::empty({made.rotary.pairs()}, at::kDouble);
    std::copy_n(made.rotary.theta.data(), made.rotary.pairs(), theta.mutable_data_ptr<double>());
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        made.trained.push_back(
            parameters.from("blocks." + std::to_string(layer) + ".attention." + name, theta));
    return made;
}

void RotaryPositions::contribute(const TokenPositions& tokens, PassPositions& pass) {
    const at::TensorOptions exact = options().dtype(at::kDouble);  // angles grow with the position
    const bool single = tokens.single.defined();
    const at::Tensor positions =
        single ? tokens.single.to(at::kDouble).view({-1, 1, 1}) : at::arange(tokens.T, exact).unsqueeze(1);
    if (!query_key_.trained.empty()) {
        pass.queries = pass.keys = trainedCosSin(query_key_, positions);
        if (method_.decay) {
            for (CosSin& one : pass.queries)
                one = decayed(one, positions, true);
            for (CosSin& one : pass.keys)
                one = decayed(one, positions, false);
        }
    } else {
        grow(query_key_, tokens.T);
        pass.queries = {rowsOf(method_.decay ? query_key_.queries : query_key_.table, tokens)};
        pass.keys = method_.decay ? std::vector{rowsOf(query_key_.keys, tokens)} : pass.queries;
    }
    if (!value_.trained.empty()) {
        pass.values = trainedCosSin(value_, positions);
    } else {
        grow(value_, tokens.T);
        pass.values = {rowsOf(value_.table, tokens)};
    }
}

CosSin RotaryPositions::makeTable(const Rotation& rotation, std::int64_t positions) const {
    Rotary scaled = rotation.rotary;
    if (rotation.factors.size() > 0) scaled.theta = scaled.theta.cwiseProduct(rotation.factors);
    const CosSin table = makeCosSinTable(scaled, positions, options());
    return rotation.size == 1 ? table : CosSin{table.cosine * rotation.size, table.sine * rotation.size};
}

void RotaryPositions::grow(Rotation& rotation, std::int64_t T) {
    if (rotation.table.cosine.defined() && rotation.table.cosine.size(0) >= T) return;
    for (const CosSin& old : {rotation.table, rotation.queries, rotation.keys}) {
        outgrow(old.cosine);
        outgrow(old.sine);
    }
    rotation.table = makeTable(rotation, atLeastTrained(T));
    if (!method_.decay || &rotation != &query_key_) return;
    const at::Tensor positions = at::arange(rotation.table.cosine.size(0), at::kDouble).unsqueeze(1);
    rotation.queries = decayed(rotation.table, positions, true);
    rotation.keys = decayed(rotation.table, positions, false);
}

/// positions [T, 1] or [B, 1, 1] (float64) → [T, pairs] or [B, 1, pairs] of each layer
std::vector<CosSin> RotaryPositions::trainedCosSin(const Rotation& rotation,
                                                   const at::Tensor& positions) const {
    const Eigen::VectorXd& factors = rotation.factors;
    std::vector<CosSin> layers;
    for (const at::Tensor& theta : rotation.trained) {
        at::Tensor angles = positions * theta.to(at::kDouble);
        if (factors.size() > 0)
            angles =
                angles * at::from_blob(const_cast<double*>(factors.data()), {factors.size()}, at::kDouble)
                             .to(positions.options());
        layers.push_back(
            {(angles.cos() * rotation.size).to(options()), (angles.sin() * rotation.size).to(options())});
    }
    return layers;
}

CosSin RotaryPositions::decayed(const CosSin& plain, const at::Tensor& positions, bool is_query) const {
    const at::Tensor decay = decayAt(positions, plain.cosine.size(-1), is_query);
    return {plain.cosine * decay, plain.sine * decay};
}

/// positions [..., 1] (float64) → [..., pairs]
at::Tensor RotaryPositions::decayAt(const at::Tensor& positions, std::int64_t pairs, bool is_query) const {
    const at::Tensor flat = positions.flatten().cpu().contiguous();
    at::Tensor decay = at::empty({flat.size(0), pairs}, at::kDouble);
    auto values = decay.accessor<double, 2>();
    const auto at_token = flat.accessor<double, 1>();
    for (std::int64_t t = 0; t < flat.size(0); ++t)
        for (std::int64_t pair = 0; pair < pairs; ++pair)
            values[t][pair] =
                method_.decay(static_cast<int>(pair), static_cast<int>(pairs), at_token[t], is_query);
    std::vector<std::int64_t> shape = positions.sizes().vec();
    shape.back() = pairs;
    return decay.view(shape).to(options());
}

void RotaryPositions::rescale(const Scaling& scaling, double length) {
    std::tie(query_key_.factors, query_key_.size) =
        scaledBy(query_key_.rotary, specification(), scaling, length);
    value_.factors = scaledBy(value_.rotary, specification(), scaling, length).first;
    query_key_.table = value_.table = {};
}

}  // namespace roper
