#include "core/compare/method_table.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "tests/support/compared_runs.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

/// Adds a run with one evaluation.
void add(ComparedRuns& runs, const std::string& preset, const std::string& position, std::int64_t seed,
         std::int64_t correct, const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    RunRecord record;
    Specification& s = record.specification;
    s.about.title = preset;
    s.model.position = position;
    for (const auto& [key, value] : settings)
        findField(specificationFields(), key).set(s, value);
    s.training.data_seed = s.training.model_seed = seed;
    record.name = preset + position + std::to_string(runs.records.size());
    record.host = "here";
    EvaluationRow row;
    row.step = s.training.steps;
    row.correct = correct;
    row.of = 100;
    runs.add(std::move(record), {row});
}

ComparedRuns threeMethods() {
    ComparedRuns runs;
    const std::int64_t rope[] = {50, 52, 51, 55}, roper[] = {80, 84, 79, 90}, alibi[] = {51, 50, 53, 54};
    for (std::int64_t seed = 0; seed < 4; ++seed) {
        const auto i = static_cast<std::size_t>(seed);
        add(runs, "Index", "rope", seed, rope[i]);
        add(runs, "Index", "roper", seed, roper[i]);
        add(runs, "Index", "alibi", seed, alibi[i]);
        add(runs, "Copy", "rope", seed, 10 * seed);
        add(runs, "Copy", "rope", seed, 10 * seed + 1, {{"model.rotary_fraction", "0.5"}});
    }
    return runs;
}

TEST(MethodTable, HasALineForEachMethodAndColumnsForEachPreset) {
    const MethodTable table = methodTable(threeMethods().records, "RoPE");
    EXPECT_EQ(table.methods,
              (std::vector<std::string>{"RoPE", "ALiBi", "RoPE, rotary fraction 0.5", "RoPER"}));
    ASSERT_EQ(table.columns.size(), 2U);
    EXPECT_EQ(table.columns[0].preset, "Copy");
    EXPECT_FALSE(table.columns[0].cells[1]);  // ALiBi was not trained
    const auto& roper = table.columns[1].cells[3];
    ASSERT_TRUE(roper);
    EXPECT_NEAR(roper->runs.mean, 83.25, 1e-12);
    EXPECT_NEAR(roper->versus_reference->difference.mean, 83.25 - 52, 1e-12);
    EXPECT_FALSE(table.columns[1].cells[0]->versus_reference);
    const auto lines = tableRows(table);
    EXPECT_EQ(lines.front()[3], "Index: problems solved at the end, of 100");
    EXPECT_EQ(lines[1][3], "52 ± 2.2");
    EXPECT_EQ(lines[1][4], "–");
    EXPECT_TRUE(lines[4][4].starts_with("+31.25 problems (")) << lines[4][4];
}

TEST(MethodTable, ASeedThatWasTrainedTwiceCountsOnce) {
    ComparedRuns runs = threeMethods();
    add(runs, "Index", "rope", 3, 100);  // a repeat; the last by name counts
    const MethodTable table = methodTable(runs.records, "RoPE");
    EXPECT_EQ(table.columns[1].cells[0]->runs.count, 4U);
    EXPECT_NEAR(table.columns[1].cells[0]->runs.mean, (50 + 52 + 51 + 100) / 4.0, 1e-12);
    EXPECT_EQ(table.columns[1].cells[3]->versus_reference->difference.count, 4U);
}

TEST(MethodTable, ATitleCannotBreakTheMarkdown) {
    ComparedRuns runs;
    add(runs, "a | b\nc", "rope", 0, 1);
    EXPECT_TRUE(toMarkdown(methodTable(runs.records, "RoPE")).starts_with("| method | a \\| b c: "));
}

TEST(MethodTable, CorrectsForTheNumberOfMethods) {
    const MethodTable table = methodTable(threeMethods().records, "RoPE");
    const OutcomeRow &roper = *table.columns[1].cells[3]->versus_reference,
                     &alibi = *table.columns[1].cells[1]->versus_reference;
    EXPECT_LT(*roper.p, *alibi.p);
    EXPECT_NEAR(*roper.holm_p, 2 * *roper.p, 1e-12);
    EXPECT_NEAR(*alibi.holm_p, std::max(*alibi.p, *roper.holm_p), 1e-12);
}

TEST(MethodTable, IsWrittenAsMarkdownAndAsCsv) {
    const MethodTable table = methodTable(threeMethods().records, "RoPE");
    const auto lines = split(trimmed(toMarkdown(table)), '\n');
    ASSERT_EQ(lines.size(), 2 + table.methods.size());
    EXPECT_EQ(lines[1], "|---|---|---|---|---|");
    const std::string csv = toCsv(table);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 + 3);  // cells without runs have no line
    EXPECT_NE(csv.find("\n\"Copy\",final_correct,,\"RoPE, rotary fraction 0.5\",4,16,"), std::string::npos)
        << csv;
}

TEST(MethodTable, NeedsTheReferenceInEveryPreset) {
    expectError(ErrorKind::usage, "the groups are: RoPE; RoPE, rotary fraction 0.5",
                [&] { methodTable(threeMethods().records, "ALiBi"); });
}

}  // namespace
}  // namespace roper
