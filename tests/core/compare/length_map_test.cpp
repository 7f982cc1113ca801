#include "core/compare/length_map.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

SizedRun sized(const std::string& position, std::int64_t digits, std::int64_t seed,
               std::vector<SizeRow> rows) {
    SizedRun run;
    run.record.name = position + std::to_string(digits) + "-" + std::to_string(seed);
    run.record.specification.model.position = position;
    run.record.specification.task.digits_max = digits;
    run.record.specification.training.length = 60 + 30 * digits;
    run.record.specification.training.data_seed = run.record.specification.training.model_seed = seed;
    run.rows = std::move(rows);
    return run;
}

TEST(LengthMap, AddsUpSizesOfOneLengthAndRunsOfOneTraining) {
    const std::vector<SizedRun> runs = {
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
    EXPECT_EQ(two.correct, 6 + 2 + 4);
    EXPECT_EQ(two.of, 24);
    EXPECT_EQ(two.runs, 2);
    EXPECT_DOUBLE_EQ(two.share(), 0.5);
    EXPECT_EQ(map.panels[0].cells.at({3, 3}).runs, 1);
    EXPECT_EQ(map.panels[0].cells.count({3, 1}), 0U);
    EXPECT_NE(csvOf(maps).find("addition,\"RoPER, read with yarn 4\",2,2,5,8,1"), std::string::npos);
}

TEST(LengthMap, OnlyTheNewestStepCountsAndTasksStayApart) {
    const std::vector<SizeRow> rows = {{50, "none", 1, 1, 1, 0, 8}, {100, "none", 1, 1, 1, 8, 8}};
    ASSERT_EQ(newestSizes(rows).size(), 1U);
    EXPECT_EQ(newestSizes(rows).front().correct, 8);
    SizedRun index = sized("rope", 3, 0, {{10, "none", 1, 7, 3, 4, 8}});
    index.record.specification.task.name = "index";
    SizedRun prefix = sized("rope", 3, 0, {{10, "none", 1, 7, 3, 4, 8}});
    prefix.record.specification.task.name = "prefix";
    const std::vector<LengthMap> maps = lengthMaps({sized("rope", 3, 0, rows), index, prefix});
    ASSERT_EQ(maps.size(), 2U);
    EXPECT_EQ(maps[1].task, "index");
    EXPECT_EQ(maps[1].trained, (std::vector<std::int64_t>{8}));
    EXPECT_EQ(maps[1].lengths, (std::vector<std::int64_t>{7}));
}

}  // namespace
}  // namespace roper
