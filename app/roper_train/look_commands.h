#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/questions/question.h"
#include "core/reading/answer_writer.h"

namespace roper {

/// A question about a model that is only read.
struct LookOptions {
    std::filesystem::path model;       ///< a .gguf file, a Hugging Face folder, or a run's path or name
    std::filesystem::path runs;        ///< where runs are found by name
    std::optional<std::int64_t> step;  ///< of a run's checkpoint; the newest if not given
    Question question = {};
    std::filesystem::path text_file;  ///< with the question's text
    std::filesystem::path out;        ///< attention is written there
    std::int64_t threads = 0;
    AnswerFormat format = AnswerFormat::text;
};

/// Prints the answer. @throws Error of every kind
int lookCommand(const LookOptions& options);

}  // namespace roper
