#include "core/corpus/open_task.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_lock.h"
#include "core/base/file_reading.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/corpus/text_reader.h"
#include "core/corpus/tokenizer_program.h"
#include "core/specification/presets.h"
#include "core/tasks/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

/// Version of the output of roper-tokenizer. A change makes all cached texts be prepared again.
constexpr const char* kVersion = "2";

fs::path cacheFolder() {
    const fs::path cache = environmentVariable("XDG_CACHE_HOME"), home = environmentVariable("HOME");
    if (cache.is_absolute()) return cache / "roper-lab" / "texts";
    if (!home.empty()) return home / ".cache" / "roper-lab" / "texts";
    throw Error(ErrorKind::disk,
                "prepared texts need a folder: set XDG_CACHE_HOME to the path of a writable folder");
}

/// The cache key, which depends on everything that affects the result.
std::string keyOf(const TaskSettings& settings, const std::vector<fs::path>& files) {
    Fingerprint key;
    for (const fs::path& file : files)
        key.add(fs::absolute(file).string())
            .add("|" + std::to_string(fs::file_size(file)))
            .add("|" + std::to_string(fs::last_write_time(file).time_since_epoch().count()) + "\n");
    key.add(std::to_string(settings.specific_settings.integer("vocab_size")) +
            settings.specific_settings.text("tokenizer") + kVersion);
    return key.text();
}

/// A folder being filled, which is deleted unless it has been renamed to its final name.
class PartialFolder {
  public:
    // May be left over from a killed process.
    explicit PartialFolder(fs::path path) : path_(std::move(path)) { remove(); }
    ~PartialFolder() { remove(); }
    PartialFolder(const PartialFolder&) = delete;
    PartialFolder& operator=(const PartialFolder&) = delete;

    const fs::path& path() const { return path_; }

  private:
    void remove() const {
        std::error_code nothing_there;
        fs::remove_all(path_, nothing_there);
    }

    fs::path path_;
};

/// Whether the prepared text is complete and undamaged; reports damage to `report`.
bool isComplete(const CorpusFiles& corpus, const std::function<void(const std::string&)>& report) {
    if (!pathExists(corpus.summary())) return false;
    const auto damage = corpus.damage();
    if (damage) report("a prepared text is damaged (" + *damage + ") and will be prepared again");
    return !damage;
}

}  // namespace

std::optional<CorpusFiles> prepareCorpus(const TaskSettings& settings, const PreparationCallbacks& callbacks,
                                         const std::optional<FilePath>& model) {
    const auto report = [&](const std::string& line) {
        if (callbacks.report) callbacks.report(line);
    };
    const fs::path text = textPath(settings.specific_settings.text("text"));
    const std::string vocab_size = std::to_string(settings.specific_settings.integer("vocab_size")),
                      kind = settings.specific_settings.text("tokenizer");
    const fs::path cache = cacheFolder();
    std::string key = keyOf(settings, textFiles(text));
    CorpusFiles prepared((cache / key).string());
    bool is_complete = isComplete(prepared, report);
    // Another version of SentencePiece may have learned another vocabulary from the same text since.
    if (model && is_complete && readFile(prepared.model()) != readFile(*model)) {
        key += "-" + Fingerprint().add(readFile(*model)).text();
        prepared = CorpusFiles((cache / key).string());
        is_complete = isComplete(prepared, report);
    }
    if (is_complete) return prepared;
    makeFolder(cache);
    bool has_reported = false;
    const FileLock lock(cache / (key + ".lock"), [&](const std::string& holder) {
        if (!std::exchange(has_reported, true))
            report("waiting for " + holder + ", which is preparing the same text");
        return !callbacks.should_continue || callbacks.should_continue();
    });
    if (!lock.held()) return std::nullopt;
    if (has_reported && isComplete(prepared, report)) return prepared;  // by the other process, meanwhile
    report("preparing the text " + text.string() + ": " + vocab_size + " tokens (" + kind +
           "); this is done once");
    const PartialFolder partial(cache / (key + std::string(kPartialMark) + "text"));
    std::vector<std::string> arguments = concatenated<std::string>({{"prepare"},
                                                                    {"--text", text.string()},
                                                                    {"--vocab-size", vocab_size},
                                                                    {"--kind", kind},
                                                                    {"--out", partial.path().string()}});
    if (model) arguments.insert(arguments.end(), {"--model", model->string()});
    if (!runTokenizer(arguments, {}, callbacks.should_continue)) return std::nullopt;
    std::error_code problem;
    fs::remove_all(prepared.folder().path(), problem);
    fs::rename(partial.path(), prepared.folder().path(), problem);
    if (problem) throw diskError("create", prepared.folder().string(), problem.value());
    syncFolder(cache);
    return prepared;
}

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
    const std::int64_t found = std::ranges::count(lines, '\n'), most = vocabularySize(settings);
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
                                      settings.specific_settings.real("validation_share"));
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
        throw Error(ErrorKind::usage,
                    "the text " + textPath(settings.specific_settings.text("text")).string() +
                        " has changed since " + folder.name() + " started; restore it, or start a new run");
    if (callbacks.report && !has_run_files)
        callbacks.report("the text has " + std::to_string(summary.tokens) +
                         " tokens; its unigram entropy is " + formatRounded(summary.unigram_entropy, 5) +
                         " nats: the loss of a model that knows only how often each token occurs");
    return textTask(settings, *corpus, run_files);
}

void requireReadableText(const TaskSettings& settings) {
    constexpr std::uint64_t kBeginning = 16U << 20U;
    if (!settings.isText()) return;
    const fs::path text = textPath(settings.specific_settings.text("text"));
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
