#include "core/model/kernel_cache.h"

#include <ATen/ATen.h>

#include "core/kernels/cached_attention.h"
#include "core/model/attention_items.h"
#include "core/operators/typed_data.h"

namespace roper {
namespace {

std::size_t sizeOf(std::int64_t size) {
    return static_cast<std::size_t>(size);
}

template <class Number>
CachedLayer<Number> layerOf(const at::Tensor& keys, const at::Tensor& values, std::int64_t capacity) {
    return {typedData<Number>(keys), typedData<Number>(values), sizeOf(capacity)};
}

}  // namespace

void KernelCache::append(const at::Tensor& given, const PassPositions& pass) {
    const at::Tensor qkv = given.contiguous();
    const std::int64_t B = qkv.size(0), T = qkv.size(1);
    TORCH_CHECK(T <= capacity_ && qkv.size(2) == 3 * heads_ * head_dim_, "KernelCache: no room for ",
                qkv.sizes());
    const std::size_t layer = keys_.size();
    const auto numbers = static_cast<std::int64_t>(cachedNumbers(sizeOf(head_dim_), sizeOf(capacity_)));
    for (auto* layers : {&keys_, &values_})
        layers->push_back(at::zeros({B, heads_, numbers}, qkv.options()));
    slots_ = at::arange(B, at::kLong);
    AttentionSetup setup;
    setup.B = sizeOf(B);
    setup.T = sizeOf(T);
    setup.H = sizeOf(heads_);
    setup.d = sizeOf(head_dim_);
    setup.pairing = pairing_;
    setup.key = rotationTable(pass.keyCosSin(layer));
    setup.value = rotationTable(pass.valueCosSin(layer));
    dispatchType(qkv, [&](auto number) {
        const auto* const from = typedData<decltype(number)>(qkv);
        const auto to = layerOf<decltype(number)>(keys_[layer], values_[layer], capacity_);
        forEachItem(setup.B * setup.H, [&](std::size_t item, AttentionScratch& scratch) {
            cachePrompt(setup, from, to, item, scratch);
        });
    });
}

at::Tensor KernelCache::attend(std::size_t layer, const at::Tensor& given, const at::Tensor& positions,
                               const PassPositions& pass) {
    const at::Tensor qkv = given.contiguous(),
                     bias = pass.bias.defined() ? pass.bias.contiguous() : at::Tensor();
    TORCH_CHECK(positions.size(0) == slots_.size(0) && qkv.size(0) >= slots_.size(0) && qkv.size(1) == 1,
                "KernelCache: ", positions.size(0), " positions and ", qkv.sizes(), " for ", slots_.size(0),
                " sequences");
    const at::Tensor out = at::zeros({qkv.size(0), 1, heads_ * head_dim_}, qkv.options());
    const DecodingSetup setup{.B = sizeOf(slots_.size(0)),
                              .H = sizeOf(heads_),
                              .d = sizeOf(head_dim_),
                              .pairing = pairing_,
                              .query = rotationTable(pass.queryCosSin(layer)),
                              .key = rotationTable(pass.keyCosSin(layer)),
                              .value = rotationTable(pass.valueCosSin(layer)),
                              .positions = positions.const_data_ptr<std::int64_t>(),
                              .slots = slots_.const_data_ptr<std::int64_t>(),
                              .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                              .bias_keys = bias.defined() ? sizeOf(bias.size(3)) : 0};
    dispatchType(qkv, [&](auto number) {
        const auto* const from = typedData<decltype(number)>(qkv);
        auto* const to = typedData<decltype(number)>(out);
        const auto cache = layerOf<decltype(number)>(keys_[layer], values_[layer], capacity_);
        forEachItem(setup.B * setup.H, [&](std::size_t item, AttentionScratch& scratch) {
            attendToCache(setup, from, cache, to, item, scratch);
        });
    });
    return out;
}

}  // namespace roper
