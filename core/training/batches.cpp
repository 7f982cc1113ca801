#include "core/training/batches.h"

#include <ATen/ATen.h>

#include <vector>

#include "core/model/generation.h"

namespace roper {
namespace {

constexpr double kMaskProbability = 0.8, kRandomTokenProbability = 0.1;  // among the selected tokens

/// Selects tokens of a sequence for prediction and masks them.
/// @param inputs   [T]: in: the sequence; out: the sequence with masks
/// @param targets  [T]: in: all `kIgnoreIndex`; out: the original tokens at the selected positions
void applyMasking(const Specification& specification, std::int64_t vocabulary, Random random,
                  std::int64_t* inputs, std::int64_t* targets) {
    const std::int64_t T = specification.inputLength();
    const auto hide = [&](std::int64_t t) {
        targets[t] = inputs[t];
        const double draw = random.unit();
        if (draw < kMaskProbability)
            inputs[t] = vocabulary;
        else if (draw < kMaskProbability + kRandomTokenProbability)
            inputs[t] = random.between(0, vocabulary - 1);
    };
    bool any = false;
    for (std::int64_t t = 0; t < T; ++t) {
        if (random.unit() >= specification.training.masked_share) continue;
        hide(t);
        any = true;
    }
    if (!any) hide(random.between(0, T - 1));
}

}  // namespace

at::Tensor makeSequences(const Task& task, const Specification& specification, Stream stream,
                         std::uint64_t first, std::int64_t count) {
    std::vector<std::vector<std::int64_t>> rows;
    rows.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        rows.push_back(task.tokens(static_cast<std::uint64_t>(specification.training.data_seed), stream,
                                   first + static_cast<std::uint64_t>(i),
                                   static_cast<int>(specification.training.length)));
    return padRight(rows);
}

Batch makeBatch(const Task& task, const Specification& specification, Stream stream, std::uint64_t first,
                std::int64_t count) {
    const at::Tensor sequences = makeSequences(task, specification, stream, first, count);
    const std::int64_t T = specification.inputLength();
    if (!specification.isMasked()) return {sequences.narrow(1, 0, T), sequences.narrow(1, 1, T)};
    const Stream masks = stream == Stream::training ? Stream::training_masks : Stream::validation_masks;
    const Batch batch{sequences, at::full_like(sequences, kIgnoreIndex)};
    for (std::int64_t b = 0; b < count; ++b)
        applyMasking(specification, task.vocabulary().size(),
                     Random(static_cast<std::uint64_t>(specification.training.data_seed), masks,
                            first + static_cast<std::uint64_t>(b)),
                     batch.inputs[b].mutable_data_ptr<std::int64_t>(),
                     batch.targets[b].mutable_data_ptr<std::int64_t>());
    return batch;
}

std::int64_t modelVocabularySize(const Task& task, const Specification& specification) {
    return task.vocabulary().size() + (specification.isMasked() ? 1 : 0);
}

}  // namespace roper
