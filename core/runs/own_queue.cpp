#include "core/runs/own_queue.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/cryptography.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/own_record.h"
#include "core/runs/run_folder.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSection = "queue";

/// SHA-256 of a run's run.toml; empty if it cannot be read, so that the trainer says what is wrong with it.
std::string fingerprintOf(const fs::path& runs, const std::string& name) {
    try {
        return sha256(readFile(RunFolder(runs / name).specificationPath()));
    } catch (const Error&) {
        return {};
    }
}

void record(const fs::path& runs, const std::vector<std::string>& names) {
    changeOwnRecord(runs, kSection, [&](nlohmann::json& approved) {
        for (const std::string& name : names)
            approved[name] = fingerprintOf(runs, name);
    });
}

bool isAsApproved(const nlohmann::json& approved, const fs::path& runs, const std::string& name) {
    const auto found = approved.find(name);
    return found != approved.end() && *found == fingerprintOf(runs, name);
}

}  // namespace

void approveRuns(const fs::path& runs, const std::vector<std::string>& names) {
    if (names.empty()) return;
    try {
        record(runs, names);
    } catch (const Error&) {
        // They wait in the queue all the same, and a person is asked before they start.
    }
}

void forgetRuns(const fs::path& runs, const std::vector<std::string>& names) {
    const nlohmann::json approved = readOwnRecord(runs, kSection);
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return approved.contains(name); }))
        return;
    changeOwnRecord(runs, kSection, [&](nlohmann::json& all) {
        for (const std::string& name : names)
            all.erase(name);
    });
}

bool isApproved(const fs::path& runs, const std::string& name) {
    return isAsApproved(readOwnRecord(runs, kSection), runs, name);
}

std::vector<std::string> unapprovedRuns(const fs::path& runs) {
    const RunQueue queue = readQueue(runs);
    const nlohmann::json approved = readOwnRecord(runs, kSection);
    std::vector<std::string> names;
    for (const RunQueue::Entry& entry : queue.entries)
        if (!entry.held && !isAsApproved(approved, runs, entry.run)) names.push_back(entry.run);
    return names;
}

RunQueue readApprovedQueue(const fs::path& runs) {
    RunQueue queue = readQueue(runs);
    const nlohmann::json approved = readOwnRecord(runs, kSection);
    std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return !approved.contains(entry.run); });
    return queue;
}

void approveQueue(const fs::path& runs) {
    const std::vector<std::string> names = unapprovedRuns(runs);
    if (!names.empty()) record(runs, names);
}

std::string describeUnapproved(const std::vector<std::string>& names) {
    constexpr std::size_t kMostNamed = 3;
    const std::vector<std::string> named(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed)));
    return countOf(names.size(), "run") + " of the queue (" + join(named, ", ") +
           (names.size() > kMostNamed ? ", …) " : ") ") +
           (names.size() == 1 ? "was not queued by you here, or has changed since"
                              : "were not queued by you here, or have changed since");
}

}  // namespace roper
