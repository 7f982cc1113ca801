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

/// The task of a prepared text; `kept` holds its vocabulary.
std::unique_ptr<Task> textTask(const TaskSettings& settings, const CorpusFiles& corpus,
                               const CorpusFiles& kept) {
    const auto tokens =
        std::make_shared<TokenFile>(corpus.tokens(), static_cast<int>(corpus.readSummary().vocab_size));
    return std::make_unique<TextTask>(vocabularyOf(kept, settings), tokens,
                                      settings.own.real("validation_share"));
}

void keepVocabulary(const CorpusFiles& corpus, const CorpusFiles& kept) {
    makeFolder(kept.folder());
    writeFileAtomically(kept.model(), readFile(corpus.model()));
    writeFileAtomically(kept.vocabulary(), readFile(corpus.vocabulary()));
    // Written last, as a mark of completeness.
    writeFileAtomically(kept.summary(), readFile(corpus.summary()));
}

}  // namespace

std::unique_ptr<Task> openTask(const TaskSettings& settings, const RunFolder& folder,
                               const Preparing& preparing) {
    if (!settings.isText()) return makeTask(settings);
    const CorpusFiles kept(folder.textPath());
    const bool is_kept = isThere(kept.summary());
    const auto corpus =
        prepareCorpus(settings, preparing, is_kept ? std::optional(kept.model()) : std::nullopt);
    if (!corpus) return nullptr;
    if (!is_kept) keepVocabulary(*corpus, kept);
    const CorpusSummary summary = kept.readSummary();
    if (summary.fingerprint != corpus->readSummary().fingerprint)
        throw Error(ErrorKind::usage, "the text " + textPath(settings.own.text("text")).string() +
                                          " is no longer the one that " + folder.name() +
                                          " began with; put that back, or start a new run");
    if (preparing.say && !is_kept)
        preparing.say("the text has " + std::to_string(summary.tokens) + " tokens; its unigram entropy is " +
                      formatRounded(summary.unigram_entropy, 5) +
                      " nats: the loss of knowing only how often each token occurs");
    return textTask(settings, *corpus, kept);
}

void requireReadableText(const TaskSettings& settings) {
    constexpr std::uint64_t kBeginning = 16U << 20U;
    if (!settings.isText()) return;
    const fs::path text = textPath(settings.own.text("text"));
    std::error_code unreadable;
    if (!fs::exists(text, unreadable)) return;  // `createRun` reports it
    TextReader reader(textFiles(text));
    std::string part;
    while (reader.bytesRead() < kBeginning && reader.next(part)) {
    }
    if (reader.bytesRead() == 0)
        throw Error(ErrorKind::usage, "the text " + text.string() + " is empty: there is nothing to learn");
}

std::unique_ptr<Task> openTaskForInference(const TaskSettings& settings, const RunFolder& folder) {
    if (!settings.isText()) return makeTask(settings);
    const CorpusFiles kept(folder.textPath());
    if (!isThere(kept.summary()))
        throw Error(ErrorKind::checkpoint,
                    folder.path().string() +
                        " has lost its vocabulary (the folder text), without which its "
                        "model cannot be used; copy it from where the run was made");
    return std::make_unique<TextTask>(vocabularyOf(kept, settings));
}

std::unique_ptr<Task> openTask(const TaskSettings& settings, const Preparing& preparing) {
    if (!settings.isText()) return makeTask(settings);
    const std::optional<CorpusFiles> corpus = prepareCorpus(settings, preparing);
    if (!corpus) return nullptr;
    return textTask(settings, *corpus, *corpus);
}

}  // namespace roper
