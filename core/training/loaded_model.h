#pragma once

#include <c10/util/Exception.h>

#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/model/transformer.h"
#include "core/rotary/scaling.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"
#include "core/training/session.h"

namespace roper {

inline constexpr const char* kNoThreads =
    "No more threads can be started: use fewer (--threads, device.threads), or raise the limit of processes "
    "(`ulimit -u`) or of address space (`ulimit -v`).";

/// Runs `work` and makes errors for a person of what LibTorch throws.
template <class Work>
auto translatingErrors(Work work) {
    constexpr const char* kMemoryAdvice =
        "The machine's memory does not suffice. Use a smaller batch, length, width or number of layers.";
    constexpr const char* kGpuMemoryAdvice =
        "The GPU's memory does not suffice. Use a smaller batch, length, width or number of layers, or wait "
        "until "
        "other programs need less of it.";
    try {
        return work();
    } catch (const Error&) {
        throw;
    } catch (const c10::OutOfMemoryError& error) {
        throw Error(ErrorKind::memory,
                    std::string(kGpuMemoryAdvice) + " (" + error.what_without_backtrace() + ")");
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, kMemoryAdvice);
    } catch (const c10::Error& error) {
        const std::string what = error.what_without_backtrace();
        if (what.find("allocate memory") != std::string::npos) throw Error(ErrorKind::memory, kMemoryAdvice);
        throw Error(ErrorKind::other, what);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::resource_unavailable_try_again)
            throw Error(ErrorKind::other, error.what());
        throw Error(ErrorKind::memory, kNoThreads);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    } catch (const std::exception& error) {
        throw Error(ErrorKind::other, error.what());
    }
}

/// A model as one of its run's checkpoints left it.
struct LoadedModel {
    Specification specification;
    std::unique_ptr<Task> task;
    std::unique_ptr<Transformer> model;
    std::int64_t step;
    std::uint64_t sequences_seen = 0;
};

/// The checkpoint of a step, or the newest. @throws Error (checkpoint) if there is none
StepFile chooseCheckpoint(const RunFolder& folder, std::optional<std::int64_t> step);

/// @param to_evaluate  needs the whole text of a text, not its vocabulary alone
/// @throws Error (checkpoint), Error (usage)
LoadedModel loadModel(const RunFolder& folder, const ReadingOptions& options, bool to_evaluate = false);

/// Lets a model read texts of `length` tokens with scaled frequencies.
void rescale(LoadedModel& loaded, Scaling scaling, std::int64_t length);

}  // namespace roper
