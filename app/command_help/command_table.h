#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace roper {

/// An option, or a positional argument, of a command.
struct CommandOption {
    std::vector<std::string> names;    ///< "-q", "--quiet"; empty for an argument
    std::string argument;              ///< name of an argument: "run"
    std::string value;                 ///< placeholder of its value: "RUN", "FILE", "N"; empty for a flag
    std::vector<std::string> choices;  ///< values to offer; empty: none known
    std::string help;
    bool is_required = false;
    bool may_repeat = false;

    bool isArgument() const { return names.empty(); }
};

/// A command with everything listed in its --help.
struct CommandDescription {
    std::string name, help;
    std::string footer;  ///< text at the end of its --help
    std::vector<CommandOption> options;
    std::vector<CommandDescription> commands;  ///< subcommands
};

/// Sets the placeholders of option values in --help, the manual page and completion, for a program and all
/// its commands. @param values  by the option's name: {"--runs", "FOLDER"}
void setValuePlaceholders(CLI::App& app, const std::map<std::string, std::string>& values);

/// The CLI11 type name of an option with suggested values: "DEVICE:{auto,cpu}". Unlike CLI::IsMember it
/// rejects no other values; the command does, with a better message.
std::string typeWithChoices(const std::string& value, const std::vector<std::string>& words);

/// Error message for a command line that cannot be parsed: what is wrong, the command that may have been
/// meant, and the usage. For CLI::App::failure_message.
std::string explainParseError(const CLI::App* app, const CLI::Error& error);

/// Describes a program's commands and options as its --help does, for completion and the manual page.
CommandDescription describeCommands(const CLI::App& app);

}  // namespace roper
