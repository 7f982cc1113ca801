#include <ATen/ATen.h>

#include "core/language_model/decoder.h"
#include "core/rotary/scaling.h"

namespace roper {
namespace {

/// The two features of every pair of x [heads, T, d], whose first r features rotate: [heads, T, r/2] each.
struct Pairs {
    at::Tensor first, second;
};
Pairs pairsOf(const at::Tensor& x, Pairing pairing, std::int64_t r) {
    const at::Tensor features = x.narrow(2, 0, r);
    if (pairing == Pairing::half) {
        const at::Tensor halves = features.unflatten(2, {2, r / 2});
        return {halves.select(2, 0), halves.select(2, 1)};
    }
    const at::Tensor neighbours = features.unflatten(2, {r / 2, 2});
    return {neighbours.select(3, 0), neighbours.select(3, 1)};
}

/// What `decay` makes of every pair at positions from `first` on → [T, pairs]
at::Tensor decayOf(const Architecture& model, std::int64_t first, std::int64_t T, int pairs, bool is_query) {
    at::Tensor factors = at::empty({T, pairs}, at::kDouble);
    auto access = factors.accessor<double, 2>();
    for (std::int64_t t = 0; t < T; ++t)
        for (int pair = 0; pair < pairs; ++pair)
            access[t][pair] = model.decay(pair, pairs, static_cast<double>(first + t), is_query);
    return factors;
}

}  // namespace

/// Angles of T positions from the first on, shifted, computed in float64: far from 0 float32 has no room for
/// them.
std::vector<Decoder::Rotation> Decoder::rotationsFor(const std::vector<RotaryConfig>& kinds,
                                                     std::int64_t first, std::int64_t T,
                                                     const Intervention& intervention, Scaled what) const {
    std::vector<Rotation> rotations;
    for (const RotaryConfig& by : kinds) {
        rotations.emplace_back();
        if (by.rotatedWidth() == 0) continue;
        const ScaledFrequencies scaled =
            by.frequenciesIn(static_cast<double>(first + T), intervention.base, intervention.scaling);
        const int pairs = by.rotatedWidth() / 2;
        at::Tensor theta = at::empty({pairs}, at::kDouble);
        for (std::int64_t pair = 0; pair < pairs; ++pair)
            theta.mutable_data_ptr<double>()[pair] = scaled.theta[pair];
        const std::int64_t from = intervention.shift + first;
        const at::Tensor angles = at::arange(from, from + T, at::kDouble).unsqueeze(1) * theta;
        const double factor = what == Scaled::scores ? scaled.attention_factor : 1;
        const at::Tensor cos = at::cos(angles) * factor, sin = at::sin(angles) * factor;
        const auto made = [&](bool is_query) -> CosSin {
            if (!architecture().decay) return {cos.to(at::kFloat), sin.to(at::kFloat)};
            const at::Tensor decay = decayOf(architecture(), from, T, pairs, is_query);
            return {(cos * decay).to(at::kFloat), (sin * decay).to(at::kFloat)};
        };
        rotations.back() = {made(true), made(false)};
    }
    return rotations;
}

/// The bias of every head by distance n − j + N − 1 → [H, 2N − 1]; undefined where there is none.
at::Tensor Decoder::biasFor(std::int64_t N) const {
    const Architecture& model = architecture();
    if (model.head_bias.empty()) return {};
    at::Tensor bias = at::empty({model.heads, 2 * N - 1});
    auto access = bias.accessor<float, 2>();
    for (std::int64_t head = 0; head < model.heads; ++head)
        for (std::int64_t place = 0; place < 2 * N - 1; ++place)
            access[head][place] = static_cast<float>(
                model.head_bias[static_cast<std::size_t>(head)](static_cast<int>(place - N + 1)));
    return bias;
}

/// x [heads, T, d] rotated by its positions, or against them, the same shape.
at::Tensor Decoder::rotated(const at::Tensor& x, const RotaryConfig& by, const CosSin& angles,
                            bool back) const {
    const std::int64_t r = by.rotatedWidth(), rest = x.size(2) - r;
    if (r == 0) return x.clone();
    const at::Tensor sin = back ? -angles.sin : angles.sin;
    const auto [first, second] = pairsOf(x, by.pairing, r);
    at::Tensor out = at::empty_like(x, x.options(), at::MemoryFormat::Contiguous);
    const auto [out_first, out_second] = pairsOf(out, by.pairing, r);
    out_first.copy_(first * angles.cos - second * sin);
    out_second.copy_(second * angles.cos + first * sin);
    if (rest > 0) out.narrow(2, r, rest).copy_(x.narrow(2, r, rest));
    return out;
}

/// RoPER: R(−n) of what the heads have mixed [H, T, d].
at::Tensor Decoder::rotatedBack(const at::Tensor& mixed, std::int64_t layer, const Pass& pass) const {
    const Architecture& model = architecture();
    const std::size_t kind = model.rotation_of_layer[static_cast<std::size_t>(layer)];
    at::Tensor back =
        rotated(mixed, model.value_rotations[kind], pass.value_rotations[kind].keys, /*back=*/true);
    for (std::int64_t head = 0; head < model.heads; ++head)
        for (const auto* const left_out :
             {&pass.intervention.not_rotated_back, &pass.intervention.unrotated_values})
            for (const HeadChoice& choice : *left_out)
                if (choice.holds(layer, head)) back.select(0, head).copy_(mixed.select(0, head));
    return back;
}

void Decoder::intervene(LayerView& view, const Intervention& intervention) const {
    const Architecture& model = architecture();
    const RotaryConfig& by = model.rotationOf(view.layer);
    // What differs between heads of a group is theirs alone from then on.
    const auto ofHead = [&](at::Tensor& x, std::int64_t head) {
        if (x.size(0) != model.heads) x = x.repeat_interleave(model.heads / x.size(0), 0);
        return x.select(0, head);
    };
    const auto forEachHead = [&](const std::vector<HeadChoice>& choices, const auto& change) {
        for (const HeadChoice& choice : choices)
            for (std::int64_t head = 0; head < model.heads; ++head)
                if (choice.holds(view.layer, head)) change(head, head * model.key_value_heads / model.heads);
    };
    forEachHead(intervention.unrotated, [&](std::int64_t head, std::int64_t group) {
        view.rotated_q.select(0, head).copy_(view.unrotated_q.select(0, head));
        ofHead(view.rotated_k, head).copy_(view.unrotated_k.select(0, group));
    });
    if (!model.value_rotations.empty())
        forEachHead(intervention.unrotated_values, [&](std::int64_t head, std::int64_t group) {
            ofHead(view.rotated_v, head).copy_(view.v.select(0, group));
        });
    if (by.rotatedWidth() == 0) return;
    for (const auto& muted : intervention.muted_pairs)
        forEachHead({muted.heads}, [&](std::int64_t head, std::int64_t) {
            for (const std::int64_t pair : muted.pairs) {
                const PairFeatures features =
                    featuresOfPair(by.pairing, by.rotatedWidth(), static_cast<int>(pair));
                view.rotated_q.select(0, head).select(1, features.first).zero_();
                view.rotated_q.select(0, head).select(1, features.second).zero_();
            }
        });
}

}  // namespace roper
