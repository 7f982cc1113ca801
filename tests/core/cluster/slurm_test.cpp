#include "core/cluster/slurm.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdlib>

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
        expectError(ErrorKind::other, "not an array task", [&] { parseSqueue(line); });
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

using Options = std::vector<SbatchOption>;

/// Sets an environment variable until the end of a test.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

bool has(const std::vector<std::string>& environment, const std::string& variable) {
    return std::find(environment.begin(), environment.end(), variable) != environment.end();
}

SlurmOptions with(std::vector<std::string> more) {
    SlurmOptions options;
    options.more = std::move(more);
    return options;
}

TEST(SbatchOptions, AreReadHoweverTheyAreWritten) {
    EXPECT_EQ(
        parseSbatchOptions({"--account=physics", "-M far", "-Mfar", "--clusters far", "--cluster=far",
                            "--exclusive", "--comment=two words -M near", "--qos='high'", "-p gpu --hold"}),
        (Options{{"account", "physics"},
                 {"clusters", "far"},
                 {"clusters", "far"},
                 {"clusters", "far"},
                 {"clusters", "far"},
                 {"exclusive", ""},
                 {"comment", "two words -M near"},
                 {"qos", "high"},
                 {"partition", "gpu"},
                 {"hold", ""}}));
}

TEST(SbatchOptions, TheClustersAreThoseThatSbatchWouldTake) {
    EXPECT_EQ(requestedClusters({}), "");
    EXPECT_EQ(requestedClusters(with({"--clusters=far,near"})), "far,near");
    const Variable sbatch("SBATCH_CLUSTERS", "there");
    EXPECT_EQ(requestedClusters({}), "there");
    const Variable slurm("SLURM_CLUSTERS", "elsewhere");
    EXPECT_EQ(requestedClusters({}), "elsewhere");
    EXPECT_EQ(requestedClusters(with({"-M far"})), "far");
    expectError(ErrorKind::usage, "is not a list of clusters",
                [] { requestedClusters(with({"--clusters=a b"})); });
}

TEST(SbatchOptions, WhatWouldBreakASweepIsRefusedByName) {
    for (const char* option : {"--job-name=mine", "-J mine", "--job=mine", "--array=0-3", "-a 0", "--wait",
                               "-W", "--wrap=true", "--test-only"})
        expectError(ErrorKind::usage, "cannot be used with a sweep",
                    [&] { slurmScript("a", 1, "/runs/slurm/a.json", with({option})); });
    slurmScript("a", 1, "/runs/slurm/a.json", with({"--wait-all-nodes=1", "--account=physics"}));
}

TEST(SlurmEnvironment, NothingInItChangesWhatIsAsked) {
    const Variable states("SQUEUE_STATES", "RUNNING"), format("SQUEUE_FORMAT2", "name"),
        users("SQUEUE_USERS", "root"), accounting("SACCT_FORMAT", "jobid"),
        control("SCONTROL_FEDERATION", "1"), ask("SCANCEL_INTERACTIVE", "1"),
        clusters("SLURM_CLUSTERS", "far"), bits("SLURM_BITSTR_LEN", "4"),
        file("SLURM_CONF", "/etc/slurm.conf"), other("SQUEUEZE", "mine");
    const auto left = environmentForQueries();
    for (const std::string& variable : left)
        for (const char* prefix :
             {"SQUEUE_", "SACCT_", "SCONTROL_", "SCANCEL_", "SLURM_CLUSTERS", "SLURM_BITSTR_LEN"})
            EXPECT_FALSE(variable.starts_with(prefix)) << variable;
    EXPECT_TRUE(has(left, "SLURM_CONF=/etc/slurm.conf"));
    EXPECT_TRUE(has(left, "SQUEUEZE=mine"));
    EXPECT_TRUE(has(left, std::string("PATH=") + std::getenv("PATH")));
}

TEST(SlurmEnvironment, OfSbatchKeepsWhatIsOnPurpose) {
    const Variable name("SBATCH_JOB_NAME", "x"), array("SBATCH_ARRAY_INX", "0-9"), wait("SBATCH_WAIT", "1"),
        output("SBATCH_OUTPUT", "/dev/null"), no_requeue("SBATCH_NO_REQUEUE", "1"),
        signal("SBATCH_SIGNAL", "9"), account("SBATCH_ACCOUNT", "physics"),
        partition("SBATCH_PARTITION", "gpu"), time("SBATCH_TIMELIMIT", "5"),
        clusters("SBATCH_CLUSTERS", "far"), memory("SBATCH_MEM_PER_NODE", "1G");
    const auto left = environmentForSbatch({});
    for (const char* gone : {"SBATCH_JOB_NAME=x", "SBATCH_ARRAY_INX=0-9", "SBATCH_WAIT=1",
                             "SBATCH_OUTPUT=/dev/null", "SBATCH_NO_REQUEUE=1", "SBATCH_SIGNAL=9"})
        EXPECT_FALSE(has(left, gone)) << gone;
    for (const char* kept : {"SBATCH_ACCOUNT=physics", "SBATCH_PARTITION=gpu", "SBATCH_TIMELIMIT=5",
                             "SBATCH_CLUSTERS=far", "SBATCH_MEM_PER_NODE=1G"})
        EXPECT_TRUE(has(left, kept)) << kept;
    // Options of this submission take precedence over the environment.
    SlurmOptions options = with({"--account=chemistry", "-M near", "--mem-per-cpu=2G"});
    options.partition = "cpu";
    options.time = "10:00";
    const auto less = environmentForSbatch(options);
    for (const char* gone : {"SBATCH_ACCOUNT=physics", "SBATCH_PARTITION=gpu", "SBATCH_TIMELIMIT=5",
                             "SBATCH_CLUSTERS=far", "SBATCH_MEM_PER_NODE=1G"})
        EXPECT_FALSE(has(less, gone)) << gone;
}

}  // namespace

}  // namespace roper
