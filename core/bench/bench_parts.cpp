#include <ATen/ATen.h>

#include "core/base/this_process.h"
#include "core/bench/bench.h"
#include "core/bench/rate_meter.h"
#include "core/corpus/open_task.h"
#include "core/model/attention.h"
#include "core/model/device.h"
#include "core/model/generation.h"
#include "core/model/kernel_attention.h"
#include "core/operators/threads.h"
#include "core/operators/translate_errors.h"
#include "core/specification/cost.h"
#include "core/training/loaded_model.h"

namespace roper {
namespace {

/// Attention of one layer by LibTorch's operations, from q, k and v concatenated [B, T, jointWidth].
at::Tensor plainAttention(const at::Tensor& qkv, const HeadLayout& layout, const PassPositions& pass,
                          Pairing pairing, const AttentionMask& mask) {
    constexpr auto kKind = AttentionKind::softmax;
    const Heads heads = rotatedHeads(splitHeads(qkv, layout), kKind, pairing, pass, 0);
    return mergedHeads(weightedSum(kKind, heads, mask), pairing, pass, 0);
}

/// Prompts to continue: those of problems, or the first `beginning` characters of sequences.
std::vector<std::string> promptsOf(const Task& task, std::int64_t count, int beginning) {
    std::vector<std::string> prompts;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<std::uint64_t>(i);
        prompts.push_back(task.hasProblems() ? task.problem(0, Stream::problems, number).prompt
                                             : task.sequence(0, Stream::validation, number, beginning));
    }
    return prompts;
}

}  // namespace

AttentionBench benchAttention(const Specification& specification, int times) {
    return translateErrors([&] {
        keepFreedHeapMemory();
        setThreads(specification.device.threads);
        const std::int64_t B = specification.training.batch, T = specification.inputLength(),
                           C = specification.model.width;
        const HeadLayout layout = specification.headLayout();
        Parameters parameters(0, at::kFloat);
        const auto positions = makePositions(specification, parameters, at::kFloat);
        const PassPositions pass = positions->makePassPositions({T});
        const AttentionScope scope{!specification.isMasked(), specification.model.window};
        const AttentionMask mask = sequenceMask(scope, T, pass.distance_bias, at::kFloat);
        const at::ScalarType type = specification.device.precision == "bf16" ? at::kBFloat16 : at::kFloat;
        const at::Tensor qkv = at::randn({B, T, layout.jointWidth()}).to(type),
                         gradient = at::randn({B, T, C}).to(type);
        const auto forwardAndBackward = [&](const auto& attend) {
            const at::Tensor x = qkv.detach().requires_grad_(true);
            return secondsOf([&] { attend(x).backward(gradient); });
        };
        AttentionBench bench;
        RateMeter meter(at::kCPU, type);
        for (int i = -1; i < times; ++i) {  // the first one is a warm-up
            const double kernel = forwardAndBackward([&](const at::Tensor& x) {
                return fusedAttention(x, layout, scope, positions->pairing(), pass, 0);
            });
            const double plain = forwardAndBackward([&](const at::Tensor& x) {
                return plainAttention(x, layout, pass, positions->pairing(), mask);
            });
            if (i < 0) continue;
            meter.sample();
            bench.kernel.seconds.push_back(kernel);
            bench.plain.seconds.push_back(plain);
        }
        // Two products forward and five backward (scores again, then gradients of the weights, q, k and v),
        // 2·T²·d each.
        bench.flop =
            14.0 * static_cast<double>(B * T * C) * attendedKeys(specification, static_cast<double>(T));
        bench.rates = meter.rates();
        return bench;
    });
}

GenerationBench benchGeneration(const Specification& specification, int times) {
    return translateErrors([&] {
        constexpr int kBeginning = 16;
        keepFreedHeapMemory();
        setThreads(specification.device.threads);
        const OpenedDevice opened = openDevice(specification.device);
        const auto task = openTask(specification.task);
        Transformer model(specification, task->vocabulary().size(), opened.device);
        const std::vector<std::string> prompts =
            promptsOf(*task, specification.evaluation.problems, kBeginning);
        const int longest = task->hasProblems()
                                ? task->maxAnswerLength()
                                : static_cast<int>(specification.training.length) - kBeginning;
        GenerationBench bench;
        bench.characters = specification.evaluation.problems * longest;
        for (int i = 0; i < times; ++i)
            bench.times.seconds.push_back(secondsOf([&] {
                generate(model, task->vocabulary(), prompts, {longest, {}});
            }));
        return bench;
    });
}

}  // namespace roper
