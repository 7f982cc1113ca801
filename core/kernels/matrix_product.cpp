#include "core/kernels/matrix_product.h"

#include <array>
#include <dnnl.hpp>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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

Description describe(const MatrixView& matrix) {
    return {{matrix.rows, matrix.columns}, typeOf(matrix.type), {matrix.row_stride, matrix.column_stride}};
}

/// A matrix row after row.
Description describe(std::int64_t rows, std::int64_t columns, NumberType type) {
    return {{rows, columns}, typeOf(type), {columns, 1}};
}

/// A row of numbers.
Description describe(std::int64_t numbers) {
    return {{numbers}, dnnl::memory::data_type::f32, {1}};
}

/// How a product is computed.
enum class Way : std::int8_t {
    straight,    ///< as it is asked for
    pointwise,   ///< as a convolution along the rows of A whose window is one row; B is packed for it
    transposed,  ///< as (BᵀAᵀ)ᵀ
};

/// A product of certain shapes as oneDNN has prepared it.
struct Prepared {
    Way way = Way::straight;
    Description a{}, b{}, bias{}, out{};
    dnnl::primitive product{};
    Description room{};       ///< of B packed, or of the transposed product
    dnnl::reorder reorder{};  ///< from B to there, or from there to the product
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

/// Whether oneDNN would copy both factors into an order of its own. Where it has newer products, for AVX-512,
/// it does not.
bool copiesFactors(const Straight& kind) {
    return std::string_view(kind.impl_info_str()).substr(0, 4) == "gemm";
}

/// Many rows times a matrix that stays in the cache. Copying the rows takes up to a third of the time then;
/// oneDNN's convolutions read them where they are.
std::optional<Prepared> preparePointwise(const MatrixView& a, const MatrixView& b,
                                         const ProductEnding& ending) {
    constexpr std::int64_t kFewestRows = 64, kMostNumbers = 512 * 512;
    const std::int64_t M = a.rows, K = a.columns, N = b.columns;
    if (M < kFewestRows || K * N > kMostNumbers || a.column_stride != 1 || a.row_stride != K) return {};
    constexpr auto kFloat = dnnl::memory::data_type::f32;
    // A batch of one "image" of M points and K channels: [1, K, M], the channels of a point side by side.
    Prepared made{.way = Way::pointwise,
                  .a = {{1, K, M}, kFloat, {M * K, 1, K}},
                  .b = {{N, K, 1}, kFloat, {b.column_stride, b.row_stride, 1}},
                  .bias = describe(N),
                  .out = {{1, N, M}, kFloat, {M * N, 1, N}}};
    const Description anyhow({N, K, 1}, kFloat, dnnl::memory::format_tag::any);
    try {
        const Pointwise kind = pointwiseOf(made, anyhow, ending);
        if (std::string_view(kind.impl_info_str()).find("1x1") == std::string_view::npos) return {};
        made.product = dnnl::convolution_forward(kind);
        made.room = kind.weights_desc();
        made.reorder = dnnl::reorder({engine(), made.b, engine(), made.room});
        return made;
    } catch (const dnnl::error&) {
        return {};
    }
}

/// A tall product of two factors with many numbers to sum up, as gradients of weights are: wide ones take
/// less time.
std::optional<Prepared> prepareTransposed(const MatrixView& a, const MatrixView& b,
                                          const ProductEnding& ending) {
    const std::int64_t M = a.rows, K = a.columns, N = b.columns;
    if (M <= N || K < M || a.row_stride != 1 || ending.bias != nullptr || ending.added != nullptr) return {};
    constexpr auto kFloat = dnnl::memory::data_type::f32;
    Prepared made{.way = Way::transposed,
                  .a = {{N, K}, kFloat, {b.column_stride, b.row_stride}},
                  .b = {{K, M}, kFloat, {a.column_stride, a.row_stride}},
                  .out = describe(N, M, NumberType::float32),
                  .room = {{M, N}, kFloat, {1, M}}};
    made.product = dnnl::matmul(straightOf(made, ending));
    made.reorder = dnnl::reorder({engine(), made.room, engine(), describe(M, N, NumberType::float32)});
    return made;
}

Prepared prepare(const MatrixView& a, const MatrixView& b, const ProductEnding& ending, NumberType out) {
    const std::int64_t N = b.columns;
    Prepared made{.a = describe(a),
                  .b = describe(b),
                  .bias = describe(1, N, NumberType::float32),
                  .out = describe(a.rows, N, out)};
    const Straight kind = straightOf(made, ending);
    if (a.type == NumberType::float32 && copiesFactors(kind)) {
        if (const auto pointwise = preparePointwise(a, b, ending)) return *pointwise;
        if (const auto transposed = prepareTransposed(a, b, ending)) return *transposed;
    }
    made.product = dnnl::matmul(kind);
    return made;
}

/// Preparing a product takes longer than computing a small one; those of a model come again every step.
const Prepared& preparedFor(const MatrixView& a, const MatrixView& b, const ProductEnding& ending,
                            int threads, NumberType out) {
    using Key = std::array<std::int64_t, 9>;
    constexpr std::size_t kMostKnown = 256;  // evaluations bring texts of many lengths
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

/// What this thread's products keep beside them while they run.
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
    dnnl::memory left = memory(prepared.a, a.data), right = memory(prepared.b, b.data),
                 place = memory(prepared.out, out.data);
    if (prepared.way == Way::pointwise) {
        dnnl::memory packed = memory(prepared.room, roomFor(prepared.room));
        prepared.reorder.execute(stream, right, packed);
        right = packed;
    } else if (prepared.way == Way::transposed) {
        left = memory(prepared.a, b.data);
        right = memory(prepared.b, a.data);
        place = memory(prepared.out, roomFor(prepared.out));
    }
    std::unordered_map<int, dnnl::memory> arguments = {
        {DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, place}};
    if (ending.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory(prepared.bias, ending.bias));
    if (ending.added != nullptr)
        arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(ending.relu ? 1 : 0) | DNNL_ARG_SRC_1,
                          memory(prepared.out, ending.added));
    prepared.product.execute(stream, arguments);
    if (prepared.way == Way::transposed) {
        dnnl::memory from = memory(prepared.room, place.get_data_handle()),
                     to = memory(describe(a.rows, b.columns, out.type), out.data);
        prepared.reorder.execute(stream, from, to);
    }
    stream.wait();
}

}  // namespace
}  // namespace roper

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
