#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/roper_train/progress.h"

namespace roper {

/// Questions about a model that is only read.
struct LookOptions {
    std::filesystem::path model;       ///< a .gguf file, a Hugging Face folder, or a run's path or name
    std::filesystem::path runs;        ///< where runs are found by name
    std::optional<std::int64_t> step;  ///< of a run's checkpoint; the newest if not given
    std::string what;                  ///< loss, logits, generate, attention, heads or bands
    std::filesystem::path out;         ///< attention is written there
    std::string text;
    std::filesystem::path text_file;  ///< instead of `text`
    std::optional<std::int64_t> layer, head;
    std::string mute;                                    ///< pairs, such as 24-31
    bool no_value_rotation = false, no_inverse = false;  ///< of RoPER
    std::int64_t shift = 0;                              ///< added to every position
    double base = 0;                                     ///< 0: the model's own
    std::string scaling = "none";                        ///< one of `scalingNames`
    double factor = 4;
    double original_length = 0;         ///< 0: what the model was trained on
    std::optional<std::int64_t> count;  ///< candidates of `logits` (5), or tokens to `generate` (32)
    double temperature = 0;
    std::uint64_t seed = 0;
    std::int64_t threads = 0;
    bool json = false;
};

/// Prints the answer. @throws Error of every kind
int lookCommand(const LookOptions& options);

}  // namespace roper
