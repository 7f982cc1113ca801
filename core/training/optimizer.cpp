#include "core/training/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/training/step.h"

namespace roper {

AdamW::AdamW(const std::vector<NamedParameter>& parameters, const Specification::Training& settings)
    : settings_(settings), parameters_(parameters), means_(parameters.size()), squares_(parameters.size()) {
    const at::NoGradGuard no_gradients;
    groups_[0].weight_decay = settings.weight_decay;
    groups_[2].rate = settings.frequency_rate;
    std::int64_t numbers = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const auto& [name, parameter] = parameters_[i];
        groups_[name.ends_with("_frequencies") ? 2 : parameter.dim() >= 2 ? 0 : 1].members.push_back(i);
        numbers += parameter.numel();
    }
    const at::TensorOptions options = parameters_.front().second.options().requires_grad(false);
    const at::Tensor values = at::empty({numbers}, options);
    const at::Tensor means = at::zeros({numbers}, options), squares = at::zeros({numbers}, options);
    gradients_ = at::empty({numbers}, options);
    steps_ = at::zeros({}, options.dtype(at::kFloat));
    std::int64_t first = 0;
    for (Group& group : groups_) {
        const std::int64_t group_first = first;
        for (const std::size_t i : group.members) {
            at::Tensor parameter = parameters_[i].second;
            const auto viewOf = [&, count = parameter.numel()](const at::Tensor& array) {
                return array.narrow(0, first, count).view(parameter.sizes());
            };
            means_[i] = viewOf(means);
            squares_[i] = viewOf(squares);
            const at::Tensor moved = viewOf(values);
            moved.copy_(parameter.detach());
            parameter.set_data(moved);
            first += parameter.numel();
        }
        const auto part = [&](const at::Tensor& array) {
            return array.narrow(0, group_first, first - group_first);
        };
        group.values = part(values);
        group.gradients = part(gradients_);
        group.means = part(means);
        group.squares = part(squares);
    }
}

at::Tensor AdamW::collectGradients(GradientReducer* reducer) {
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> all;
    for (const Group& group : groups_)
        for (const std::size_t i : group.members)
            all.push_back(parameters_[i].second.grad().flatten());
    at::cat_out(gradients_, all);
    dropGradients();
    if (reducer != nullptr) reducer->averageGradients(gradients_);
    return at::linalg_vector_norm(gradients_);
}

void AdamW::clip(double norm, double max_norm) {
    if (max_norm > 0 && norm > max_norm) gradients_.mul_(max_norm / norm);
}

void AdamW::step(double learning_rate) {
    const at::NoGradGuard no_gradients;
    ++steps_done_;
    steps_.fill_(steps_done_);
    for (Group& group : groups_)
        if (!group.members.empty())
            at::_fused_adamw_({group.values}, {group.gradients}, {group.means}, {group.squares}, {}, {steps_},
                              learning_rate * group.rate, settings_.beta1, settings_.beta2,
                              group.weight_decay, settings_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void AdamW::startOnDevice() {
    steps_.fill_(steps_done_);
    stopped_ = at::zeros_like(steps_);
}

void AdamW::stepOnDevice(const at::Tensor& loss, const at::Tensor& norm, double max_norm,
                         const at::Tensor& learning_rate) {
    const at::NoGradGuard no_gradients;
    const at::Tensor broken = at::isfinite(loss).logical_and(at::isfinite(norm)).logical_not();
    stopped_.copy_(at::maximum(stopped_, broken.to(stopped_.scalar_type())));
    steps_.add_(1 - stopped_);
    // The kernel divides gradients by this.
    const at::Tensor excess = max_norm > 0 ? (norm / max_norm).clamp_min(1) : at::ones_like(norm);
    for (Group& group : groups_)
        if (!group.members.empty())
            at::_fused_adamw_({group.values}, {group.gradients}, {group.means}, {group.squares}, {}, {steps_},
                              learning_rate * group.rate, settings_.beta1, settings_.beta2,
                              group.weight_decay, settings_.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                              excess, stopped_);
}

void AdamW::dropGradients() {
    for (NamedParameter& parameter : parameters_)
        parameter.second.mutable_grad().reset();
}

double learningRate(const Specification::Training& training, std::int64_t step) {
    const double warmup = static_cast<double>(training.warmup_steps);
    const double at = static_cast<double>(step);
    if (at < warmup) return training.learning_rate * at / warmup;
    if (training.lr_schedule == "constant") return training.learning_rate;
    const double decay_steps = static_cast<double>(training.steps) - warmup;
    const double progress = decay_steps > 0 ? std::min(1.0, (at - warmup) / decay_steps) : 1.0;
    const double remaining = training.lr_schedule == "cosine"
                                 ? 0.5 * (1.0 + std::cos(std::numbers::pi * progress))
                                 : 1.0 - progress;
    return training.learning_rate * (training.final_fraction + (1.0 - training.final_fraction) * remaining);
}

}  // namespace roper
