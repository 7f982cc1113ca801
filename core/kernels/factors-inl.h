// Layout of the factors of products in scratch, for each number format, Kind (products-inl.h). Included once
// for every instruction set (hwy/foreach_target.h).
//
// A product runs along features or along tokens. With float32 the same rows serve both; with bfloat16 two
// consecutive numbers in the product's direction must be adjacent, so there are two arrays: rows, whose units
// lie along features, and stacked rows, whose units hold one feature of two tokens.

#if defined(ROPER_KERNELS_FACTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_FACTORS_INL_H_
#undef ROPER_KERNELS_FACTORS_INL_H_
#else
#define ROPER_KERNELS_FACTORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "core/kernels/products-inl.h"
#include "core/kernels/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Two vectors, rounded to bfloat16 and interleaved: one number of `first` and one of `second` per lane.
HWY_INLINE HWY_ATTR hn::Vec<hn::ScalableTag<std::uint32_t>> interleaveBFloat16(Vector first, Vector second) {
    const Floats f;
    const hn::ScalableTag<std::uint32_t> u;
    return hn::Or(hn::ShiftRight<16>(roundedUpperHalves(f, first)),
                  hn::And(roundedUpperHalves(f, second), hn::Set(u, 0xFFFF0000U)));
}

/// Rows of a factor, one per token; unneeded arrays are null. With float32 only `rows` is used.
template <class Kind>
struct Factor {
    typename Kind::Unit* rows;     ///< [tokens, width / kDepth]
    typename Kind::Unit* stacked;  ///< [tokens / kDepth, width]

    /// The array for products over tokens.
    const typename Kind::Unit* alongTokens() const {
        if constexpr (Kind::kDepth == 1) return rows;
        return stacked;
    }
};

/// Fills the first `tokens` rows: make(t, row) writes the numbers of token t, [width].
/// @param buffer  space for two rows, or null with float32
template <class Kind, class Make>
HWY_INLINE HWY_ATTR void fillFactor(std::size_t tokens, std::size_t width, const Factor<Kind>& to,
                                    float* buffer, Make make) {
    if constexpr (Kind::kDepth == 1) {
        for (std::size_t t = 0; t < tokens; ++t)
            make(t, to.rows + t * width);
    } else {
        const Floats f;
        for (std::size_t t = 0; t < tokens; t += 2) {
            make(t, buffer);
            make(t + 1, buffer + width);
            for (std::size_t i = 0; i < width; i += lanes()) {
                const auto first = hn::LoadU(f, buffer + i), second = hn::LoadU(f, buffer + width + i);
                if (to.stacked != nullptr)
                    hn::StoreU(interleaveBFloat16(first, second), hn::ScalableTag<std::uint32_t>(),
                               to.stacked + t / 2 * width + i);
                if (to.rows == nullptr) continue;
                storeNumbers(f, first, reinterpret_cast<BFloat16*>(to.rows + t * width / 2) + i);
                storeNumbers(f, second, reinterpret_cast<BFloat16*>(to.rows + (t + 1) * width / 2) + i);
            }
        }
    }
}

/// Writes vectors as consecutive rows, from row 0 on, of a factor whose products sum over rows.
template <class Kind>
class ColumnWriter {
  public:
    /// @param row  units per row
    HWY_INLINE HWY_ATTR ColumnWriter(typename Kind::Unit* to, std::size_t row)
        : to_(to), row_(row), pending_(hn::Zero(Floats())) {}

    HWY_INLINE HWY_ATTR void put(std::size_t j, Vector numbers) {
        if constexpr (Kind::kDepth == 1)
            hn::StoreU(numbers, Floats(), to_ + j * row_);
        else if (j % 2 == 0)
            pending_ = numbers;
        else
            store(j, numbers);
    }

    /// To be called after the last of `count` rows: pads an odd number of rows with 0.
    HWY_INLINE HWY_ATTR void finish(std::size_t count) {
        if constexpr (Kind::kDepth == 2)
            if (count % 2 == 1) store(count, hn::Zero(Floats()));
    }

  private:
    HWY_INLINE HWY_ATTR void store(std::size_t j, Vector numbers) {
        hn::StoreU(interleaveBFloat16(pending_, numbers), hn::ScalableTag<std::uint32_t>(),
                   to_ + j / 2 * row_);
    }

    typename Kind::Unit* to_;
    std::size_t row_;
    Vector pending_;
};

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
