#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <atomic>

#include "core/kernels/attention.h"
#include "core/operators/rotary_operator.h"

namespace roper {

/// The data of a float32 tensor; null if it is undefined or empty.
inline const float* floatData(const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
}

/// cos and sin [rows, pairs], or [rows, 1, pairs], in the form used by kernels; they must be contiguous.
inline RotationTable rotationTable(const CosSin& cos_sin) {
    return {floatData(cos_sin.cosine), floatData(cos_sin.sine),
            static_cast<std::size_t>(cos_sin.cosine.size(-1))};
}

/// Calls `work(item, scratch)` for every item, a sequence and head. Items are scheduled dynamically, since
/// the load of the cores is unknown.
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
