#include "core/runs/queue_approval.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/cryptography.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/run_folder.h"
#include "core/runs/user_record.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSection = "queue";

/// SHA-256 of a run's run.toml; empty if it cannot be read, in which case the trainer reports the problem.
std::string fingerprintOf(const fs::path& runs, const std::string& name) {
    constexpr std::uint64_t kMaxTomlBytes = 1U << 20U;
    try {
        return sha256(readFile(RunFolder(runs / name).specificationPath(), kMaxTomlBytes));
    } catch (const Error&) {
        return {};
    }
}

bool matchesApproval(const nlohmann::json& approved, const WaitingRun& run) {
    const auto found = approved.find(run.name);
    return found != approved.end() && *found == run.fingerprint;
}

}  // namespace

void approveRuns(const fs::path& runs, const std::vector<std::string>& names) {
    const auto now = mapped(names, [&](const std::string& name) {
        return WaitingRun{name, fingerprintOf(runs, name)};
    });
    try {
        approveFingerprints(runs, now);
    } catch (const Error&) {
        // They wait in the queue regardless, and the user is asked before they start.
    }
}

void approveFingerprints(const fs::path& runs, const std::vector<WaitingRun>& shown) {
    if (shown.empty()) return;
    changeUserRecord(runs, kSection, [&](nlohmann::json& approved) {
        for (const WaitingRun& run : shown)
            approved[run.name] = run.fingerprint;
    });
}

void transferApproval(const fs::path& runs, const std::string& from, const std::string& to) {
    if (!readUserRecord(runs, kSection).contains(from)) return;
    changeUserRecord(runs, kSection, [&](nlohmann::json& approved) {
        if (approved.contains(from)) approved[to] = approved[from];
    });
}

void removeApprovals(const fs::path& runs, const std::vector<std::string>& names) {
    const nlohmann::json approved = readUserRecord(runs, kSection);
    if (std::ranges::none_of(names, [&](const std::string& name) { return approved.contains(name); })) return;
    changeUserRecord(runs, kSection, [&](nlohmann::json& all) {
        for (const std::string& name : names)
            all.erase(name);
    });
}

std::optional<std::string> approvedFingerprint(const fs::path& runs, const std::string& name) {
    const WaitingRun now{name, fingerprintOf(runs, name)};
    return matchesApproval(readUserRecord(runs, kSection), now) ? std::optional(now.fingerprint)
                                                                : std::nullopt;
}

std::vector<WaitingRun> unapprovedRuns(const fs::path& runs) {
    const RunQueue queue = readQueue(runs);
    const nlohmann::json approved = readUserRecord(runs, kSection);
    std::vector<WaitingRun> waiting;
    for (const RunQueue::Entry& entry : queue.entries) {
        if (entry.on_hold) continue;
        WaitingRun run{entry.run, fingerprintOf(runs, entry.run)};
        if (!matchesApproval(approved, run)) waiting.push_back(std::move(run));
    }
    return waiting;
}

RunQueue readApprovedQueue(const fs::path& runs) {
    RunQueue queue = readQueue(runs);
    const nlohmann::json approved = readUserRecord(runs, kSection);
    std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return !approved.contains(entry.run); });
    return queue;
}

std::string describeUnapproved(const std::vector<WaitingRun>& waiting) {
    constexpr std::size_t kMaxNamed = 3;
    std::vector<std::string> named;
    for (std::size_t i = 0; i < std::min(waiting.size(), kMaxNamed); ++i)
        named.push_back(waiting[i].name);
    return countOf(waiting.size(), "run") + " in the queue (" + join(named, ", ") +
           (waiting.size() > kMaxNamed ? ", …) " : ") ") +
           (waiting.size() == 1 ? "was not queued by you on this machine, or has changed since"
                                : "were not queued by you on this machine, or have changed since");
}

}  // namespace roper
