#include "core/base/lease.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/retry_interrupted.h"
#include "core/base/stop_signals.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessIdentity, host, boot, pid_namespace, pid, start)

namespace {

constexpr std::string_view kPrefix = "lease.";
constexpr std::string_view kReleased = "released\n";
constexpr std::size_t kMaxLeaseBytes = 4096;

FilePath fileOf(const FilePath& folder, std::int64_t number) {
    return folder / (std::string(kPrefix) + std::to_string(number));
}

/// No folder comes near this limit, since each process uses one number. Larger numbers would have no
/// successor.
constexpr std::int64_t kLargestNumber = 1'000'000'000'000;

/// The number of a lease from its file name in the format of `fileOf`: not "lease.01", "lease.+9" or
/// "lease.-1".
std::optional<std::int64_t> numberOf(const std::string& name) {
    const auto number = parseInteger(name.substr(kPrefix.size()));
    if (!number || *number < 1 || *number > kLargestNumber) return std::nullopt;
    return std::to_string(*number) == name.substr(kPrefix.size()) ? std::optional<std::int64_t>(*number)
                                                                  : std::nullopt;
}

struct LeasesInFolder {
    std::vector<std::int64_t> numbers;  ///< ascending
    std::vector<std::string> ignored;   ///< names that begin like a lease, but are none
};

LeasesInFolder leasesIn(const FilePath& folder) {
    LeasesInFolder found;
    for (const std::string& name : listFolder(folder)) {
        if (!name.starts_with(kPrefix) || name.find(kPartialMark) != std::string::npos) continue;
        if (const auto number = numberOf(name))
            found.numbers.push_back(*number);
        else
            found.ignored.push_back(name);
    }
    std::ranges::sort(found.numbers);
    return found;
}

/// A lease as seen by another process.
struct LeaseState {
    bool released = false;
    std::optional<ProcessIdentity> holder;  ///< empty if it has not been written yet, or could not be
    double heartbeat = 0;                   ///< on the file server's clock
};

/// Empty if the file is gone, in which case a lease with a higher number exists.
std::optional<LeaseState> readLease(const FilePath& path) {
    const Descriptor file =
        openFileIfExists(path, O_RDONLY);  // opening fetches current times from a file server
    struct stat facts {};
    if (!file || ::fstat(file.number(), &facts) != 0) return std::nullopt;
    std::string text(kMaxLeaseBytes, '\0');
    const ssize_t got = retryInterrupted([&] { return ::pread(file.number(), text.data(), text.size(), 0); });
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    LeaseState lease{text == kReleased, std::nullopt, toSeconds(facts.st_mtim)};
    const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    try {
        if (json.is_object()) lease.holder = json.get<ProcessIdentity>();
    } catch (const nlohmann::json::exception&) {
        // The file's time alone shows whether its holder is alive.
    }
    return lease;
}

/// The current time on the file server's clock: that of a newly created file.
double fileServerTime(const FilePath& folder, const ProcessIdentity& identity) {
    const FilePath probe = folder / ("clock" + std::string(kPartialMark) + std::to_string(identity.pid));
    const Descriptor file = openFile(probe, O_WRONLY | O_CREAT | O_TRUNC);
    struct stat facts {};
    const bool is_known = ::futimens(file.number(), nullptr) == 0 && ::fstat(file.number(), &facts) == 0;
    const int error_number = errno;
    removeFile(probe);
    if (!is_known) throw diskError("set the time of", probe.string(), error_number);
    return toSeconds(facts.st_mtim);
}

/// Creates the file unless it exists. @returns whether it was created
bool createExclusively(const FilePath& path, const ProcessIdentity& identity) {
    const Descriptor folder = openFolderOf(path);
    const std::string name = path.path().filename().string();
    const Descriptor file(retryInterrupted([&] {
        return ::openat(folder.number(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        0644);
    }));
    if (!file) {
        if (errno == EEXIST) return false;
        throw diskError("create", path.string(), errno);
    }
    const std::string text = nlohmann::json(identity).dump() + "\n";
    const ssize_t written =
        retryInterrupted([&] { return ::pwrite(file.number(), text.data(), text.size(), 0); });
    if (written != static_cast<ssize_t>(text.size())) {
        const int error_number = errno;
        removeFile(path);
        throw diskError("write", path.string(), error_number);
    }
    return true;
}

/// Another process may remove the same file.
void removeIfExists(const FilePath& path) {
    try {
        removeFile(path);
    } catch (const Error&) {
        if (pathExists(path)) throw;
    }
}

/// Whether the process is on this machine and in this container, so that its id shows whether it is running.
bool isOnThisMachine(const ProcessIdentity& other, const ProcessIdentity& identity) {
    return !identity.boot.empty() && other.boot == identity.boot &&
           other.pid_namespace == identity.pid_namespace;
}

[[noreturn]] void refuse(const FilePath& folder, const std::string& holder) {
    throw Error(ErrorKind::usage, "another trainer is working on " + folder.string() + " (" + holder +
                                      "); pause or stop it first, or wait until it finishes");
}

/// @throws Error (preempted) with `message` if the process is asked to end
void sleepUnlessStopped(double seconds, const std::string& message) {
    constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
        if (stopIsRequested()) throw Error(ErrorKind::preempted, message);
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

/// A message saying why a process waits, and the maximal duration.
std::string describeWait(const FilePath& folder, const std::string& holder, double heartbeat_age,
                         double expires_s) {
    const auto seconds = [](double time) { return std::to_string(static_cast<std::int64_t>(time)) + " s"; };
    constexpr double kClocksDiffer_s = 1;  // difference between the times of two files created in succession
    const std::string seen =
        heartbeat_age > -kClocksDiffer_s
            ? " was last active in " + folder.string() + " " + seconds(std::max(0.0, heartbeat_age)) + " ago"
            : " has left a timestamp in " + folder.string() + " that is in the future";
    return holder + seen + "; waiting up to " +
           seconds(std::ceil(std::min(expires_s, expires_s - heartbeat_age))) +
           " to see whether it is still active";
}

/// Waits until the lease may be taken over. @throws Error (usage) if its holder is alive
void waitUntilReleased(const FilePath& folder, const FilePath& path, const LeaseState& lease,
                       double expires_s, const ProcessIdentity& identity,
                       const std::function<void(const std::string&)>& report) {
    if (lease.released) return;
    const std::string name = lease.holder ? lease.holder->name() : std::string("another program");
    if (lease.holder && isOnThisMachine(*lease.holder, identity)) {
        if (processStart(lease.holder->pid) != 0 && processStart(lease.holder->pid) == lease.holder->start)
            refuse(folder, name);
        return;
    }
    const double began = secondsSinceBoot();
    bool has_reported = false;
    while (true) {
        const double heartbeat_age = fileServerTime(folder, identity) - lease.heartbeat;
        // A heartbeat ahead of the file server's clock has no known age: a live holder sends another within
        // the wait.
        if (heartbeat_age >= expires_s || secondsSinceBoot() - began >= expires_s) return;
        if (!has_reported && report) report(describeWait(folder, name, heartbeat_age, expires_s));
        has_reported = true;
        sleepUnlessStopped(std::min(1.0, expires_s / 10), "stopped while waiting for " + name);
        const auto now = readLease(path);
        if (!now || now->released) return;
        if (now->heartbeat != lease.heartbeat) refuse(folder, name);
    }
}

}  // namespace

ProcessIdentity ProcessIdentity::ofThisProcess() {
    return {thisHost(), thisBoot(), thisPidNamespace(), ::getpid(), processStart(::getpid())};
}

std::string ProcessIdentity::name() const {
    return "process " + std::to_string(pid) + " on " + toSingleLine(host);
}

Lease::Lease(const FilePath& folder, const std::function<void(const std::string&)>& report, double expires_s,
             ProcessIdentity identity)
    : folder_(folder), expires_s_(expires_s), identity_(std::move(identity)) {
    bool has_reported_ignored = false;
    while (number_ == 0) {
        const LeasesInFolder leases = leasesIn(folder_);
        const std::vector<std::int64_t>& numbers = leases.numbers;
        const std::int64_t highest = numbers.empty() ? 0 : numbers.back();
        if (highest == kLargestNumber)
            throw Error(ErrorKind::usage,
                        fileOf(folder_, highest).string() +
                            " has the largest possible number, and was not made by a trainer; "
                            "remove it if no trainer is working on " +
                            folder_.string());
        if (!leases.ignored.empty() && report && !std::exchange(has_reported_ignored, true))
            report(folder_.string() + " contains " + toSingleLine(leases.ignored.front()) +
                   ", which is not a lease and is ignored");
        if (highest > 0) {
            const auto lease = readLease(fileOf(folder_, highest));
            if (!lease) continue;
            waitUntilReleased(folder_, fileOf(folder_, highest), *lease, expires_s_, identity_, report);
        }
        const double sent = secondsSinceBoot();
        // A process with an outdated list of names finds the next number taken, and tries again.
        if (!createExclusively(fileOf(folder_, highest + 1), identity_)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            continue;
        }
        // Others may have taken and removed that number since the names were listed.
        const std::vector<std::int64_t> now = leasesIn(folder_).numbers;
        if (!now.empty() && now.back() > highest + 1) {
            removeIfExists(fileOf(folder_, highest + 1));
            continue;
        }
        number_ = highest + 1;
        renewed_ = sent;
        for (const std::int64_t number : numbers)
            removeIfExists(fileOf(folder_, number));
    }
    heartbeat_thread_ = std::thread([this] { sendHeartbeats(); });
}

Lease::~Lease() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    heartbeat_thread_.join();
    if (lost_) return;
    try {
        const Descriptor file = openFileIfExists(fileOf(folder_, number_), O_WRONLY | O_TRUNC);
        if (file) [[maybe_unused]]
            const ssize_t ignored = retryInterrupted(
                [&] { return ::pwrite(file.number(), kReleased.data(), kReleased.size(), 0); });
    } catch (const Error&) {
        // The next process waits until the lease expires.
    }
}

bool Lease::renew() {
    const std::lock_guard lock(mutex_);
    if (lost_) return false;
    try {
        // Uses the time before sending: this process may be suspended in between, and then touch a removed
        // file.
        const double sent = secondsSinceBoot();
        const std::vector<std::int64_t> numbers = leasesIn(folder_).numbers;
        const bool has_successor =
            pathExists(fileOf(folder_, number_ + 1)) || (!numbers.empty() && numbers.back() > number_);
        if (has_successor) return !(lost_ = true);
        const Descriptor file = openFileIfExists(fileOf(folder_, number_), O_WRONLY);
        if (!file) return !(lost_ = true);
        if (::futimens(file.number(), nullptr) == 0) renewed_ = sent;
    } catch (const Error&) {
        // The file server does not respond. The next heartbeat tries again; others cannot reach it either.
    }
    return true;
}

void Lease::requireLease() {
    const auto is_recent = [this] {
        const std::lock_guard lock(mutex_);
        return !lost_ && secondsSinceBoot() - renewed_ < expires_s_ / 2;
    };
    if (is_recent()) return;
    if (!renew())
        throw Error(ErrorKind::other, "another process has taken over " + folder_.string() +
                                          ", because this one (" + identity_.name() +
                                          ") showed no activity for more than " +
                                          std::to_string(static_cast<int>(expires_s_)) +
                                          " s; this process writes nothing more to it");
    if (!is_recent())
        throw Error(ErrorKind::disk, "cannot update the time of " + fileOf(folder_, number_).string() +
                                         ", which tells others that this process is active; until that "
                                         "works, nothing is written there. Is the file server reachable?");
}

void Lease::sendHeartbeats() {
    const std::chrono::duration<double> between(std::min(kRenewal_s, expires_s_ / 6));
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, between, [this] { return ending_; })) {
        lock.unlock();
        renew();
        lock.lock();
    }
}

}  // namespace roper
