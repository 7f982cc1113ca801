#include "core/runs/sweep.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

std::vector<SweepRun> sweepOf(const TemporaryFolder& folder, const std::string& text) {
    std::ofstream(folder / "mine.toml") << text;
    return readSweep(folder / "mine.toml");
}

TEST(Sweep, CombinesAxesAndSeeds) {
    const TemporaryFolder folder;
    const auto runs = sweepOf(folder, R"(
base = "addition-small"
seeds = [3, 4]
[set]
"training.steps" = 50
"training.warmup_steps" = 5
learning_rate = 1e-3
[axes]
"model.position" = ["rope", "roper"]
"model.width" = [64, 128]
)");
    ASSERT_EQ(runs.size(), 8U);
    EXPECT_EQ(runs[0].name, "mine-rope-64-s3");
    EXPECT_EQ(runs[7].name, "mine-roper-128-s4");
    EXPECT_EQ(runs[7].specification.model.width, 128);
    EXPECT_EQ(runs[7].specification.training.data_seed, 4);
    EXPECT_EQ(runs[7].specification.training.model_seed, 4);
    EXPECT_EQ(runs[0].specification.training.steps, 50);
    EXPECT_EQ(runs[0].specification.training.learning_rate, 1e-3);
}

TEST(Sweep, SeveralBasesAndVariants) {
    const TemporaryFolder folder;
    const auto runs = sweepOf(folder, R"(
base = ["addition-small", "index-small"]
seeds = [1, 2]
[set]
"model.value_rotary_fraction" = 0.5
[[variants]]
name = "alibi"
"model.position" = "alibi"
[[variants]]
name = "half"
"model.position" = "roper"
"model.rotary_fraction" = 0.5
)");
    ASSERT_EQ(runs.size(), 8U);
    EXPECT_EQ(runs[0].name, "mine-addition-small-alibi-s1");
    EXPECT_EQ(runs[7].name, "mine-index-small-half-s2");
    EXPECT_EQ(runs[3].specification.task.name, "index");
    EXPECT_EQ(runs[0].specification.model.value_rotary_fraction, 1);  // ALiBi does not rotate values
    EXPECT_EQ(runs[1].specification.model.value_rotary_fraction, 0.5);
    EXPECT_EQ(runs[1].specification.model.rotary_fraction, 0.5);
}

TEST(Sweep, SaysWhereAMistakeIs) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& text, const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { sweepOf(folder, text); });
    };
    refused("seeds = [1]", "needs base");
    refused("base = \"additon-small\"", "did you mean addition-small");
    refused("base = \"addition-small\"\nseeds = 3", "mine.toml:2:");
    refused("base = \"addition-small\"\nsede = [1]", "unknown key \"sede\"");
    refused("base = \"addition-small\"\n[axes]\n\"model.widht\" = [1]", "mine.toml:3:");
    refused("base = \"addition-small\"\n[axes]\n\"model.width\" = [63]", "must be divisible");
    refused("base = \"addition-small\"\nseeds = [1, 1]", "created twice");
    refused("base = []", "name a preset");
    refused("base = \"addition-small\"\n[[variants]]\nwidth = 64", "needs a name");
    refused("base = \"addition-small\"\nvariants = 3", "[[variants]]");
    // The order of axes does not matter: no run of ALiBi reads base.
    refused("base = \"addition-small\"\n[axes]\nposition = [\"rope\", \"alibi\"]\nbase = [100, 1000]",
            "mine-100-alibi would ignore base=100");
    refused("base = \"addition-small\"\n[set]\nposition = \"alibi\"\n[axes]\nbase = [100, 1000]",
            "would ignore");
    refused("base = \"addition-small\"\n[set]\n\"model.width\" = [1]", "text, a number, true or false");
}

/// A list of the numbers from 0.
std::string listOf(int count) {
    std::string list = "[0";
    for (int i = 1; i < count; ++i)
        list += ", " + std::to_string(i);
    return list + "]";
}

TEST(Sweep, IsRefusedBeforeTooManyRunsAreMade) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& text, const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { sweepOf(folder, text); });
    };
    const std::string base = "base = \"addition-small\"\nseeds = ";
    refused(base + listOf(10001), "make more than 10000 runs");
    const std::string thousand = listOf(1000);
    refused(base + "[1]\n[axes]\n\"training.learning_rate\" = " + thousand +
                "\n\"training.warmup_steps\" = " + thousand + "\n\"training.steps\" = " + thousand +
                "\n\"training.batch\" = " + thousand + "\n\"training.length\" = " + thousand +
                "\n\"evaluation.every\" = " + thousand + "\n\"evaluation.problems\" = " + thousand,
            "make more than 10000 runs");
    std::string bases = "\"addition-small\"";
    for (int i = 0; i < 10000; ++i)
        bases += ", \"addition-small\"";
    refused("base = [" + bases + "]", "more than 10000 bases");
    expectError(ErrorKind::disk, "is larger than 1.05 MB", [&] { sweepOf(folder, base + listOf(300000)); });
}

TEST(Sweep, BundledOnesAreFound) {
    for (const char* name : {"addition-quick", "copy-quick", "index-quick", "prefix-quick"}) {
        const auto runs = readSweep(findSweep(name));
        EXPECT_EQ(runs.size(), 40U) << name;  // twenty pairs
        for (const SweepRun& run : runs)
            EXPECT_EQ(run.specification.device.precision, "bf16") << run.name;
    }
    EXPECT_EQ(readSweep(findSweep("methods-quick")).size(), 208U);
    EXPECT_EQ(readSweep(findSweep("precision-quick")).size(), 320U);
    EXPECT_EQ(readSweep(findSweep("prefix-paper")).size(), 2U);
    expectError(ErrorKind::usage, "index-quick", [] { findSweep("index-quik"); });
}

}  // namespace
}  // namespace roper
