#include "core/compare/length_map.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

MeasuredRun sized(const std::string& position, std::int64_t digits, std::int64_t seed,
                  std::vector<SizeRow> rows) {
    MeasuredRun run;
    run.record.name = position + std::to_string(digits) + "-" + std::to_string(seed);
    run.record.specification.model.position = position;
    run.record.specification.task.specific_settings.set("digits_max", digits);
    run.record.specification.training.length = 60 + 30 * digits;
    run.record.specification.training.data_seed = run.record.specification.training.model_seed = seed;
    run.sizes = std::move(rows);
    return run;
}

TEST(LengthMap, AddsUpSizesOfOneLengthAndRunsOfOneTraining) {
    const std::vector<MeasuredRun> runs = {
        sized("rope", 2, 0,
              {{100, "none", 1, 1, 1, 8, 8}, {100, "none", 1, 1, 2, 6, 8}, {100, "none", 1, 2, 2, 2, 8}}),
        sized("rope", 2, 1, {{100, "none", 1, 1, 2, 4, 8}}),
        sized("rope", 3, 0, {{100, "none", 1, 3, 1, 7, 8}}),
        sized("roper", 2, 0, {{100, "none", 1, 2, 1, 8, 8}, {100, "yarn", 4, 2, 1, 5, 8}})};
    const std::vector<LengthMap> maps = lengthMaps(runs);
    ASSERT_EQ(maps.size(), 1U);
    const LengthMap& map = maps.front();
    EXPECT_EQ(map.task, "addition");
    EXPECT_EQ(map.trained, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(map.lengths, (std::vector<std::int64_t>{1, 2, 3}));
    ASSERT_EQ(map.panels.size(), 3U);
    EXPECT_EQ(map.panels[0].label, "RoPE");
    EXPECT_EQ(map.panels[1].label, "RoPER");
    EXPECT_EQ(map.panels[2].label, "RoPER, read with yarn 4");
    const LengthMap::Cell two = map.panels[0].cells.at({2, 2});
    EXPECT_EQ(two.sum, 6 + 2 + 4);
    EXPECT_EQ(two.total, 24);
    EXPECT_EQ(two.runs, 2);
    EXPECT_DOUBLE_EQ(two.mean(), 0.5);
    EXPECT_EQ(map.panels[0].cells.at({3, 3}).runs, 1);
    EXPECT_EQ(map.panels[0].cells.count({3, 1}), 0U);
    EXPECT_NE(toCsv(maps).find("addition,solved,\"RoPER, read with yarn 4\",2,2,0.625,8,1"),
              std::string::npos);
}

// Regression: a repeated seed was counted twice in the mean, although pairs and means of groups leave repeats
// out.
TEST(LengthMap, ASeedThatWasTrainedAgainCountsOnce) {
    const auto solving = [](const std::string& name, std::int64_t seed, std::int64_t correct) {
        MeasuredRun run = sized("rope", 2, seed, {{100, "none", 1, 1, 2, correct, 8}});
        run.record.name = name;
        return run;
    };
    std::vector<MeasuredRun> runs = {solving("a", 0, 2), solving("b", 0, 8), solving("c", 1, 4)};
    const auto onlyCell = [&] {
        const std::vector<LengthMap> maps = lengthMaps(runs);
        return maps.at(0).panels.at(0).cells.at({2, 2});
    };
    EXPECT_EQ(onlyCell().sum, 8 + 4);
    EXPECT_EQ(onlyCell().runs, 2);
    EXPECT_EQ(lengthMaps(runs)[0].left_out, 1);
    runs[1].record.state = RunState::stopped;  // a finished run takes precedence
    EXPECT_EQ(onlyCell().sum, 2 + 4);
    runs[1].record.state = RunState::finished;
    runs[1].sizes.clear();  // has no measurements
    EXPECT_EQ(onlyCell().sum, 2 + 4);
    EXPECT_EQ(lengthMaps(runs)[0].left_out, 0);
    // Trained on other lengths, so not a repeat.
    runs[1] = sized("rope", 3, 0, {{100, "none", 1, 1, 2, 8, 8}});
    EXPECT_EQ(lengthMaps(runs)[0].panels[0].cells.at({3, 2}).runs, 1);
    EXPECT_EQ(lengthMaps(runs)[0].left_out, 0);
}

TEST(LengthMap, OnlyTheNewestStepCountsAndTasksStayApart) {
    const std::vector<SizeRow> rows = {{50, "none", 1, 1, 1, 0, 8}, {100, "none", 1, 1, 1, 8, 8}};
    ASSERT_EQ(newestRows(rows).size(), 1U);
    EXPECT_EQ(newestRows(rows).front().correct, 8);
    MeasuredRun index = sized("rope", 3, 0, {{10, "none", 1, 7, 3, 4, 8}});
    index.record.specification.task.name = "index";
    MeasuredRun prefix = sized("rope", 3, 0, {{10, "none", 1, 7, 3, 4, 8}});
    prefix.record.specification.task.name = "prefix";
    const std::vector<LengthMap> maps = lengthMaps({sized("rope", 3, 0, rows), index, prefix});
    ASSERT_EQ(maps.size(), 2U);
    EXPECT_EQ(maps[1].task, "index");
    EXPECT_EQ(maps[1].trained, (std::vector<std::int64_t>{8}));
    EXPECT_EQ(maps[1].lengths, (std::vector<std::int64_t>{7}));
}

MeasuredRun onText(const std::string& position, std::int64_t length, std::int64_t seed) {
    MeasuredRun run = sized(position, 3, seed, {});
    run.record.specification.task.name = "text";
    run.record.specification.task.specific_settings.set("text", "opticks");
    run.record.specification.training.length = length;
    return run;
}

TEST(LengthMap, TextsAreByTheLengthOfTheirSequences) {
    MeasuredRun first = onText("rope", 65, 0), second = onText("rope", 65, 1),
                longer = onText("rope", 129, 0);
    first.lengths = {{9, "none", 1, 65, 3.5, 16, 64}, {9, "none", 1, 129, 4, 8, 128}};
    second.lengths = {{9, "none", 1, 65, 3.4, 32, 64}};
    longer.lengths = {{9, "none", 1, 129, 3, 64, 128}};
    const std::vector<LengthMap> maps = lengthMaps({first, second, longer});
    ASSERT_EQ(maps.size(), 1U);
    EXPECT_EQ(maps[0].metric, LengthMap::Metric::token_accuracy);
    ASSERT_EQ(maps[0].panels.size(), 1U);
    EXPECT_EQ(maps[0].trained, (std::vector<std::int64_t>{65, 129}));
    EXPECT_DOUBLE_EQ(maps[0].panels[0].cells.at({65, 65}).mean(), 48.0 / 128);
    EXPECT_EQ(maps[0].panels[0].cells.at({65, 65}).runs, 2);
    EXPECT_DOUBLE_EQ(maps[0].panels[0].cells.at({65, 129}).mean(), 8.0 / 128);
}

TEST(LengthMap, LossesAreMeansOverBinsOfPositions) {
    MeasuredRun run = onText("roper", 5, 0), other = onText("roper", 5, 1);
    for (std::int64_t position = 0; position < 8; ++position) {
        run.positions.push_back({9, "none", 1, 9, position, static_cast<double>(position)});
        other.positions.push_back({9, "none", 1, 9, position, 10.0});
    }
    run.positions.push_back({9, "none", 1, 5, 0, 1000.0});  // shorter sequences of the same run are ignored
    const std::vector<LengthMap> maps = positionMaps({run, other});
    ASSERT_EQ(maps.size(), 1U);
    EXPECT_EQ(maps[0].metric, LengthMap::Metric::loss);
    EXPECT_EQ(maps[0].trained, (std::vector<std::int64_t>{4}));
    EXPECT_EQ(maps[0].lengths, (std::vector<std::int64_t>{1, 2, 4, 8}));
    const LengthMap::Cell last = maps[0].panels[0].cells.at({4, 8});
    EXPECT_DOUBLE_EQ(last.mean(), (4 + 5 + 6 + 7 + 4 * 10.0) / 8);
    EXPECT_EQ(last.runs, 2);
    EXPECT_DOUBLE_EQ(maps[0].panels[0].cells.at({4, 1}).mean(), 5.0);
    EXPECT_NE(toCsv(maps).find("text,loss,\"RoPER\",4,1,5,2,2"), std::string::npos);
    EXPECT_TRUE(positionMaps({onText("rope", 5, 0)}).empty());
}

}  // namespace
}  // namespace roper
