#include "core/model/key_value_cache.h"

#include <ATen/ATen.h>

namespace roper {

void KeyValueCache::selectSequences(const at::Tensor& rows) {
    for (auto* layers : {&keys_, &values_, &unrotated_keys_})
        for (at::Tensor& layer : *layers)
            layer = layer.index_select(0, rows);
}

void KeyValueCache::append(const Heads& heads) {
    const auto store = [&](std::vector<at::Tensor>& layers, const at::Tensor& made) {
        if (!made.defined()) return;
        const std::int64_t B = made.size(0), H = made.size(1), T = made.size(2), d = made.size(3);
        layers.push_back(at::zeros({B, H, capacity_, d}, made.options()));
        layers.back().narrow(2, 0, T).copy_(made);
    };
    store(keys_, heads.k);
    store(values_, heads.v);
    store(unrotated_keys_, heads.unrotated_k);
}

Heads KeyValueCache::extend(std::size_t layer, const Heads& heads, const at::Tensor& positions,
                            std::int64_t used) {
    const std::int64_t B = heads.k.size(0), H = heads.k.size(1), d = heads.k.size(3);
    const at::Tensor slot = positions.view({B, 1, 1, 1}).expand({B, H, 1, d});
    const auto cachedTokens = [&](std::vector<at::Tensor>& layers, const at::Tensor& made) {
        if (!made.defined()) return at::Tensor();
        layers[layer].scatter_(2, slot, made);
        return layers[layer].narrow(2, 0, used);
    };
    return {heads.q, cachedTokens(keys_, heads.k), cachedTokens(values_, heads.v), heads.unrotated_q,
            cachedTokens(unrotated_keys_, heads.unrotated_k)};
}

}  // namespace roper
