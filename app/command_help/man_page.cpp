#include "app/command_help/command_texts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Escapes a text so that roff prints it unchanged.
std::string roff(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
    }
    const bool looks_like_command = !escaped.empty() && (escaped.front() == '.' || escaped.front() == '\'');
    return looks_like_command ? "\\&" + escaped : escaped;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

/// "[--seed N]", "RUN ..."
std::string usage(const CommandOption& option) {
    std::string text = option.isArgument() ? upper(option.argument) : option.names.back();
    if (!option.isArgument() && !option.value.empty()) text += " " + option.value;
    if (option.isArgument() && option.may_repeat) text += " ...";
    return option.is_required ? text : "[" + text + "]";
}

std::string optionEntry(const CommandOption& option) {
    std::string head;
    for (const std::string& name : option.names)
        head += (head.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
    if (option.isArgument()) head = "\\fI" + roff(upper(option.argument)) + "\\fR";
    if (!option.isArgument() && !option.value.empty()) head += " \\fI" + roff(option.value) + "\\fR";
    std::string help = roff(option.help);
    const bool names_all = std::ranges::all_of(option.choices, [&](const std::string& choice) {
        return option.help.find(choice) != std::string::npos;
    });
    if (!names_all) help += " (" + roff(join(option.choices, ", ")) + ")";
    return ".TP\n" + head + "\n" + (help.empty() ? "\\&" : help) + "\n";
}

/// Preformatted lines, such as examples.
std::string verbatim(const std::string& text) {
    std::string lines;
    for (const std::string& line : split(text, '\n'))
        lines += (line.empty() ? "\\&" : roff(line)) + "\n";
    return ".nf\n" + lines + ".fi\n";
}

std::string optionEntries(const CommandDescription& command) {
    std::string text;
    for (const bool arguments : {true, false})
        for (const CommandOption& option : command.options)
            if (option.isArgument() == arguments) text += optionEntry(option);
    return text;
}

std::string commandEntry(const CommandDescription& program, const CommandDescription& command) {
    std::string text =
        ".SS " + roff(command.name) + "\n\\fB" + roff(program.name) + " " + roff(command.name) + "\\fR";
    for (const bool arguments : {true, false})
        for (const CommandOption& option : command.options)
            if (option.isArgument() == arguments && (option.is_required || arguments))
                text += " " + roff(usage(option));
    text += " [options]\n.PP\n" + roff(command.help) + ".\n";
    text += optionEntries(command);
    return command.footer.empty() ? text : text + ".PP\n" + verbatim(command.footer);
}

std::string exitCodes() {
    const std::pair<ErrorKind, const char*> codes[] = {
        {ErrorKind::other, "Any other error."},
        {ErrorKind::usage, "The command line or a specification is invalid."},
        {ErrorKind::diverged, "Training diverged: a loss or gradient is not a number."},
        {ErrorKind::checkpoint, "A checkpoint cannot be read or does not match the run."},
        {ErrorKind::memory, "There is not enough memory."},
        {ErrorKind::disk, "A file or folder cannot be read or written."},
        {ErrorKind::preempted,
         "The program was told to stop, for example by Slurm; the run can be resumed."}};
    std::string text = ".SH EXIT STATUS\n.TP\n0\nSuccess.\n";
    for (const auto& [kind, meaning] : codes)
        text += ".TP\n" + std::to_string(static_cast<int>(kind)) + "\n" + meaning + "\n";
    return text;
}

}  // namespace

std::string manPage(const CommandDescription& program, const std::string& version) {
    std::string what = program.help;
    if (what.ends_with('.')) what.pop_back();
    std::string text = ".TH " + upper(program.name) + " 1 \"\" \"" + roff(program.name + " " + version) +
                       "\" \"RoPER Lab\"\n.SH NAME\n" + roff(program.name) + " \\- " + roff(what) +
                       "\n.SH SYNOPSIS\n\\fB" + roff(program.name) +
                       "\\fR [options] [command]\n.SH OPTIONS\n" + optionEntries(program) + ".SH COMMANDS\n";
    for (const CommandDescription& command : program.commands)
        text += commandEntry(program, command);
    // The section heading already says that these are examples.
    constexpr std::string_view kHeading = "Examples:\n";
    if (program.footer.starts_with(kHeading))
        text += ".SH EXAMPLES\n" + verbatim(program.footer.substr(kHeading.size()));
    return text + exitCodes() +
           ".SH ENVIRONMENT\n.TP\nROPER_LAB_RUNS\nThe folder of the runs, unless --runs names one.\n";
}

}  // namespace roper
