#include "core/cluster/cluster.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_lock.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/cluster/slurm_script.h"
#include "core/runs/run_queue.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

/// The runs of all submissions, without duplicates.
std::vector<std::string> runsOf(const std::vector<Submission>& submissions) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const Submission& submission : submissions)
        for (const auto& array_task : submission.array_tasks)
            for (const std::string& run : array_task)
                if (seen.insert(run).second) names.push_back(run);
    return names;
}

/// Whether the scheduler may still accept the submission: it has neither confirmed nor refused it.
bool isUncertain(const Submission& submission) {
    constexpr double kLongest_s = 600;
    return !submission.ended && submission.job.empty() &&
           secondsSinceSubmission(submission, secondsSinceEpoch()) < kLongest_s;
}

/// Whether the text names exactly one cluster.
bool isSingleCluster(const std::string& clusters) {
    return !clusters.empty() && clusters != "all" && clusters.find(',') == std::string::npos;
}

/// The scheduler's array tasks of all submissions that have not ended, queried from each submission's
/// cluster.
std::vector<SlurmArrayTask> queryActiveTasks(const std::vector<Submission>& submissions) {
    std::map<std::string, std::vector<std::string>> jobs;  // by cluster
    for (const Submission& submission : submissions)
        if (!submission.ended)
            for (const std::string& cluster : split(submission.cluster, ','))
                jobs[cluster].push_back(submission.name);
    const bool names_one = std::ranges::any_of(jobs, [](const auto& of) { return !of.first.empty(); });
    // The local cluster is queried without its name, because naming it requires a database of clusters.
    const std::string here = names_one ? clusterSettings().name : std::string();
    std::vector<SlurmArrayTask> active;
    for (const auto& [cluster, names] : jobs)
        for (SlurmArrayTask& array_task : queryArrayTasks(names, cluster == here ? std::string() : cluster))
            active.push_back(std::move(array_task));
    return active;
}

/// The state of runs. Those that the scheduler does not list are marked as unknown if it may have them.
ClusterView viewOf(const fs::path& runs, const std::string& sweep, const std::vector<std::string>& names,
                   bool asks_scheduler) {
    ClusterView view;
    view.submissions = readSubmissions(runs, sweep);
    view.own_submissions = ownSubmissions(runs, view.submissions);
    if (asks_scheduler) view.active = queryActiveTasks(view.submissions);
    view.runs = sweepRunStatuses(runs, names.empty() ? runsOf(view.submissions) : names, view.submissions,
                                 view.active);
    std::vector<Submission> unknown = view.submissions;
    std::erase_if(unknown,
                  [&](const Submission& one) { return asks_scheduler ? !isUncertain(one) : one.ended; });
    const std::vector<std::string> unknown_names = runsOf(unknown);
    const std::set<std::string> unknown_runs(unknown_names.begin(), unknown_names.end());
    for (SweepRunStatus& one : view.runs)
        one.is_state_known = one.array_task || unknown_runs.count(one.run) == 0;
    return view;
}

/// Marks submissions of which the scheduler has no array tasks left, so that they are not queried again.
void markEnded(const fs::path& runs, const ClusterView& view) {
    for (Submission submission : view.submissions) {
        const bool is_there = std::ranges::count(view.active, submission.name, &SlurmArrayTask::name) > 0;
        if (submission.ended || is_there || isUncertain(submission)) continue;
        submission.ended = true;
        writeSubmission(runs, submission);
    }
}

/// If sbatch timed out, the scheduler may have accepted the job although the answer was lost.
/// @returns the job; nothing if it was refused @throws SubmissionOutcomeUnknown
std::optional<SubmittedJob> findJobAfterTimeout(const Error& refusal, const Submission& array) {
    const std::string_view message = refusal.what();
    if (message.find("timed out") == std::string_view::npos) return std::nullopt;
    const std::vector<SlurmArrayTask> array_tasks = queryActiveTasks({array});
    if (array_tasks.empty())
        throw SubmissionOutcomeUnknown(ErrorKind::other, std::string(message) +
                                                             "; in ten minutes it will be known "
                                                             "whether Slurm accepted the job");
    return SubmittedJob{array_tasks.front().job, array_tasks.front().cluster};
}

/// Options on sbatch's command line, which take precedence over the script and the environment: the job's
/// name, its array tasks and its destination.
std::vector<std::string> commandLineOptions(const Submission& array, const SlurmOptions& options) {
    std::vector<std::string> arguments{
        "--job-name=" + array.name,
        "--array=" + arrayOption(static_cast<std::int64_t>(array.array_tasks.size()), options)};
    if (!requestedClusters(options).empty()) arguments.push_back("--clusters=" + array.cluster);
    return arguments;
}

/// Removes the files of a submission that the scheduler has refused.
void forget(const fs::path& runs, const std::string& name) {
    try {
        removeFile(submissionsFolder(runs) / (name + ".sh"));
        removeFile(submissionPath(runs, name));
        removeSubmissionRecord(runs, name);
    } catch (const Error&) {
        // The user needs to know the reason for the refusal, not this failure.
    }
}

/// @param after  the previous array, which must end first if the number of simultaneous array tasks is
/// limited, because the limit applies to each array separately. @returns the submission as accepted
Submission submit(const fs::path& runs, Submission array, const SlurmOptions& options,
                  const std::string& after) {
    const std::string text = batchScript(runs, array, options);
    recordSubmission(runs, array, options);
    writeSubmission(runs, array);
    const FilePath script = submissionsFolder(runs) / (array.name + ".sh");
    writeFileAtomically(script, text);
    std::vector<std::string> arguments = commandLineOptions(array, options);
    if (!after.empty() && options.at_once > 0) arguments.push_back("--dependency=afterany:" + after);
    SubmittedJob job;
    try {
        job = submitScript(text, arguments, environmentForSbatch(options));
    } catch (const SubmissionOutcomeUnknown&) {
        throw;  // the scheduler may have accepted it; it can be found by its file
    } catch (const Error& error) {
        const auto accepted_job = findJobAfterTimeout(error, array);
        if (!accepted_job) {
            forget(runs, array.name);
            throw;
        }
        job = *accepted_job;
    }
    array.job = job.number;
    if (!job.cluster.empty()) array.cluster = job.cluster;
    writeSubmission(runs, array);
    return array;
}

}  // namespace

std::vector<SlurmArrayTask> ClusterView::ownActiveTasks() const {
    std::vector<SlurmArrayTask> ours = active;
    std::erase_if(ours, [this](const SlurmArrayTask& one) { return own_submissions.count(one.name) == 0; });
    return ours;
}

ClusterView queryCluster(const fs::path& runs, const std::string& sweep,
                         const std::vector<std::string>& names) {
    return viewOf(runs, sweep, names, /*asks_scheduler=*/true);
}

ClusterView readClusterView(const fs::path& runs, const std::string& sweep,
                            const std::vector<std::string>& names) {
    return viewOf(runs, sweep, names, /*asks_scheduler=*/false);
}

std::vector<std::string> runsToSubmit(const std::vector<SweepRunStatus>& runs) {
    std::vector<std::string> names;
    for (const SweepRunStatus& one : runs)
        if (one.is_state_known && !one.isFinished() && !one.isSubmittedOrRunning() &&
            one.state != RunState::failed)
            names.push_back(one.run);
    return names;
}

std::vector<Submission> planArrays(const std::string& sweep, const std::vector<std::string>& names,
                                   const SlurmOptions& options) {
    rejectReservedOptions(options.more);
    const std::string requested = requestedClusters(options);
    const ClusterSettings settings = clusterSettings(isSingleCluster(requested) ? requested : std::string());
    const auto most = static_cast<std::size_t>(settings.max_array_size);
    const auto each = static_cast<std::size_t>(std::max<std::int64_t>(1, options.pack));
    std::vector<Submission> arrays;
    for (std::size_t first = 0; first < names.size(); first += each) {
        if (arrays.empty() || arrays.back().array_tasks.size() == most) {
            arrays.push_back(newSubmission(sweep));
            arrays.back().cluster = requested.empty() ? settings.name : requested;
        }
        const std::size_t end = std::min(first + each, names.size());
        arrays.back().array_tasks.emplace_back(names.begin() + static_cast<std::ptrdiff_t>(first),
                                               names.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return arrays;
}

std::string batchScript(const fs::path& runs, const Submission& array, const SlurmOptions& options) {
    return slurmScript(array.name, static_cast<std::int64_t>(array.array_tasks.size()),
                       submissionPath(runs, array.name).path(), options, runListFingerprint(array));
}

SubmissionReport submitRuns(const fs::path& runs, const std::string& sweep,
                            const std::vector<std::string>& names, const SlurmOptions& options) {
    constexpr double kLongestSubmission_s = 120;
    makeFolder(submissionsFolder(runs));
    const FilePath lock = submissionsFolder(runs) / "lock";
    const FileLock nobody_else_submits(lock, waitAtMost(kLongestSubmission_s, lock.string()));
    SubmissionReport report;
    report.before = queryCluster(runs, sweep, names);
    markEnded(runs, report.before);
    report.runs_to_submit = runsToSubmit(report.before.runs);
    for (const SweepRunStatus& one : report.before.runs)
        if (one.state == RunState::stopped && !one.isSubmittedOrRunning())
            resetToQueued(RunFolder(runs / one.run));
    const bool is_sent_elsewhere = !requestedClusters(options).empty();
    for (Submission& array : planArrays(sweep, report.runs_to_submit, options)) {
        // If several clusters are allowed, all arrays go to the one that accepted the first, because arrays
        // can wait for each other only within a cluster.
        if (!report.cluster.empty()) array.cluster = report.cluster;
        const Submission submitted =
            submit(runs, array, options, report.jobs.empty() ? std::string() : report.jobs.back());
        report.jobs.push_back(submitted.job);
        if (is_sent_elsewhere) report.cluster = submitted.cluster;
    }
    return report;
}

}  // namespace roper
