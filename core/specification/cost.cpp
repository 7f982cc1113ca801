#include "core/specification/cost.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace roper {
namespace {

// L layers of width C, F features inside a feed-forward layer, H heads, V tokens in the vocabulary, B
// sequences of T tokens per step. FLOP: floating-point operations.

/// Number of weights of one layer that compute queries, keys and values.
std::int64_t queryKeyValueWeights(const Specification& s) {
    const std::int64_t C = s.model.width, rank = s.model.latent_rank;
    if (rank == 0) return C * s.headLayout().jointWidth();
    const std::int64_t rotated = s.model.rotation(s.headDim()).rotatedWidth();
    return C * C + C * (rank + rotated) + rank * s.model.heads * (2 * s.headDim() - rotated);
}

/// Number of weights of one layer by which every token is multiplied.
double layerWeights(const Specification& s) {
    const auto C = static_cast<double>(s.model.width), F = static_cast<double>(s.model.feed_forward);
    return static_cast<double>(queryKeyValueWeights(s)) + C * C + (s.isModern() ? 3 : 2) * C * F;
}

std::int64_t parametersOf(const Specification& s, std::int64_t V) {
    const std::int64_t C = s.model.width, F = s.model.feed_forward, rank = s.model.latent_rank;
    const std::int64_t products = queryKeyValueWeights(s) + C * C,
                       biases = (rank > 0 ? 0 : s.headLayout().jointWidth()) + C + F + C;
    const std::int64_t block =
        s.isModern() ? products + 3 * C * F + 2 * C : products + 2 * C * F + biases + 4 * C;
    const std::int64_t final_norm = s.model.norm == "pre" ? (s.isModern() ? 1 : 2) * C : 0,
                       head = V * C + (s.isModern() ? 0 : V);
    const std::int64_t head_parameters =
        rank + (s.model.qk_norm ? 2 * s.headDim() : 0) + (s.model.attention_sinks ? s.model.heads : 0);
    return V * C + s.model.layers * (block + head_parameters) + final_norm + head +
           (s.model.method().parameters ? s.model.method().parameters(s.model, s.shape()) : 0);
}

/// FLOP of attention itself for one token, forward and backward: scores and the weighted sum of values,
/// without the linear layers.
double attentionFlop(const Specification& s, double T) {
    const auto L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width);
    if (s.model.attention == "softmax") return 12 * L * C * attendedKeys(s, T);
    constexpr double kChunk = 64;  // as in core/operators/linear_attention.cpp, with four running products
    return 16 * L * C * (kChunk + static_cast<double>(s.headDim()));
}

bool usesCpuKernels(const Specification& s) {
    return s.device.kernel == "auto" && !s.device.name.starts_with("cuda");
}

/// Whether a run computes its products in bfloat16, as far as can be known without opening its device.
bool isInBFloat16(const Specification& s) {
    if (s.device.precision != "auto") return s.device.precision == "bf16";
#if defined(__x86_64__)
    return usesCpuKernels(s) && __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

/// Bytes that the forward pass keeps for the backward pass, for one token: the inputs of linear layers, norms
/// and the activation function; q, k, v before and after rotation; and what the attention kernel keeps.
double savedActivationBytes(const Specification& s, double T, double V) {
    const auto L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width),
               F = static_cast<double>(s.model.feed_forward), H = static_cast<double>(s.model.heads);
    const bool trained = s.model.trainsFrequencies();
    const bool by_kernels = usesCpuKernels(s);
    const bool fused = by_kernels && s.model.attention == "softmax" && !trained;
    // LibTorch's operations copy keys and values for each head.
    const double joint = fused ? static_cast<double>(s.headLayout().jointWidth()) : 3 * C;
    // SwiGLU keeps the gate before and after its activation, the other factor and the product.
    const double hidden = s.isModern() ? 4 : by_kernels && s.model.activation == "relu" ? 1 : 2;
    double layer = (fused ? 5 : 7) * C + joint + hidden * F;
    if (s.model.attention != "softmax") layer += 12 * C;
    if ((s.model.method().trains_bias || s.model.attention_sinks) && !fused)
        layer += 2 * H * T;  // attention weights are kept
    if (trained) layer += 12 * C;
    if (s.model.latent_rank > 0)  // the latent vector before and after its norm, and parts of keys and values
        layer += 3 * static_cast<double>(s.model.latent_rank) + 3 * C;
    if (s.isModern()) layer += 2 * C;  // LibTorch's RMSNorm keeps its result before the weight
    if (s.model.qk_norm)               // inputs of the norms in float32, and their results
        layer += 2 * static_cast<double>(s.headLayout().queryWidth() + s.headLayout().keyWidth());
    const double dropped = s.model.dropout > 0 ? L * 2 * C * 1.25 : 0;  // the result, and the mask
    // Our attention kernel and the layers around it keep bfloat16, half the size, except for the inputs of
    // norms. Other implementations of attention keep part of it in float32, so nothing is subtracted for
    // them.
    const double halved = isInBFloat16(s) && fused ? L * (layer - 2 * C) : 0;
    return 4 * (L * layer + dropped + 4 * V + 2 * C) - 2 * halved;
}

/// Vectors of the width of a feed-forward layer that exist at once in a pass.
double hiddenCopies(const Specification& s) {
    return s.isModern() ? 4 : 2;
}

/// Bytes for solving one problem: keys and values of all layers, and the forward pass over the prompt.
double bytesOfProblem(const Specification& s, double tokens) {
    const auto L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width),
               F = static_cast<double>(s.model.feed_forward);
    const auto V = static_cast<double>(vocabularySize(s.task));
    const auto cached = 2 * static_cast<double>(s.headLayout().keyWidth());
    return 4 * tokens * (L * cached + 8 * C + hiddenCopies(s) * F + V);
}

/// Bytes for evaluating one sequence of the training's length: activations of one layer at a time, and three
/// copies of the logits.
/// @param V  size of the model's vocabulary
double bytesOfSequence(const Specification& s, double V) {
    const auto C = static_cast<double>(s.model.width), F = static_cast<double>(s.model.feed_forward);
    return 4 * static_cast<double>(s.training.length) * (8 * C + hiddenCopies(s) * F + 3 * V);
}

/// Size of the model's vocabulary, including the mask token of a masked language model.
double modelVocabulary(const Specification& s) {
    return static_cast<double>(vocabularySize(s.task) + (s.isMasked() ? 1 : 0));
}

/// Memory limit for the sequences or problems that an evaluation processes at once (at least one).
constexpr double kEvaluationMemoryBytes = 2.0 * (1U << 30U);

/// Number of tokens of a problem with its solution: the longest among the first problems.
double problemTokens(const Specification& s) {
    constexpr std::uint64_t kSampledProblems = 32;
    const std::unique_ptr<Task> task = makeTask(s.task);
    std::size_t longest = 0;
    for (std::uint64_t i = 0; i < kSampledProblems; ++i)
        longest = std::max(
            longest, task->problem(static_cast<std::uint64_t>(s.training.data_seed), Stream::problems, i)
                         .prompt.size());
    return static_cast<double>(longest) + task->maxAnswerLength();
}

/// Bytes of an evaluation in addition to the model: the problems solved at once, or a batch of sequences
/// without what only the backward pass needs; and the samples, as text.
double evaluationBytes(const Specification& s, double V) {
    const auto P = static_cast<double>(s.evaluation.problems),
               length = static_cast<double>(s.training.length);
    constexpr double kCopies = 3;  // prompt, correct answer and generated text
    constexpr double kStringOverhead = 100;
    const double texts = s.task.isText() ? 0 : kCopies * P * (length + kStringOverhead);
    double at_once = static_cast<double>(sequencesPerBatch(s)) * bytesOfSequence(s, V);
    if (s.task.hasProblems()) {
        const double tokens = problemTokens(s);
        const std::int64_t problems =
            std::min(s.evaluation.problems, problemsPerBatch(s, std::llround(tokens)));
        at_once = std::max(at_once, static_cast<double>(problems) * bytesOfProblem(s, tokens));
    }
    return texts + at_once;
}

/// Bytes of the attention weights of all heads in a snapshot.
double attentionMapBytes(const Specification& s) {
    const auto T = static_cast<double>(s.snapshots.tokens);
    return 4 * static_cast<double>(s.model.layers * s.model.heads) * T * T;
}

/// Bytes for taking a snapshot: the attention weights by layer and once more as one tensor.
double snapshotBytes(const Specification& s) {
    return s.snapshots.every == 0 ? 0 : 2 * attentionMapBytes(s);
}

/// Number of times that something happens every `every` steps and at the end.
double occurrencesIn(std::int64_t steps, std::int64_t every) {
    return every == 0 ? 1 : std::ceil(static_cast<double>(steps) / static_cast<double>(every));
}

/// Bytes of the parameters and AdamW's two moments, with names, shapes and generator states.
double checkpointBytes(std::int64_t parameters) {
    constexpr double kOverheadBytes = 64e3;
    return kOverheadBytes + 3 * 4 * static_cast<double>(parameters);
}

/// Bytes of a run's folder: the kept checkpoints, the best one and one being written; rows as text and as
/// TensorBoard events; samples; snapshots.
double diskBytes(const Specification& s, std::int64_t parameters) {
    constexpr double kRow = 200, kEvaluation = 500, kSampleOverhead = 300, kCopies = 4;
    const auto steps = s.training.steps;
    const auto tokens = static_cast<double>(s.training.length);
    const double problems = s.task.hasProblems() ? static_cast<double>(s.evaluation.problems) : 0;
    const double checkpoints = static_cast<double>(s.checkpoints.keep) + 2;
    const double snapshots =
        s.snapshots.every == 0 ? 0 : (1 + occurrencesIn(steps, s.snapshots.every)) * attentionMapBytes(s);
    return checkpoints * checkpointBytes(parameters) + kRow * occurrencesIn(steps, s.training.report_every) +
           occurrencesIn(steps, s.evaluation.every) *
               (kEvaluation + problems * (kSampleOverhead + kCopies * tokens)) +
           snapshots;
}

}  // namespace

double attendedKeys(const Specification& s, double T) {
    if (s.isMasked()) return T;
    const auto W = static_cast<double>(s.model.window);
    return W == 0 || W >= T ? T / 2 : W - W * W / (2 * T);
}

double flopPerStep(const Specification& s) {
    const double T = static_cast<double>(s.inputLength()), B = static_cast<double>(s.training.batch),
                 L = static_cast<double>(s.model.layers), C = static_cast<double>(s.model.width);
    return B * T * (6 * (L * layerWeights(s) + modelVocabulary(s) * C) + attentionFlop(s, T));
}

Cost costOf(const Specification& s) {
    constexpr double kProgramBytes = 1.9e8;  // LibTorch loaded, its threads and buffers
    // Bytes per parameter: the parameter, two copies of its gradient, AdamW's two moments, and the parameter
    // rounded to bfloat16.
    const double state = 5 * 4 + (isInBFloat16(s) ? 2 : 0);
    constexpr double kBackwardFactor = 1.3;  // temporaries of the backward pass
    const double V = modelVocabulary(s);
    const double T = static_cast<double>(s.inputLength()), B = static_cast<double>(s.training.batch);
    Cost cost;
    cost.parameters = parametersOf(s, static_cast<std::int64_t>(V));
    cost.flop_per_step = flopPerStep(s);
    cost.step_bytes = kBackwardFactor * B * T * savedActivationBytes(s, T, V);
    cost.evaluation_bytes = evaluationBytes(s, V);
    cost.snapshot_bytes = snapshotBytes(s);
    cost.disk_bytes = diskBytes(s, cost.parameters);
    cost.memory_bytes = kProgramBytes + state * static_cast<double>(cost.parameters) +
                        std::max({cost.step_bytes, cost.evaluation_bytes, cost.snapshot_bytes});
    return cost;
}

double minModelBytes(const Specification& specification) {
    return sizeof(float) * static_cast<double>(specification.model.layers) * layerWeights(specification);
}

std::int64_t problemsPerBatch(const Specification& specification, std::int64_t tokens) {
    constexpr double kMaxProblems = 1024;
    return static_cast<std::int64_t>(
        std::clamp(kEvaluationMemoryBytes / bytesOfProblem(specification, static_cast<double>(tokens)), 1.0,
                   kMaxProblems));
}

std::int64_t sequencesPerBatch(const Specification& specification) {
    return static_cast<std::int64_t>(
        std::clamp(kEvaluationMemoryBytes / bytesOfSequence(specification, modelVocabulary(specification)),
                   1.0, static_cast<double>(specification.training.batch)));
}

std::optional<std::string> memoryProblem(const Specification& s, double available_bytes) {
    const Cost cost = costOf(s);
    if (cost.memory_bytes <= available_bytes) return std::nullopt;
    const auto set = [](const char* key, std::int64_t value) {
        return std::string(key) + " (" + std::to_string(value) + ")";
    };
    std::string part, change;
    if (cost.snapshot_bytes > std::max(cost.step_bytes, cost.evaluation_bytes)) {
        part = formatBytes(cost.snapshot_bytes) + " of it for a snapshot of the attention";
        change = set("snapshots.tokens", s.snapshots.tokens) + ", or set snapshots.every to 0";
    } else if (cost.evaluation_bytes > cost.step_bytes) {
        part = formatBytes(cost.evaluation_bytes) + " of it for an evaluation";
        change = set("evaluation.problems", s.evaluation.problems) + ", " +
                 set("training.batch", s.training.batch) + " or " + set("training.length", s.training.length);
    } else {
        part = formatBytes(cost.step_bytes) + " of it for a step";
        change = set("training.batch", s.training.batch) + ", " + set("training.length", s.training.length) +
                 " or the size of the model";
    }
    return "the run takes about " + formatBytes(cost.memory_bytes) + " of memory, " + part + ", but only " +
           formatBytes(available_bytes) + " are free. Lower " + change +
           "; since this is an estimate, --anyway starts the run regardless.";
}

std::optional<std::string> evaluationProblem(const Specification& s, double available_bytes) {
    const double bytes = bytesOfSequence(s, modelVocabulary(s));
    if (bytes <= available_bytes) return std::nullopt;
    return "reading one sequence of " + std::to_string(s.training.length) + " tokens takes about " +
           formatBytes(bytes) + " of memory, but only " + formatBytes(available_bytes) +
           " are free: use a shorter --length";
}

std::optional<std::string> diskProblem(const std::vector<Specification>& runs, double available_bytes) {
    double needed = 0;
    const Specification* largest = nullptr;
    double most = 0;
    for (const Specification& run : runs) {
        const double bytes = costOf(run).disk_bytes;
        needed += bytes;
        if (bytes <= most) continue;
        most = bytes;
        largest = &run;
    }
    if (largest == nullptr || needed <= available_bytes) return std::nullopt;
    std::string change;
    if (largest->checkpoints.keep > 1)
        change += ", or lower checkpoints.keep (" + std::to_string(largest->checkpoints.keep) + ")";
    if (largest->snapshots.every > 0)
        change += ", or raise snapshots.every (" + std::to_string(largest->snapshots.every) + ")";
    return (runs.size() == 1 ? "the run takes about " : countOf(runs.size(), "run") + " take about ") +
           formatBytes(needed) + " on disk, but only " + formatBytes(available_bytes) +
           " are free. Free some space" + change;
}

std::string costText(const Cost& cost) {
    return formatWithUnit(static_cast<double>(cost.parameters),
                          {"parameters", "thousand parameters", "million parameters", "billion parameters"}) +
           ", " + formatWithUnit(cost.flop_per_step, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"}) +
           " per step, about " + formatBytes(cost.memory_bytes) + " of memory and " +
           formatBytes(cost.disk_bytes) + " on disk";
}

}  // namespace roper
