#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/specification.h"

namespace roper {

/// AdamW (Loshchilov & Hutter 2019) by LibTorch's fused kernel. Weight decay touches matrices only; with a
/// weight decay of 0 it is Adam.
class AdamW {
  public:
    AdamW(const std::vector<NamedParameter>& parameters, const Specification::Training& settings);

    /// Total norm of all gradients, a scalar tensor on their device.
    at::Tensor gradientNorm() const;

    /// Scales all gradients so that their total norm, now `norm`, is at most `most`.
    void clip(double norm, double most);

    /// One update from the gradients, which are then released.
    void step(double learning_rate);

    /// Running means of each parameter's gradient and of its square, to be saved and restored.
    struct Moments {
        at::Tensor mean;
        at::Tensor square;
    };
    Moments moments(std::size_t parameter) const;

    std::int64_t stepsDone() const { return steps_done_; }
    void setStepsDone(std::int64_t steps);

  private:
    struct Group {
        double weight_decay = 0;
        double rate = 1;  ///< of the learning rate
        std::vector<at::Tensor> parameters, means, squares, steps;
    };
    struct Place {
        std::size_t group, index;
    };
    std::vector<at::Tensor> gradients(const Group& group) const;

    Specification::Training settings_;
    std::array<Group, 3> groups_;  ///< matrices, vectors, frequencies
    std::vector<Place> places_;
    std::int64_t steps_done_ = 0;
};

}  // namespace roper
