#pragma once

#include <filesystem>
#include <string>

#include "core/base/safetensors.h"
#include "core/model/transformer.h"
#include "core/specification/specification.h"
#include "core/training/optimizer.h"

namespace roper {

/// Progress of a run, apart from weights and moments.
struct TrainingPosition {
    std::int64_t step = 0;
    std::int64_t tokens = 0;          ///< trained on so far
    std::uint64_t next_sequence = 0;  ///< index in the training stream
    double time_s = 0;                ///< seconds of training (`TrainingClock`)
};

/// Writes weights, moments, states of random generators and position atomically. Layout: docs/run-folder.md.
/// @throws Error (disk)
void saveCheckpoint(const FilePath& path, const Transformer& model, const AdamW& optimizer,
                    const TrainingPosition& position, const std::string& specification_toml,
                    const std::string& vocabulary);

/// Checks a checkpoint of a model with this many parameters in pieces, without holding it in memory.
/// @throws Error (checkpoint) if it is damaged or larger than such a checkpoint can be, Error (disk) if it
/// cannot be read
void verifyCheckpoint(const FilePath& path, std::int64_t parameters);

/// @returns the maximum size in bytes of a checkpoint of a model with this many parameters
/// @throws Error (checkpoint) if this file is larger, Error (disk)
std::uint64_t requirePlausibleSize(const FilePath& path, std::int64_t parameters);

/// Reads a checkpoint of a model with this many parameters. A file larger than such a checkpoint can be is
/// refused unread. @throws Error (checkpoint) if it is damaged, Error (disk) if it cannot be read
SafetensorsFile readCheckpoint(const FilePath& path, std::int64_t parameters);

/// Restores everything written by `saveCheckpoint`.
/// @throws Error (checkpoint) if the file belongs to a model with another shape or vocabulary
TrainingPosition loadCheckpoint(const SafetensorsFile& file, Transformer& model, AdamW& optimizer,
                                const std::string& vocabulary);

/// Settings that the checkpoint of a run was trained with, compared with the present ones.
struct PreviousSettings {
    std::string changes;            ///< a sentence for the user; empty if there are none
    std::int64_t report_every = 0;  ///< the checkpoint's `training.report_every`; 0 if unknown
};

/// A run must continue with the settings it was trained with: a run.toml truncated or edited since would
/// train something else. Allowed changes: more steps; the sections about, device, evaluation, checkpoints and
/// snapshots; the reporting interval; the path of the text.
/// @throws Error (usage) naming other settings that differ from those in the checkpoint
PreviousSettings requireSameSettings(const SafetensorsFile& file, const Specification& specification);

/// Loads the weights of `training.initial_weights`: a checkpoint, or the newest one of a run.
/// @param runs  the folder of runs that may be given by name
/// @returns a sentence naming their source
/// @throws Error (usage) saying why these weights cannot be used
std::string loadInitialWeights(const Specification& specification, const std::filesystem::path& runs,
                               const std::string& vocabulary, Transformer& model);

/// Restores only the weights. @throws Error (checkpoint)
void loadWeights(const SafetensorsFile& file, Transformer& model, const std::string& vocabulary);

}  // namespace roper
