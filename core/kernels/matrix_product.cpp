#include "core/kernels/matrix_product.h"

#include <array>
#include <dnnl.hpp>
#include <map>
#include <new>
#include <string>
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

/// A product of certain shapes as oneDNN has prepared it.
struct Prepared {
    Description a, b, bias, out;
    dnnl::matmul product;
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

Prepared prepare(const MatrixView& a, const MatrixView& b, const ProductEnding& ending, NumberType out) {
    const std::int64_t N = b.columns;
    Prepared made{
        describe(a), describe(b), describe(1, N, NumberType::float32), describe(a.rows, N, out), {}};
    const dnnl::primitive_attr attributes = attributesOf(ending, made.out);
    const bool biased = ending.bias != nullptr;
#if DNNL_VERSION_MAJOR >= 3
    using Kind = dnnl::matmul::primitive_desc;
    const Kind kind = biased ? Kind(engine(), made.a, made.b, made.bias, made.out, attributes)
                             : Kind(engine(), made.a, made.b, made.out, attributes);
#else
    const auto wanted = biased ? dnnl::matmul::desc(made.a, made.b, made.bias, made.out)
                               : dnnl::matmul::desc(made.a, made.b, made.out);
    const dnnl::matmul::primitive_desc kind(wanted, attributes, engine());
#endif
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

void multiply(const MatrixView& a, const MatrixView& b, const ProductEnding& ending, int threads,
              const ProductPlace& out) {
    const Prepared& prepared = preparedFor(a, b, ending, threads, out.type);
    const auto memory = [](const Description& description, const void* data) {
        return dnnl::memory(description, engine(), const_cast<void*>(data));
    };
    std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, memory(prepared.a, a.data)},
                                                       {DNNL_ARG_WEIGHTS, memory(prepared.b, b.data)},
                                                       {DNNL_ARG_DST, memory(prepared.out, out.data)}};
    if (ending.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory(prepared.bias, ending.bias));
    if (ending.added != nullptr)
        arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(ending.relu ? 1 : 0) | DNNL_ARG_SRC_1,
                          memory(prepared.out, ending.added));
    thread_local dnnl::stream stream(engine());
    prepared.product.execute(stream, arguments);
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
