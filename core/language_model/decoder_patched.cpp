#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "core/language_model/decoder.h"

// Activation patching of many heads at once. T tokens, C = width.

namespace roper {

void HeadPatch::applyTo(const at::Tensor& mixed, std::int64_t first) const {
    const std::int64_t from = position.value_or(0), count = position ? 1 : output.size(0);
    mixed.select(0, head).narrow(0, first + from, count).copy_(output.narrow(0, from, count));
}

bool Decoder::canPatchTogether() const {
    const Architecture& model = architecture();
    const auto& source = model.key_value_source;
    bool shares_keys = false;
    for (std::int64_t layer = 0; layer < std::ssize(source); ++layer)
        shares_keys = shares_keys || model.sharesKeysAndValues(layer);
    return model.mixers.empty() && !shares_keys && !model.hasStreams() && !model.mixture.hasHashed() &&
           !model.layer_embeddings.isUsed() && !model.mixture.skips_layer && !model.indexer.isUsed();
}

at::Tensor Decoder::lastHiddenPatched(
    std::span<const std::int64_t> tokens, std::span<const at::Tensor> residuals,
    std::span<const HeadPatch> patches, const Intervention& intervention,
    const std::function<void(std::int64_t done, std::int64_t all)>& progress) {
    const at::NoGradGuard no_gradients;
    const std::int64_t T = std::ssize(tokens), layers = architecture().layers, count = std::ssize(patches);
    std::vector<std::int64_t> order(patches.size());  // by layer
    std::iota(order.begin(), order.end(), 0);
    const auto patchAt = [&](std::int64_t i) -> const HeadPatch& {
        return patches[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return patches[static_cast<std::size_t>(a)].layer < patches[static_cast<std::size_t>(b)].layer;
    });
    const std::int64_t together = std::max<std::int64_t>(1, kPatchedTokens / T);
    std::int64_t all = 0, done = 0;
    for (std::int64_t first = 0; first < count; first += together)
        all += layers - patchAt(first).layer;

    const at::Tensor last = at::empty({count, architecture().width}, at::kFloat);
    for (std::int64_t first = 0; first < count; first += together) {
        const std::int64_t end = std::min(count, first + together);
        // Patches before `begun` are in the batch; those from `added` on joined it in the current layer.
        std::int64_t begun = first, added = first;
        ForwardHooks hooks;
        hooks.heads = [&](std::int64_t, at::Tensor& mixed) {
            for (std::int64_t i = added; i < begun; ++i)
                patchAt(i).applyTo(mixed, (i - first) * T);
        };
        Pass::Carried carried;
        Pass pass = passOver(tokens, intervention, hooks, nullptr, carried);
        at::Tensor x;
        for (std::int64_t layer = patchAt(first).layer; layer < layers; ++layer) {
            if (progress) progress(done++, all);
            added = begun;
            while (begun < end && patchAt(begun).layer == layer)
                ++begun;
            if (begun > added) {
                const at::Tensor new_rows =
                    residuals[static_cast<std::size_t>(layer)].repeat({begun - added, 1});
                x = x.defined() ? at::cat({x, new_rows}) : new_rows;
            }
            pass.sequences = begun - first;
            x = afterBlock(x, layer, pass);
        }
        const at::Tensor states = finalNorm(x.view({end - first, T, x.size(1)}).select(1, T - 1));
        for (std::int64_t i = first; i < end; ++i)
            last.select(0, order[static_cast<std::size_t>(i)]).copy_(states.select(0, i - first));
    }
    if (progress) progress(all, all);
    return last;
}

}  // namespace roper
