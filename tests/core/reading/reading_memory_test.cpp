#include "core/reading/reading_memory.h"

#include <gtest/gtest.h>

#include "core/questions/model_summary.h"

namespace roper {
namespace {

TEST(ReadingMemory, GrowsWithTheTextAndIsComparedWithWhatIsFree) {
    Architecture model;
    model.width = 64;
    model.heads = 4;
    model.key_value_heads = 2;
    model.head_dim = 16;
    model.feed_forward = 10'000;
    model.vocabulary = 100;
    const double of_one = sizeof(float) * (3 * 64 + 2 * 10'000);
    EXPECT_EQ(minReadingBytes(model, 1000), 1000 * of_one);
    EXPECT_FALSE(readingMemoryProblem(model, 1000, 1000 * of_one));
    const auto problem = readingMemoryProblem(model, 1'000'000, 1e9);
    ASSERT_TRUE(problem);
    EXPECT_NE(problem->find("1000000 tokens this model takes at least 80.8 GB of memory, and 1 GB are free"),
              std::string::npos)
        << *problem;
}

TEST(ReadingMemory, AMixtureDecodesOneExpertAtATime) {
    Architecture model;
    model.width = 64;
    model.heads = 4;
    model.key_value_heads = 2;
    model.head_dim = 16;
    model.vocabulary = 100;
    model.feed_forward = 10'000;  // of dense layers, of which there are none
    model.mixture = {.experts = 128, .per_token = 8, .feed_forward = 1000, .layers = {true, true}};
    EXPECT_EQ(largestMatrixBytes(model), 4.0 * 64 * 1000);
    model.mixture.layers = {false, true};
    EXPECT_EQ(largestMatrixBytes(model), 4.0 * 64 * 10'000);
    model.feed_forward = 100;
    EXPECT_EQ(minReadingBytes(model, 1000), 4.0 * 1000 * (6 * 64 + 2 * 128 + 3 * 1000));
}

TEST(ReadingMemory, ATextTakesAtMostAsManyExpertsAsThereAre) {
    ModelSummary model;
    model.parameters = 1000 + 8 * 100;
    model.parameters_per_token = 1000 + 2 * 100;
    model.experts = 8;
    model.experts_per_token = 2;
    EXPECT_EQ(mostParametersUsed(model, 1), 1200);
    EXPECT_EQ(mostParametersUsed(model, 3), 1600);
    EXPECT_EQ(mostParametersUsed(model, 100), 1800);
    model.experts = model.experts_per_token = 0;
    EXPECT_EQ(mostParametersUsed(model, 100), 1200);
}

TEST(ReadingMemory, AModelWhoseMatricesDoNotFitIsRefusedWhateverTheText) {
    Architecture model;
    model.width = 1 << 17;
    model.heads = 4;
    model.head_dim = 16;
    model.feed_forward = 1 << 20;
    model.vocabulary = 100;
    EXPECT_EQ(largestMatrixBytes(model), 4.0 * (1 << 17) * (1 << 20));
    EXPECT_FALSE(modelMemoryProblem(model, 1e12));
    const auto problem = modelMemoryProblem(model, 8e9);
    ASSERT_TRUE(problem);
    EXPECT_NE(problem->find("takes 550 GB of memory, and 8 GB are free"), std::string::npos) << *problem;
}

}  // namespace
}  // namespace roper
