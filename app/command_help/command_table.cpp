#include "app/command_help/command_table.h"

#include "core/base/text.h"

namespace roper {
namespace {

/// The choices in the type name of a CLI11 option: a and b for "TEXT:{a,b}".
std::vector<std::string> choicesIn(const std::string& type) {
    const std::size_t begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return mapped(split(type.substr(begin + 1, end - begin - 1), ','), trimmed);
}

CommandOption describeOption(const CLI::Option& option) {
    CommandOption described;
    for (const std::string& name : option.get_snames())
        described.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        described.names.push_back("--" + name);
    if (described.names.empty()) described.argument = option.get_name(true);
    const std::string type = option.get_type_name();
    if (option.get_items_expected_max() > 0) described.value = type.substr(0, type.find(':'));
    described.choices = choicesIn(type);
    described.help = option.get_description();
    described.is_required = option.get_required();
    described.may_repeat = option.get_items_expected_max() > 1;
    return described;
}

bool isSetting(const std::string& word) {
    return word.find('=') != std::string::npos && !word.starts_with('-');
}

/// A second "key=value" word after --set, which CLI11 takes for another argument; empty if there is none, or
/// if the command's --set takes several.
/// @param unknown  the words that CLI11 could not parse
std::string misplacedSetting(const CLI::App& app, const std::vector<std::string>& unknown) {
    const CLI::Option* set = app.get_option_no_throw("--set");
    if (set == nullptr || set->count() == 0 || set->get_allow_extra_args()) return {};
    for (const std::string& word : unknown)
        if (isSetting(word)) return word;
    for (const CLI::Option* option : app.get_options())
        if (option->get_positional() && !option->results().empty() && isSetting(option->results().front()))
            return option->results().front();
    return {};
}

}  // namespace

void setValuePlaceholders(CLI::App& app, const std::map<std::string, std::string>& values) {
    for (CLI::Option* option : app.get_options())
        if (const auto value = values.find(option->get_name());
            value != values.end() && option->get_expected_max() > 0)
            option->type_name(value->second);
    for (CLI::App* command : app.get_subcommands({}))
        setValuePlaceholders(*command, values);
}

std::string typeWithChoices(const std::string& value, const std::vector<std::string>& words) {
    return value + ":{" + join(words, ",") + "}";
}

std::string explainParseError(const CLI::App* app, const CLI::Error& error) {
    std::string path = app->get_name();
    while (!app->get_subcommands().empty()) {
        app = app->get_subcommands().back();
        path += " " + app->get_name();
    }
    std::string what = error.what();
    const std::vector<std::string> commands = mapped(app->get_subcommands({}), &CLI::App::get_name);
    const std::vector<std::string> unknown = app->remaining();
    if (!commands.empty() && !unknown.empty() && !unknown.front().starts_with('-'))
        what = "unknown command \"" + unknown.front() + "\"; " + nameHint(unknown.front(), commands);
    if (const std::string setting = misplacedSetting(*app, unknown); !unknown.empty() && !setting.empty())
        what = "each key=value needs its own --set: add --set " + setting;
    const std::string usage = CLI::Formatter().make_usage(app, path);
    return path + ": " + what + "\n" + trimmed(usage) + "\nMore: " + path + " --help\n";
}

CommandDescription describeCommands(const CLI::App& app) {
    CommandDescription described{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options())
        described.options.push_back(describeOption(*option));
    for (const CLI::App* command : app.get_subcommands({}))
        described.commands.push_back(describeCommands(*command));
    return described;
}

}  // namespace roper
