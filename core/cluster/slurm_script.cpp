#include "core/cluster/slurm_script.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

extern char** environ;

namespace roper {
namespace {

/// Quotes any text for a shell.
std::string shellQuoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

/// Quotes a file name pattern for sbatch, which treats quotes and backslashes like a shell and expands %.
std::string patternQuoted(const std::string& path) {
    std::string quoted = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '%' ? std::string("%%") : std::string(1, c);
    }
    return quoted;  // the caller adds the end of the name and the closing quote
}

std::string option(const std::string& name, const std::string& value) {
    const bool has_control =
        std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    if (has_control)
        throw Error(ErrorKind::usage,
                    "an sbatch option must not contain a line break: \"" + toSingleLine(value) + "\"");
    return "#SBATCH " + name + value + "\n";
}

/// A user's option such as "--comment=two words". A value with blanks is quoted, because sbatch would take
/// its second word for another option.
std::string optionOf(const std::string& text) {
    const std::size_t value = text.find('=') + 1;
    const bool is_quoted = text.find_first_of("\"'") != std::string::npos;
    if (value == 0 || is_quoted || text.find(' ', value) == std::string::npos) return option("", text);
    return option("", text.substr(0, value) + "\"" + text.substr(value) + "\"");
}

using Pair = std::pair<std::string_view, std::string_view>;

std::string_view secondOf(const auto& pairs, std::string_view first) {
    const auto found = std::ranges::find(pairs, first, &Pair::first);
    return found == pairs.end() ? std::string_view() : found->second;
}

/// The long name of a one-letter option, if an environment variable exists for it or this file needs it.
std::string longName(char letter) {
    constexpr std::array<Pair, 19> kNames{{{"A", "account"},
                                           {"C", "constraint"},
                                           {"G", "gpus"},
                                           {"J", "job-name"},
                                           {"M", "clusters"},
                                           {"O", "overcommit"},
                                           {"S", "core-spec"},
                                           {"W", "wait"},
                                           {"a", "array"},
                                           {"e", "error"},
                                           {"i", "input"},
                                           {"k", "no-kill"},
                                           {"m", "distribution"},
                                           {"o", "output"},
                                           {"p", "partition"},
                                           {"q", "qos"},
                                           {"s", "oversubscribe"},
                                           {"t", "time"},
                                           {"v", "verbose"}}};
    const std::string name(1, letter);
    const std::string_view found = secondOf(kNames, name);
    return found.empty() ? name : std::string(found);
}

/// Environment variables equivalent to an option. Most are named after it.
std::vector<std::string> variablesOf(const std::string& option) {
    if (option == "clusters") return {"SBATCH_CLUSTERS", "SLURM_CLUSTERS"};
    if (option == "hint") return {"SBATCH_HINT", "SLURM_HINT"};
    if (option == "requeue" || option == "no-requeue") return {"SBATCH_REQUEUE", "SBATCH_NO_REQUEUE"};
    if (option == "mem" || option == "mem-per-cpu" || option == "mem-per-gpu")  // each excludes the others
        return {"SBATCH_MEM_PER_NODE", "SBATCH_MEM_PER_CPU", "SBATCH_MEM_PER_GPU"};
    if (option == "switches") return {"SBATCH_REQ_SWITCH", "SBATCH_WAIT4SWITCH"};
    constexpr std::array<Pair, 3> kOthers{
        {{"time", "SBATCH_TIMELIMIT"}, {"array", "SBATCH_ARRAY_INX"}, {"verbose", "SBATCH_DEBUG"}}};
    if (const std::string_view other = secondOf(kOthers, option); !other.empty()) return {std::string(other)};
    std::string name = "SBATCH_";
    for (const char c : option)
        name += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return {name};
}

/// Removes surrounding quotes, which are needed only in a script.
std::string unquoted(const std::string& text) {
    const bool is_quoted =
        text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// Parses "--name", "--name=value", "-X" or "-Xvalue".
SbatchOption optionIn(const std::string& word) {
    if (!word.starts_with("--")) return {longName(word[1]), unquoted(word.substr(2))};
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (name == "cluster") name = "clusters";  // sbatch accepts both
    return {name, equals == std::string::npos ? std::string() : unquoted(word.substr(equals + 1))};
}

std::vector<std::string> environmentWithout(const auto& is_left_out) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view all = *variable;
        if (!is_left_out(all.substr(0, all.find('=')))) variables.emplace_back(all);
    }
    return variables;
}

}  // namespace

std::string arrayOption(std::int64_t array_tasks, const SlurmOptions& options) {
    const std::string at_once = options.at_once > 0 ? "%" + std::to_string(options.at_once) : std::string();
    return "0-" + std::to_string(array_tasks - 1) + at_once;
}

std::string slurmScript(const std::string& name, std::int64_t array_tasks,
                        const std::filesystem::path& submission, const SlurmOptions& options,
                        const std::string& fingerprint) {
    rejectReservedOptions(options.more);
    const std::filesystem::path log = submission.parent_path() / (name + "-");
    std::string script = "#!/bin/bash\n";
    script += option("--job-name=", name);
    script += option("--array=", arrayOption(array_tasks, options));
    script += option("--output=", patternQuoted(log.string()) + "%a.log\"");
    script += "#SBATCH --open-mode=append\n#SBATCH --requeue\n#SBATCH --signal=B:TERM@120\n";
    if (!options.partition.empty()) script += option("--partition=", options.partition);
    if (!options.gres.empty()) script += option("--gres=", options.gres);
    if (!options.time.empty()) script += option("--time=", options.time);
    for (const std::string& one : options.more)
        script += optionOf(one);
    const std::string program = options.program.empty()
                                    ? shellQuoted(std::filesystem::read_symlink("/proc/self/exe").string())
                                    : options.program;
    return script + "exec " + program + " work " + shellQuoted(submission.string()) +
           (fingerprint.empty() ? "" : " --holds " + fingerprint) + "\n";
}

std::vector<SbatchOption> parseSbatchOptions(const std::vector<std::string>& arguments) {
    std::vector<SbatchOption> options;
    for (const std::string& text : arguments) {
        // After "=", the rest is one value including blanks.
        const bool is_one = text.starts_with("--") && text.find('=') != std::string::npos;
        for (const std::string& word : is_one ? std::vector<std::string>{text} : split(text, ' ')) {
            if (word.size() > 1 && word.front() == '-')
                options.push_back(optionIn(word));
            else if (!word.empty() && !options.empty() && options.back().value.empty())
                options.back().value = unquoted(word);
        }
    }
    return options;
}

bool isClusterList(std::string_view text) {
    constexpr std::string_view kAlso = "._-,";
    return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               kAlso.find(c) != std::string_view::npos;
    });
}

std::string requestedClusters(const SlurmOptions& options) {
    std::string clusters, where = "--clusters";
    for (const SbatchOption& one : parseSbatchOptions(options.more))
        if (one.name == "clusters") clusters = one.value;  // like sbatch, uses the last of several
    for (const char* variable : {"SLURM_CLUSTERS", "SBATCH_CLUSTERS"}) {
        if (!clusters.empty()) break;
        where = variable;
        clusters = environmentVariable(variable);
    }
    if (clusters.empty() || isClusterList(clusters)) return clusters;
    throw Error(ErrorKind::usage, where + ": \"" + toSingleLine(clusters) +
                                      "\" is not a list of clusters; separate their names with commas");
}

void rejectReservedOptions(const std::vector<std::string>& arguments) {
    constexpr std::array<Pair, 5> kRefused{
        {{"job-name", "each submission gets a unique job name"},
         {"array",
          "a sweep creates its own array; --at-once limits how many array tasks run at the same time"},
         {"wait", "sbatch would not return before all runs are done; --status shows their progress"},
         {"wrap", "a sweep writes its own script; --program sets how a node starts the trainer"},
         {"test-only", "nothing would be submitted; --dry-run prints the script, for `sbatch --test-only`"}}};
    constexpr std::size_t kShortest = 3;  // shortest abbreviation that sbatch accepts
    for (const SbatchOption& one : parseSbatchOptions(arguments))
        for (const auto& [name, why] : kRefused)
            if (one.name.size() >= kShortest && name.starts_with(one.name))
                throw Error(ErrorKind::usage, "--sbatch=--" + std::string(name) +
                                                  " cannot be used with a sweep: " + std::string(why));
}

std::vector<std::string> environmentForQueries() {
    constexpr std::array<std::string_view, 5> kPrograms{"SQUEUE_", "SACCT_", "SCONTROL_", "SCANCEL_",
                                                        "SINFO_"};
    constexpr std::array<std::string_view, 5> kShared{"SLURM_CLUSTERS", "SLURM_BITSTR_LEN",
                                                      "SLURM_TIME_FORMAT", "SLURM_JSON", "SLURM_YAML"};
    return environmentWithout([&](std::string_view name) {
        return std::ranges::any_of(kPrograms,
                                   [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
               hasElement(kShared, name);
    });
}

std::vector<std::string> environmentForSbatch(const SlurmOptions& options) {
    std::vector<SbatchOption> used_options = parseSbatchOptions(options.more);
    // Set by every sweep's script, or would keep sbatch from returning.
    for (const char* name :
         {"job-name", "array", "output", "error", "open-mode", "requeue", "signal", "wait"})
        used_options.push_back({name, {}});
    if (!options.partition.empty()) used_options.push_back({"partition", {}});
    if (!options.gres.empty()) used_options.push_back({"gres", {}});
    if (!options.time.empty()) used_options.push_back({"time", {}});
    std::set<std::string, std::less<>> left_out;
    for (const SbatchOption& one : used_options)
        for (const std::string& variable : variablesOf(one.name))
            left_out.insert(variable);
    return environmentWithout([&](std::string_view name) { return left_out.contains(name); });
}

}  // namespace roper
