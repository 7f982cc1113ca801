#include "core/operators/parameters.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "core/base/fingerprint.h"

namespace roper {
namespace {

/// A separate generator for each parameter name, the same on every machine.
at::Generator generatorOf(std::uint64_t model_seed, const std::string& name) {
    return at::detail::createCPUGenerator(Fingerprint(model_seed).add(name).value());
}

}  // namespace

at::Tensor Parameters::linear(const std::string& name, std::int64_t out, std::int64_t in) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    return from(name,
                at::empty({out, in}, at::kDouble).uniform_(-bound, bound, generatorOf(model_seed_, name)));
}

at::Tensor Parameters::normal(const std::string& name, std::int64_t rows, std::int64_t columns,
                              double standard_deviation) {
    return from(name,
                at::randn({rows, columns}, generatorOf(model_seed_, name), at::kDouble) * standard_deviation);
}

at::Tensor Parameters::constant(const std::string& name, std::int64_t size, double value) {
    return from(name, at::full({size}, value, at::kDouble));
}

at::Tensor Parameters::from(const std::string& name, const at::Tensor& values) {
    at::Tensor parameter = values.to(options_).requires_grad_(true);
    all_.emplace_back(name, parameter);
    return parameter;
}

}  // namespace roper
