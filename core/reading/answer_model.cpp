#include <ATen/ATen.h>

#include <chrono>

#include "core/operators/products.h"
#include "core/questions/model_summary.h"
#include "core/reading/answers.h"
#include "core/reading/reading_memory.h"

namespace roper {
namespace {

/// Measures float32 matrix products in 10⁹ floating-point operations per second, two per multiply-add. Takes
/// some milliseconds.
double measuredGflops() {
    constexpr std::int64_t kMatrixSize = 768;
    // Not random, so that the generators of a run in training are not affected.
    const at::Tensor a = at::ones({kMatrixSize, kMatrixSize}), b = at::ones({kMatrixSize, kMatrixSize});
    const at::Tensor out = at::empty({kMatrixSize, kMatrixSize});
    double best = 0;
    for (int i = 0; i < 4; ++i) {  // the first one creates threads and buffers
        const auto begin = std::chrono::steady_clock::now();
        multiplyInto(out, a, b);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        best = std::max(best, 2e-9 * kMatrixSize * kMatrixSize * kMatrixSize / took.count());
    }
    return best;
}

ModelSummary summaryOf(const QuestionContext& context) {
    const ModelReader& reader = context.reader;
    const Architecture& a = context.model();
    ModelSummary summary{reader.model().name, a.family, a.layers,       a.heads,      a.key_value_heads,
                         a.head_dim,          a.width,  a.feed_forward, a.vocabulary, a.context};
    summary.parameters = reader.model().weights.parameters;
    summary.experts = a.mixture.experts;
    summary.experts_per_token = a.mixture.per_token;
    summary.parameters_per_token = reader.model().weights.parameters_per_token;
    summary.file_bytes = static_cast<std::int64_t>(reader.model().tensors->sizeOfFiles());
    summary.memory_bytes = leastMemoryToRead(a, kUsualTokens);
    summary.causal = a.causal;
    summary.has_head = reader.model().weights.head.has_value();
    summary.predicts_masked = a.predicts_masked && summary.has_head;
    for (std::int64_t layer = 0; layer < a.layers && a.window > 0 && !a.chunked; ++layer)
        summary.windows.push_back(a.isWindowed(layer) ? a.window : 0);
    summary.outputs_rotate_back = a.value_rotations.empty() || a.rotated.output;
    const Eigen::VectorXd theta = a.rotationOf(0).frequenciesForLength(static_cast<double>(a.context)).theta;
    summary.theta.assign(theta.begin(), theta.end());
    for (const RotaryConfig& rotation : a.rotations)
        summary.rotates = summary.rotates || rotation.rotatedWidth() > 0;
    summary.rotates_values = a.rotatesValues();
    summary.rotated = nameOf(a.rotatedTensors());
    summary.notes = reader.model().notes;
    summary.has_problems = a.causal && reader.task() != nullptr && reader.task()->hasProblems();
    for (const TrainedState& state : reader.history())
        summary.checkpoints.push_back(state.step);
    summary.gflops = measuredGflops();
    return summary;
}

void printModel(const ModelSummary& summary, const QuestionContext&, AnswerWriter& to) {
    const nlohmann::ordered_json all = nlohmann::json(summary);
    if (to.isJson()) return to.line(all);
    to.columns("name,value");
    for (const auto& [name, value] : all.items())
        if (value.is_primitive())
            to.row({name, tableCell(value.is_string() ? value.get<std::string>() : value.dump())});
}

}  // namespace

AnswerHandler modelAnswer() {
    return answerHandler(summaryOf, printModel);
}

}  // namespace roper
