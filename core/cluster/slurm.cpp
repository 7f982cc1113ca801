#include "core/cluster/slurm.h"

#include <map>

#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/slurm_script.h"

namespace roper {
namespace {

constexpr double kTimeout_s = 30;

/// @returns the program's output @throws Error (other) with its messages if it failed
std::string runOrThrow(const std::vector<std::string>& arguments, const std::string& input,
                       const std::vector<std::string>& environment) {
    ProgramResult result;
    try {
        result = runProgram(arguments, kTimeout_s, input, environment);
    } catch (const ProgramTimedOut&) {
        throw;
    } catch (const Error& error) {
        throw Error(ErrorKind::other,
                    std::string(error.what()) +
                        "; run this on a login node of the cluster, with Slurm's programs in PATH");
    }
    if (result.exit_code == 0) return result.output;
    const std::string message = trimmed(result.errors.empty() ? result.output : result.errors);
    throw Error(ErrorKind::other, arguments.front() + " failed: " + toSingleLine(message.substr(0, 1000)));
}

/// Runs a program that queries or controls a cluster; empty: the local one.
std::string runSlurmCommand(std::vector<std::string> arguments, const std::string& cluster = {}) {
    if (!cluster.empty()) arguments.insert(arguments.begin() + 1, "--clusters=" + cluster);
    return runOrThrow(arguments, {}, environmentForQueries());
}

SlurmArrayTask parseLine(const std::string& line, const std::string& cluster) {
    // We choose the names of jobs, and the reason comes last, so a "|" in it does no harm.
    constexpr std::size_t kFields = 6;
    const std::vector<std::string> fields = split(line, '|');
    const auto index = fields.size() < kFields ? std::nullopt : parseInteger(fields[2]);
    if (!index || *index < 0)
        throw Error(ErrorKind::other, "squeue printed \"" + toSingleLine(line.substr(0, 200)) +
                                          "\", which is not an array task");
    const std::string reason = fields[5] == "None" ? "" : fields[5];
    return {fields[0], fields[1], *index, fields[3], fields[4], reason, cluster};
}

}  // namespace

std::vector<SlurmArrayTask> parseSqueue(std::string_view output, const std::string& cluster) {
    constexpr std::string_view kCluster = "CLUSTER: ", kColumns = "NAME|";
    std::string of = cluster;
    std::vector<SlurmArrayTask> array_tasks;
    for (const std::string& line : split(output, '\n')) {
        if (line.starts_with(kCluster))
            of = trimmed(line.substr(kCluster.size()));
        else if (!trimmed(line).empty() && !line.starts_with(kColumns))
            array_tasks.push_back(parseLine(line, of));
    }
    return array_tasks;
}

std::vector<SlurmArrayTask> queryArrayTasks(const std::vector<std::string>& names,
                                            const std::string& cluster) {
    if (names.empty()) return {};
    // --all includes hidden partitions. With several clusters, only the headers say which cluster has an
    // array task.
    std::vector<std::string> arguments{"squeue", "--array", "--all", "--name=" + join(names, ","),
                                       "--format=%j|%F|%K|%T|%N|%r"};
    if (cluster.empty()) arguments.insert(arguments.begin() + 1, "--noheader");
    return parseSqueue(runSlurmCommand(arguments, cluster), cluster);
}

SubmittedJob submitScript(const std::string& script, const std::vector<std::string>& options,
                          const std::vector<std::string>& environment) {
    std::vector<std::string> arguments{"sbatch", "--parsable"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("/dev/stdin");
    std::string printed;  // "1234" or "1234;cluster"
    try {
        printed = trimmed(runOrThrow(arguments, script, environment));
    } catch (const ProgramTimedOut& error) {
        throw SubmissionOutcomeUnknown(
            ErrorKind::other, std::string(error.what()) +
                                  "; run the same command later to find out whether Slurm accepted the job");
    }
    // A site's wrapper around sbatch may print other lines before the job number.
    const std::string last = printed.substr(printed.rfind('\n') + 1);
    const std::vector<std::string> parts = split(last, ';');
    if (!parseInteger(parts.front()))
        throw SubmissionOutcomeUnknown(
            ErrorKind::other,
            "sbatch printed \"" + toSingleLine(printed.substr(0, 200)) + "\" instead of the number of a job");
    const bool has_cluster = parts.size() > 1 && isClusterList(trimmed(parts[1]));
    return {parts.front(), has_cluster ? trimmed(parts[1]) : std::string()};
}

ClusterSettings clusterSettings(const std::string& cluster) {
    ClusterSettings settings;
    try {
        for (const std::string& line :
             split(runSlurmCommand({"scontrol", "show", "config"}, cluster), '\n')) {
            const std::size_t equals = line.find('=');
            if (equals == std::string::npos) continue;
            const std::string key = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
            const auto size = parseInteger(value);
            if (key == "ClusterName" && isClusterList(value)) settings.name = value;
            if (key == "MaxArraySize" && size && *size > 0) settings.max_array_size = *size;
        }
    } catch (const Error&) {
        // If the array is too large, sbatch will refuse it.
    }
    return settings;
}

void cancelArrayTasks(const std::vector<SlurmArrayTask>& array_tasks) {
    std::map<std::string, std::vector<std::string>> of_cluster;
    for (const SlurmArrayTask& array_task : array_tasks)
        of_cluster[array_task.cluster].push_back(array_task.id());
    std::string problems;
    for (const auto& [cluster, ids] : of_cluster) {
        std::vector<std::string> arguments{"scancel"};
        arguments.insert(arguments.end(), ids.begin(), ids.end());
        try {
            runSlurmCommand(arguments, cluster);
        } catch (const Error& error) {
            problems += (problems.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    if (!problems.empty()) throw Error(ErrorKind::other, problems);
}

void requeueArrayTask(const SlurmArrayTask& array_task) {
    runSlurmCommand({"scontrol", "requeue", array_task.id()}, array_task.cluster);
}

bool isRunning(const std::string& id) {
    return trimmed(runSlurmCommand({"squeue", "--noheader", "--array", "--job=" + id, "--format=%T"})) ==
           "RUNNING";
}

}  // namespace roper
