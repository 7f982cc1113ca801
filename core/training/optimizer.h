#pragma once

#include <ATen/core/Tensor.h>
#include <array>
#include <cstdint>
#include <vector>

#include "core/model/transformer.h"
#include "core/specification/specification.h"

namespace roper {

class GradientReducer;

/// AdamW (Loshchilov & Hutter 2019) by LibTorch's fused kernel. Weight decay applies only to matrices; with a
/// weight decay of 0 it is Adam.
///
/// The constructor moves the parameters into one array, ordered by group, and likewise gradients and moments:
/// an update takes one operation per group instead of one per parameter.
class AdamW {
  public:
    AdamW(const std::vector<NamedParameter>& parameters, const Specification::Training& settings);

    /// Collects the parameters' gradients in one array, and combines them with those of other processes.
    /// @returns their total norm, a scalar tensor on their device
    at::Tensor collectGradients(GradientReducer* reducer = nullptr);

    /// Scales the collected gradients so that their total norm, currently `norm`, is at most `max_norm`.
    void clip(double norm, double max_norm);

    /// One update with the collected gradients.
    void step(double learning_rate);

    /// Clipping and update with values that stay on the device, to avoid synchronization. If a value is not
    /// finite, this update and all later ones change nothing. `stepsDone` is not updated.
    /// @param loss, norm, learning_rate  scalar tensors on the parameters' device
    void stepOnDevice(const at::Tensor& loss, const at::Tensor& norm, double max_norm,
                      const at::Tensor& learning_rate);

    /// To be called before the first `stepOnDevice`: the device counts from `stepsDone` on.
    void startOnDevice();

    /// Drops the gradients of the parameters.
    void dropGradients();

    /// Running means of each parameter's gradient and its square, to be saved and restored.
    struct Moments {
        at::Tensor mean;
        at::Tensor square;
    };
    Moments moments(std::size_t parameter) const { return {means_[parameter], squares_[parameter]}; }

    std::int64_t stepsDone() const { return steps_done_; }
    void setStepsDone(std::int64_t steps) { steps_done_ = steps; }

  private:
    /// Parameters with the same hyperparameters, contiguous in the arrays.
    struct Group {
        double weight_decay = 0;
        double rate = 1;                               ///< factor of the learning rate
        std::vector<std::size_t> members;              ///< indices of parameters
        at::Tensor values, gradients, means, squares;  ///< [sum of the members' sizes]
    };

    Specification::Training settings_;
    std::vector<NamedParameter> parameters_;
    std::array<Group, 3> groups_;              ///< matrices, vectors, frequencies
    std::vector<at::Tensor> means_, squares_;  ///< of each parameter, views into the groups' arrays
    at::Tensor gradients_;                     ///< of all groups
    at::Tensor steps_;                         ///< number of updates, a scalar on the device
    at::Tensor stopped_;  ///< 1 from the first non-finite value on, else 0; for `stepOnDevice`
    std::int64_t steps_done_ = 0;
};

/// Learning rate of a step (1 for the first): linear warm-up from 0, then constant, or cosine or
/// linear decay to final_fraction of the peak at the last step.
double learningRate(const Specification::Training& training, std::int64_t step);

}  // namespace roper
