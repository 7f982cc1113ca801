#include <gtest/gtest.h>

#include "app/command_help/command_texts.h"
#include "app/command_help/number_checks.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

/// A program with an option of each kind.
class CommandHelp : public testing::Test {
  protected:
    CommandHelp() {
        app_.set_version_flag("--version", "1");
        CLI::App* train = app_.add_subcommand("train", "Train a run's model: it's quick [mostly]");
        train->add_option("run", text_, "Which run")->required()->type_name("RUN");
        train->add_option("--kind", text_, "One of two")->check(CLI::IsMember({"fast", "slow"}));
        train->add_option("--out", text_, ".csv or .json")->type_name("FILE");
        train->add_option("--set", list_, "Change a field: key=value")
            ->type_name("KEY=VALUE")
            ->allow_extra_args(false);
        train->add_flag("-q,--quiet", quiet_, "Say nothing");
        app_.add_subcommand("list", "Show all");
    }
    CommandDescription described() const { return describeCommands(app_); }

    CLI::App app_{"Does things", "doer"};
    std::string text_;
    std::vector<std::string> list_;
    bool quiet_ = false;
};

TEST_F(CommandHelp, HasWhatTheHelpHas) {
    const CommandDescription program = described();
    EXPECT_EQ(program.name, "doer");
    ASSERT_EQ(program.commands.size(), 2U);
    const CommandDescription& train = program.commands.front();
    const auto option = [&](const std::string& name) {
        for (const CommandOption& each : train.options)
            if (each.argument == name || std::count(each.names.begin(), each.names.end(), name) > 0)
                return each;
        ADD_FAILURE() << name;
        return CommandOption{};
    };
    EXPECT_TRUE(option("run").isArgument() && option("run").is_required);
    EXPECT_EQ(option("run").value, "RUN");
    EXPECT_EQ(option("--kind").choices, (std::vector<std::string>{"fast", "slow"}));
    EXPECT_EQ(option("--quiet").names, (std::vector<std::string>{"-q", "--quiet"}));
    EXPECT_TRUE(option("--quiet").value.empty());
    EXPECT_EQ(option("--out").help, ".csv or .json");
}

TEST_F(CommandHelp, EveryShellKnowsEveryCommandAndOption) {
    for (const std::string& shell : completionShells()) {
        const std::string script = completionScript(described(), shell);
        for (const char* word : {"train", "list", "kind", "quiet", "fast", "out", "roper-train list --names"})
            EXPECT_NE(script.find(word), std::string::npos) << shell << ": " << word;
    }
    expectError(ErrorKind::usage, "expected one of bash, zsh, fish",
                [&] { completionScript(described(), "csh"); });
}

TEST_F(CommandHelp, WordsOfATypeAreOfferedAndNotRequired) {
    app_.get_subcommand("train")->get_option("--out")->type_name(typeWithChoices("DEVICE", {"cpu", "gpu"}));
    const CommandDescription program = described();
    for (const CommandOption& option : program.commands.front().options)
        if (option.names == std::vector<std::string>{"--out"}) {
            EXPECT_EQ(option.value, "DEVICE");
            EXPECT_EQ(option.choices, (std::vector<std::string>{"cpu", "gpu"}));
        }
    EXPECT_NO_THROW(app_.parse("train r --out elsewhere"));
}

TEST_F(CommandHelp, TheManualHasTheFooters) {
    app_.footer("Examples:\n  doer train x\n\n  doer list");
    app_.get_subcommand("list")->footer(".all of them");
    const std::string page = manPage(described(), "1");
    EXPECT_NE(page.find(".SH EXAMPLES\n.nf\n  doer train x\n\\&\n  doer list\n.fi\n"), std::string::npos)
        << page;
    EXPECT_NE(page.find(".nf\n\\&.all of them\n.fi\n"), std::string::npos) << page;
}

TEST_F(CommandHelp, TheManualLetsNoTextBeACommandOfRoff) {
    const std::string page = manPage(described(), "1.2");
    EXPECT_NE(page.find(".TH DOER 1 \"\" \"doer 1.2\""), std::string::npos) << page;
    EXPECT_NE(page.find("\\fB\\-\\-out\\fR \\fIFILE\\fR\n\\&.csv or .json"), std::string::npos) << page;
    EXPECT_NE(page.find("(fast, slow)"), std::string::npos);
    EXPECT_NE(page.find(".TP\n75\n"), std::string::npos);
}

/// How a program with three integer options parses this argument: their values, or the error message.
std::string taken(const std::string& argument) {
    CLI::App app{"Counts", "counter"};
    std::int64_t step = 0, shift = 0;
    std::uint64_t seed = 0;
    std::vector<std::int64_t> lengths;
    app.add_option("--step", step, "One without a bound");
    app.add_option("--shift", shift, "One that may be negative")->check(CLI::Range(-100, 100));
    CLI::App* draw = app.add_subcommand("draw", "With numbers of its own");
    draw->add_option("--seed", seed, "One without a sign");
    draw->add_option("--lengths", lengths, "Several")->delimiter(',');
    requireWholeNumbers(app);
    std::vector<std::string> words{argument};
    if (argument.find("seed") != std::string::npos || argument.find("lengths") != std::string::npos)
        words = {argument, "draw"};  // CLI11 takes them from the back
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    std::string text = std::to_string(step) + " " + std::to_string(shift) + " " + std::to_string(seed);
    for (const std::int64_t length : lengths)
        text += " " + std::to_string(length);
    return text;
}

TEST(WholeNumbers, AreTakenAsTheyAreWritten) {
    EXPECT_EQ(taken("--step=010"), "10 0 0");
    EXPECT_EQ(taken("--step=9223372036854775807"), "9223372036854775807 0 0");
    EXPECT_EQ(taken("--shift=-7"), "0 -7 0");
    EXPECT_EQ(taken("--seed=9223372036854775807"), "0 0 9223372036854775807");
    EXPECT_EQ(taken("--lengths=8,016"), "0 0 0 8 16");
    for (const char* number :
         {"99999999999999999999", "9223372036854775808", "-1", "0x10", "1.5", "1e3", "one"}) {
        for (const char* option : {"--step=", "--seed=", "--lengths=8,"})
            EXPECT_NE(taken(option + std::string(number))
                          .find("is not a whole number from 0 to 9223372036854775807"),
                      std::string::npos)
                << option << number << ": " << taken(option + std::string(number));
    }
    EXPECT_NE(taken("--shift=-101").find("not in range"), std::string::npos);
    EXPECT_NE(taken("--shift=-99999999999999999999").find("not a whole number from -9223372036854775808"),
              std::string::npos);
}

}  // namespace
}  // namespace roper
