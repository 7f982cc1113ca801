#include "core/model/products.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <dlfcn.h>

#include <filesystem>
#include <new>
#include <string_view>

#include "core/kernels/matrix_product.h"

namespace roper {
namespace {

struct OneDnn {
    Multiply multiply = nullptr;
    std::string problem;
};

OneDnn open() {
#if defined(__SANITIZE_ADDRESS__)
    return {nullptr, "the address sanitizer knows no libraries that see their own symbols first"};
#else
    const std::filesystem::path path =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libroper-products.so";
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) return {nullptr, ::dlerror()};
    void* const symbol = ::dlsym(library, "roper_multiply");
    if (symbol == nullptr) return {nullptr, ::dlerror()};
    return {reinterpret_cast<Multiply>(symbol), {}};
#endif
}

const OneDnn& oneDnn() {
    static const OneDnn opened = open();
    return opened;
}

MatrixView viewOf(const at::Tensor& matrix) {
    return {matrix.const_data_ptr<float>(), matrix.size(0), matrix.size(1), matrix.stride(0),
            matrix.stride(1)};
}

}  // namespace

const std::string& whyNotOneDnn() {
    return oneDnn().problem;
}

void multiplyInto(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
                  const at::Tensor& added, bool relu) {
    RECORD_USER_SCOPE("linear: product");
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0) && out.dim() == 2 &&
                    out.size(0) == a.size(0) && out.size(1) == b.size(1) && out.is_contiguous() &&
                    (!bias.defined() || (bias.numel() == b.size(1) && bias.is_contiguous())) &&
                    (!added.defined() || (added.sizes() == out.sizes() && added.is_contiguous())),
                "multiplyInto: ", a.sizes(), " times ", b.sizes(), " to ", out.sizes());
    at::Tensor to = out;
    if (oneDnn().multiply != nullptr) {
        const ProductEnding ending{bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                                   added.defined() ? added.const_data_ptr<float>() : nullptr, relu};
        const char* const problem = oneDnn().multiply(viewOf(a), viewOf(b), ending, at::get_num_threads(),
                                                      to.mutable_data_ptr<float>());
        if (problem == nullptr) return;
        if (std::string_view(problem) == kNoMemory) throw std::bad_alloc();
        TORCH_CHECK(false, "oneDNN: ", problem);
        return;
    }
    at::mm_out(to, a, b);
    if (bias.defined()) to.add_(bias);
    if (relu) to.relu_();
    if (added.defined()) to.add_(added);
}

}  // namespace roper
