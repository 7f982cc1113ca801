#include "core/cluster/slurm.h"

#include <gtest/gtest.h>

#include "core/cluster/slurm_script.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(Squeue, IsReadElementByElement) {
    const auto array_tasks = parseSqueue(
        "mine.k3f9x2|12|0|RUNNING|node3|None\n"
        "mine.k3f9x2|12|7|PENDING||Resources\n"
        "mine.k3f9x2|12|8|PENDING||ReqNodeNotAvail, UnavailableNodes:node[1-4]\n");
    ASSERT_EQ(array_tasks.size(), 3U);
    EXPECT_EQ(array_tasks[0].id(), "12_0");
    EXPECT_EQ(array_tasks[0].node, "node3");
    EXPECT_FALSE(array_tasks[0].isPending());
    EXPECT_EQ(array_tasks[0].reason, "");
    EXPECT_TRUE(array_tasks[1].isPending());
    EXPECT_EQ(array_tasks[1].index, 7);
    EXPECT_EQ(array_tasks[2].reason, "ReqNodeNotAvail, UnavailableNodes:node[1-4]");
    EXPECT_TRUE(parseSqueue("").empty());
}

TEST(Squeue, SaysWhichClusterHasAnElement) {
    const auto array_tasks = parseSqueue(
        "CLUSTER: far\n"
        "NAME|ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|NODELIST|REASON\n"
        "mine.k3f9x2|12|0|RUNNING|node3|None\n"
        "\n"
        "CLUSTER: near\n"
        "NAME|ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|NODELIST|REASON\n"
        "mine.k3f9x2|12|1|PENDING||Priority\n",
        "all");
    ASSERT_EQ(array_tasks.size(), 2U);
    EXPECT_EQ(array_tasks[0].title(), "12_0 on the cluster far");
    EXPECT_EQ(array_tasks[1].title(), "12_1 on the cluster near");
    EXPECT_EQ(parseSqueue("a|1|0|RUNNING|n|None\n", "far")[0].cluster, "far");
    EXPECT_EQ(parseSqueue("a|1|0|RUNNING|n|None\n")[0].title(), "1_0");
}

TEST(Squeue, WhatItNeverPrintsIsRefused) {
    for (const char* line : {"slurm_load_jobs error: Unable to contact slurm controller",
                             "a|1|N/A|RUNNING|n|None", "a|1|-3|RUNNING|n|None"})
        expectError(ErrorKind::other, "not an array element", [&] { parseSqueue(line); });
}

TEST(SlurmScript, SaysWhatWasAskedFor) {
    SlurmOptions options;
    options.partition = "gpu";
    options.gres = "gpu:1";
    options.time = "2:00:00";
    options.at_once = 16;
    options.more = {"--account=physics"};
    options.program = "apptainer exec lab.sif roper-train";
    EXPECT_EQ(slurmScript("mine.k3f9x2", 200, "/runs/slurm/mine.k3f9x2.json", options),
              "#!/bin/bash\n"
              "#SBATCH --job-name=mine.k3f9x2\n"
              "#SBATCH --array=0-199%16\n"
              "#SBATCH --output=\"/runs/slurm/mine.k3f9x2-%a.log\"\n"
              "#SBATCH --open-mode=append\n"
              "#SBATCH --requeue\n"
              "#SBATCH --signal=B:TERM@120\n"
              "#SBATCH --partition=gpu\n"
              "#SBATCH --gres=gpu:1\n"
              "#SBATCH --time=2:00:00\n"
              "#SBATCH --account=physics\n"
              "exec apptainer exec lab.sif roper-train work '/runs/slurm/mine.k3f9x2.json'\n");
}

TEST(SlurmScript, PathsAreQuoted) {
    const std::string script = slurmScript("a", 1, "/it's 5%\"/slurm/a.json", {});
    EXPECT_NE(script.find(R"(--output="/it's 5%%\"/slurm/a-%a.log")"), std::string::npos) << script;
    EXPECT_NE(script.find(R"( work '/it'\''s 5%"/slurm/a.json')"), std::string::npos) << script;
}

TEST(SlurmScript, AValueWithBlanksStaysOneOption) {
    SlurmOptions options;
    options.more = {"--comment=two words", "--mail-user=a@b", "--comment='as it is'", "--exclusive"};
    const std::string script = slurmScript("a", 1, "/runs/slurm/a.json", options);
    EXPECT_NE(script.find("#SBATCH --comment=\"two words\"\n#SBATCH --mail-user=a@b\n"
                          "#SBATCH --comment='as it is'\n#SBATCH --exclusive\n"),
              std::string::npos)
        << script;
}

TEST(SlurmScript, AnOptionCannotBecomeALine) {
    SlurmOptions options;
    options.gres = "gpu:1\nrm -rf ~";
    expectError(ErrorKind::usage, "must not contain a line break",
                [&] { slurmScript("a", 1, "/runs/slurm/a.json", options); });
}

}  // namespace
}  // namespace roper
