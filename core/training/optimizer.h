#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/model/transformer.h"
#include "core/specification/specification.h"

namespace roper {

class GradientSum;

/// AdamW (Loshchilov & Hutter 2019) by LibTorch's fused kernel. Weight decay touches matrices only; with a
/// weight decay of 0 it is Adam.
///
/// From now on the parameters stand in one array, those of a group beside each other, and so do gradients and
/// moments: an update is three operations instead of one for each parameter.
class AdamW {
  public:
    AdamW(const std::vector<NamedParameter>& parameters, const Specification::Training& settings);

    /// Takes the gradients from the parameters into one array, and puts them together with those of other
    /// processes. → their total norm, a scalar tensor on their device
    at::Tensor collectGradients(GradientSum* together = nullptr);

    /// Scales the collected gradients so that their total norm, now `norm`, is at most `most`.
    void clip(double norm, double most);

    /// One update from the collected gradients.
    void step(double learning_rate);

    /// Clipping and update by numbers that only the device knows, so that nothing waits for them. If one of
    /// them is not finite, this update and all later ones change nothing. `stepsDone` does not follow.
    /// @param loss, norm, learning_rate  scalar tensors on the parameters' device
    void stepOnDevice(const at::Tensor& loss, const at::Tensor& norm, double most_norm,
                      const at::Tensor& learning_rate);

    /// Before the first `stepOnDevice`: the device counts from `stepsDone` on.
    void startOnDevice();

    /// Gradients that stand with the parameters are dropped.
    void dropGradients();

    /// Running means of each parameter's gradient and of its square, to be saved and restored.
    struct Moments {
        at::Tensor mean;
        at::Tensor square;
    };
    Moments moments(std::size_t parameter) const;

    std::int64_t stepsDone() const { return steps_done_; }
    void setStepsDone(std::int64_t steps) { steps_done_ = steps; }

  private:
    /// Parameters that are updated alike: a part of the arrays.
    struct Group {
        double weight_decay = 0;
        double rate = 1;  ///< of the learning rate
        std::vector<std::size_t> members;
        at::Tensor values, gradients, means, squares;  ///< [numbers of all members]
    };

    Specification::Training settings_;
    std::vector<NamedParameter> parameters_;
    std::array<Group, 3> groups_;              ///< matrices, vectors, frequencies
    std::vector<at::Tensor> means_, squares_;  ///< of each parameter, in the groups' arrays
    at::Tensor gradients_;                     ///< of all groups
    at::Tensor steps_;
    at::Tensor stopped_;  ///< 1 from the first number on that was not finite, else 0; for `stepOnDevice`
    std::int64_t steps_done_ = 0;
};

}  // namespace roper
