#include "core/model/positions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/rotary/absolute_encoding.h"
#include "core/rotary/position_bias.h"
#include "core/base/error.h"

namespace roper {
namespace {

/// T5's bucket of every distance −(T − 1) … T − 1: [2T − 1] (int64).
at::Tensor bucketsByDistance(std::int64_t T, bool bidirectional, const Specification::Model& model) {
    at::Tensor buckets = at::empty({2 * T - 1}, at::kLong);
    auto values = buckets.accessor<std::int64_t, 1>();
    for (std::int64_t i = 0; i < 2 * T - 1; ++i)
        values[i] = t5Bucket(static_cast<int>(i - (T - 1)), bidirectional,
                             static_cast<int>(model.bias_buckets), static_cast<int>(model.bias_distance));
    return buckets;
}

std::vector<at::Tensor> trainedFrequencies(Parameters& parameters, const Rotary& rotary, std::int64_t layers,
                                           const std::string& name) {
    std::vector<at::Tensor> all;
    if (rotary.pairs() == 0) return all;
    const at::Tensor theta = at::empty({rotary.pairs()}, at::kDouble);
    std::copy_n(rotary.theta.data(), rotary.pairs(), theta.mutable_data_ptr<double>());
    for (std::int64_t layer = 0; layer < layers; ++layer)
        all.push_back(parameters.from("blocks." + std::to_string(layer) + ".attention." + name, theta));
    return all;
}

/// θ' / θ of each pair under a scaling.
Eigen::VectorXd factorsOf(const Rotary& rotary, const Specification& specification, const Scaling& scaling,
                          double length, double& turn_size) {
    if (rotary.pairs() == 0) return {};
    const ScaledFrequencies scaled = scaledFrequencies(rotary.rotatedWidth(), specification.model.base,
                                                       scheduleOf(specification), scaling, length);
    turn_size = scaled.attention_factor;
    return scaled.theta.cwiseQuotient(rotary.theta);
}

/// Sinusoids for positions 0 … T − 1 as a tensor [T, C].
at::Tensor sinusoids(std::int64_t T, const Specification::Model& model, const at::TensorOptions& options) {
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> table =
        sinusoidTable(static_cast<int>(T), static_cast<int>(model.width), model.base);
    return at::from_blob(table.data(), {T, model.width}, at::kDouble)
        .to(options, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

Pairing pairingOf(const Specification& specification) {
    return specification.model.pairing == "half" ? Pairing::half : Pairing::interleaved;
}

Schedule scheduleOf(const Specification& specification) {
    return specification.model.schedule == "standard" ? Schedule::standard : Schedule::intro;
}

PositionMethod::PositionMethod(const Specification& specification, Parameters& parameters,
                               at::TensorOptions options)
    : specification_(specification), causal_(!specification.isMasked()), options_(options) {
    constexpr std::array kNames = {"none", "learned", "sinusoidal", "t5", "alibi", "rope", "roper"};
    const auto& model = specification_.model;
    const auto found = std::find(kNames.begin(), kNames.end(), model.position);
    TORCH_CHECK(found != kNames.end(), "unknown position method ", model.position);
    kind_ = static_cast<Kind>(found - kNames.begin());

    const auto rotary = [&](double fraction) {
        return makeRotary(static_cast<int>(specification_.headDim()), pairingOf(specification_), model.base,
                          scheduleOf(specification_), fraction);
    };
    query_key_ = rotary(turns() ? model.rotary_fraction : 0.0);
    value_ = rotary(kind_ == Kind::roper ? model.value_rotary_fraction : 0.0);
    if (turns() && model.frequencies == "trained") {
        query_key_parameters_ =
            trainedFrequencies(parameters, query_key_, model.layers, "query_key_frequencies");
        value_parameters_ = trainedFrequencies(parameters, value_, model.layers, "value_frequencies");
    }
    if (kind_ == Kind::learned)
        table_ = parameters.normal("positions.weight", specification_.tablePositions(), model.width, 1.0);
    if (kind_ == Kind::t5)
        relative_bias_ = parameters.normal("relative_bias.weight", model.bias_buckets, model.heads,
                                           1.0 / std::sqrt(static_cast<double>(model.width)));
    if (kind_ == Kind::alibi) {
        slopes_ = at::empty({model.heads, 1, 1}, at::kDouble);
        for (std::int64_t head = 0; head < model.heads; ++head)
            slopes_[head].fill_(alibiSlope(static_cast<int>(head) + 1, static_cast<int>(model.heads)));
        slopes_ = slopes_.to(options_);
    }
}

std::int64_t PositionMethod::atLeastTrained(std::int64_t T) const {
    return std::max(T, specification_.training.length);
}

PassPositions PositionMethod::forPass(const Places& places) {
    PassPositions pass;
    pass.added = addedAt(places);
    if (kind_ == Kind::t5 || kind_ == Kind::alibi) {
        const at::TensorOptions whole = options_.dtype(at::kLong);
        if (places.one_each.defined())
            pass.bias = biasOf(places.one_each.unsqueeze(1) - at::arange(places.T, whole), places.T)
                            .transpose(0, 1)
                            .unsqueeze(2);
        else
            pass.distance_bias = biasOf(at::arange(1 - places.T, places.T, whole), places.T);
    }
    pass.query_key_turns =
        turnsAt(places, query_key_, query_key_table_, query_key_parameters_, query_key_factors_, turn_size_);
    pass.value_turns = turnsAt(places, value_, value_table_, value_parameters_, value_factors_, 1.0);
    return pass;
}

at::Tensor PositionMethod::addedAt(const Places& places) {
    if (kind_ != Kind::learned && kind_ != Kind::sinusoidal) return {};
    if (kind_ == Kind::learned && places.T > table_.size(0))
        throw Error(ErrorKind::usage,
                    "this model has a learned table of " + std::to_string(table_.size(0)) +
                        " positions and cannot read a text of " + std::to_string(places.T) +
                        " tokens: train it with model.table_positions = " + std::to_string(places.T) +
                        " or longer sequences, or use a method without a table");
    if (kind_ == Kind::sinusoidal && (!table_.defined() || table_.size(0) < places.T)) {
        outgrown_.push_back(table_);
        table_ = sinusoids(atLeastTrained(places.T), specification_.model, options_);
    }
    return places.one_each.defined() ? at::embedding(table_, places.one_each).unsqueeze(1)
                                     : table_.narrow(0, 0, places.T);
}

/// distances query − key, smaller than T: any shape → [H, that shape]
at::Tensor PositionMethod::biasOf(const at::Tensor& distances, std::int64_t T) {
    if (kind_ == Kind::alibi)
        return -slopes_.view({-1, 1}).mul(distances.abs().flatten()).unflatten(1, distances.sizes());
    if (!buckets_.defined() || buckets_.size(0) < 2 * T - 1) {
        outgrown_.push_back(buckets_);
        buckets_ = bucketsByDistance(atLeastTrained(T), !causal_, specification_.model).to(options_.device());
    }
    const std::int64_t zero = buckets_.size(0) / 2;  // where the distance is 0
    const at::Tensor bucket_of = buckets_.index_select(0, (distances + zero).flatten());
    return relative_bias_.index_select(0, bucket_of).t().unflatten(1, distances.sizes());
}

std::vector<Turns> PositionMethod::turnsAt(const Places& places, const Rotary& rotary, RotaryTable& table,
                                           const std::vector<at::Tensor>& trained,
                                           const Eigen::VectorXd& factors, double size) {
    if (trained.empty()) {
        if (!table.cosine.defined() || table.cosine.size(0) < places.T) {
            Rotary scaled = rotary;
            if (factors.size() > 0) scaled.theta = rotary.theta.cwiseProduct(factors);
            outgrown_.insert(outgrown_.end(), {table.cosine, table.sine});
            table = makeRotaryTable(scaled, atLeastTrained(places.T), options_);
            if (size != 1) table = {table.cosine * size, table.sine * size, table.pairing};
        }
        if (places.one_each.defined())
            return {{table.cosine.index_select(0, places.one_each).unsqueeze(1),
                     table.sine.index_select(0, places.one_each).unsqueeze(1)}};
        return {{table.cosine.narrow(0, 0, places.T), table.sine.narrow(0, 0, places.T)}};
    }
    const at::TensorOptions exact = options_.dtype(at::kDouble);  // angles grow with the position
    const at::Tensor positions = places.one_each.defined() ? places.one_each.to(at::kDouble).view({-1, 1, 1})
                                                           : at::arange(places.T, exact).unsqueeze(1);
    std::vector<Turns> turns;
    for (const at::Tensor& theta : trained) {
        at::Tensor angles = positions * theta.to(at::kDouble);
        if (factors.size() > 0)
            angles =
                angles *
                at::from_blob(const_cast<double*>(factors.data()), {factors.size()}, at::kDouble).to(exact);
        turns.push_back({(angles.cos() * size).to(options_), (angles.sin() * size).to(options_)});
    }
    return turns;
}

void PositionMethod::rescale(const Scaling& scaling, double length) {
    if (scaling.method != ScalingMethod::none && !turns())
        throw Error(ErrorKind::usage, "position = \"" + specification_.model.position +
                                          "\" has no frequencies that could be scaled");
    double unused = 1;
    query_key_factors_ = factorsOf(query_key_, specification_, scaling, length, turn_size_);
    value_factors_ = factorsOf(value_, specification_, scaling, length, unused);
    query_key_table_ = value_table_ = {};
}

}  // namespace roper
