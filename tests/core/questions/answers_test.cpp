#include "core/questions/answers.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(LookAnswers, AreReadAsTheyWereWritten) {
    const TextReading reading{{5, 7}, {"a", " b"}, {0.1 + 0.2}, 0.3, {{{7, " b", -1.5, 0.25}}, {}}};
    const TextReading read = parseAnswer<TextReading>(formatAnswer(reading));
    EXPECT_EQ(read.ids, reading.ids);
    EXPECT_EQ(read.tokens, reading.tokens);
    EXPECT_EQ(read.nll, reading.nll);  // bit for bit
    ASSERT_EQ(read.predictions.size(), 2U);
    EXPECT_EQ(read.predictions[0][0].token, " b");
    EXPECT_EQ(read.predictions[0][0].probability, 0.25);
    EXPECT_TRUE(read.predictions[1].empty());

    HeadsAnswer heads{{"x"}, {{1.0, 0.1}}, {HeadReport{}}};
    heads.heads[0].layer = 3;
    heads.heads[0].previous = 0.75;
    heads.heads[0].bands.share = Eigen::Vector2d(0.9, 0.1);
    heads.heads[0].value_norms = Eigen::Vector2d(2, 3);
    const HeadsAnswer again = parseAnswer<HeadsAnswer>(formatAnswer(heads));
    EXPECT_EQ(again.theta, heads.theta);
    EXPECT_EQ(again.heads[0].layer, 3);
    EXPECT_EQ(labelOf(again.heads[0]), "previous token");
    EXPECT_EQ(again.heads[0].bands.share, heads.heads[0].bands.share);
    EXPECT_EQ(again.heads[0].value_norms, heads.heads[0].value_norms);

    const SubsetsAnswer subsets{{"0-7", "8-15"}, {{{1}, 2.5}, {{}, 9}}};
    EXPECT_EQ(parseAnswer<SubsetsAnswer>(formatAnswer(subsets)).subsets[0].kept, std::vector<int>{1});
    const KernelsAnswer kernels{{{{1, 2}, {1, 0.5}}}};
    EXPECT_EQ(parseAnswer<KernelsAnswer>(formatAnswer(kernels)).kernels[0].cosine, kernels.kernels[0].cosine);
    ModelSummary summary;
    summary.name = "tiny";
    summary.theta = {1, 0.5};
    EXPECT_EQ(parseAnswer<ModelSummary>(formatAnswer(summary)).theta, summary.theta);
    const GeneratedText text{{1}, {2}, {"a", "b"}, {0.5}, "b"};
    EXPECT_EQ(parseAnswer<GeneratedText>(formatAnswer(text)).probability, text.probability);
}

TEST(LookAnswers, PartsOfCharactersDoNotBreakThem) {
    const TextReading reading{{1}, {std::string("\xE2\x82")}, {}};
    EXPECT_EQ(parseAnswer<TextReading>(formatAnswer(reading)).tokens.size(), 1U);
}

TEST(LookAnswers, WhatIsAnotherAnswerIsRefused) {
    for (const char* text : {"", "{}", "[1]", "{\"ids\": 3}", "{\"ids\": [1], \"tokens\": [1]"})
        expectError(ErrorKind::checkpoint, "another version", [&] { parseAnswer<TextReading>(text); });
}

}  // namespace
}  // namespace roper
