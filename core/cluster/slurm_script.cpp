#include "core/cluster/slurm_script.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/sbatch_options.h"

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
        std::any_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
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

}  // namespace roper
