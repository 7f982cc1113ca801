#include "core/explorer/setup_text.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/explorer/setup_fields.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_vectors.h"

namespace roper {
namespace {

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

ASetup writtenSetup() {
    ASetup setup;
    setup.head_dim = 2 * *rc::gen::inRange(1, 20);
    setup.base = std::pow(10.0, 1.0 + 0.01 * *rc::gen::inRange(0, 500));
    setup.frequency_formula = *rc::gen::element(FrequencyFormula::standard, FrequencyFormula::worked_example);
    setup.pairing = *rc::gen::element(Pairing::half, Pairing::interleaved);
    setup.rotary_fraction = *rc::gen::element(1.0, 0.3);
    setup.scaling.method = *rc::gen::elementOf(kScalingMethods);
    setup.scaling.factor = 1 + std::abs(anyNumber(5));
    setup.position = anyNumber(100);
    setup.pair = *rc::gen::inRange(0, setup.pairs());
    if (*rc::gen::arbitrary<bool>()) setup.x = anyVector(setup.head_dim);
    setup.words = *rc::gen::arbitrary<std::string>();
    setup.overlays = *rc::gen::element(std::vector<ScalingMethod>{},
                                       std::vector{ScalingMethod::yarn, ScalingMethod::p_rope});
    setup.source = *rc::gen::element(VectorSource::random, VectorSource::hand);
    setup.tokens = *rc::gen::inRange(1, 20);
    setup.seed = *rc::gen::inRange<std::uint64_t>(0, 1000000);
    if (*rc::gen::arbitrary<bool>()) setup.manual_vectors.K = anyMatrix(setup.tokens, setup.head_dim);
    setup.mistake = *rc::gen::elementOf(kMistakes);
    setup.ablated_pairs = *rc::gen::element(std::vector<int>{}, std::vector{0});
    setup.value_rotation_strength = std::abs(anyNumber(1));
    setup.causal = *rc::gen::arbitrary<bool>();
    return sanitized(setup);
}

TEST(SetupText, RestoresExactly) {
    EXPECT_TRUE(rc::check([] {
        const SetupText text{writtenSetup(), {{"view.page", "Value mixing"}, {"view.note", "a=b&c%"}}};
        const std::string line = formatSetup(text);
        RC_ASSERT(line.find('\n') == std::string::npos);
        const SetupText read = parseSetup("  " + line + "\n");
        RC_ASSERT(read.setup == text.setup);
        RC_ASSERT(read.view == text.view);
    }));
}

TEST(SetupText, TheDefaultsAreAShortLine) {
    EXPECT_EQ(formatSetup({sanitized(ASetup{}), {}}), "roper-lab:setup?defaults=2");
    EXPECT_EQ(parseSetup("roper-lab:setup?defaults=2").setup, sanitized(ASetup{}));
}

TEST(SetupText, EveryFieldIsReachedByItsKey) {
    // A non-default value for each field, to detect fields that are written or read under another's name.
    const std::map<std::string, std::string> others = {{"head_dim", "8"},
                                                       {"base", "500"},
                                                       {"frequency_formula", "worked_example"},
                                                       {"pairing", "interleaved"},
                                                       {"scaling", "yarn"},
                                                       {"words", "a b"},
                                                       {"x", "1,2"},
                                                       {"y", "3,4"},
                                                       {"overlays", "linear,ntk"},
                                                       {"source", "run"},
                                                       {"q", "1,2|3,4"},
                                                       {"k", "1,2|3,4"},
                                                       {"v", "1,2|3,4"},
                                                       {"run", "r"},
                                                       {"run_text", "t"},
                                                       {"method", "alibi"},
                                                       {"attention", "linear_cosine"},
                                                       {"causal", "0"},
                                                       {"other_formula", "1"},
                                                       {"truncate", "0"},
                                                       {"xpos_decay", "1"},
                                                       {"mistake", "no_inverse"},
                                                       {"map", "weights"},
                                                       {"mixture", "two"},
                                                       {"muted", "1,2"}};
    for (const SetupField& field : setupFields()) {
        ASetup changed;
        const auto known = others.find(field.key());
        const auto* range = std::get_if<RealRange>(&field.accepts);
        const std::string number =
            range != nullptr && range->low > 0.125 ? formatNumber(range->low + 0.5) : "0.125";
        const std::string value = known != others.end() ? known->second : number;
        const bool whole = std::holds_alternative<IntegerRange>(field.accepts) && known == others.end();
        field.set(changed, whole ? "7" : value);
        EXPECT_FALSE(changed == ASetup{}) << field.key();
        for (const SetupField& other : setupFields())
            EXPECT_EQ(other.text(changed) != other.text(ASetup{}), other.key() == field.key()) << other.key();
    }
}

// Texts of older versions, with former names of fields and values.
TEST(SetupText, FormerNamesAreRead) {
    const ASetup setup =
        parseSetup("roper-lab:setup?schedule=intro&likeness=0.5&other_schedule=1&method=linear_cosine").setup;
    EXPECT_EQ(setup.frequency_formula, FrequencyFormula::worked_example);
    EXPECT_EQ(setup.similarity, 0.5);
    EXPECT_TRUE(setup.other_formula);
    EXPECT_EQ(setup.method, "rope");
    EXPECT_EQ(setup.attention, AttentionKind::linear_cosine);
    const std::string now = formatSetup({setup, {}});
    for (const char* former : {"schedule", "intro", "likeness", "method=linear"})
        EXPECT_EQ(now.find(former), std::string::npos) << now;
}

TEST(SetupText, SaysWhatIsWrong) {
    const auto refused = [](const std::string& line, const std::string& part) {
        expectError(ErrorKind::usage, part, [&] { parseSetup(line); });
    };
    refused("", "must begin with");
    refused("https://example.org", "must begin with");
    refused("roper-lab:setup?defaults=3", "newer version");
    refused("roper-lab:setup?hed_dim=4", "did you mean \"head_dim\"");
    refused("roper-lab:setup?head_dim", "key=value");
    refused("roper-lab:setup?head_dim=four", "must be a whole number");
    refused("roper-lab:setup?head_dim=5", "the nearest valid value is 4");
    refused("roper-lab:setup?base=1e18", "from 1.01 to 1e+15");
    refused("roper-lab:setup?scaling=yarn&beta_fast=1&beta_slow=2", "the nearest valid value is 2");
    refused("roper-lab:setup?base=nan", "must be a number");
    refused("roper-lab:setup?base=2&base=3", "twice");
    refused("roper-lab:setup?pairing=halv", "did you mean half?");
    refused("roper-lab:setup?words=%zz", "percent-encoded");
    refused("roper-lab:setup?words=%4", "percent-encoded");
    refused("roper-lab:setup?head_dim=4&x=1,2,3", "x has 3 numbers, but head_dim is 4");
    refused("roper-lab:setup?x=1,,2", "x must be numbers");
    refused("roper-lab:setup?source=hand&tokens=2&head_dim=2&q=1,2|3", "rows of equal length");
    refused("roper-lab:setup?muted=-1", "from 0 to 512");
    refused("roper-lab:setup?seed=99999999999999999999", "seed must be");
}

}  // namespace
}  // namespace roper
