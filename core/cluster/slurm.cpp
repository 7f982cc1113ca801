#include "core/cluster/slurm.h"

#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kPatience_s = 30;

/// @returns what the program printed @throws Error (other) with what it said if it failed
std::string call(const std::vector<std::string>& arguments, const std::string& input = {}) {
    ProgramResult result;
    try {
        result = runProgram(arguments, kPatience_s, input);
    } catch (const ProgramTimedOut&) {
        throw;
    } catch (const Error& error) {
        throw Error(ErrorKind::other,
                    std::string(error.what()) +
                        "; Slurm's programs are on the login nodes of a cluster, and must be in PATH");
    }
    if (result.exit_code == 0) return result.output;
    const std::string said = trimmed(result.errors.empty() ? result.output : result.errors);
    throw Error(ErrorKind::other, arguments.front() + " failed: " + onOneLine(said.substr(0, 1000)));
}

SlurmElement parseLine(const std::string& line) {
    // Names of jobs are ours and reasons come last, so that no "|" in them confuses.
    constexpr std::size_t kFields = 6;
    const std::vector<std::string> fields = split(line, '|');
    const auto index = fields.size() < kFields ? std::nullopt : parseInteger(fields[2]);
    if (!index || *index < 0)
        throw Error(ErrorKind::other, "squeue printed \"" + onOneLine(line.substr(0, 200)) +
                                          "\", which is not an element of an array");
    const std::string reason = fields[5] == "None" ? "" : fields[5];
    return {fields[0], fields[1], *index, fields[3], fields[4], reason};
}

}  // namespace

std::vector<SlurmElement> parseSqueue(std::string_view output) {
    std::vector<SlurmElement> elements;
    for (const std::string& line : split(output, '\n'))
        if (!trimmed(line).empty()) elements.push_back(parseLine(line));
    return elements;
}

std::vector<SlurmElement> elementsOfJobs(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    return parseSqueue(call(
        {"squeue", "--noheader", "--array", "--name=" + join(names, ","), "--format=%j|%F|%K|%T|%N|%r"}));
}

std::string submitScript(const std::string& script, const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"sbatch", "--parsable"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::string printed;  // "1234", or "1234;cluster"
    try {
        printed = trimmed(call(arguments, script));
    } catch (const ProgramTimedOut& error) {
        throw SubmissionUnknown(
            ErrorKind::other,
            std::string(error.what()) + "; the same command later finds out whether Slurm has the job");
    }
    // A cluster's own sbatch may say more before it.
    const std::string last = printed.substr(printed.rfind('\n') + 1);
    const std::string job = last.substr(0, last.find(';'));
    if (!parseInteger(job))
        throw SubmissionUnknown(ErrorKind::other, "sbatch printed \"" + onOneLine(printed.substr(0, 200)) +
                                                      "\" instead of the number of a job");
    return job;
}

std::int64_t mostElements() {
    constexpr std::int64_t kUsual = 1001;
    try {
        for (const std::string& line : split(call({"scontrol", "show", "config"}), '\n')) {
            const std::size_t equals = line.find('=');
            if (equals == std::string::npos || trimmed(line.substr(0, equals)) != "MaxArraySize") continue;
            const auto size = parseInteger(trimmed(line.substr(equals + 1)));
            return size && *size > 0 ? *size : kUsual;
        }
    } catch (const Error&) {
        // What it allows is then learned from what it refuses.
    }
    return kUsual;
}

void cancelElements(const std::vector<std::string>& ids) {
    if (ids.empty()) return;
    std::vector<std::string> arguments{"scancel"};
    arguments.insert(arguments.end(), ids.begin(), ids.end());
    call(arguments);
}

void requeueElement(const std::string& id) {
    call({"scontrol", "requeue", id});
}

bool isRunning(const std::string& id) {
    return trimmed(call({"squeue", "--noheader", "--array", "--job=" + id, "--format=%T"})) == "RUNNING";
}

}  // namespace roper
