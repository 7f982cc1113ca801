#include "core/training/loaded_model.h"

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/specification/cost.h"
#include "core/training/batches.h"
#include "core/training/checkpoint.h"

namespace roper {

namespace {

/// Checks sizes before anything is allocated, since run.toml may describe a model of any size and a
/// checkpoint may be of any length.
/// @throws Error (checkpoint) if the checkpoint cannot contain such a model, Error (memory) if it does not
/// fit
void requireThatItFits(const RunFolder& folder, const Specification& specification,
                       const StepFile& checkpoint) {
    const Cost cost = costOf(specification);
    const auto stored_bytes = static_cast<double>(fileSize(checkpoint.path));
    const double model_bytes = sizeof(float) * static_cast<double>(cost.parameters);
    if (stored_bytes < minModelBytes(specification))
        throw Error(ErrorKind::checkpoint, checkpoint.path.string() + " has a size of " +
                                               formatBytes(stored_bytes) + "; the model in " +
                                               folder.specificationPath().string() + " needs " +
                                               formatBytes(model_bytes));
    requirePlausibleSize(checkpoint.path, cost.parameters);
    const std::optional<double> available = availableMemory();
    if (available && model_bytes + stored_bytes > *available)
        throw Error(ErrorKind::memory, "reading the model of " + folder.path().string() + " takes " +
                                           formatBytes(model_bytes + stored_bytes) + " of memory, but only " +
                                           formatBytes(*available) + " are free");
}

}  // namespace

LoadedModel loadModel(const RunFolder& folder, const ModelLoadOptions& options, bool for_evaluation) {
    const StepFile checkpoint = chooseCheckpoint(folder, options.step);
    LoadedModel loaded{withoutUnused(folder.specification()), nullptr, nullptr, checkpoint.step};
    requireValid(loaded.specification, folder.specificationPath().string());
    requireThatItFits(folder, loaded.specification, checkpoint);
    if (!options.precision.empty()) loaded.specification.device.precision = options.precision;
    loaded.task = for_evaluation ? openTask(loaded.specification.task, folder, {options.note, {}})
                                 : openTaskForInference(loaded.specification.task, folder);
    loaded.model = std::make_unique<Transformer>(
        loaded.specification, modelVocabularySize(*loaded.task, loaded.specification),
        openDevice(options.device, loaded.specification.device.kernel == "plain").device);
    const SafetensorsFile file = readCheckpoint(checkpoint.path, loaded.model->parameterCount());
    requireSameSettings(file, loaded.specification);
    loadWeights(file, *loaded.model, loaded.task->vocabulary().identity());
    loaded.model->positions().setStep(checkpoint.step);
    loaded.sequences_seen = static_cast<std::uint64_t>(parseInteger(file.entry("next_sequence")).value_or(0));
    return loaded;
}

void rescale(LoadedModel& loaded, Scaling scaling, std::int64_t length) {
    if (scaling.method == ScalingMethod::none) return;
    scaling.original_length = static_cast<double>(loaded.specification.inputLength());
    loaded.model->positions().rescale(scaling, static_cast<double>(length));
}

}  // namespace roper
