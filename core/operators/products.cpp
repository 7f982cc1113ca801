#include "core/operators/products.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <dlfcn.h>

#include <new>
#include <string_view>

#include "core/base/this_process.h"
#include "core/kernels/matrix_product.h"

namespace roper {
namespace {

struct OneDnn {
    MultiplyFunction multiply = nullptr;  ///< null if oneDNN cannot be used
    std::string problem;                  ///< why not
    std::string version = {};
};

OneDnn open() {
#ifdef ROPER_SANITIZED
    return {nullptr, "sanitizers do not support libraries that resolve their own symbols first"};
#else
    const std::filesystem::path path = libraryPath("libroper-products.so");
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) return {nullptr, ::dlerror()};
    void* const symbol = ::dlsym(library, "roper_multiply");
    if (symbol == nullptr) return {nullptr, ::dlerror()};
    void* const version = ::dlsym(library, "roper_products_version");
    if (version == nullptr) return {nullptr, ::dlerror()};
    return {
        reinterpret_cast<MultiplyFunction>(symbol), {}, reinterpret_cast<ProductsVersionFunction>(version)()};
#endif
}

const OneDnn& oneDnn() {
    static const OneDnn opened = open();
    return opened;
}

NumberType typeOf(const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kBFloat16 ? NumberType::bfloat16 : NumberType::float32;
}

MatrixView viewOf(const at::Tensor& matrix) {
    return {matrix.const_data_ptr(), typeOf(matrix),   matrix.size(0),
            matrix.size(1),          matrix.stride(0), matrix.stride(1)};
}

/// @returns an error message, or null
const char* multiplyByOneDnn(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                             const at::Tensor& bias, const at::Tensor& added, bool relu) {
    const ProductEpilogue epilogue{bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                                   added.defined() ? added.const_data_ptr<float>() : nullptr, relu};
    return oneDnn().multiply(viewOf(a), viewOf(b), epilogue, at::get_num_threads(),
                             {out.mutable_data_ptr(), typeOf(out)});
}

/// Tries products with every epilogue and type that models use.
bool tryBFloat16() {
    if (oneDnn().multiply == nullptr) return false;
    const at::NoGradGuard no_gradients;
    constexpr std::int64_t M = 3, K = 34, N = 18;
    const at::Tensor a = at::full({M, K}, 2, at::kBFloat16), b = at::full({N, K}, 1.5, at::kBFloat16);
    const at::Tensor bias = at::full({N}, -3.0, at::kFloat), low = at::full({N}, -1000.0, at::kFloat),
                     added = at::full({M, N}, 7.0, at::kFloat);
    const double product = 2 * 1.5 * K;
    const auto gives = [&](const at::Tensor& with_bias, const at::Tensor& with_added, bool relu,
                           at::ScalarType type, double expected) {
        const at::Tensor out = at::empty({M, N}, type);
        return multiplyByOneDnn(out, a, b.t(), with_bias, with_added, relu) == nullptr &&
               out.to(at::kDouble).eq(expected).all().item<bool>();
    };
    return gives({}, {}, false, at::kFloat, product) && gives({}, {}, false, at::kBFloat16, product) &&
           gives(bias, {}, true, at::kBFloat16, at::tensor(product - 3).to(at::kBFloat16).item<double>()) &&
           gives(low, {}, true, at::kBFloat16, 0) && gives(bias, added, false, at::kFloat, product + 4);
}

void multiplyFloat32(at::Tensor out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
                     const at::Tensor& added, bool relu) {
    at::mm_out(out, a, b);
    if (bias.defined()) out.add_(bias);
    if (relu) out.relu_();
    if (added.defined()) out.add_(added);
}

}  // namespace

const std::string& reasonWithoutOneDnn() {
    return oneDnn().problem;
}

const std::string& oneDnnVersion() {
    return oneDnn().version;
}

bool oneDnnMultipliesBFloat16() {
    static const bool does = tryBFloat16();
    return does;
}

void multiplyInto(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
                  const at::Tensor& added, bool relu) {
    const auto isDense = [](const at::Tensor& matrix) {
        return matrix.stride(0) == 1 || matrix.stride(1) == 1;
    };
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0) && a.size(1) > 0 && isDense(a) &&
                    isDense(b) && a.scalar_type() == b.scalar_type() && out.dim() == 2 &&
                    out.size(0) == a.size(0) && out.size(1) == b.size(1) && out.is_contiguous() &&
                    (!bias.defined() || (bias.numel() == b.size(1) && bias.is_contiguous())) &&
                    (!added.defined() || (added.sizes() == out.sizes() && added.is_contiguous() &&
                                          out.scalar_type() == at::kFloat)),
                "multiplyInto: ", a.sizes(), " times ", b.sizes(), " to ", out.sizes());
    if (out.numel() == 0) return;
    if (a.scalar_type() == at::kBFloat16 && !oneDnnMultipliesBFloat16()) {
        const bool rounded = out.scalar_type() == at::kBFloat16;
        const at::Tensor exact = rounded ? at::empty(out.sizes(), out.options().dtype(at::kFloat)) : out;
        multiplyInto(exact, a.to(at::kFloat), b.to(at::kFloat), bias, added, relu);
        if (rounded) out.copy_(exact);
        return;
    }
    RECORD_USER_SCOPE("linear: product");
    if (oneDnn().multiply == nullptr) return multiplyFloat32(out, a, b, bias, added, relu);
    const char* const problem = multiplyByOneDnn(out, a, b, bias, added, relu);
    if (problem == nullptr) return;
    if (std::string_view(problem) == kNoMemory) throw std::bad_alloc();
    TORCH_CHECK(false, "oneDNN: ", problem);
}

}  // namespace roper
