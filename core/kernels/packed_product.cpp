#include "core/kernels/packed_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/packed_product.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vectors-inl.h"
#include "hwy/highway.h"

#ifndef ROPER_KERNELS_PACKED_PRODUCT_ONCE
#define ROPER_KERNELS_PACKED_PRODUCT_ONCE
namespace roper {
namespace {

constexpr std::size_t kGroup = 32;  ///< columns of which the sum of x is known

}  // namespace
}  // namespace roper
#endif

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Byte = std::uint8_t;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // decoding first is faster

inline bool canMultiply() {
    return false;
}
inline void multiply(Packing, const Byte*, std::size_t, const PackedProductInput&, float*, std::size_t) {}

#else

inline bool canMultiply() {
    return true;
}

using Bytes = hn::FixedTag<Byte, 16>;
using SignedBytes = hn::FixedTag<std::int8_t, 16>;
using Sums = hn::CappedTag<float, 16>;

/// The product of one row of the matrix with M rows of x, while it is summed.
template <std::size_t M>
struct RowProduct {
    const PackedProductInput& input;
    hn::Vec<Sums> sums[M];
    float others[M] = {};  ///< terms that are not summed in vectors: minima, and numbers at the end of a row

    HWY_INLINE HWY_ATTR explicit RowProduct(const PackedProductInput& x) : input(x) {
        for (std::size_t m = 0; m < M; ++m)
            sums[m] = hn::Zero(Sums());
    }

    const float* row(std::size_t m, std::size_t k) const { return input.x() + m * input.columns() + k; }

    /// Adds Σ_i scale · codes_i · x[k + i] for one vector of 16 codes or for two.
    template <class... Codes>
    HWY_INLINE HWY_ATTR void add(std::size_t k, float scale, Codes... codes) {
        constexpr std::size_t kVectors = sizeof...(Codes), kLanes = hn::MaxLanes(Sums()),
                              kParts = 16 / kLanes * kVectors;
        const Sums f;
        const hn::Rebind<std::int32_t, Sums> integers;
        hn::Vec<Sums> numbers[kParts];
        if constexpr (kLanes == 16) {
            std::size_t i = 0;
            ((numbers[i++] = hn::ConvertTo(f, hn::PromoteTo(integers, codes))), ...);
        } else {
            HWY_ALIGN std::int8_t all[16 * kVectors];
            std::size_t i = 0;
            (hn::Store(codes, SignedBytes(), all + 16 * i++), ...);
            const hn::Rebind<std::int8_t, Sums> part;
            for (std::size_t p = 0; p < kParts; ++p)
                numbers[p] = hn::ConvertTo(f, hn::PromoteTo(integers, hn::LoadU(part, all + p * kLanes)));
        }
        const auto scale_v = hn::Set(f, scale);
        for (std::size_t m = 0; m < M; ++m) {
            auto sum = hn::Mul(numbers[0], hn::LoadU(f, row(m, k)));
            for (std::size_t p = 1; p < kParts; ++p)
                sum = hn::MulAdd(numbers[p], hn::LoadU(f, row(m, k + p * kLanes)), sum);
            sums[m] = hn::MulAdd(scale_v, sum, sums[m]);
        }
    }

    /// Adds a number that all 32 elements from column k on have in common.
    HWY_INLINE void addMinimum(std::size_t k, float minimum) {
        for (std::size_t m = 0; m < M; ++m)
            others[m] += minimum * input.sums()[(m * input.columns() + k) / kGroup];
    }

    /// Adds Σ_i numbers_i · x[k + i].
    HWY_INLINE HWY_ATTR void addNumbers(std::size_t k, hn::Vec<Sums> numbers) {
        for (std::size_t m = 0; m < M; ++m)
            sums[m] = hn::MulAdd(numbers, hn::LoadU(Sums(), row(m, k)), sums[m]);
    }
    HWY_INLINE void addNumber(std::size_t k, float number) {
        for (std::size_t m = 0; m < M; ++m)
            others[m] += number * *row(m, k);
    }

    HWY_INLINE HWY_ATTR float result(std::size_t m) const {
        return hn::GetLane(hn::SumOfLanes(Sums(), sums[m])) + others[m];
    }
};

/// As many float16 as `f` has lanes, as float32.
template <class F>
HWY_INLINE HWY_ATTR hn::Vec<F> float16At(F f, const Byte* from) {
    const hn::Rebind<hwy::float16_t, F> halves;
    const auto numbers = hn::PromoteTo(f, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#if HWY_TARGET > HWY_AVX2  // without an instruction for it, Highway makes infinity and NaN finite
    const hn::RebindToUnsigned<F> u;
    const hn::Rebind<std::uint16_t, F> u16;
    const auto bits = hn::PromoteTo(u, hn::LoadU(u16, reinterpret_cast<const std::uint16_t*>(from)));
    const auto exponent = hn::Set(u, 0x7C00);
    const auto is_special = hn::Eq(hn::And(bits, exponent), exponent);
    const auto special =
        hn::Or(hn::Or(hn::ShiftLeft<16>(hn::And(bits, hn::Set(u, 0x8000))), hn::Set(u, 0x7F800000)),
               hn::ShiftLeft<13>(hn::And(bits, hn::Set(u, 0x3FF))));
    return hn::IfThenElse(hn::RebindMask(f, is_special), hn::BitCast(f, special), numbers);
#else
    return numbers;
#endif
}
template <class F>
HWY_INLINE HWY_ATTR hn::Vec<F> bfloat16At(F f, const Byte* from) {
    const hn::Rebind<hwy::bfloat16_t, F> halves;
    return hn::PromoteTo(f, hn::LoadU(halves, reinterpret_cast<const hwy::bfloat16_t*>(from)));
}

/// Four consecutive float16, of which 8 bytes are read.
HWY_INLINE HWY_ATTR auto halvesAt(const Byte* from) {
    return float16At(hn::FixedTag<float, 4>(), from);
}

/// The first two float16 of a block of at least 8 bytes.
struct TwoScales {
    float first, second;
};
HWY_INLINE HWY_ATTR TwoScales scalesAt(const Byte* block) {
    const auto halves = halvesAt(block);
    return {hn::GetLane(halves), hn::ExtractLane(halves, 1)};
}

HWY_INLINE HWY_ATTR hn::Vec<SignedBytes> isSigned(hn::Vec<Bytes> codes) {
    return hn::BitCast(SignedBytes(), codes);
}
HWY_INLINE HWY_ATTR hn::Vec<Bytes> bytesAt(const Byte* from) {
    return hn::LoadU(Bytes(), from);
}
HWY_INLINE HWY_ATTR hn::Vec<Bytes> lowNibbles(hn::Vec<Bytes> bytes) {
    return hn::And(bytes, hn::Set(Bytes(), 0xF));
}
HWY_INLINE HWY_ATTR hn::Vec<Bytes> highNibbles(hn::Vec<Bytes> bytes) {
    return hn::ShiftRight<4>(bytes);
}
HWY_INLINE HWY_ATTR hn::Vec<SignedBytes> less(hn::Vec<Bytes> codes, std::int8_t offset) {
    return hn::Sub(isSigned(codes), hn::Set(SignedBytes(), offset));
}
/// 16 where the bit of an element is set, for 16 elements.
HWY_INLINE HWY_ATTR hn::Vec<Bytes> fifthBits(const Byte* bits) {
    return hn::IfThenElseZero(hn::LoadMaskBits(Bytes(), bits), hn::Set(Bytes(), 16));
}

// A packing: its block's elements and bytes, and how a block is multiplied.

struct Q8_0 {
    static constexpr std::size_t kElements = 32, kBytes = 34;
    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        to.add(k, scalesAt(block).first, isSigned(bytesAt(block + 2)), isSigned(bytesAt(block + 18)));
    }
};

struct Q4_0 {
    static constexpr std::size_t kElements = 32, kBytes = 18;
    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        const auto q = bytesAt(block + 2);
        to.add(k, scalesAt(block).first, less(lowNibbles(q), 8), less(highNibbles(q), 8));
    }
};

struct Q4_1 {
    static constexpr std::size_t kElements = 32, kBytes = 20;
    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        const auto q = bytesAt(block + 4);
        const TwoScales scales = scalesAt(block);
        to.add(k, scales.first, isSigned(lowNibbles(q)), isSigned(highNibbles(q)));
        to.addMinimum(k, scales.second);
    }
};

struct Q5_0 {
    static constexpr std::size_t kElements = 32, kBytes = 22;
    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        const auto q = bytesAt(block + 6);
        to.add(k, scalesAt(block).first, less(hn::Or(lowNibbles(q), fifthBits(block + 2)), 16),
               less(hn::Or(highNibbles(q), fifthBits(block + 4)), 16));
    }
};

struct Q5_1 {
    static constexpr std::size_t kElements = 32, kBytes = 24;
    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        const auto q = bytesAt(block + 8);
        const TwoScales scales = scalesAt(block);
        to.add(k, scales.first, isSigned(hn::Or(lowNibbles(q), fifthBits(block + 4))),
               isSigned(hn::Or(highNibbles(q), fifthBits(block + 6))));
        to.addMinimum(k, scales.second);
    }
};

/// Q4_K, and Q5_K with a fifth bit per element: eight groups of 32, each with a scale and a minimum of six
/// bits, packed into twelve bytes.
template <bool has_fifth_bit>
struct Q45_K {
    static constexpr std::size_t kElements = 256, kBytes = has_fifth_bit ? 176 : 144;

    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        const TwoScales of_block = scalesAt(block);
        const Byte *const packed = block + 4, *const high = block + 16,
                          *const q = block + (has_fifth_bit ? 48 : 16);
        for (std::size_t group = 0; group < 8; ++group) {
            const unsigned scale = group < 4 ? packed[group] & 63U
                                             : (packed[group + 4] & 0xFU) | (packed[group - 4] >> 6U << 4U),
                           least = group < 4 ? packed[group + 4] & 63U
                                             : (packed[group + 4] >> 4U) | (packed[group] >> 6U << 4U);
            const auto codes = [&](std::size_t at) HWY_ATTR {
                const auto bytes = bytesAt(q + group / 2 * 32 + at);
                const auto four = group % 2 == 0 ? lowNibbles(bytes) : highNibbles(bytes);
                if constexpr (!has_fifth_bit) return isSigned(four);
                const auto bit = hn::Set(Bytes(), static_cast<Byte>(1U << group));
                const auto fifth =
                    hn::IfThenElseZero(hn::TestBit(bytesAt(high + at), bit), hn::Set(Bytes(), 16));
                return isSigned(hn::Or(four, fifth));
            };
            const std::size_t column = k + group * kGroup;
            to.add(column, of_block.first * static_cast<float>(scale), codes(0), codes(16));
            to.addMinimum(column, -of_block.second * static_cast<float>(least));
        }
    }
};

/// Sixteen groups of 16, each with a scale of eight bits.
struct Q6_K {
    static constexpr std::size_t kElements = 256, kBytes = 210;
    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void add(const Byte* block, std::size_t k, RowProduct<M>& to) {
        const float of_block = hn::ExtractLane(halvesAt(block + kBytes - 8), 3);  // the last two bytes
        for (std::size_t half = 0; half < 2; ++half)
            for (std::size_t begin = 0; begin < 32; begin += 16) {
                const auto high = bytesAt(block + 128 + half * 32 + begin);
                const auto group = [&](std::size_t quarter, hn::Vec<Bytes> four,
                                       hn::Vec<Bytes> two) HWY_ATTR {
                    const std::size_t part = half * 8 + quarter * 2 + begin / 16;
                    const auto scale = static_cast<float>(static_cast<std::int8_t>(block[192 + part]));
                    const auto upper = hn::ShiftLeft<4>(hn::And(two, hn::Set(Bytes(), 3)));
                    to.add(k + part * 16, of_block * scale, less(hn::Or(four, upper), 32));
                };
                const auto first = bytesAt(block + half * 64 + begin),
                           second = bytesAt(block + half * 64 + 32 + begin);
                group(0, lowNibbles(first), high);
                group(1, lowNibbles(second), hn::ShiftRight<2>(high));
                group(2, highNibbles(first), hn::ShiftRight<4>(high));
                group(3, highNibbles(second), hn::ShiftRight<6>(high));
            }
    }
};

struct Float16Rows {
    template <class F>
    static HWY_INLINE HWY_ATTR hn::Vec<F> at(F f, const Byte* from) {
        return float16At(f, from);
    }
};
struct BFloat16Rows {
    template <class F>
    static HWY_INLINE HWY_ATTR hn::Vec<F> at(F f, const Byte* from) {
        return bfloat16At(f, from);
    }
};

template <class Block>
struct InBlocks {
    static std::size_t rowBytes(std::size_t K) { return K / Block::kElements * Block::kBytes; }

    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void addRow(const Byte* row, RowProduct<M>& to) {
        const std::size_t K = to.input.columns();
        for (std::size_t k = 0; k < K; k += Block::kElements, row += Block::kBytes)
            Block::add(row, k, to);
    }
};

/// Numbers of 16 bits, which need no scale and no whole blocks.
template <class Numbers>
struct AsHalves {
    static std::size_t rowBytes(std::size_t K) { return 2 * K; }

    template <std::size_t M>
    static HWY_INLINE HWY_ATTR void addRow(const Byte* row, RowProduct<M>& to) {
        const std::size_t lanes = hn::Lanes(Sums()), K = to.input.columns();
        std::size_t k = 0;
        for (; k + lanes <= K; k += lanes)
            to.addNumbers(k, Numbers::at(Sums(), row + 2 * k));
        for (; k < K; ++k)
            to.addNumber(k, hn::GetLane(Numbers::at(hn::FixedTag<float, 1>(), row + 2 * k)));
    }
};

template <class Rows, std::size_t M>
HWY_ATTR void multiplyRows(const Byte* matrix, std::size_t N, const PackedProductInput& x, float* y,
                           std::size_t stride) {
    const std::size_t bytes = Rows::rowBytes(x.columns());
    for (std::size_t n = 0; n < N; ++n) {
        RowProduct<M> product(x);
        Rows::addRow(matrix + n * bytes, product);
        for (std::size_t m = 0; m < M; ++m)
            y[m * stride + n] = product.result(m);
    }
}

template <class Rows>
void multiplyBy(const Byte* matrix, std::size_t N, const PackedProductInput& x, float* y,
                std::size_t stride) {
    switch (x.rows()) {
        case 1:
            return multiplyRows<Rows, 1>(matrix, N, x, y, stride);
        case 2:
            return multiplyRows<Rows, 2>(matrix, N, x, y, stride);
        case 3:
            return multiplyRows<Rows, 3>(matrix, N, x, y, stride);
        case 4:
            return multiplyRows<Rows, 4>(matrix, N, x, y, stride);
        default:
            return;
    }
}

void multiply(Packing packing, const Byte* matrix, std::size_t N, const PackedProductInput& x, float* y,
              std::size_t stride) {
    switch (packing) {
        case Packing::f16:
            return multiplyBy<AsHalves<Float16Rows>>(matrix, N, x, y, stride);
        case Packing::bf16:
            return multiplyBy<AsHalves<BFloat16Rows>>(matrix, N, x, y, stride);
        case Packing::q8_0:
            return multiplyBy<InBlocks<Q8_0>>(matrix, N, x, y, stride);
        case Packing::q4_0:
            return multiplyBy<InBlocks<Q4_0>>(matrix, N, x, y, stride);
        case Packing::q4_1:
            return multiplyBy<InBlocks<Q4_1>>(matrix, N, x, y, stride);
        case Packing::q5_0:
            return multiplyBy<InBlocks<Q5_0>>(matrix, N, x, y, stride);
        case Packing::q5_1:
            return multiplyBy<InBlocks<Q5_1>>(matrix, N, x, y, stride);
        case Packing::q4_k:
            return multiplyBy<InBlocks<Q45_K<false>>>(matrix, N, x, y, stride);
        case Packing::q5_k:
            return multiplyBy<InBlocks<Q45_K<true>>>(matrix, N, x, y, stride);
        case Packing::q6_k:
            return multiplyBy<InBlocks<Q6_K>>(matrix, N, x, y, stride);
    }
}

#endif

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(canMultiply);
HWY_EXPORT(multiply);

}  // namespace

PackedProductInput::PackedProductInput(const float* x, std::size_t rows, std::size_t columns)
    : x_(x), rows_(rows), columns_(columns), sums_(rows * columns / kGroup) {
    for (std::size_t i = 0; i < sums_.size(); ++i)
        for (std::size_t j = 0; j < kGroup; ++j)
            sums_[i] += x[i * kGroup + j];
}

bool canMultiplyPacked() {
    return HWY_DYNAMIC_DISPATCH(canMultiply)();
}

void multiplyPacked(Packing packing, const std::byte* matrix, std::size_t N, const PackedProductInput& x,
                    float* y, std::size_t stride) {
    HWY_DYNAMIC_DISPATCH(multiply)
    (packing, reinterpret_cast<const std::uint8_t*>(matrix), N, x, y, stride);
}

}  // namespace roper
#endif
