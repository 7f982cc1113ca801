#include "core/cluster/submission.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "core/base/cryptography.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/cluster/slurm_script.h"
#include "core/runs/run_folder.h"
#include "core/runs/user_record.h"

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

/// @throws std::invalid_argument naming a member that is missing or has the wrong type
Submission submissionIn(const Json& json) {
    Submission submission;
    const auto read = [&](const char* key, auto& member) {
        try {
            json.at(key).get_to(member);
        } catch (const Json::exception& error) {
            throw std::invalid_argument(std::string(key) + ": " + jsonErrorMessage(error.what()));
        }
    };
    read("name", submission.name);
    read("sweep", submission.sweep);
    read("elements", submission.array_tasks);
    read("time", submission.time);
    read("ended", submission.ended);
    // Older files lack the job and contain options, which are ignored.
    if (json.contains("job")) read("job", submission.job);
    if (json.contains("cluster")) read("cluster", submission.cluster);
    return submission;
}

constexpr std::uint64_t kMaxBytes = 64U << 20U;

/// Names from the file become parts of paths and command lines.
void requireNames(const Submission& submission, const std::string& origin) {
    std::vector<std::string> names{submission.name, submission.sweep};
    for (const auto& runs : submission.array_tasks)
        names.insert(names.end(), runs.begin(), runs.end());
    for (const std::string& name : names)
        if (!isRunName(name))
            throw Error(ErrorKind::usage, origin + ": \"" + toSingleLine(name) +
                                              "\" is not a valid name of a run, a sweep or a job");
    if (!submission.cluster.empty() && !isClusterList(submission.cluster))
        throw Error(ErrorKind::usage, origin + ": \"" + toSingleLine(submission.cluster) +
                                          "\" is not a valid name of a cluster");
}

}  // namespace

FilePath submissionsFolder(const fs::path& runs) {
    return FilePath::inside(fs::absolute(runs).lexically_normal(), "slurm");
}

FilePath arrayTaskLogPath(const fs::path& runs, const std::string& job_name, std::int64_t array_task) {
    return submissionsFolder(runs) / (job_name + "-" + std::to_string(array_task) + ".log");
}

FilePath submissionPath(const fs::path& runs, const std::string& name) {
    return submissionsFolder(runs) / (name + ".json");
}

Submission newSubmission(const std::string& sweep) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
    constexpr int kRandom = 6;
    constexpr std::size_t kLongestSweep = 50;  // a name has at most 64 characters
    std::random_device random;
    std::string name = sweep.substr(0, kLongestSweep) + ".";
    for (int i = 0; i < kRandom; ++i)
        name += kLetters[random() % kLetters.size()];
    return {name, sweep, {}, secondsSinceEpoch(), false, {}};
}

double secondsSinceSubmission(const Submission& submission, double now) {
    constexpr double kClocksDiffer_s = 600;
    const double age = now - submission.time;
    return age > -kClocksDiffer_s ? age : std::numeric_limits<double>::infinity();
}

void writeSubmission(const fs::path& runs, const Submission& submission) {
    makeFolder(submissionsFolder(runs));
    const Json json = {
        {"name", submission.name},      {"sweep", submission.sweep}, {"elements", submission.array_tasks},
        {"time", submission.time},      {"ended", submission.ended}, {"job", submission.job},
        {"cluster", submission.cluster}};
    writeFileAtomically(submissionPath(runs, submission.name), json.dump(1) + "\n");
}

Submission readSubmission(const FilePath& path) {
    const std::string text = readFile(path, kMaxBytes);
    const auto refuse = [&](const std::string& why) {
        return Error(ErrorKind::usage,
                     path.string() + " was not written by `roper-train sweep --slurm`: " + why);
    };
    try {
        const Submission submission = submissionIn(parseStrictJson(text));
        requireNames(submission, path.string());
        if (path.path().filename() != submission.name + ".json")
            throw Error(ErrorKind::usage,
                        path.string() + " belongs to another submission, " + submission.name);
        return submission;
    } catch (const std::invalid_argument& error) {
        throw refuse(error.what());
    }
}

std::vector<Submission> readSubmissions(const fs::path& runs, const std::string& sweep) {
    std::vector<Submission> all;
    const FilePath folder = submissionsFolder(runs);
    for (const std::string& name : listFolder(folder)) {
        if (!name.ends_with(".json")) continue;
        Submission one = readSubmission(folder / name);
        if (sweep.empty() || one.sweep == sweep) all.push_back(std::move(one));
    }
    std::ranges::stable_sort(all, [now = secondsSinceEpoch()](const Submission& a, const Submission& b) {
        return secondsSinceSubmission(a, now) > secondsSinceSubmission(b, now);
    });
    return all;
}

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
