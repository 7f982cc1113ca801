#include "core/runs/queue_approval.h"

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"
#include "core/runs/user_record.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// A runs folder that came with a queue of one run, "theirs".
class OwnQueue : public testing::Test {
  protected:
    OwnQueue() {
        const TemporaryFolder elsewhere;
        createRun(elsewhere.path(), "theirs", {});
        fs::copy(elsewhere / "theirs", runs_ / "theirs", fs::copy_options::recursive);
        writeQueue("theirs");
    }

    void writeQueue(const std::string& name) {
        writeFileAtomically(queuePath(runs_.path()), "[[run]]\nname = \"" + name + "\"\n");
    }
    std::string enqueueOne() { return enqueueRuns(runs_.path(), {Specification{}}).front(); }
    Names approved() const {
        Names names;
        for (const RunQueue::Entry& entry : readApprovedQueue(runs_.path()).entries)
            names.push_back(entry.run);
        return names;
    }
    Names unapproved() const {
        Names names;
        for (const WaitingRun& run : unapprovedRuns(runs_.path()))
            names.push_back(run.name);
        return names;
    }
    void approveAll() { approveFingerprints(runs_.path(), unapprovedRuns(runs_.path())); }
    void exchange(const std::string& name) {
        const FilePath specification = RunFolder(runs_.path() / name).specificationPath();
        writeFileAtomically(specification, readFile(specification) + "# changed\n");
    }

    IsolatedUserState state_;
    TemporaryFolder runs_;
};

TEST_F(OwnQueue, WhatOneQueuesStartsAndWhatCameWithTheFolderDoesNot) {
    EXPECT_EQ(unapproved(), Names{"theirs"});
    const std::string mine = enqueueOne();
    EXPECT_EQ(unapproved(), Names{"theirs"});
    EXPECT_EQ(approved(), Names{mine});
    EXPECT_EQ(readQueue(runs_.path()).entries.size(), 2U);
    approveAll();
    EXPECT_EQ(unapproved(), Names{});
    EXPECT_EQ(approved(), (Names{"theirs", mine}));
}

TEST_F(OwnQueue, AnApprovalIsOfWhatWaitedThen) {
    approveAll();
    createRun(runs_.path(), "later", {});
    writeQueue("later");
    EXPECT_EQ(unapproved(), Names{"later"});
}

TEST_F(OwnQueue, AnApprovalIsOfWhatWasShown) {
    const std::vector<WaitingRun> shown = unapprovedRuns(runs_.path());
    exchange("theirs");
    approveFingerprints(runs_.path(), shown);
    EXPECT_EQ(unapproved(), Names{"theirs"});
}

TEST_F(OwnQueue, AnotherNameIsNoApproval) {
    const std::string mine = enqueueOne();
    const auto rename = [&](const std::string& from, const std::string& to) {
        transferApproval(runs_.path(), from, to);
        changeQueue(
            runs_.path(),
            [&](RunQueue& queue) {
                fs::rename(runs_.path() / from, runs_.path() / to);
                for (RunQueue::Entry& entry : queue.entries)
                    if (entry.run == from) entry.run = to;
            },
            AutoApproval::none);
    };
    rename("theirs", "others");
    rename(mine, "ours");
    EXPECT_EQ(unapproved(), Names{"others"});
    EXPECT_EQ(approved(), Names{"ours"});
}

TEST_F(OwnQueue, ARunWhoseSpecificationHasChangedIsNoLongerTheOneThatWasQueued) {
    const std::string mine = enqueueOne();
    ASSERT_TRUE(approvedFingerprint(runs_.path(), mine));
    exchange(mine);
    EXPECT_FALSE(approvedFingerprint(runs_.path(), mine));
    EXPECT_EQ(unapproved(), (Names{"theirs", mine}));
}

TEST_F(OwnQueue, ReleasingARunApprovesItAndReorderingDoesNot) {
    const std::string mine = enqueueOne();
    const auto change = [&](auto how) { changeQueue(runs_.path(), how); };
    change([](RunQueue& queue) { std::swap(queue.entries[0], queue.entries[1]); });
    EXPECT_EQ(approved(), Names{mine});
    change([](RunQueue& queue) { queue.entries[1].on_hold = true; });
    EXPECT_EQ(unapproved(), Names{}) << "a run that is held does not start anyway";
    change([](RunQueue& queue) { queue.entries[1].on_hold = false; });
    EXPECT_EQ(approved(), (Names{mine, "theirs"}));
}

TEST_F(OwnQueue, WhatHasLeftTheQueueMustBeQueuedAgain) {
    const std::string mine = enqueueOne();
    changeQueue(runs_.path(), [](RunQueue& queue) { queue.entries.clear(); });
    writeQueue(mine);
    EXPECT_EQ(unapproved(), Names{mine});
}

TEST_F(OwnQueue, AnotherFolderInTheSamePlaceIsNotApproved) {
    approveAll();
    const fs::path moved = runs_.path().string() + "-moved";
    fs::rename(runs_.path(), moved);
    fs::copy(moved, runs_.path(), fs::copy_options::recursive);
    EXPECT_EQ(unapproved(), Names{"theirs"});
    fs::remove_all(moved);
}

TEST_F(OwnQueue, ARecordThatCannotBeReadApprovesNothing) {
    approveAll();
    fs::path record;
    for (const auto& entry : fs::directory_iterator(state_.path() / "folders"))
        if (entry.path().extension() == ".json") record = entry.path();  // the other file is its lock
    for (const std::string content : {"", "[]", "{\"folder\": 3}", "{", "null"}) {
        writeFileAtomically(record, content);
        EXPECT_EQ(unapproved(), Names{"theirs"}) << content;
    }
    enqueueOne();
    EXPECT_EQ(unapproved(), Names{"theirs"});
}

TEST_F(OwnQueue, SaysWhichRunsWait) {
    EXPECT_EQ(describeUnapproved({{"a", ""}}),
              "1 run in the queue (a) was not queued by you on this machine, or has changed since");
    EXPECT_EQ(
        describeUnapproved({{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}),
        "4 runs in the queue (a, b, c, …) were not queued by you on this machine, or have changed since");
}

namespace fs = std::filesystem;

fs::path list(const IsolatedUserState& state) {
    return state.path() / "trusted-folders.jsonl";
}

TEST(Trust, IsOfTheFolderNotOfItsName) {
    const IsolatedUserState state;
    const TemporaryFolder folder;
    fs::create_directory(folder / "runs");
    trustFolder(folder / "runs");
    EXPECT_TRUE(isTrusted(folder / "runs"));
    fs::rename(folder / "runs", folder / "moved");
    EXPECT_FALSE(isTrusted(folder / "moved"));
    fs::create_directory(folder / "runs");
    EXPECT_FALSE(isTrusted(folder / "runs"));
    fs::create_symlink(folder / "moved", folder / "link");
    EXPECT_FALSE(isTrusted(folder / "link"));
}

TEST(Trust, AListThatCannotBeReadTrustsNothing) {
    const IsolatedUserState state;
    const TemporaryFolder folder;
    trustFolder(folder.path());
    const std::string line = readFile(list(state));
    writeFileAtomically(list(state), "{\"path\": 3}\nnonsense\n[]\n" + line);
    EXPECT_TRUE(isTrusted(folder.path()));
    std::string endless(2 << 20, 'x');
    endless.append("\n").append(line);
    writeFileAtomically(list(state), endless);
    EXPECT_FALSE(isTrusted(folder.path()));
    EXPECT_THROW(trustFolder(folder.path()), Error);  // existing entries are not lost
    EXPECT_EQ(readFile(list(state)), endless);
    fs::remove(list(state));
    fs::create_directory(list(state));
    EXPECT_FALSE(isTrusted(folder.path()));
}

TEST(Trust, ManyFoldersDoNotMakeTheListLong) {
    const IsolatedUserState state;
    for (int i = 0; i < 1010; ++i) {
        const TemporaryFolder folder;
        trustFolder(folder.path());
    }
    std::size_t lines = 0;
    LineReader reader(list(state));
    while (reader.next())
        ++lines;
    EXPECT_LT(lines, 1000U);
}

TEST(Trust, OnesOwnFolderHasNoOtherOwner) {
    const TemporaryFolder folder;
    EXPECT_EQ(otherOwnerOf(folder.path()), std::nullopt);
    EXPECT_EQ(otherOwnerOf("/nowhere"), std::nullopt);
    EXPECT_NO_THROW(requireOwnedOrTrusted(folder.path()));
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
        EXPECT_EQ(otherOwnerOf(folder.path()), "user 12345");
        const IsolatedUserState state;
        expectError(ErrorKind::disk, "belongs to user 12345", [&] { createRun(folder.path(), "a", {}); });
        expectError(ErrorKind::disk, "belongs to user 12345",
                    [&] { enqueueRuns(folder.path(), {Specification{}}); });
        EXPECT_TRUE(fs::is_empty(folder.path()));
        trustFolder(folder.path());
        EXPECT_NO_THROW(createRun(folder.path(), "a", {}));
    }
}

}  // namespace

}  // namespace roper
