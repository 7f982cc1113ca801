#include <ATen/ATen.h>

#include "core/language_model/decoder.h"
#include "core/rotary/scaling.h"

namespace roper {

/// Cosines and sines for T positions from `first` on, with the intervention's shift. Computed in float64,
/// since float32 is not precise enough for large positions.
std::vector<Decoder::Rotation> Decoder::rotationsFor(const std::vector<RotaryConfig>& kinds,
                                                     std::int64_t first, std::int64_t T,
                                                     const Intervention& intervention,
                                                     AttentionFactorUse what) const {
    std::vector<Rotation> rotations;
    for (const RotaryConfig& by : kinds) {
        rotations.emplace_back();
        if (by.rotatedWidth() == 0) continue;
        const ScaledFrequencies scaled =
            by.frequenciesForLength(static_cast<double>(first + T), intervention.base, intervention.scaling);
        const int pairs = by.pairs();
        const std::int64_t from = intervention.shift + first;
        const double factor = what == AttentionFactorUse::scores ? scaled.attention_factor : 1;
        const CosSin exact = makeCosSinTable({by.head_dim, by.pairing, scaled.theta}, from, T, at::kDouble);
        const auto made = [&](bool is_query) -> CosSin {
            // If keys are also values, they must not be scaled, so queries are scaled twice, as in training.
            const double own = !architecture().shared_kv ? factor : is_query ? factor * factor : 1;
            const at::Tensor cosine = exact.cosine * own, sine = exact.sine * own;
            if (!architecture().decay) return {cosine.to(at::kFloat), sine.to(at::kFloat)};
            const at::Tensor decay = makeDecayTable(architecture().decay, pairs, from, T, is_query);
            return {(cosine * decay).to(at::kFloat), (sine * decay).to(at::kFloat)};
        };
        rotations.back() = {made(true), made(false), scaled.attention_factor};
    }
    return rotations;
}

/// The bias of every head at `count` distances or positions from `first` on → [H, count]; undefined if there
/// is none.
at::Tensor Decoder::biasesOfHeads(const std::vector<std::function<double(int)>>& bias_of_head,
                                  std::int64_t first, std::int64_t count) {
    if (bias_of_head.empty()) return {};
    at::Tensor bias = at::empty({std::ssize(bias_of_head), count});
    auto access = bias.accessor<float, 2>();
    for (std::int64_t head = 0; head < std::ssize(bias_of_head); ++head)
        for (std::int64_t i = 0; i < count; ++i)
            access[head][i] =
                static_cast<float>(bias_of_head[static_cast<std::size_t>(head)](static_cast<int>(first + i)));
    return bias;
}

/// Rotates x [heads, tokens of all sequences, d] by its positions, or back → the same shape
at::Tensor Decoder::rotated(const at::Tensor& x, const RotaryConfig& by, const CosSin& angles,
                            Direction direction) const {
    if (by.rotatedWidth() == 0) return x.clone();
    const std::int64_t T = angles.cosine.size(0);
    if (const int first = by.firstRotated(); first > 0) {
        RotaryConfig alone = by;
        alone.head_dim = by.rotatedWidth();
        alone.rotary_fraction = 1;
        return at::cat(
            {x.narrow(2, 0, first), rotated(x.narrow(2, first, alone.head_dim), alone, angles, direction)},
            2);
    }
    return rotate(x.unflatten(1, {x.size(1) / T, T}), angles.cosine, angles.sine, by.pairing, direction)
        .flatten(1, 2);
}

/// RoPER: R(−n) applied to the heads' weighted sums [H, T, d].
at::Tensor Decoder::rotatedBack(const at::Tensor& mixed, std::int64_t layer, const Pass& pass) const {
    const Architecture& model = architecture();
    const std::size_t index = model.rotation_of_layer[static_cast<std::size_t>(layer)];
    at::Tensor back =
        rotated(mixed, model.value_rotations[index], pass.value_rotations[index].keys, Direction::inverse);
    for (std::int64_t head = 0; head < model.heads; ++head)
        for (const auto* const left_out :
             {&pass.intervention.uninverted_heads, &pass.intervention.unrotated_value_heads})
            for (const HeadSelection& choice : *left_out)
                if (choice.contains(layer, head)) back.select(0, head).copy_(mixed.select(0, head));
    return back;
}

void Decoder::intervene(LayerView& view, const Intervention& intervention) const {
    const Architecture& model = architecture();
    const RotaryConfig& by = model.rotationOf(view.layer);
    // Heads of a group share keys and values; they are copied for each head before those of one are changed.
    const auto ofHead = [&](at::Tensor& x, std::int64_t head) {
        if (x.size(0) != model.heads) x = x.repeat_interleave(model.heads / x.size(0), 0);
        return x.select(0, head);
    };
    const auto forEachHead = [&](const std::vector<HeadSelection>& choices, const auto& change) {
        for (const HeadSelection& choice : choices)
            for (std::int64_t head = 0; head < model.heads; ++head)
                if (choice.contains(view.layer, head))
                    change(head, head * model.keyValueHeadsOf(view.layer) / model.heads);
    };
    forEachHead(intervention.unrotated, [&](std::int64_t head, std::int64_t group) {
        view.rotated_q.select(0, head).copy_(view.unrotated_q.select(0, head));
        ofHead(view.rotated_k, head).copy_(view.unrotated_k.select(0, group));
    });
    if (!model.value_rotations.empty())
        forEachHead(intervention.unrotated_value_heads, [&](std::int64_t head, std::int64_t group) {
            ofHead(view.rotated_v, head).copy_(view.v.select(0, group));
        });
    if (by.rotatedWidth() == 0) return;
    for (const auto& ablated : intervention.ablated_pairs)
        forEachHead({ablated.heads}, [&](std::int64_t head, std::int64_t) {
            for (const std::int64_t pair : ablated.pairs) {
                const PairFeatures features = by.features(static_cast<int>(pair));
                view.rotated_q.select(0, head).select(1, features.first).zero_();
                view.rotated_q.select(0, head).select(1, features.second).zero_();
            }
        });
}

}  // namespace roper
