#include "core/base/stop_signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

/// The signal that ends a process which never checks for a stop request.
int endOf(const std::function<void()>& begin) {
    const pid_t child = ::fork();
    if (child == 0) {
        limitThisProcess(20, kNoLimit);
        handleStopSignals();
        begin();
        while (true)
            ::pause();
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(StopSignals, WhatHasNothingToSaveIsEndedWhateverItWaitsFor) {
    const TemporaryFolder folder;
    const std::filesystem::path socket = folder / "socket";
    std::ofstream(socket) << "x";
    EXPECT_EQ(endOf([&] {
                  setFileToRemoveOnStop(socket);
                  static const ExitOnStopSignal nothing_to_save;
                  ::raise(SIGTERM);
              }),
              SIGTERM);
    EXPECT_FALSE(std::filesystem::exists(socket));
    EXPECT_EQ(endOf([] {
                  ::raise(SIGINT);
                  static const ExitOnStopSignal nothing_to_save;
              }),
              SIGINT);
}

TEST(StopSignals, WhatHasSomethingToSaveIsLeftTimeToDoSo) {
    EXPECT_TRUE(finishesWithin(20, kNoLimit, [] {
        handleStopSignals();
        {
            const ExitOnStopSignal nothing_to_save;
            ::raise(SIGTERM);
        }
        EXPECT_EQ(stopSignal(), StopSignal::terminate);
        EXPECT_EQ(::alarm(0), 0U) << "it would be ended";
    }));
}

}  // namespace
}  // namespace roper
