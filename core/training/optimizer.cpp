#include "core/training/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace roper {

AdamW::AdamW(const std::vector<NamedParameter>& parameters, const Specification::Training& settings)
    : settings_(settings) {
    groups_[0].weight_decay = settings.weight_decay;
    groups_[2].rate = settings.frequency_rate;
    for (const auto& [name, parameter] : parameters) {
        const std::size_t group = name.ends_with("_frequencies") ? 2 : parameter.dim() >= 2 ? 0 : 1;
        Group& of = groups_[group];
        places_.push_back({group, of.parameters.size()});
        of.parameters.push_back(parameter);
        const at::Tensor plain = parameter.detach();
        of.means.push_back(at::zeros_like(plain));
        of.squares.push_back(at::zeros_like(plain));
        of.steps.push_back(at::zeros({}, plain.options().dtype(at::kFloat)));
    }
}

std::vector<at::Tensor> AdamW::gradients(const Group& group) const {
    std::vector<at::Tensor> all;
    all.reserve(group.parameters.size());
    for (const at::Tensor& parameter : group.parameters)
        all.push_back(parameter.grad());
    return all;
}

at::Tensor AdamW::gradientNorm() const {
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> norms;
    for (const Group& group : groups_)
        for (const at::Tensor& gradient : gradients(group))
            norms.push_back(at::linalg_vector_norm(gradient));
    return at::linalg_vector_norm(at::stack(norms));
}

void AdamW::clip(double norm, double most) {
    if (most <= 0 || norm <= most) return;
    const at::NoGradGuard no_gradients;
    for (const Group& group : groups_) {
        std::vector<at::Tensor> all = gradients(group);
        if (!all.empty()) at::_foreach_mul_(all, most / norm);
    }
}

void AdamW::step(double learning_rate) {
    const at::NoGradGuard no_gradients;
    ++steps_done_;
    for (Group& group : groups_) {
        if (group.parameters.empty()) continue;
        for (at::Tensor& step : group.steps)
            step.add_(1);
        at::_fused_adamw_(group.parameters, gradients(group), group.means, group.squares, {}, group.steps,
                          learning_rate * group.rate, settings_.beta1, settings_.beta2, group.weight_decay,
                          settings_.epsilon,
                          /*amsgrad=*/false, /*maximize=*/false);
        for (at::Tensor& parameter : group.parameters)
            parameter.mutable_grad().reset();
    }
}

AdamW::Moments AdamW::moments(std::size_t parameter) const {
    const Place place = places_[parameter];
    return {groups_[place.group].means[place.index], groups_[place.group].squares[place.index]};
}

void AdamW::setStepsDone(std::int64_t steps) {
    steps_done_ = steps;
    for (Group& group : groups_)
        for (at::Tensor& step : group.steps)
            step.fill_(steps);
}

}  // namespace roper
