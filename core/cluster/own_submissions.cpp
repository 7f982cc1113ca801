#include "core/cluster/own_submissions.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/cryptography.h"
#include "core/base/error.h"
#include "core/runs/user_record.h"

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SlurmOptions, partition, gres, time, at_once, pack, more, program)

namespace {

constexpr const char* kSection = "submissions";

/// Nothing unless the object contains exactly the known options, all in range.
std::optional<SlurmOptions> readOptions(const Json& json) {
    try {
        const auto options = json.get<SlurmOptions>();
        if (Json(options) != json || options.at_once < 0 || options.pack < 1) return std::nullopt;
        return options;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

}  // namespace

std::string runListFingerprint(const Submission& submission) {
    return sha256(Json(submission.array_tasks).dump());  // names of runs are ASCII
}

std::map<std::string, SlurmOptions> ownSubmissions(const fs::path& runs,
                                                   const std::vector<Submission>& submissions) {
    std::map<std::string, SlurmOptions> own;
    const Json recorded = readUserRecord(runs, kSection);
    for (const Submission& submission : submissions) {
        const auto found = recorded.find(submission.name);
        if (found == recorded.end() || !found->is_object()) continue;
        if (found->value("runs", Json()) != runListFingerprint(submission)) continue;
        if (const auto options = readOptions(found->value("options", Json())))
            own.emplace(submission.name, *options);
    }
    return own;
}

void recordSubmission(const fs::path& runs, const Submission& submission, const SlurmOptions& options) try {
    changeUserRecord(runs, kSection, [&](Json& recorded) {
        // Submissions without a file can no longer be resubmitted.
        for (auto at = recorded.begin(); at != recorded.end();)
            at = pathExists(submissionPath(runs, at.key())) ? std::next(at) : recorded.erase(at);
        recorded[submission.name] = {{"options", options}, {"runs", runListFingerprint(submission)}};
    });
} catch (const Error&) {
    // Without a home folder or on a full disk, runs are submitted nevertheless.
}

void removeSubmissionRecord(const fs::path& runs, const std::string& name) {
    if (!readUserRecord(runs, kSection).contains(name)) return;
    changeUserRecord(runs, kSection, [&](Json& recorded) { recorded.erase(name); });
}

}  // namespace roper
