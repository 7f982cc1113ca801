#pragma once

#include <string>

#include "core/base/safetensors.h"
#include "core/model/transformer.h"
#include "core/specification/specification.h"
#include "core/training/optimizer.h"

namespace roper {

/// Where a run stands apart from its weights and moments.
struct TrainingPosition {
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    std::uint64_t next_sequence = 0;  ///< of the training stream
    double time_s = 0;
};

/// Writes weights, optimizer moments, generator states and position, so that the path holds the old file or
/// the new. Layout: docs/run-folder.md. @throws Error (disk)
void saveCheckpoint(const FilePath& path, const Transformer& model, const AdamW& optimizer,
                    const TrainingPosition& position, const std::string& specification_toml,
                    const std::string& vocabulary);

/// @returns the most bytes that a checkpoint of a model with so many parameters holds
/// @throws Error (checkpoint) if this file is larger, Error (disk)
std::uint64_t requirePossibleSize(const FilePath& path, std::int64_t parameters);

/// Reads a checkpoint of a model with so many parameters. A file that is larger than such a checkpoint can be
/// is refused unread. @throws Error (checkpoint) if it is damaged, Error (disk) if it cannot be read
SafetensorsFile readCheckpoint(const FilePath& path, std::int64_t parameters);

/// Restores everything that `saveCheckpoint` wrote.
/// @throws Error (checkpoint) if the file belongs to a model of another shape or vocabulary
TrainingPosition loadCheckpoint(const SafetensorsFile& file, Transformer& model, AdamW& optimizer,
                                const std::string& vocabulary);

/// What a checkpoint says of the settings that may change.
struct FormerSettings {
    std::string changes;            ///< in a sentence for a person; empty if there are none
    std::int64_t report_every = 0;  ///< until then; 0 if that cannot be read
};

/// A run goes on with the settings that it was trained with: a run.toml that was cut or changed since would
/// train something else. Steps may be added; sections about, device, evaluation, checkpoints and snapshots,
/// how often it reports and where its text lies may change.
/// @throws Error (usage) naming the others that differ from those in the checkpoint
FormerSettings requireSameSettings(const SafetensorsFile& file, const Specification& specification);

/// Restores the weights alone. @throws Error (checkpoint)
void loadWeights(const SafetensorsFile& file, Transformer& model, const std::string& vocabulary);

}  // namespace roper
