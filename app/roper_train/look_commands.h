#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/roper_train/progress.h"
#include "core/questions/question.h"
#include "core/reading/model_reader.h"

namespace roper {

/// Questions about a model that is only read.
struct LookOptions {
    std::filesystem::path model;       ///< a .gguf file, a Hugging Face folder, or a run's path or name
    std::filesystem::path runs;        ///< where runs are found by name
    std::optional<std::int64_t> step;  ///< of a run's checkpoint; the newest if not given
    std::string what;                  ///< the name of a QuestionKind
    std::filesystem::path out;         ///< attention is written there
    std::string text;
    std::filesystem::path text_file;  ///< instead of `text`
    std::optional<std::int64_t> layer, head;
    ModelChange change;                       ///< without layer, head and scaling, which stand here
    std::vector<std::string> ablations = {};  ///< as `ModelChange::ablate` has them, one each
    std::string scaling = "none";             ///< one of `scalingNames`
    std::optional<std::int64_t> count;        ///< candidates of `logits` (5), tokens to `generate` (32), …
    std::string needle = Question().needle, question = Question().question, answer = Question().answer;
    std::int64_t distance = 0;  ///< of `token_map`
    std::string other;          ///< of `patch`: another text of as many tokens
    double temperature = 0;
    std::uint64_t seed = 0;
    std::int64_t threads = 0;
    bool json = false;
};

/// A question of the command line, with what its answer needs.
struct LookRequest {
    ModelReader& reader;
    const LookOptions& options;
    std::vector<std::int64_t> ids = {};  ///< of the text, where the kind reads one
    Intervention change = {};            ///< where the kind can be changed

    std::int64_t count() const { return options.count.value_or(questionKind(options.what).usual_count); }
    const Architecture& model() const { return reader.model().architecture; }
};

/// Prints an answer, as text or CSV or as JSON. @returns the exit code. @throws Error of every kind
using PrintAnswer = int (*)(const LookRequest& request);

/// Names of the kinds that `look` answers.
std::vector<std::string> printedQuestions();

/// Prints the answer. @throws Error of every kind
int lookCommand(const LookOptions& options);

/// "⟨ the⟩": a token between brackets, with its line ends and tabs as signs.
std::string shownToken(const TextCodec& codec, std::int64_t id);

/// The texts of tokens.
nlohmann::ordered_json tokensJson(const TextCodec& codec, const std::vector<std::int64_t>& ids);

}  // namespace roper
