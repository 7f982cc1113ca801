#include "core/kernels/matrix_product.h"

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace roper {
namespace {

using Description = dnnl::memory::desc;

dnnl::engine& engine() {
    static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
}

dnnl::memory::data_type typeOf(NumberType type) {
    return type == NumberType::float32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

constexpr auto kFloat = dnnl::memory::data_type::f32;

Description describe(const MatrixView& matrix) {
    return {{matrix.rows, matrix.columns}, typeOf(matrix.type), {matrix.row_stride, matrix.column_stride}};
}

/// A row-major matrix.
Description describe(std::int64_t rows, std::int64_t columns, NumberType type) {
    return {{rows, columns}, typeOf(type), {columns, 1}};
}

/// How a product is computed.
enum class Way : std::int8_t {
    straight,    ///< as given
    pointwise,   ///< as a convolution along the rows of A with a window of one row, with B packed for it
    transposed,  ///< as (BᵀAᵀ)ᵀ
};

/// A product of certain shapes prepared by oneDNN.
struct Prepared {
    Way way = Way::straight;
    Description a{}, b{}, bias{}, out{};  ///< inputs and output of `product`
    dnnl::primitive product{};
    Description room{};       ///< packed B, or the transposed product, in memory of this thread
    dnnl::reorder reorder{};  ///< from B to that memory, or from there to the product's destination
    Description reordered{};  ///< B, or the product, in that memory
};

dnnl::primitive_attr attributesOf(const ProductEnding& ending, const Description& out) {
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    if (ending.relu) after.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
#else
    if (ending.relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
#endif
    if (ending.added != nullptr) after.append_binary(dnnl::algorithm::binary_add, out);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    return attributes;
}

using Straight = dnnl::matmul::primitive_desc;

Straight straightOf(const Prepared& made, const ProductEnding& ending) {
    const dnnl::primitive_attr attributes = attributesOf(ending, made.out);
    const bool biased = ending.bias != nullptr;
#if DNNL_VERSION_MAJOR >= 3
    return biased ? Straight(engine(), made.a, made.b, made.bias, made.out, attributes)
                  : Straight(engine(), made.a, made.b, made.out, attributes);
#else
    const auto wanted = biased ? dnnl::matmul::desc(made.a, made.b, made.bias, made.out)
                               : dnnl::matmul::desc(made.a, made.b, made.out);
    return {wanted, attributes, engine()};
#endif
}

using Pointwise = dnnl::convolution_forward::primitive_desc;

/// @throws dnnl::error  if oneDNN has no such convolution
Pointwise pointwiseOf(const Prepared& made, const Description& packed, const ProductEnding& ending) {
    const dnnl::primitive_attr attributes = attributesOf(ending, made.out);
    const bool biased = ending.bias != nullptr;
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    constexpr auto kHow = dnnl::algorithm::convolution_direct;
    const dnnl::memory::dims step = {1}, padding = {0};
#if DNNL_VERSION_MAJOR >= 3
    return biased ? Pointwise(engine(), kKind, kHow, made.a, packed, made.bias, made.out, step, padding,
                              padding, attributes)
                  : Pointwise(engine(), kKind, kHow, made.a, packed, made.out, step, padding, padding,
                              attributes);
#else
    using Wanted = dnnl::convolution_forward::desc;
    const auto wanted = biased
                            ? Wanted(kKind, kHow, made.a, packed, made.bias, made.out, step, padding, padding)
                            : Wanted(kKind, kHow, made.a, packed, made.out, step, padding, padding);
    return {wanted, attributes, engine()};
#endif
}

/// Whether this is oneDNN's older implementation of products, the only one on CPUs without AVX-512. With AVX2
/// it takes up to half more time for few columns than for many, and more than a convolution for both.
bool isOlder(const Straight& kind) {
    return std::string_view(kind.impl_info_str()).starts_with("gemm");
}

// Where the other ways were measured to be faster (AVX2, oneDNN 2.6, 2,048 to 20,480 rows).
constexpr std::int64_t kFewColumns = 256;
constexpr std::int64_t kMostNumbers = 2048 * 512;  ///< limit of the additional memory of either

/// Many rows times a matrix with few columns: 5 to 40 % less time.
std::optional<Prepared> preparePointwise(const MatrixView& a, const MatrixView& b,
                                         const ProductEnding& ending) {
    constexpr std::int64_t kManyRows = 64;
    const std::int64_t M = a.rows, K = a.columns, N = b.columns;
    if (M < kManyRows || N > std::max(kFewColumns, K) || K * N > kMostNumbers || a.column_stride != 1 ||
        a.row_stride != K)
        return {};
    // One image of M points in a row with K channels: [1, K, M], the channels of a point adjacent.
    Prepared made{.way = Way::pointwise,
                  .a = {{1, K, M}, kFloat, {M * K, 1, K}},
                  .bias = {{N}, kFloat, {1}},
                  .out = {{1, N, M}, kFloat, {M * N, 1, N}},
                  .reordered = {{N, K, 1}, kFloat, {b.column_stride, b.row_stride, 1}}};
    const Description any_order({N, K, 1}, kFloat, dnnl::memory::format_tag::any);
    try {
        const Pointwise kind = pointwiseOf(made, any_order, ending);
        if (std::string_view(kind.impl_info_str()).find("1x1") == std::string_view::npos) return {};
        made.product = dnnl::convolution_forward(kind);
        made.b = made.room = kind.weights_desc();
        made.reorder = dnnl::reorder({engine(), made.reordered, engine(), made.room});
        return made;
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_unimplemented) return {};  // no convolution with this ending on this CPU
        throw;
    }
}

/// A tall product with few columns, as for gradients of weights: up to 40 % less time as a wide one.
std::optional<Prepared> prepareTransposed(const MatrixView& a, const MatrixView& b,
                                          const ProductEnding& ending) {
    const std::int64_t M = a.rows, K = a.columns, N = b.columns;
    if (N > kFewColumns || M <= kFewColumns || M * N > kMostNumbers || a.row_stride != 1 ||
        ending.bias != nullptr || ending.added != nullptr || ending.relu)
        return {};
    Prepared made{.way = Way::transposed,
                  .a = {{N, K}, kFloat, {b.column_stride, b.row_stride}},
                  .b = {{K, M}, kFloat, {a.column_stride, a.row_stride}},
                  .out = describe(N, M, NumberType::float32),
                  .room = {{M, N}, kFloat, {1, M}},
                  .reordered = describe(M, N, NumberType::float32)};
    made.product = dnnl::matmul(straightOf(made, ending));
    made.reorder = dnnl::reorder({engine(), made.room, engine(), made.reordered});
    return made;
}

Prepared prepare(const MatrixView& a, const MatrixView& b, const ProductEnding& ending, NumberType out) {
    const std::int64_t N = b.columns;
    Prepared made{.a = describe(a),
                  .b = describe(b),
                  .bias = describe(1, N, NumberType::float32),
                  .out = describe(a.rows, N, out)};
    const Straight kind = straightOf(made, ending);
    if (a.type == NumberType::float32 && isOlder(kind)) {
        if (const auto pointwise = preparePointwise(a, b, ending)) return *pointwise;
        if (const auto transposed = prepareTransposed(a, b, ending)) return *transposed;
    }
    made.product = dnnl::matmul(kind);
    return made;
}

/// Caches prepared products, since preparing takes longer than computing a small one, and a model uses the
/// same ones in every step.
const Prepared& preparedFor(const MatrixView& a, const MatrixView& b, const ProductEnding& ending,
                            int threads, NumberType out) {
    using Key = std::array<std::int64_t, 9>;
    constexpr std::size_t kMostKnown = 256;  // evaluations have texts of many lengths
    thread_local std::map<Key, Prepared> known;
    const std::int64_t endings = (ending.bias != nullptr ? 1 : 0) + (ending.added != nullptr ? 2 : 0) +
                                 (ending.relu ? 4 : 0) + (a.type == NumberType::bfloat16 ? 8 : 0) +
                                 (out == NumberType::bfloat16 ? 16 : 0);
    const Key key = {a.rows,       a.columns,       b.columns, a.row_stride, a.column_stride,
                     b.row_stride, b.column_stride, endings,   threads};
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (known.size() >= kMostKnown) known.clear();
    return known.emplace(key, prepare(a, b, ending, out)).first->second;
}

/// Additional memory for a product: reused, and grown to the largest need.
void* roomFor(const Description& description) {
    thread_local dnnl::memory room;
    thread_local std::size_t size = 0;
    const std::size_t needed = description.get_size();
    if (size < needed) {
        const auto bytes = static_cast<std::int64_t>(needed);
        room = dnnl::memory({{bytes}, dnnl::memory::data_type::u8, {1}}, engine());
        size = needed;
    }
    return room.get_data_handle();
}

void multiply(const MatrixView& a, const MatrixView& b, const ProductEnding& ending, int threads,
              const ProductPlace& out) {
    const Prepared& prepared = preparedFor(a, b, ending, threads, out.type);
    const auto memory = [](const Description& description, const void* data) {
        return dnnl::memory(description, engine(), const_cast<void*>(data));
    };
    thread_local dnnl::stream stream(engine());
    const void *left = a.data, *right = b.data;
    void *const room = prepared.way == Way::straight ? nullptr : roomFor(prepared.room), *place = out.data;
    if (prepared.way == Way::pointwise) {
        auto from = memory(prepared.reordered, b.data), to = memory(prepared.room, room);
        prepared.reorder.execute(stream, from, to);
        right = room;
    } else if (prepared.way == Way::transposed) {
        std::swap(left, right);
        place = room;
    }
    std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, memory(prepared.a, left)},
                                                       {DNNL_ARG_WEIGHTS, memory(prepared.b, right)},
                                                       {DNNL_ARG_DST, memory(prepared.out, place)}};
    if (ending.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory(prepared.bias, ending.bias));
    if (ending.added != nullptr)
        arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(ending.relu ? 1 : 0) | DNNL_ARG_SRC_1,
                          memory(prepared.out, ending.added));
    prepared.product.execute(stream, arguments);
    if (prepared.way == Way::transposed) {
        auto from = memory(prepared.room, room), to = memory(prepared.reordered, out.data);
        prepared.reorder.execute(stream, from, to);
    }
    stream.wait();
}

/// Instruction set of oneDNN's kernels on this CPU, named as in its documentation.
const char* instructionSet() {
    switch (dnnl::get_effective_cpu_isa()) {
        case dnnl::cpu_isa::sse41:
            return "SSE4.1";
        case dnnl::cpu_isa::avx:
            return "AVX";
        case dnnl::cpu_isa::avx2:
            return "AVX2";
        case dnnl::cpu_isa::avx2_vnni:
            return "AVX2 VNNI";
        case dnnl::cpu_isa::avx512_core:
            return "AVX-512";
        case dnnl::cpu_isa::avx512_core_vnni:
            return "AVX-512 VNNI";
        case dnnl::cpu_isa::avx512_core_bf16:
            return "AVX-512 BF16";
        case dnnl::cpu_isa::avx512_core_amx:
            return "AMX";
        default:
            return "another instruction set";
    }
}

}  // namespace
}  // namespace roper

extern "C" __attribute__((visibility("default"))) const char* roper_products_version() {
    static const std::string version = [] {
        const dnnl_version_t* of = dnnl_version();
        return "oneDNN " + std::to_string(of->major) + "." + std::to_string(of->minor) + "." +
               std::to_string(of->patch) + ", " + roper::instructionSet();
    }();
    return version.c_str();
}

extern "C" __attribute__((visibility("default"))) const char* roper_multiply(
    const roper::MatrixView& a, const roper::MatrixView& b, const roper::ProductEnding& ending, int threads,
    const roper::ProductPlace& out) {
    try {
        roper::multiply(a, b, ending, threads, out);
        return nullptr;
    } catch (const std::bad_alloc&) {
        return roper::kNoMemory;
    } catch (const dnnl::error& error) {
        thread_local std::string message;
        message = error.what();
        return error.status == dnnl_out_of_memory ? roper::kNoMemory : message.c_str();
    } catch (const std::exception& error) {
        thread_local std::string message;
        message = error.what();
        return message.c_str();
    }
}
