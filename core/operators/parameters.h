#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace roper {

using NamedParameter = std::pair<std::string, at::Tensor>;

/// Creates the parameters of a model one by one. Each has its own generator, seeded by the model's seed and
/// the parameter's name, so that two models start from the same values wherever names and shapes agree.
class Parameters {
  public:
    Parameters(std::int64_t model_seed, at::TensorOptions options)
        : model_seed_(static_cast<std::uint64_t>(model_seed)), options_(options) {}

    /// Uniform over ±1/√in, PyTorch's default for a linear layer: [out, in].
    at::Tensor linear(const std::string& name, std::int64_t out, std::int64_t in);

    /// Normal with this standard deviation: [rows, columns].
    at::Tensor normal(const std::string& name, std::int64_t rows, std::int64_t columns,
                      double standard_deviation);

    /// All numbers equal to `value`: [size].
    at::Tensor constant(const std::string& name, std::int64_t size, double value);

    /// A parameter with the given values, of any shape.
    at::Tensor from(const std::string& name, const at::Tensor& values);

    const std::vector<NamedParameter>& all() const { return all_; }

  private:
    std::uint64_t model_seed_;
    at::TensorOptions options_;
    std::vector<NamedParameter> all_;
};

}  // namespace roper
