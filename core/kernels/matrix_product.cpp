#include "core/kernels/matrix_product.h"

#include <sys/mman.h>

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
enum class ProductMethod : std::int8_t {
    straight,    ///< as given
    pointwise,   ///< as a convolution along the rows of A with a window of one row, with B packed for it
    transposed,  ///< as (BᵀAᵀ)ᵀ
};

/// A product of certain shapes prepared by oneDNN.
struct PreparedProduct {
    ProductMethod method = ProductMethod::straight;
    Description a{}, b{}, bias{}, out{};  ///< inputs and output of `product`
    dnnl::primitive product{};
    Description workspace{};  ///< packed B, or the transposed product, in memory of this thread
    dnnl::reorder reorder{};  ///< from B to that memory, or from there to the product's destination
    Description reordered{};  ///< B, or the product, in that memory
};

dnnl::primitive_attr attributesOf(const ProductEpilogue& epilogue, const Description& out) {
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    if (epilogue.relu) after.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
#else
    if (epilogue.relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
#endif
    if (epilogue.added != nullptr) after.append_binary(dnnl::algorithm::binary_add, out);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    return attributes;
}

using MatmulDescriptor = dnnl::matmul::primitive_desc;

MatmulDescriptor matmulDescriptor(const PreparedProduct& prepared, const ProductEpilogue& epilogue) {
    const dnnl::primitive_attr attributes = attributesOf(epilogue, prepared.out);
    const bool biased = epilogue.bias != nullptr;
#if DNNL_VERSION_MAJOR >= 3
    return biased
               ? MatmulDescriptor(engine(), prepared.a, prepared.b, prepared.bias, prepared.out, attributes)
               : MatmulDescriptor(engine(), prepared.a, prepared.b, prepared.out, attributes);
#else
    const auto descriptor = biased ? dnnl::matmul::desc(prepared.a, prepared.b, prepared.bias, prepared.out)
                                   : dnnl::matmul::desc(prepared.a, prepared.b, prepared.out);
    return {descriptor, attributes, engine()};
#endif
}

using ConvolutionDescriptor = dnnl::convolution_forward::primitive_desc;

/// @throws dnnl::error  if oneDNN has no such convolution
ConvolutionDescriptor convolutionDescriptor(const PreparedProduct& prepared, const Description& packed,
                                            const ProductEpilogue& epilogue) {
    const dnnl::primitive_attr attributes = attributesOf(epilogue, prepared.out);
    const bool biased = epilogue.bias != nullptr;
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
    const dnnl::memory::dims step = {1}, padding = {0};
#if DNNL_VERSION_MAJOR >= 3
    return biased ? ConvolutionDescriptor(engine(), kKind, kAlgorithm, prepared.a, packed, prepared.bias,
                                          prepared.out, step, padding, padding, attributes)
                  : ConvolutionDescriptor(engine(), kKind, kAlgorithm, prepared.a, packed, prepared.out, step,
                                          padding, padding, attributes);
#else
    using ConvolutionDescription = dnnl::convolution_forward::desc;
    const auto descriptor = biased
                                ? ConvolutionDescription(kKind, kAlgorithm, prepared.a, packed, prepared.bias,
                                                         prepared.out, step, padding, padding)
                                : ConvolutionDescription(kKind, kAlgorithm, prepared.a, packed, prepared.out,
                                                         step, padding, padding);
    return {descriptor, attributes, engine()};
#endif
}

/// Whether this is oneDNN's older implementation of products, the only one on CPUs without AVX-512. With AVX2
/// it takes up to half more time for few columns than for many, and more than a convolution for both.
bool usesOlderProducts(const MatmulDescriptor& descriptor) {
    return std::string_view(descriptor.impl_info_str()).starts_with("gemm");
}

// Limits within which the other methods were measured to be faster (AVX2, oneDNN 2.6, 2,048 to 20,480 rows).
constexpr std::int64_t kMaxNarrowColumns = 256;
constexpr std::int64_t kMaxExtraNumbers = 2048 * 512;  ///< additional memory of either, in floats

/// Many rows times a matrix with few columns, as a convolution: 5 to 40 % less time. Nullopt if not suitable.
std::optional<PreparedProduct> preparePointwise(const MatrixView& a, const MatrixView& b,
                                                const ProductEpilogue& epilogue) {
    constexpr std::int64_t kMinRows = 64;
    const std::int64_t M = a.rows, K = a.columns, N = b.columns;
    if (M < kMinRows || N > std::max(kMaxNarrowColumns, K) || K * N > kMaxExtraNumbers ||
        a.column_stride != 1 || a.row_stride != K)
        return {};
    // One image of M points in a row with K channels: [1, K, M], the channels of a point adjacent.
    PreparedProduct prepared{.method = ProductMethod::pointwise,
                             .a = {{1, K, M}, kFloat, {M * K, 1, K}},
                             .bias = {{N}, kFloat, {1}},
                             .out = {{1, N, M}, kFloat, {M * N, 1, N}},
                             .reordered = {{N, K, 1}, kFloat, {b.column_stride, b.row_stride, 1}}};
    const Description any_order({N, K, 1}, kFloat, dnnl::memory::format_tag::any);
    try {
        const ConvolutionDescriptor descriptor = convolutionDescriptor(prepared, any_order, epilogue);
        if (std::string_view(descriptor.impl_info_str()).find("1x1") == std::string_view::npos) return {};
        prepared.product = dnnl::convolution_forward(descriptor);
        prepared.b = prepared.workspace = descriptor.weights_desc();
        prepared.reorder = dnnl::reorder({engine(), prepared.reordered, engine(), prepared.workspace});
        return prepared;
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_unimplemented) return {};  // no convolution with this epilogue on this CPU
        throw;
    }
}

/// A tall product with few columns, as for gradients of weights, as a wide one: up to 40 % less time. Nullopt
/// if not suitable.
std::optional<PreparedProduct> prepareTransposed(const MatrixView& a, const MatrixView& b,
                                                 const ProductEpilogue& epilogue) {
    const std::int64_t M = a.rows, K = a.columns, N = b.columns;
    if (N > kMaxNarrowColumns || M <= kMaxNarrowColumns || M * N > kMaxExtraNumbers || a.row_stride != 1 ||
        epilogue.bias != nullptr || epilogue.added != nullptr || epilogue.relu)
        return {};
    PreparedProduct prepared{.method = ProductMethod::transposed,
                             .a = {{N, K}, kFloat, {b.column_stride, b.row_stride}},
                             .b = {{K, M}, kFloat, {a.column_stride, a.row_stride}},
                             .out = describe(N, M, NumberType::float32),
                             .workspace = {{M, N}, kFloat, {1, M}},
                             .reordered = describe(M, N, NumberType::float32)};
    prepared.product = dnnl::matmul(matmulDescriptor(prepared, epilogue));
    prepared.reorder = dnnl::reorder({engine(), prepared.workspace, engine(), prepared.reordered});
    return prepared;
}

PreparedProduct prepare(const MatrixView& a, const MatrixView& b, const ProductEpilogue& epilogue,
                        NumberType out) {
    const std::int64_t N = b.columns;
    PreparedProduct prepared{.a = describe(a),
                             .b = describe(b),
                             .bias = describe(1, N, NumberType::float32),
                             .out = describe(a.rows, N, out)};
    const MatmulDescriptor descriptor = matmulDescriptor(prepared, epilogue);
    if (a.type == NumberType::float32 && usesOlderProducts(descriptor)) {
        if (const auto pointwise = preparePointwise(a, b, epilogue)) return *pointwise;
        if (const auto transposed = prepareTransposed(a, b, epilogue)) return *transposed;
    }
    prepared.product = dnnl::matmul(descriptor);
    return prepared;
}

/// oneDNN 2.6 crashes, instead of reporting an error, if there is no memory for the code of a new product.
/// @throws std::bad_alloc if 16 MiB, several times what the code takes, cannot be allocated
void requireRoomForCode() {
    constexpr std::size_t kBytes = 16U << 20U;
    void* const probe = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) throw std::bad_alloc();
    ::munmap(probe, kBytes);
}

/// Caches prepared products, since preparing takes longer than computing a small one, and a model uses the
/// same ones in every step.
const PreparedProduct& cachedProduct(const MatrixView& a, const MatrixView& b,
                                     const ProductEpilogue& epilogue, int threads, NumberType out) {
    using Key = std::array<std::int64_t, 9>;
    constexpr std::size_t kMaxCachedProducts = 256;  // evaluations have texts of many lengths
    thread_local std::map<Key, PreparedProduct> known;
    const std::int64_t epilogue_bits =
        (epilogue.bias != nullptr ? 1 : 0) + (epilogue.added != nullptr ? 2 : 0) + (epilogue.relu ? 4 : 0) +
        (a.type == NumberType::bfloat16 ? 8 : 0) + (out == NumberType::bfloat16 ? 16 : 0);
    const Key key = {a.rows,       a.columns,       b.columns,     a.row_stride, a.column_stride,
                     b.row_stride, b.column_stride, epilogue_bits, threads};
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (known.size() >= kMaxCachedProducts) known.clear();
    requireRoomForCode();
    return known.emplace(key, prepare(a, b, epilogue, out)).first->second;
}

/// Additional memory of this thread for a product, reused and grown as needed.
void* roomFor(const Description& description) {
    thread_local dnnl::memory workspace;
    thread_local std::size_t size = 0;
    const std::size_t needed = description.get_size();
    if (size < needed) {
        const auto bytes = static_cast<std::int64_t>(needed);
        workspace = dnnl::memory({{bytes}, dnnl::memory::data_type::u8, {1}}, engine());
        size = needed;
    }
    return workspace.get_data_handle();
}

void multiply(const MatrixView& a, const MatrixView& b, const ProductEpilogue& epilogue, int threads,
              const ProductDestination& out) {
    const PreparedProduct& prepared = cachedProduct(a, b, epilogue, threads, out.type);
    const auto memory = [](const Description& description, const void* data) {
        return dnnl::memory(description, engine(), const_cast<void*>(data));
    };
    thread_local dnnl::stream stream(engine());
    const void *left = a.data, *right = b.data;
    void *const workspace =
                    prepared.method == ProductMethod::straight ? nullptr : roomFor(prepared.workspace),
                *destination = out.data;
    if (prepared.method == ProductMethod::pointwise) {
        auto from = memory(prepared.reordered, b.data), to = memory(prepared.workspace, workspace);
        prepared.reorder.execute(stream, from, to);
        right = workspace;
    } else if (prepared.method == ProductMethod::transposed) {
        std::swap(left, right);
        destination = workspace;
    }
    std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, memory(prepared.a, left)},
                                                       {DNNL_ARG_WEIGHTS, memory(prepared.b, right)},
                                                       {DNNL_ARG_DST, memory(prepared.out, destination)}};
    if (epilogue.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory(prepared.bias, epilogue.bias));
    if (epilogue.added != nullptr)
        arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(epilogue.relu ? 1 : 0) | DNNL_ARG_SRC_1,
                          memory(prepared.out, epilogue.added));
    prepared.product.execute(stream, arguments);
    if (prepared.method == ProductMethod::transposed) {
        auto from = memory(prepared.workspace, workspace), to = memory(prepared.reordered, out.data);
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
        const dnnl_version_t* linked = dnnl_version();
        return "oneDNN " + std::to_string(linked->major) + "." + std::to_string(linked->minor) + "." +
               std::to_string(linked->patch) + ", " + roper::instructionSet();
    }();
    return version.c_str();
}

extern "C" __attribute__((visibility("default"))) const char* roper_multiply(
    const roper::MatrixView& a, const roper::MatrixView& b, const roper::ProductEpilogue& epilogue,
    int threads, const roper::ProductDestination& out) {
    try {
        roper::multiply(a, b, epilogue, threads, out);
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
