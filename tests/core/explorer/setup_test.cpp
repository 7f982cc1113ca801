#include "core/explorer/setup.h"

#include <gtest/gtest.h>
#include <limits>

#include "core/base/error.h"
#include "core/explorer/setup_fields.h"
#include "core/explorer/setup_text.h"
#include "core/rotary/worked_example.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_vectors.h"

namespace roper {
namespace {

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

TEST(Setup, SanitizingTwiceIsSanitizingOnce) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup;
        setup.head_dim = *rc::gen::inRange(-10, 400);
        setup.base = anyNumber(2e9);
        setup.pair = *rc::gen::inRange(-300, 300);
        setup.tokens = *rc::gen::inRange(-5, 5000);
        setup.query = *rc::gen::inRange(-5, 5000);
        setup.key = *rc::gen::inRange(-5, 5000);
        setup.ablated_pairs = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-3, 300));
        setup.source = *rc::gen::element(VectorSource::random, VectorSource::hand);
        setup.value_rotation_strength = anyNumber(3);
        const ASetup once = sanitized(setup);
        RC_ASSERT(sanitized(once) == once);
        RC_ASSERT(once.x.size() == once.head_dim && once.y.size() == once.head_dim);
        RC_ASSERT(once.query < once.tokens && once.key >= 0);
        RC_ASSERT(once.rotary().planes() == once.pairs());
    }));
}

TEST(Setup, NotANumberBecomesABound) {
    ASetup setup;
    setup.base = std::numeric_limits<double>::quiet_NaN();
    setup.shift = std::numeric_limits<double>::infinity();
    setup.scaling.factor = -std::numeric_limits<double>::infinity();
    const ASetup inside = sanitized(setup);
    EXPECT_EQ(inside.base, bounds::kMinBase);
    EXPECT_EQ(inside.shift, bounds::kMaxShift);
    EXPECT_EQ(inside.scaling.factor, 1.0);
}

TEST(Setup, AWiderHeadKeepsTheEntriesThatWereThere) {
    ASetup setup = withWorkedExample(ASetup{});
    setup.head_dim = 8;
    setup = sanitized(setup);
    EXPECT_EQ(setup.x.head(4), Eigen::Vector4d(0.5, -1.0, 1.5, 2.0));
    setup.source = VectorSource::hand;
    setup.tokens = 3;
    setup = sanitized(setup);
    setup.manual_vectors.Q(2, 7) = 42;
    setup.tokens = 5;
    setup = sanitized(setup);
    EXPECT_EQ(setup.manual_vectors.Q(2, 7), 42);
    EXPECT_EQ(setup.manual_vectors.V.rows(), 5);
}

TEST(Setup, TheIntroExampleGivesTheSourcesNumbers) {
    const ASetup setup = withWorkedExample(ASetup{});
    EXPECT_TRUE(isWorkedExample(setup));
    const Eigen::VectorXd rotated = rotate(setup.rotary(), setup.x, setup.position);
    EXPECT_LT((rotated - Eigen::Vector4d(-0.353876, 1.060553, 0.841964, 2.353953)).cwiseAbs().maxCoeff(),
              5e-7);
    EXPECT_LT((workedExample().result - rotated).norm(), 1e-15);
}

TEST(Setup, FractionsAndScalingsReachTheRotation) {
    ASetup setup;
    setup.head_dim = 16;
    setup = sanitized(setup);
    setup.rotary_fraction = 0.5;
    EXPECT_EQ(setup.rotary().pairs(), 4);
    EXPECT_EQ(setup.valueRotary().pairs(), 8);
    EXPECT_EQ(setup.rotary().frequency(5), 0.0);
    setup.scaling.method = ScalingMethod::linear;
    setup.scaling.factor = 2;
    EXPECT_DOUBLE_EQ(setup.rotary().theta[0], 0.5);
    setup.rotary_fraction = 0;
    EXPECT_EQ(setup.rotary().pairs(), 0);
    EXPECT_EQ(setup.attentionFactor(), 1.0);
}

// rotary.md, fact 8: features beyond the rotated width pass unchanged, and planes cover every feature once.
TEST(Rotary, PlanesCoverEveryFeatureOnce) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        std::vector<int> seen(static_cast<std::size_t>(rotary.head_dim), 0);
        for (int i = 0; i < rotary.planes(); ++i) {
            const auto [first, second] = rotary.plane(i);
            ++seen[static_cast<std::size_t>(first)];
            ++seen[static_cast<std::size_t>(second)];
        }
        for (const int times : seen)
            RC_ASSERT(times == 1);
    }));
}

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
                                                       {"rotated_part", "last"},
                                                       {"shared_key_value", "1"},
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
                                                       {"rotates", "k"},
                                                       {"attention", "linear_cosine"},
                                                       {"causal", "0"},
                                                       {"other_formula", "1"},
                                                       {"truncate", "0"},
                                                       {"xpos_decay", "1"},
                                                       {"mistake", "no_inverse"},
                                                       {"map", "weights"},
                                                       {"mixture", "two"},
                                                       {"ablated_pairs", "1,2"}};
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
    const ASetup setup = parseSetup(
                             "roper-lab:setup?schedule=intro&likeness=0.5&other_schedule=1"
                             "&method=linear_cosine&muted=1,2")
                             .setup;
    EXPECT_EQ(setup.frequency_formula, FrequencyFormula::worked_example);
    EXPECT_EQ(setup.similarity, 0.5);
    EXPECT_TRUE(setup.other_formula);
    EXPECT_EQ(setup.method, "rope");
    EXPECT_EQ(setup.attention, AttentionKind::linear_cosine);
    EXPECT_EQ(setup.ablated_pairs, (std::vector<int>{1, 2}));
    const std::string now = formatSetup({setup, {}});
    for (const char* former : {"schedule", "intro", "likeness", "method=linear", "muted"})
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
    refused("roper-lab:setup?ablated_pairs=-1", "from 0 to 512");
    refused("roper-lab:setup?seed=99999999999999999999", "seed must be");
}

}  // namespace

}  // namespace roper
