#include "core/corpus/open_task.h"

#include <algorithm>
#include <charconv>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/corpus/text_reader.h"
#include "core/corpus/tokenizer_program.h"
#include "core/specification/presets.h"
#include "core/tasks/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

std::vector<std::int64_t> parseIds(const std::string& line) {
    std::vector<std::int64_t> ids;
    const char* at = line.data();
    const char* const end = at + line.size();
    std::int64_t id = 0;
    while (at < end) {
        const auto [next, problem] = std::from_chars(at, end, id);
        if (problem == std::errc()) ids.push_back(id);
        at = next + 1;  // skips the blank or line break
    }
    return ids;
}

/// @throws Error (checkpoint) for more tokens than the settings allow, before memory is allocated for them
Vocabulary vocabularyOf(const CorpusFiles& corpus, const TaskSettings& settings) {
    const std::string model = corpus.model().string(), lines = readFile(corpus.vocabulary());
    const std::int64_t found = std::count(lines.begin(), lines.end(), '\n'), most = vocabularySize(settings);
    if (found > most)
        throw Error(ErrorKind::checkpoint, corpus.vocabulary().string() + " has " + std::to_string(found) +
                                               " tokens; task.vocab_size is " + std::to_string(most));
    return {parseVocabulary(lines, corpus.vocabulary().string()), [model](std::string_view text) {
                return parseIds(runTokenizer({"ids", "--model", model}, text).value_or(""));
            }};
}

/// The task of a prepared text; `run_files` holds its vocabulary.
std::unique_ptr<Task> textTask(const TaskSettings& settings, const CorpusFiles& corpus,
                               const CorpusFiles& run_files) {
    const auto tokens =
        std::make_shared<TokenFile>(corpus.tokens(), static_cast<int>(corpus.readSummary().vocab_size));
    return std::make_unique<TextTask>(vocabularyOf(run_files, settings), tokens,
                                      settings.declared.real("validation_share"));
}

void copyVocabulary(const CorpusFiles& corpus, const CorpusFiles& run_files) {
    makeFolder(run_files.folder());
    writeFileAtomically(run_files.model(), readFile(corpus.model()));
    writeFileAtomically(run_files.vocabulary(), readFile(corpus.vocabulary()));
    // Written last, as a mark of completeness.
    writeFileAtomically(run_files.summary(), readFile(corpus.summary()));
}

}  // namespace

std::unique_ptr<Task> openTask(const TaskSettings& settings, const RunFolder& folder,
                               const PreparationCallbacks& callbacks) {
    if (!settings.isText()) return makeTask(settings);
    const CorpusFiles run_files(folder.textPath());
    const bool has_run_files = pathExists(run_files.summary());
    const auto corpus =
        prepareCorpus(settings, callbacks, has_run_files ? std::optional(run_files.model()) : std::nullopt);
    if (!corpus) return nullptr;
    if (!has_run_files) copyVocabulary(*corpus, run_files);
    const CorpusSummary summary = run_files.readSummary();
    if (summary.fingerprint != corpus->readSummary().fingerprint)
        throw Error(ErrorKind::usage, "the text " + textPath(settings.declared.text("text")).string() +
                                          " has changed since " + folder.name() +
                                          " started; restore it, or start a new run");
    if (callbacks.report && !has_run_files)
        callbacks.report("the text has " + std::to_string(summary.tokens) +
                         " tokens; its unigram entropy is " + formatRounded(summary.unigram_entropy, 5) +
                         " nats: the loss of a model that knows only how often each token occurs");
    return textTask(settings, *corpus, run_files);
}

void requireReadableText(const TaskSettings& settings) {
    constexpr std::uint64_t kBeginning = 16U << 20U;
    if (!settings.isText()) return;
    const fs::path text = textPath(settings.declared.text("text"));
    std::error_code unreadable;
    if (!fs::exists(text, unreadable)) return;  // `createRun` reports it
    TextReader reader(textFiles(text));
    std::string part;
    while (reader.bytesRead() < kBeginning && reader.next(part)) {
    }
    if (reader.bytesRead() == 0)
        throw Error(ErrorKind::usage,
                    "the text " + text.string() + " is empty: there is nothing to train on");
}

std::unique_ptr<Task> openTaskForInference(const TaskSettings& settings, const RunFolder& folder) {
    if (!settings.isText()) return makeTask(settings);
    const CorpusFiles run_files(folder.textPath());
    if (!pathExists(run_files.summary()))
        throw Error(ErrorKind::checkpoint,
                    folder.path().string() +
                        " is missing its vocabulary (the folder text), without which its "
                        "model cannot be used; copy it from where the run was trained");
    return std::make_unique<TextTask>(vocabularyOf(run_files, settings));
}

std::unique_ptr<Task> openTask(const TaskSettings& settings, const PreparationCallbacks& callbacks) {
    if (!settings.isText()) return makeTask(settings);
    const std::optional<CorpusFiles> corpus = prepareCorpus(settings, callbacks);
    if (!corpus) return nullptr;
    return textTask(settings, *corpus, *corpus);
}

}  // namespace roper
