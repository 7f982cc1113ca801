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

/// Text to ids and back, whatever kind of model it is for.
struct TextCodec {
    /// With the special tokens that the model expects around a text.
    /// @throws Error (usage), std::invalid_argument for a text that cannot be encoded
    std::function<std::vector<std::int64_t>(std::string_view)> encode;
    std::function<std::string(std::int64_t)> textOf;  ///< bytes that may be a part of a character
    std::function<bool(std::int64_t)> isSpecial;      ///< a mark rather than text

    std::string decode(const std::vector<std::int64_t>& ids) const;
};

/// A model as it was at a step of its training.
struct TrainedState {
    std::int64_t step = 0;
    std::function<PretrainedModel()> open;  ///< @throws Error (checkpoint, disk)
};

/// A model that can be asked, with what it reads.
struct OpenedModel {
    PretrainedModel model;
    TextCodec codec;
    std::shared_ptr<const Task> task = {};  ///< of a run; null of a published model
    std::uint64_t problem_seed = 0;         ///< of the problems that the run is evaluated on
    std::function<std::vector<TrainedState>()> history = {};  ///< of a run: its checkpoints, by rising step
    /// Of a run: what the explorer pages have to know of it, as its specification calls it.
    std::map<std::string, std::string> run_facts = {};
};

/// What a published model makes of texts, without the model: a tokenizer.json, a folder with one, or a GGUF
/// file.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
TextCodec openPublishedCodec(const FilePath& path);

/// What a run makes of texts. @throws Error (checkpoint, usage, disk)
TextCodec openRunCodec(const RunFolder& run);

/// A GGUF file or a Hugging Face folder.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
OpenedModel openPublished(const FilePath& path);

/// A run's checkpoint at a step, or its newest.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
OpenedModel openRun(const RunFolder& run, std::optional<std::int64_t> step = {});

/// A run as it is while it trains, its parameters copied as they stand.
/// @param specification  that it trains by
/// @param parameters     by the names under which a checkpoint has them
OpenedModel openLive(const RunFolder& run, const Specification& specification,
                     std::shared_ptr<const Task> task, std::int64_t step,
                     const std::vector<std::pair<std::string, at::Tensor>>& parameters);

}  // namespace roper
