#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <atomic>

#include "core/kernels/attention.h"
#include "core/operators/rotary_operator.h"

namespace roper {

/// The numbers of a float32 tensor; null for one that is undefined or empty.
inline const float* floatsOf(const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
}

/// cos and sin [rows, pairs], or [rows, 1, pairs], as kernels read them; they must be contiguous.
inline RotationTable tableOf(const CosSin& cos_sin) {
    return {floatsOf(cos_sin.cosine), floatsOf(cos_sin.sine),
            static_cast<std::size_t>(cos_sin.cosine.size(-1))};
}

/// Does `work(item, scratch)` for every item of an attention, a sequence and head. Each thread takes the next
/// one as soon as it is free, since nobody knows what else its core has to do.
template <class Work>
void forEachItem(std::size_t items, Work work) {
    std::atomic<std::size_t> next{0};
    at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t, std::int64_t) {
        thread_local AttentionScratch scratch;
        for (std::size_t item = next++; item < items; item = next++)
            work(item, scratch);
    });
}

}  // namespace roper
