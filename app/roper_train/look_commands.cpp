#include <unistd.h>

#include <iostream>

#include "app/roper_train/commands.h"
#include "core/base/available.h"
#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/reading/answers.h"
#include "core/reading/reading_memory.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxTextBytes = 16U << 20U;

/// Opens a GGUF file, a Hugging Face folder, or a run, by its path or by its name in the runs folder.
OpenedModel opened(const LookOptions& options) {
    if (isPretrainedModel(options.model)) {
        if (options.step)
            throw Error(ErrorKind::usage,
                        "--step selects a checkpoint of a run; this model has no checkpoints");
        return openPublished(options.model);
    }
    return openRun(findRun(options.model.string(), options.runs), options.step);
}

/// If the answer is not about single heads, --layer and --head select the heads to change.
Question parseQuestion(const LookOptions& options) {
    Question question = options.question;
    if (!options.text_file.empty()) question.text = readFile(options.text_file, kMaxTextBytes);
    if (question.kind().heads == QuestionKind::Heads::none) {
        if (question.layer) question.change.layer = question.layer;
        if (question.head) question.change.head = question.head;
    }
    question.positions = question.kind().isUsedSetting("positions") && question.layer && question.head;
    return question;
}

/// Tells the user how much memory a large model needs to read the text, before it does.
void announce(const ModelReader& reader, const std::string& text) {
    constexpr std::int64_t kLarge = 1'000'000'000;  // parameters
    const PretrainedModel& model = reader.model();
    if (text.empty() || model.weights.parameters < kLarge) return;
    const std::int64_t tokens = std::ssize(reader.encode(text));
    std::cerr << "roper-train: reading " << tokens << " tokens with "
              << formatWithUnit(static_cast<double>(model.weights.parameters), kUnitsOfCounts)
              << " parameters (" << formatBytes(static_cast<double>(model.tensors->sizeOfFiles()))
              << ") takes at least " << formatBytes(leastMemoryToRead(model.architecture, tokens))
              << " of memory\n";
}

}  // namespace

int lookCommand(const LookOptions& options) {
    const Question question = parseQuestion(options);
    std::optional<ExitOnClosedOutput> exit_on_closed_output;
    if (options.out.empty()) exit_on_closed_output.emplace();
    ReaderOptions reading;
    reading.threads = options.threads;
    if (question.kind().repeats_passes)
        reading.weight_cache_bytes = static_cast<std::uint64_t>(availableMemory().value_or(0) / 3);
    if (::isatty(STDERR_FILENO) != 0 && options.format == AnswerFormat::text)
        reading.progress = [](std::int64_t done, std::int64_t all, const std::string& counted) {
            terminal() << "\r" << done << " of " << all << " " << counted << "\033[K"
                       << (done == all ? "\r\033[K" : "") << std::flush;
        };
    ModelReader reader(opened(options), reading);
    for (const std::string& note : reader.model().notes)
        std::cerr << "roper-train: " << note << "\n";
    if (reading.progress) announce(reader, question.text);
    AnswerWriter writer(std::cout, options.format,
                        options.out.empty() ? options.out : outputPath(options.out));
    printAnswer(reader, question, writer);
    return 0;
}

}  // namespace roper
