#include <cmath>

#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// Names of the parts of a feed-forward layer.
struct FeedForwardNames {
    std::string gate;
    std::string gate_up;  ///< of gate and up in one tensor; empty: they are two
    std::string up, down;
};

/// @param width  hidden width of the layer
FeedForwardWeights feedForward(TensorLocator& in, std::int64_t layer, const FeedForwardNames& names,
                               std::int64_t width) {
    const Architecture& model = in.model();
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    const BiasRule bias = in.biases().feed_forward;
    FeedForwardWeights weights;
    if (model.gated && !names.gate_up.empty() && in.has(name(names.gate_up))) {
        weights.gate = in.fusedPart(name(names.gate_up), model.width, 1, {width, width}, 0, bias);
        weights.up = in.fusedPart(name(names.gate_up), model.width, 1, {width, width}, 1, bias);
    } else {
        if (model.gated) weights.gate = in.linear(name(names.gate), width, model.width, bias);
        weights.up = in.linear(name(names.up), width, model.width, bias);
    }
    weights.down = in.linear(name(names.down), model.width, width, bias);
    const bool has_cutoff =
        !model.gate_cutoffs.empty() && std::isfinite(model.gate_cutoffs[static_cast<std::size_t>(layer)]);
    if (has_cutoff) weights.gate_cutoff = model.gate_cutoffs[static_cast<std::size_t>(layer)];
    return weights;
}

/// Those of the family's alternative names that this file uses.
const MixtureNames& mixtureNames(const TensorLocator& in, std::int64_t layer) {
    const std::vector<MixtureNames>& all = in.allNames().mixture_names;
    for (const MixtureNames& names : all)
        if (in.has(in.inLayer(layer, names.router))) return names;
    return all.front();
}

/// One linear layer of every expert: a tensor for each, or one for all.
/// @param of_each  name of an expert's tensor; empty: there is one for all, `of_all`
/// @param bias_of_all  name of the biases of all
LinearLocation ofAllExperts(TensorLocator& in, std::int64_t layer, const std::string& of_each,
                            const std::string& of_all, const std::string& bias_of_all, std::int64_t out,
                            std::int64_t width) {
    const std::int64_t experts = in.model().mixture.experts;
    const std::string all = in.inLayer(layer, of_all);
    if (of_all.empty() || (!of_each.empty() && in.has(in.inLayer(layer, withNumber(of_each, 0))))) {
        LinearLocation location;
        for (std::int64_t expert = 0; expert < experts; ++expert)
            location = in.linear(in.inLayer(layer, withNumber(of_each, expert)), out, width, BiasRule::never);
        location.weight.tensor = in.inLayer(layer, of_each) + ".weight";
        return location;
    }
    const bool is_usual = in.tensor(all).shape == std::vector<std::int64_t>{experts, out, width};
    const bool transposed = !in.isGguf() && (in.family().experts_transposed ||
                                             (in.family().experts_may_be_transposed && !is_usual));
    in.tensor(all, {experts, transposed ? width : out, transposed ? out : width});
    LinearLocation location{{all, transposed, out, width, {}, 0}, {}};
    if (!in.model().mixture.expert_biases) return location;
    const std::string bias = in.inLayer(layer, bias_of_all);
    in.tensor(bias, {experts, out});
    location.bias = VectorLocation{bias, out, {}, 0};
    return location;
}

/// The tensors of all experts, as locations of the first (`MixtureWeights::first`).
FeedForwardWeights firstExpert(TensorLocator& in, std::int64_t layer, const MixtureNames& names) {
    const std::int64_t F = in.model().mixture.feed_forward, C = in.model().width;
    FeedForwardWeights first;
    if (!names.all_gate_up.empty() && in.hasTensor(in.inLayer(layer, names.all_gate_up))) {
        first.gate_up = ofAllExperts(in, layer, {}, names.all_gate_up, names.gate_up_bias, 2 * F, C);
        first.gate_up_interleaved = !in.isGguf() && in.family().experts_gate_up_interleaved;
    } else {
        first.gate = ofAllExperts(in, layer, names.gate, names.all_gate, names.gate_bias, F, C);
        first.up = ofAllExperts(in, layer, names.up, names.all_up, names.up_bias, F, C);
    }
    first.down = ofAllExperts(in, layer, names.down, names.all_down, names.down_bias, C, F);
    return first;
}

/// The gate of a shared expert, which GGUF files store as a vector.
LinearLocation sharedSwitch(TensorLocator& in, const std::string& name) {
    const std::int64_t width = in.model().width;
    const StoredTensor& tensor = in.tensor(name + ".weight");
    if (tensor.count() != width || tensor.shape.size() > 2)
        in.refuse(name + ".weight", tensor, "1 × " + std::to_string(width));
    return {{name + ".weight", false, 1, width}, {}};
}

/// The experts of every token [vocabulary, per_token].
MatrixLocation hashTable(TensorLocator& in, const std::string& name) {
    const std::int64_t V = in.model().vocabulary, k = in.model().mixture.per_token;
    const StoredTensor& tensor = in.tensor(name);
    if (tensor.shape != std::vector<std::int64_t>{V, k} || !holdsWholeNumbers(tensor.type))
        in.refuse(name, tensor,
                  std::to_string(V) + " × " + std::to_string(k) + " whole numbers (I64 or I32)");
    return {name, false, V, k};
}

MixtureWeights locateMixture(TensorLocator& in, std::int64_t layer) {
    const ExpertMixture& mixture = in.model().mixture;
    const MixtureNames& names = mixtureNames(in, layer);
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    MixtureWeights weights;
    const bool router_bias_is_choice_bias = names.choice_bias == names.router + ".bias";
    weights.router = in.linear(name(names.router), mixture.choices(), in.model().width,
                               mixture.router_bias          ? BiasRule::always
                               : router_bias_is_choice_bias ? BiasRule::if_present
                                                            : BiasRule::never);
    if (router_bias_is_choice_bias) weights.router.bias.reset();
    if (mixture.isHashed(layer)) weights.hash_table = hashTable(in, name(names.hash_table));
    // As in llama.cpp, a GGUF file may lack the bias.
    if (mixture.choice_bias && !mixture.isHashed(layer) &&
        (!in.isGguf() || in.hasTensor(name(names.choice_bias)))) {
        const bool has_usual_name = in.hasTensor(name(names.choice_bias)) || names.other_choice_bias.empty();
        weights.choice_bias =
            in.vector(name(has_usual_name ? names.choice_bias : names.other_choice_bias), mixture.choices());
    }
    weights.first = firstExpert(in, layer, names);
    if (mixture.shared_feed_forward > 0)
        weights.shared = feedForward(
            in, layer, {names.shared_gate, names.shared_gate_up, names.shared_up, names.shared_down},
            mixture.shared_feed_forward);
    if (mixture.beside_dense) weights.beside_dense = locateBesideDense(in, layer);
    if (mixture.shared_is_gated) weights.shared_gate = sharedSwitch(in, name(names.shared_switch));
    return weights;
}

/// The parameters of a layer's activation: tensors of a folder, entries of a GGUF file.
Xielu locateXielu(TensorLocator& in, std::int64_t layer) {
    if (in.isGguf()) return in.model().xielu[static_cast<std::size_t>(layer)];
    const std::string name = in.inLayer(layer, in.names().activation);
    return {in.number(name + ".alpha_p"), in.number(name + ".alpha_n"), in.number(name + ".beta"),
            in.number(name + ".eps")};
}

}  // namespace

void locateFeedForward(TensorLocator& in, std::int64_t layer, BlockWeights& block) {
    const TensorNames& names = in.names();
    if (in.model().mixture.isIn(layer)) {
        block.mixture = locateMixture(in, layer);
        if (!in.model().mixture.hasDenseBeside()) return;
    }
    const std::int64_t width = in.model().feedForwardOf(layer);
    block.feed_forward = feedForward(in, layer, {names.gate, names.gate_up, names.up, names.down}, width);
    if (in.model().norms_inner)
        block.feed_forward.down_norm = in.norm(in.inLayer(layer, names.down_norm), width);
    if (in.model().activation == Activation::xielu) block.feed_forward.xielu = locateXielu(in, layer);
}

FeedForwardWeights MixtureWeights::expert(std::int64_t number) const {
    FeedForwardWeights weights = first;
    const auto of = [&](LinearLocation& location) {
        location.weight.tensor = withNumber(location.weight.tensor, number);
        if (location.weight.index) location.weight.index = number;
        if (location.bias) location.bias->index = number;
    };
    if (weights.gate) of(*weights.gate);
    if (weights.gate_up) of(*weights.gate_up);
    of(weights.up);
    of(weights.down);
    return weights;
}

}  // namespace roper
