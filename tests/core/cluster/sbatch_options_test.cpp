#include "core/cluster/sbatch_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/expect_error.h"

namespace roper {
namespace {

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
