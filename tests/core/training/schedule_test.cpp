#include "core/training/schedule.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

TEST(Schedule, WarmsUpThenTakesItsCourse) {
    Specification::Training training;
    training.steps = 100;
    training.warmup_steps = 10;
    training.learning_rate = 2.0;
    training.final_fraction = 0.1;
    for (const char* schedule : {"constant", "cosine", "linear"}) {
        training.lr_schedule = schedule;
        EXPECT_DOUBLE_EQ(learningRate(training, 1), 0.2);
        EXPECT_DOUBLE_EQ(learningRate(training, 5), 1.0);
        EXPECT_DOUBLE_EQ(learningRate(training, 10), 2.0);
    }
    training.lr_schedule = "constant";
    EXPECT_DOUBLE_EQ(learningRate(training, 100), 2.0);
    training.lr_schedule = "linear";
    EXPECT_NEAR(learningRate(training, 55), 1.1, 1e-12);
    EXPECT_NEAR(learningRate(training, 100), 0.2, 1e-12);
    training.lr_schedule = "cosine";
    EXPECT_NEAR(learningRate(training, 55), 1.1, 1e-12);
    EXPECT_NEAR(learningRate(training, 100), 0.2, 1e-12);
    EXPECT_GT(learningRate(training, 30), 1.7);
}

TEST(Schedule, NoWarmUpBeginsAtTheTop) {
    Specification::Training training;
    training.warmup_steps = 0;
    training.lr_schedule = "constant";
    EXPECT_DOUBLE_EQ(learningRate(training, 1), training.learning_rate);
    training.lr_schedule = "cosine";
    training.steps = training.warmup_steps = 5;
    EXPECT_DOUBLE_EQ(learningRate(training, 5), training.learning_rate * training.final_fraction);
}

}  // namespace
}  // namespace roper
