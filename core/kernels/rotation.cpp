#include "core/kernels/rotation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rotation.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {

inline HWY_ATTR void rotateAll(const float* from, std::ptrdiff_t from_stride, float* to,
                               std::ptrdiff_t to_stride, std::size_t rows, std::size_t d, Pairing pairing,
                               const float* cosine, const float* sine, std::size_t pairs, float sign) {
    for (std::size_t row = 0; row < rows; ++row, from += from_stride, to += to_stride)
        rotateRow(from, to, d, pairing, cosine, sine, pairs, sign, 1.0F);
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(rotateAll);

}  // namespace

void rotateRows(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride,
                std::size_t rows, std::size_t d, Pairing pairing, const float* cosine, const float* sine,
                std::size_t pairs, float sign) {
    HWY_DYNAMIC_DISPATCH(rotateAll)
    (from, from_stride, to, to_stride, rows, d, pairing, cosine, sine, pairs, sign);
}

}  // namespace roper
#endif
