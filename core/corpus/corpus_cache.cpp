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
                "prepared texts need a folder: set XDG_CACHE_HOME to the path of one that can be written");
}

/// The cache key, which depends on everything that affects the result.
std::string keyOf(const TaskSettings& settings, const std::vector<fs::path>& files) {
    Fingerprint key;
    for (const fs::path& file : files)
        key.add(fs::absolute(file).string())
            .add("|" + std::to_string(fs::file_size(file)))
            .add("|" + std::to_string(fs::last_write_time(file).time_since_epoch().count()) + "\n");
    key.add(std::to_string(settings.own.integer("vocab_size")) + settings.own.text("tokenizer") + kVersion);
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

/// Whether the prepared text is complete and undamaged; reports damage to `say`.
bool isWhole(const CorpusFiles& corpus, const std::function<void(const std::string&)>& say) {
    if (!isThere(corpus.summary())) return false;
    const auto damage = corpus.damage();
    if (damage) say("a prepared text is damaged (" + *damage + "); it is prepared again");
    return !damage;
}

}  // namespace

std::optional<CorpusFiles> prepareCorpus(const TaskSettings& settings, const Preparing& preparing,
                                         const std::optional<FilePath>& model) {
    const auto say = [&](const std::string& line) {
        if (preparing.say) preparing.say(line);
    };
    const fs::path text = textPath(settings.own.text("text"));
    const fs::path cache = cacheFolder();
    std::string key = keyOf(settings, textFiles(text));
    CorpusFiles whole((cache / key).string());
    bool is_whole = isWhole(whole, say);
    // Another version of SentencePiece may have learned another vocabulary from the same text since.
    if (model && is_whole && readFile(whole.model()) != readFile(*model)) {
        key += "-" + Fingerprint().add(readFile(*model)).text();
        whole = CorpusFiles((cache / key).string());
        is_whole = isWhole(whole, say);
    }
    if (is_whole) return whole;
    makeFolder(cache);
    bool said = false;
    const FileLock lock(cache / (key + ".lock"), [&](const std::string& holder) {
        if (!std::exchange(said, true)) say("waiting for " + holder + ", which prepares the same text");
        return !preparing.goes_on || preparing.goes_on();
    });
    if (!lock.held()) return std::nullopt;
    if (said && isWhole(whole, say)) return whole;  // another process has prepared it meanwhile
    say("preparing the text " + text.string() + ": " + std::to_string(settings.own.integer("vocab_size")) +
        " tokens (" + settings.own.text("tokenizer") + "); this is done once");
    const PartialFolder partial(cache / (key + std::string(kPartialMark) + "text"));
    std::vector<std::string> arguments = {"prepare",
                                          "--text",
                                          text.string(),
                                          "--vocab-size",
                                          std::to_string(settings.own.integer("vocab_size")),
                                          "--kind",
                                          settings.own.text("tokenizer"),
                                          "--out",
                                          partial.path().string()};
    if (model) arguments.insert(arguments.end(), {"--model", model->string()});
    if (!runTokenizer(arguments, {}, preparing.goes_on)) return std::nullopt;
    std::error_code problem;
    fs::remove_all(whole.folder().path(), problem);
    fs::rename(partial.path(), whole.folder().path(), problem);
    if (problem) throw diskError("create", whole.folder().string(), problem.value());
    syncFolder(cache);
    return whole;
}

}  // namespace roper
