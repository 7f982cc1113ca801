#include "core/training/bench.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>

#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/model/generation.h"
#include "core/training/batches.h"
#include "core/training/optimizer.h"
#include "core/training/schedule.h"
#include "core/training/session.h"

namespace roper {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double secondsOf(Work work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double BenchTimes::median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.at(sorted.size() / 2);
}

double BenchTimes::least() const {
    return *std::min_element(seconds.begin(), seconds.end());
}

double BenchTimes::greatest() const {
    return *std::max_element(seconds.begin(), seconds.end());
}

BenchTimes benchSteps(const Specification& specification, int steps, int warm_up, double least_seconds) {
    keepHeapWarm();  // as training does
    setThreads(specification.device.threads);
    const at::Device device = openDevice(specification.device.name).device;
    const auto task = openTask(specification.task);
    Transformer model(specification, modelTokens(*task, specification), device);
    AdamW optimizer(model.parameters(), specification.training);
    BenchTimes times;
    double spent = 0;
    for (int step = 1; step <= warm_up + steps || spent < least_seconds; ++step) {
        const double seconds = secondsOf([&] {
            const std::int64_t count = specification.training.batch;
            const Batch batch = makeBatch(*task, specification, Stream::training,
                                          static_cast<std::uint64_t>((step - 1) * count), count);
            const at::Tensor loss =
                model.loss(batch.inputs.to(device), batch.targets.to(device), /*training=*/true);
            loss.backward();
            optimizer.clip(optimizer.gradientNorm().item<double>(), specification.training.clip_norm);
            optimizer.step(learningRate(specification.training, step));
            loss.item<double>();
        });
        if (step <= warm_up) continue;
        times.seconds.push_back(seconds);
        spent += seconds;
    }
    return times;
}

GenerationBench benchGeneration(const Specification& specification, int times) {
    keepHeapWarm();  // as training does
    setThreads(specification.device.threads);
    const at::Device device = openDevice(specification.device.name).device;
    const auto task = openTask(specification.task);
    Transformer model(specification, task->vocabulary().size(), device);
    std::vector<std::string> prompts;
    for (std::int64_t i = 0; i < specification.evaluation.problems; ++i)
        prompts.push_back(task->hasProblems()
                              ? task->problem(0, Stream::problems, static_cast<std::uint64_t>(i)).prompt
                              : task->sequence(0, Stream::validation, static_cast<std::uint64_t>(i), 16));
    const int longest =
        task->hasProblems() ? task->longestAnswer() : static_cast<int>(specification.training.length) - 16;
    GenerationBench bench;
    bench.characters = specification.evaluation.problems * longest;
    for (int i = 0; i < times; ++i)
        bench.times.seconds.push_back(secondsOf([&] {
            complete(model, task->vocabulary(), prompts, {longest, {}});
        }));
    return bench;
}

}  // namespace roper
