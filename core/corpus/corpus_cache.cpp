#include "core/corpus/corpus_cache.h"

#include <cstdlib>
#include <utility>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_lock.h"
#include "core/base/file_reading.h"
#include "core/base/fingerprint.h"
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
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "roper-lab" / "texts";
    const char* home = std::getenv("HOME");
    if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "roper-lab" / "texts";
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
    key.add(std::to_string(settings.declared.integer("vocab_size")) + settings.declared.text("tokenizer") +
            kVersion);
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
    const fs::path text = textPath(settings.declared.text("text"));
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
    bool said = false;
    const FileLock lock(cache / (key + ".lock"), [&](const std::string& holder) {
        if (!std::exchange(said, true))
            report("waiting for " + holder + ", which is preparing the same text");
        return !callbacks.should_continue || callbacks.should_continue();
    });
    if (!lock.held()) return std::nullopt;
    if (said && isComplete(prepared, report)) return prepared;  // another process has prepared it meanwhile
    report("preparing the text " + text.string() + ": " +
           std::to_string(settings.declared.integer("vocab_size")) + " tokens (" +
           settings.declared.text("tokenizer") + "); this is done once");
    const PartialFolder partial(cache / (key + std::string(kPartialMark) + "text"));
    std::vector<std::string> arguments = {"prepare",
                                          "--text",
                                          text.string(),
                                          "--vocab-size",
                                          std::to_string(settings.declared.integer("vocab_size")),
                                          "--kind",
                                          settings.declared.text("tokenizer"),
                                          "--out",
                                          partial.path().string()};
    if (model) arguments.insert(arguments.end(), {"--model", model->string()});
    if (!runTokenizer(arguments, {}, callbacks.should_continue)) return std::nullopt;
    std::error_code problem;
    fs::remove_all(prepared.folder().path(), problem);
    fs::rename(partial.path(), prepared.folder().path(), problem);
    if (problem) throw diskError("create", prepared.folder().string(), problem.value());
    syncFolder(cache);
    return prepared;
}

}  // namespace roper
