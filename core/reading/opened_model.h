#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pretrained/pretrained_model.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"

namespace roper {

/// Encodes and decodes texts, for a published model or a run.
struct TextCodec {
    /// Includes the special tokens that the model expects around a text.
    /// @throws Error (usage), std::invalid_argument for a text that cannot be encoded
    std::function<std::vector<std::int64_t>(std::string_view)> encode;
    std::function<std::string(std::int64_t)> textOf;  ///< bytes, possibly an incomplete character
    std::function<bool(std::int64_t)> isSpecial;      ///< whether it is a special token
    std::size_t before = 0, after = 0;                ///< special tokens that `encode` puts around a text
    std::optional<std::int64_t> mask = {};            ///< id of the mask token; empty: none

    std::string decode(const std::vector<std::int64_t>& ids) const;
};

/// A checkpoint of a model during its training.
struct TrainedState {
    std::int64_t step = 0;
    std::function<PretrainedModel()> open;  ///< @throws Error (checkpoint, disk)
};

/// A model with its tokenizer.
struct OpenedModel {
    PretrainedModel model;
    TextCodec codec;
    std::shared_ptr<const Task> task = {};  ///< of a run; null for a published model
    std::uint64_t problem_seed = 0;         ///< seed of the problems on which the run is evaluated
    std::function<std::vector<TrainedState>()> history = {};  ///< checkpoints of a run, by ascending step
    /// For a run: facts that the explorer pages need, named as in its specification.
    std::map<std::string, std::string> run_metadata = {};
};

/// Opens the tokenizer of a published model without the model: a tokenizer.json, a folder with one, or a GGUF
/// file.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
TextCodec openPublishedCodec(const FilePath& path);

/// The codec of a run. @throws Error (checkpoint, usage, disk)
TextCodec openRunCodec(const RunFolder& run);

/// Opens a published model: a GGUF file or a Hugging Face folder.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
OpenedModel openPublished(const FilePath& path);

/// Opens a run's checkpoint at a step, or its newest.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
OpenedModel openRun(const RunFolder& run, std::optional<std::int64_t> step = {});

/// The current state of a run in training, with a copy of its parameters.
/// @param specification  as used by the training
/// @param parameters     with their names in checkpoints
OpenedModel openTrainingModel(const RunFolder& run, const Specification& specification,
                              std::shared_ptr<const Task> task, std::int64_t step,
                              const std::vector<std::pair<std::string, at::Tensor>>& parameters);

}  // namespace roper
