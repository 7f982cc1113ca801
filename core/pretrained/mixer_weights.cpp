#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// The kernel of a depthwise convolution over K = `taps` tokens, stored [features, 1, K] or [features, K].
MatrixLocation locateTaps(TensorLocator& in, const std::string& name, std::int64_t features,
                          std::int64_t taps) {
    const StoredTensor& tensor = in.tensor(name + ".weight");
    if (tensor.count() != features * taps || tensor.shape.front() != features || tensor.shape.back() != taps)
        in.refuse(name + ".weight", tensor, std::to_string(features) + " × 1 × " + std::to_string(taps));
    return {name + ".weight", false, features, taps};
}

}  // namespace

ShortConvolutionWeights locateConvolution(TensorLocator& in, std::int64_t layer) {
    const Architecture& model = in.model();
    const ConvolutionNames& names = in.allNames().convolution_names;
    const std::int64_t width = model.width, taps = model.convolution_taps;
    const BiasRule bias = in.isGguf()                ? BiasRule::if_present
                          : model.convolution_biases ? BiasRule::always
                                                     : BiasRule::never;
    const std::string kernel = in.inLayer(layer, names.taps);
    ShortConvolutionWeights weights{in.linear(in.inLayer(layer, names.in), 3 * width, width, bias),
                                    locateTaps(in, kernel, width, taps),
                                    {},
                                    in.linear(in.inLayer(layer, names.out), width, width, bias)};
    if (bias == BiasRule::always || (bias == BiasRule::if_present && in.hasTensor(kernel + ".bias")))
        weights.bias = in.vector(kernel + ".bias", width);
    return weights;
}

GatedDeltaWeights locateGatedDelta(TensorLocator& in, std::int64_t layer) {
    const GatedDelta& sizes = in.model().gated_delta;
    const GatedDeltaNames& names = in.allNames().delta_names;
    const std::int64_t width = in.model().width, h = sizes.value_heads,
                       mixed = 2 * sizes.keysWidth() + sizes.valuesWidth();
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    const auto linear = [&](const std::string& part, std::int64_t out) {
        return in.linear(name(part), out, width, BiasRule::never);
    };
    const auto fusedPart = [&](const std::string& part, const std::vector<std::int64_t>& counts,
                               std::size_t which) {  // rows by key head
        return in.fusedPart(name(part), width, sizes.key_heads, counts, which, BiasRule::never);
    };
    GatedDeltaWeights weights;
    if (!names.query_key_value_gate.empty()) {
        const std::int64_t values = h / sizes.key_heads * sizes.value_dim;
        const std::vector<std::int64_t> counts = {sizes.key_dim, sizes.key_dim, values, values};
        for (const std::size_t part : {0U, 1U, 2U})
            weights.query_key_value.push_back(fusedPart(names.query_key_value_gate, counts, part));
        weights.gate = fusedPart(names.query_key_value_gate, counts, 3);
    } else {
        weights.query_key_value = {linear(names.query_key_value, mixed)};
        weights.gate = linear(names.gate, sizes.valuesWidth());
    }
    if (!names.beta_decay.empty() && in.has(name(names.beta_decay))) {
        const std::vector<std::int64_t> counts(2, h / sizes.key_heads);
        weights.beta = fusedPart(names.beta_decay, counts, 0);
        weights.decay = fusedPart(names.beta_decay, counts, 1);
    } else {
        weights.beta = linear(names.beta, h);
        weights.decay = linear(names.decay, h);
    }
    weights.taps = locateTaps(in, name(names.taps), mixed, sizes.taps);
    weights.decay_bias = in.vector(name(names.decay_bias), h);
    weights.decay_is_log = !names.decay_log.empty();
    weights.decay_scale = in.vector(name(weights.decay_is_log ? names.decay_log : names.decay_scale), h);
    weights.norm = in.vector(name(names.norm) + ".weight", sizes.value_dim);
    weights.out = in.linear(name(names.out), width, sizes.valuesWidth(), BiasRule::never);
    return weights;
}

}  // namespace roper
