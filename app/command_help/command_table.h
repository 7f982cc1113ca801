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
    std::vector<CommandOption> options;
    std::vector<CommandDescription> commands;
};

/// Names what options take, as --help, the manual and completion call it: {"--runs", "FOLDER"}, by the
/// option's name, in a program and all its commands.
void nameValues(CLI::App& app, const std::map<std::string, std::string>& values);

/// What a program's --help is made from, for whatever else is made from it.
CommandDescription describeCommands(const CLI::App& app);

}  // namespace roper
