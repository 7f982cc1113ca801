#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace roper {

/// An option, or an argument without a name of its own, of a command.
struct CommandOption {
    std::vector<std::string> names;  ///< "-q", "--quiet"; of an argument none
    std::string argument;            ///< name of an argument: "run"
    std::string value;               ///< what it takes: "RUN", "FILE", "N"; empty for a flag
    std::vector<std::string> choices;
    std::string help;
    bool is_required = false;
    bool may_repeat = false;

    bool isArgument() const { return names.empty(); }
};

/// A command with all that its --help lists.
struct CommandDescription {
    std::string name, help;
    std::string footer;  ///< what stands below its --help
    std::vector<CommandOption> options;
    std::vector<CommandDescription> commands;
};

/// Names what options take, as --help, the manual and completion call it: {"--runs", "FOLDER"}, by the
/// option's name, in a program and all its commands.
void nameValues(CLI::App& app, const std::map<std::string, std::string>& values);

/// The type of an option whose values are mostly these words: "DEVICE:{auto,cpu}". Unlike CLI::IsMember it
/// leaves others to code with a better message.
std::string typeWithWords(const std::string& value, const std::vector<std::string>& words);

/// What is said of a command line that cannot be read: what is wrong, the command that may have been meant,
/// and how the command is used. For CLI::App::failure_message.
std::string explainMistake(const CLI::App* app, const CLI::Error& error);

/// What a program's --help is made from, for whatever else is made from it.
CommandDescription describeCommands(const CLI::App& app);

}  // namespace roper
