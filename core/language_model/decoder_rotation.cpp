#include <ATen/ATen.h>

#include "core/language_model/decoder.h"
#include "core/rotary/scaling.h"

namespace roper {

/// Angles of T positions from the first on, shifted, computed in float64: far from 0 float32 has no room for
/// them.
std::vector<Decoder::Rotation> Decoder::rotationsFor(std::int64_t first, std::int64_t T,
                                                     const Intervention& intervention) const {
    std::vector<Rotation> rotations;
    for (const LayerRotation& by : architecture().rotations) {
        rotations.emplace_back();
        if (by.width == 0) continue;
        const ScaledFrequencies scaled =
            scaledFrequencies(by.width, intervention.base.value_or(by.base), FrequencyFormula::standard,
                              intervention.scaling.value_or(by.scaling), static_cast<double>(first + T));
        at::Tensor theta = at::empty({by.width / 2}, at::kDouble);
        for (std::int64_t pair = 0; pair < by.width / 2; ++pair)
            theta.mutable_data_ptr<double>()[pair] = scaled.theta[pair];
        const at::Tensor positions =
            at::arange(intervention.shift + first, intervention.shift + first + T, at::kDouble);
        const at::Tensor angles = positions.unsqueeze(1) * theta;
        rotations.back() = {at::cos(angles).mul_(scaled.attention_factor).to(at::kFloat),
                            at::sin(angles).mul_(scaled.attention_factor).to(at::kFloat)};
    }
    return rotations;
}

/// x [heads, T, d] rotated by its positions, the same shape.
at::Tensor Decoder::rotated(const at::Tensor& x, std::int64_t layer,
                            const std::vector<Rotation>& rotations) const {
    const LayerRotation& by = architecture().rotationOf(layer);
    const std::int64_t r = by.width, rest = x.size(2) - r;
    if (r == 0) return x.clone();
    const auto& [cos, sin] = rotations[architecture().rotation_of_layer[static_cast<std::size_t>(layer)]];
    const bool halves = by.pairing == Pairing::half;
    const at::Tensor features = x.narrow(2, 0, r);
    // [heads, T, r/2, 2] or [heads, T, 2, r/2]: the two features of every pair
    const at::Tensor pairs = halves ? features.unflatten(2, {2, r / 2}) : features.unflatten(2, {r / 2, 2});
    const std::int64_t side = halves ? 2 : 3;
    const at::Tensor first = pairs.select(side, 0), second = pairs.select(side, 1);
    at::Tensor out = at::empty_like(x, x.options(), at::MemoryFormat::Contiguous);
    const at::Tensor out_features = out.narrow(2, 0, r);
    const at::Tensor out_pairs =
        halves ? out_features.unflatten(2, {2, r / 2}) : out_features.unflatten(2, {r / 2, 2});
    out_pairs.select(side, 0).copy_(first * cos - second * sin);
    out_pairs.select(side, 1).copy_(second * cos + first * sin);
    if (rest > 0) out.narrow(2, r, rest).copy_(x.narrow(2, r, rest));
    return out;
}

void Decoder::intervene(LayerView& view, const Intervention& intervention) const {
    const Architecture& model = architecture();
    const LayerRotation& by = model.rotationOf(view.layer);
    for (const HeadChoice& choice : intervention.unrotated)
        for (std::int64_t head = 0; head < model.heads; ++head) {
            if (!choice.holds(view.layer, head)) continue;
            // Its keys differ from those of the group from now on.
            if (view.rotated_k.size(0) != model.heads)
                view.rotated_k = view.rotated_k.repeat_interleave(model.heads / view.rotated_k.size(0), 0);
            view.rotated_q.select(0, head).copy_(view.q.select(0, head));
            view.rotated_k.select(0, head).copy_(
                view.k.select(0, head * model.key_value_heads / model.heads));
        }
    for (const auto& muted : intervention.muted_pairs)
        for (std::int64_t head = 0; head < model.heads; ++head) {
            if (!muted.heads.holds(view.layer, head)) continue;
            for (const int pair : muted.pairs) {
                const PairFeatures features = featuresOfPair(by.pairing, by.width, pair);
                view.rotated_q.select(0, head).select(1, features.first).zero_();
                view.rotated_q.select(0, head).select(1, features.second).zero_();
            }
        }
}

}  // namespace roper
