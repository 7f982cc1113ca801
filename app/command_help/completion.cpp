#include "app/command_help/command_texts.h"

#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Placeholders of values that only roper-train can list, and the command that lists them.
const std::map<std::string, std::string> kListings = {{"RUN", "roper-train list --names"},
                                                      {"PRESET", "roper-train presets --names"},
                                                      {"KEY=VALUE", "roper-train describe --keys"}};

/// The command that lists the allowed values of a setting, whose key follows.
const std::string kValuesOfKey = "roper-train describe --values";

/// "roper_train" for "roper-train", so that a shell function may have this name.
std::string identifier(std::string name) {
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

// bash -----------------------------------------------------------------------------------------------------

/// The statement that fills COMPREPLY with completions of the typed word.
/// @param source  options of compgen: "-f", "-W 'one two'"
std::string bashMatches(const std::string& source) {
    return "mapfile -t COMPREPLY < <(compgen " + source + " -- \"$word\")";
}

/// The statement that fills COMPREPLY with possible values.
std::string bashValues(const CommandOption& option) {
    if (!option.choices.empty()) return bashMatches("-W " + shellQuoted(join(option.choices, " ")));
    if (option.value == "FOLDER") return "compopt -o filenames; " + bashMatches("-d");
    if (option.value == "FILE") return "compopt -o filenames; " + bashMatches("-f");
    const auto listing = kListings.find(option.value);
    if (listing == kListings.end()) return "return";  // no completions
    const std::string folder = option.value == "RUN" ? " \"${folder[@]}\"" : "";
    const std::string listed = bashMatches("-W \"$(" + listing->second + folder + " 2>/dev/null)\"");
    if (option.value == "KEY=VALUE") return "compopt -o nospace; " + listed;
    if (option.value != "PRESET") return listed;
    return listed +
           "; [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -X "
           "'!*.toml' -- \"$word\"; compgen -d -- \"$word\")";
}

std::string bashCommand(const CommandDescription& command) {
    std::string text = "        " + command.name + ")\n            case $before in\n";
    std::string argument = "return";
    for (const CommandOption& option : command.options) {
        if (option.value == "KEY=VALUE")  // bash splits words at "="
            text += "                *.*) if [[ -n $after_sign ]]; then " +
                    bashMatches("-W \"$(" + kValuesOfKey + " \"$before\" 2>/dev/null)\"") +
                    "; return; fi ;;\n";
        if (option.isArgument())
            argument = argument == "return" ? bashValues(option) : argument;
        else if (!option.value.empty())
            text +=
                "                " + join(option.names, "|") + ") " + bashValues(option) + "; return ;;\n";
    }
    text +=
        "            esac\n            if [[ $word == -* ]]; then\n                mapfile -t COMPREPLY < "
        "<(compgen -W " +
        shellQuoted(join(concatenated(mapped(command.options, &CommandOption::names)), " ")) +
        " -- \"$word\")\n            else\n                " + argument + "\n            fi ;;\n";
    return text;
}

std::string bash(const CommandDescription& program) {
    const std::vector<std::string> names = mapped(program.commands, &CommandDescription::name);
    const std::string function = "_" + identifier(program.name);
    CommandDescription whole = program;
    whole.name = "''";
    std::string text =
        "# Completion of " + program.name + " for bash. Load it with: source <(" + program.name +
        " completion bash)\n" + function +
        "() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' i\n"
        "    local folder=() after_sign='' named\n"
        "    COMPREPLY=()\n"
        "    if [[ $word == '=' ]]; then\n"
        "        word='' after_sign=1\n"
        "    elif [[ $before == '=' ]]; then\n"
        "        before=${COMP_WORDS[COMP_CWORD-2]} after_sign=1\n"
        "    fi\n"
        "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "        if [[ ${COMP_WORDS[i]} == --runs ]]; then\n"
        "            named=${COMP_WORDS[i+1]}\n"
        "            [[ $named == '=' ]] && named=${COMP_WORDS[i+2]}\n"
        "            folder=(--runs \"${named/#\\~/$HOME}\")\n"
        "        fi\n"
        "        [[ -n $command ]] && continue\n"
        "        case ${COMP_WORDS[i]} in\n"
        "            " +
        join(names, "|") +
        ") command=${COMP_WORDS[i]} ;;\n"
        "        esac\n"
        "    done\n"
        "    case $command in\n";
    CommandOption first;
    first.argument = "command";
    first.choices = names;
    whole.options.insert(whole.options.begin(), first);
    text += bashCommand(whole);
    for (const CommandDescription& command : program.commands)
        text += bashCommand(command);
    return text + "    esac\n}\ncomplete -F " + function + " " + program.name + "\n";
}

// zsh ------------------------------------------------------------------------------------------------------

/// Escapes a text for an argument of zsh's _arguments.
std::string zshText(const std::string& text) {
    return replaced(replaced(replaced(replaced(text, "\\", "\\\\"), "[", "\\["), "]", "\\]"), ":", "\\:");
}

std::string zshValues(const CommandDescription& program, const CommandOption& option) {
    if (!option.choices.empty()) return "(" + join(option.choices, " ") + ")";
    if (option.value == "FOLDER") return "_files -/";
    if (option.value == "FILE") return "_files";
    if (kListings.count(option.value) > 0)
        return "_" + identifier(program.name) + "_" + identifier(option.value);
    return {};
}

std::string zshOption(const CommandDescription& program, const CommandOption& option) {
    const std::string value =
        option.value.empty() ? "" : ":" + zshText(option.value) + ":" + zshValues(program, option);
    if (option.isArgument())
        return shellQuoted((option.may_repeat ? "*" : "") + (":" + zshText(option.argument)) + ":" +
                           zshValues(program, option));
    std::string text;
    for (const std::string& name : option.names) {
        const std::string repeat = option.may_repeat || option.value == "KEY=VALUE" ? "*" : "";
        text +=
            (text.empty() ? "" : " ") + shellQuoted(repeat + name + "[" + zshText(option.help) + "]" + value);
    }
    return text;
}

std::string zshArguments(const CommandDescription& program, const CommandDescription& command,
                         const std::string& indent) {
    std::string text = "_arguments";
    for (const CommandOption& option : command.options)
        text += " \\\n" + indent + zshOption(program, option);
    return text;
}

std::string zsh(const CommandDescription& program) {
    const std::string function = "_" + identifier(program.name);
    std::string text = "#compdef " + program.name + "\n# Completion of " + program.name +
                       " for zsh. Load it with: source <(" + program.name + " completion zsh)\n";
    for (const auto& [value, listing] : kListings) {
        const bool ends_open = value == "KEY=VALUE";  // a value follows
        const std::string folder =
            value == "RUN" ? " ${opt_args[--runs]:+--runs} ${~${(Q)opt_args[--runs]}}" : "";
        text += function + "_" + identifier(value) + "() {\n    local -a names\n";
        if (ends_open)
            text +=
                "    if [[ $PREFIX == *=* ]]; then\n        local key=${PREFIX%%=*}\n        compset -P 1 "
                "'*='\n"
                "        names=(${(f)\"$(" +
                kValuesOfKey +
                " $key 2>/dev/null)\"})\n        compadd -a names\n"
                "        return\n    fi\n";
        text += "    names=(${(f)\"$(" + listing + folder + " 2>/dev/null)\"})\n    compadd " +
                (ends_open ? "-S '' " : "") + "-a names\n" +
                (value == "PRESET" ? "    _files -g '*.toml'\n" : "") + "}\n";
    }
    text +=
        function + "() {\n    local state\n    typeset -A opt_args\n    local -a commands\n    commands=(\n";
    for (const CommandDescription& command : program.commands)
        text += "        " + shellQuoted(command.name + ":" + command.help) + "\n";
    text += "    )\n    " + zshArguments(program, program, "        ") +
            " \\\n        '1:command:->command' '*::argument:->argument'\n"
            "    case $state in\n"
            "        command) _describe command commands ;;\n"
            "        argument)\n            case $words[1] in\n";
    for (const CommandDescription& command : program.commands)
        text += "                " + command.name + ")\n                    " +
                zshArguments(program, command, "                        ") + " ;;\n";
    // When sourced, the script registers itself; as a file of $fpath it is called directly.
    return text + "            esac ;;\n    esac\n}\nif [[ $funcstack[1] == _" + program.name + " ]]; then " +
           function + " \"$@\"; else compdef " + function + " " + program.name + "; fi\n";
}

// fish -----------------------------------------------------------------------------------------------------

std::string fishQuoted(const std::string& text) {
    return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fishOption(const std::string& program, const std::string& condition,
                       const CommandOption& option) {
    std::string text = "complete -c " + program + " -n " + fishQuoted(condition);
    for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.isArgument()) text += " -d " + fishQuoted(option.help);
    const bool takes_files = option.value == "FILE";
    if (!option.isArgument() && !option.value.empty()) text += takes_files ? " -rF" : " -x";
    if (option.isArgument() && takes_files) text += " -F";
    if (!option.choices.empty())
        text += " -a " + fishQuoted(join(option.choices, " "));
    else if (kListings.count(option.value) > 0)
        text += " -a " + fishQuoted("(__" + identifier(program) + "_" + identifier(option.value) + ")");
    else if (option.value == "FOLDER")
        text += " -a '(__fish_complete_directories)'";
    return text + "\n";
}

/// Fish functions that list the values of each placeholder in kListings.
std::string fishListings(const std::string& program) {
    std::string text;
    for (const auto& [value, listing] : kListings) {
        text += "function __" + identifier(program) + "_" + identifier(value) + "\n";
        if (value == "RUN") {
            // The runs folder on the command line, "--runs DIR" or "--runs=DIR".
            text +=
                "    set -l words (commandline -opc | string replace -r '^(--runs=)?~' '$1'$HOME)\n"
                "    set -l folder (string match -r -- '^--runs=.*' $words)\n"
                "    if set -l i (contains -i -- --runs $words)\n"
                "        set folder --runs $words[(math $i + 1)]\n    end\n";
        }
        if (value == "KEY=VALUE")
            text +=
                "    set -l parts (string split -m 1 = -- (commandline -ct))\n"
                "    if test (count $parts) -eq 2\n        " +
                kValuesOfKey +
                " $parts[1] 2>/dev/null | string replace -r '^' $parts[1]=\n        return\n    end\n";
        text += "    " + listing + (value == "RUN" ? " $folder" : "") + " 2>/dev/null\n";
        if (value == "PRESET")
            text +=
                "    __fish_complete_path (commandline -ct) | string match -r "
                "'.*(?:\\\\.toml|/)(?=\\\\t|$)'\n";
        text += "end\n";
    }
    return text;
}

std::string fish(const CommandDescription& program) {
    const std::vector<std::string> names = mapped(program.commands, &CommandDescription::name);
    const std::string before = "not __fish_seen_subcommand_from " + join(names, " ");
    std::string text = "# Completion of " + program.name + " for fish. Load it with: " + program.name +
                       " completion fish | source\n" + fishListings(program.name) + "complete -c " +
                       program.name + " -f\n";
    for (const CommandDescription& command : program.commands)
        text += "complete -c " + program.name + " -n " + fishQuoted(before) + " -a " + command.name + " -d " +
                fishQuoted(command.help) + "\n";
    for (const CommandOption& option : program.options)
        text += fishOption(program.name, before, option);
    for (const CommandDescription& command : program.commands)
        for (const CommandOption& option : command.options)
            text += fishOption(program.name, "__fish_seen_subcommand_from " + command.name, option);
    return text;
}

}  // namespace

std::string shellQuoted(const std::string& text) {
    return "'" + replaced(text, "'", "'\\''") + "'";
}

const std::vector<std::string>& completionShells() {
    static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
    return shells;
}

std::string completionScript(const CommandDescription& program, const std::string& shell) {
    if (shell == "bash") return bash(program);
    if (shell == "zsh") return zsh(program);
    if (shell == "fish") return fish(program);
    throw Error(ErrorKind::usage,
                "no completion for \"" + shell + "\"; expected one of " + join(completionShells(), ", "));
}

}  // namespace roper
