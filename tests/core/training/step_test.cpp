#include "core/training/step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/this_process.h"
#include "core/corpus/open_task.h"
#include "core/specification/presets.h"
#include "core/training/batch_stream.h"
#include "core/training/optimizer.h"
#include "tests/support/limited_process.h"

namespace roper {
namespace {

// Page faults cost more than the arithmetic on a page, so a step must reuse the memory of the previous one.
TEST(Step, TakesNoNewMemoryOnceWarm) {
    if (kSanitizer) GTEST_SKIP() << "sanitizers do not give freed memory out again";
    keepFreedHeapMemory();
    Specification s;
    s.training.batch = 8;
    s.training.length = 200;  // activations of several megabytes
    const auto task = openTask(s.task);
    Transformer model(s, modelVocabularySize(*task, s), at::kCPU);
    AdamW optimizer(model.parameters(), s.training);
    BatchStream batches(*task, s, 0);
    std::int64_t step = 0;
    const auto take = [&](int count) {
        for (int i = 0; i < count; ++i)
            trainStep(model, optimizer, batches.next(), s.training, ++step, at::kCPU);
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        return usage.ru_minflt;
    };
    const long warm = take(10);
    const long later = take(20);
    // A step fills some 10,000 pages; a kernel that reclaims idle memory may take a few of them away.
    EXPECT_LT(later - warm, 20 * 100) << "pages touched for the first time in 20 steps";
}

/// The mean loss of the last steps of a training run.
double lossAfter(Specification s, std::int64_t steps, std::int64_t seed, const char* precision) {
    constexpr std::int64_t kMeaned = 50;
    s.training.data_seed = s.training.model_seed = seed;
    s.device.precision = precision;
    const auto task = openTask(s.task);
    Transformer model(s, modelVocabularySize(*task, s), at::kCPU);
    AdamW optimizer(model.parameters(), s.training);
    BatchStream batches(*task, s, 0);
    double sum = 0;
    for (std::int64_t step = 1; step <= steps; ++step) {
        const double loss = trainStep(model, optimizer, batches.next(), s.training, step, at::kCPU).loss;
        if (step > steps - kMeaned) sum += loss;
    }
    return sum / kMeaned;
}

// prefix-quick with a narrower model and shorter texts, so that ten runs take seconds: pair by pair, bfloat16
// must make less difference than another seed.
TEST(Step, InBFloat16TrainsAsWellAsInFloat32) {
    if (kSanitizer)
        GTEST_SKIP() << "ten trainings take minutes there; other tests compute with the same code";
    constexpr std::int64_t kSteps = 300;
    keepFreedHeapMemory();
    Specification s = loadPreset("prefix-quick").specification;
    s.model.width = 64;
    s.model.layers = 2;
    s.model.feed_forward = 256;
    s.training.batch = 8;
    s.training.length = 65;
    s.task.specific_settings.set("substring_length", 12);
    std::vector<double> exact, changes;
    for (std::int64_t seed = 0; seed < 5; ++seed) {
        exact.push_back(lossAfter(s, kSteps, seed, "fp32"));
        changes.push_back(std::abs(lossAfter(s, kSteps, seed, "bf16") - exact.back()));
        EXPECT_GT(changes.back(), 0) << "nothing was rounded";
    }
    const auto [least, greatest] = std::minmax_element(exact.begin(), exact.end());
    EXPECT_LT(*std::max_element(changes.begin(), changes.end()), 0.2 * (*greatest - *least));
}

/// A gradient for a parameter, deterministic for each step.
at::Tensor someGradient(const at::Tensor& parameter, std::int64_t step) {
    at::manual_seed(static_cast<std::uint64_t>(1000 + step));
    return at::randn(parameter.sizes(), parameter.options().requires_grad(false));
}

// Loshchilov & Hutter 2019, algorithm 2, computed for each parameter in float64.
TEST(AdamW, FollowsItsFormulaGroupByGroup) {
    Specification::Training settings;
    settings.weight_decay = 0.1;
    settings.beta1 = 0.9;
    settings.beta2 = 0.98;
    settings.frequency_rate = 0.05;
    const at::TensorOptions options = at::TensorOptions(at::kDouble).requires_grad(true);
    at::manual_seed(1);
    const std::vector<NamedParameter> parameters = {{"bias", at::randn({5}, options)},
                                                    {"weight", at::randn({3, 4}, options)},
                                                    {"query_key_frequencies", at::randn({2}, options)},
                                                    {"other.weight", at::randn({2, 5}, options)}};
    std::vector<at::Tensor> expected, means, squares;
    for (const auto& [name, parameter] : parameters) {
        expected.push_back(parameter.detach().clone());
        means.push_back(at::zeros_like(expected.back()));
        squares.push_back(at::zeros_like(expected.back()));
    }
    AdamW optimizer(parameters, settings);
    for (std::int64_t step = 1; step <= 4; ++step) {
        const double rate = 0.01 * static_cast<double>(step), most = 2.0;
        double norm = 0;
        for (const auto& [name, parameter] : parameters) {
            at::Tensor changing = parameter;
            changing.mutable_grad() = someGradient(parameter, step);
            norm += changing.grad().square().sum().item<double>();
        }
        norm = std::sqrt(norm);
        EXPECT_NEAR(optimizer.collectGradients().item<double>(), norm, 1e-12);
        optimizer.clip(norm, most);
        optimizer.step(rate);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const at::Tensor g = someGradient(expected[i], step) * std::min(1.0, most / norm);
            const double own_rate = i == 2 ? rate * settings.frequency_rate : rate;
            const double decay = expected[i].dim() >= 2 ? settings.weight_decay : 0;
            means[i] = settings.beta1 * means[i] + (1 - settings.beta1) * g;
            squares[i] = settings.beta2 * squares[i] + (1 - settings.beta2) * g * g;
            const double n = static_cast<double>(step);
            const at::Tensor mean = means[i] / (1 - std::pow(settings.beta1, n));
            const at::Tensor square = squares[i] / (1 - std::pow(settings.beta2, n));
            expected[i] =
                expected[i] - own_rate * (decay * expected[i] + mean / (square.sqrt() + settings.epsilon));
            const double error = (parameters[i].second.detach() - expected[i]).abs().max().item<double>();
            EXPECT_LT(error, 1e-9) << parameters[i].first << ", step " << step;
            EXPECT_LT((optimizer.moments(i).mean - means[i]).abs().max().item<double>(), 1e-12);
            EXPECT_LT((optimizer.moments(i).square - squares[i]).abs().max().item<double>(), 1e-12);
        }
    }
}

TEST(Schedule, WarmsUpThenTakesItsCourse) {
    Specification::Training training;
    training.steps = 100;
    training.warmup_steps = 10;
    training.learning_rate = 2.0;
    training.final_fraction = 0.1;
    for (const char* schedule : {"constant", "cosine", "linear"}) {
        training.lr_schedule = schedule;
        EXPECT_DOUBLE_EQ(learningRate(training, 1), 0.2);
        EXPECT_DOUBLE_EQ(learningRate(training, 5), 1.0);
        EXPECT_DOUBLE_EQ(learningRate(training, 10), 2.0);
    }
    training.lr_schedule = "constant";
    EXPECT_DOUBLE_EQ(learningRate(training, 100), 2.0);
    training.lr_schedule = "linear";
    EXPECT_NEAR(learningRate(training, 55), 1.1, 1e-12);
    EXPECT_NEAR(learningRate(training, 100), 0.2, 1e-12);
    training.lr_schedule = "cosine";
    EXPECT_NEAR(learningRate(training, 55), 1.1, 1e-12);
    EXPECT_NEAR(learningRate(training, 100), 0.2, 1e-12);
    EXPECT_GT(learningRate(training, 30), 1.7);
}

TEST(Schedule, NoWarmUpBeginsAtTheTop) {
    Specification::Training training;
    training.warmup_steps = 0;
    training.lr_schedule = "constant";
    EXPECT_DOUBLE_EQ(learningRate(training, 1), training.learning_rate);
    training.lr_schedule = "cosine";
    training.steps = training.warmup_steps = 5;
    EXPECT_DOUBLE_EQ(learningRate(training, 5), training.learning_rate * training.final_fraction);
}

}  // namespace

}  // namespace roper
