#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/roper_train/progress.h"
#include "core/inspection/opened_model.h"
#include "core/questions/question.h"

namespace roper {

/// Questions about a model that is only read.
struct LookOptions {
    std::filesystem::path model;       ///< a .gguf file, a Hugging Face folder, or a run's path or name
    std::filesystem::path runs;        ///< where runs are found by name
    std::optional<std::int64_t> step;  ///< of a run's checkpoint; the newest if not given
    std::string what;  ///< loss, logits, generate, attention, heads, bands, kernels or one of `isStudy`
    std::filesystem::path out;  ///< attention is written there
    std::string text;
    std::filesystem::path text_file;  ///< instead of `text`
    std::optional<std::int64_t> layer, head;
    ModelChange change;                 ///< without layer, head and scaling, which stand here
    std::string scaling = "none";       ///< one of `scalingNames`
    std::optional<std::int64_t> count;  ///< candidates of `logits` (5), tokens to `generate` (32), …
    std::string needle = Question().needle, question = Question().question, answer = Question().answer;
    std::int64_t distance = 0;  ///< of `token_map`
    std::string other;          ///< of `patch`: another text of as many tokens
    double temperature = 0;
    std::uint64_t seed = 0;
    std::int64_t threads = 0;
    bool json = false;
};

/// Prints the answer. @throws Error of every kind
int lookCommand(const LookOptions& options);

/// "⟨ the⟩": a token between brackets, with its line ends and tabs as signs.
std::string shownToken(const TextCodec& codec, std::int64_t id);

}  // namespace roper
