#include "core/corpus/corpus_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/corpus/pieces_program.h"
#include "core/corpus/text_reader.h"
#include "core/runs/durable_file.h"
#include "core/runs/error.h"
#include "core/runs/presets.h"
#include "core/tasks/fingerprint.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

fs::path cacheFolder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "roper-lab" / "texts";
    const char* home = std::getenv("HOME");
    if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "roper-lab" / "texts";
    throw Error(ErrorKind::disk,
                "prepared texts need a folder: set XDG_CACHE_HOME to the path of one that can be written");
}

/// Another name for everything that makes the outcome another.
std::string keyOf(const TaskSettings& settings, const std::vector<fs::path>& files) {
    Fingerprint key;
    for (const fs::path& file : files)
        key.add(fs::absolute(file).string())
            .add("|" + std::to_string(fs::file_size(file)))
            .add("|" + std::to_string(fs::last_write_time(file).time_since_epoch().count()) + "\n");
    key.add(std::to_string(settings.pieces) + settings.vocabulary);
    return key.text();
}

/// Held by who prepares a text. Waits for another who does.
class CacheLock {
  public:
    CacheLock(const fs::path& path, const Preparing& preparing)
        : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
        if (descriptor_ < 0) throw diskError("create", path.string(), errno);
        while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            if (preparing.goes_on && !preparing.goes_on()) return;
            std::this_thread::sleep_for(kBetweenLooks);
        }
        held_ = true;
    }
    ~CacheLock() { ::close(descriptor_); }
    CacheLock(const CacheLock&) = delete;
    CacheLock& operator=(const CacheLock&) = delete;

    bool held() const { return held_; }

  private:
    int descriptor_;
    bool held_ = false;
};

/// A folder that is being filled; unless it has been given its real name, nothing of it stays.
class PartialFolder {
  public:
    explicit PartialFolder(fs::path path) : path_(std::move(path)) { remove(); }  // of one that was killed
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

bool isWhole(const CorpusFiles& corpus) {
    return fs::exists(corpus.summary());
}

}  // namespace

std::optional<CorpusFiles> prepareCorpus(const TaskSettings& settings, const Preparing& preparing) {
    const fs::path text = textPath(settings.text);
    const fs::path cache = cacheFolder();
    const std::string key = keyOf(settings, textFiles(text));
    CorpusFiles whole(cache / key);
    if (isWhole(whole)) return whole;
    makeFolder(cache);
    const CacheLock lock(cache / (key + ".lock"), preparing);
    if (!lock.held()) return std::nullopt;
    if (isWhole(whole)) return whole;  // another has prepared it meanwhile
    if (preparing.say)
        preparing.say("preparing the text " + text.string() + ": " + std::to_string(settings.pieces) +
                      " pieces (" + settings.vocabulary + "); this is done once");
    const PartialFolder partial(cache / (key + std::string(kPartialMark) + "text"));
    const std::vector<std::string> arguments = {"prepare",
                                                "--text",
                                                text.string(),
                                                "--pieces",
                                                std::to_string(settings.pieces),
                                                "--kind",
                                                settings.vocabulary,
                                                "--out",
                                                partial.path().string()};
    if (!runPieces(arguments, {}, preparing.goes_on)) return std::nullopt;
    std::error_code problem;
    fs::remove_all(whole.folder(), problem);
    fs::rename(partial.path(), whole.folder(), problem);
    if (problem) throw diskError("create", whole.folder().string(), problem.value());
    syncFolder(cache);
    return whole;
}

}  // namespace roper
