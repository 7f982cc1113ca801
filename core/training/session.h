#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/runs/run_folder.h"
#include "core/specification/specification.h"

namespace roper {

class RunRecorder;

struct TrainingStart {
    std::int64_t step;        ///< already trained; 0 for a new run
    std::int64_t steps;       ///< in total
    std::int64_t parameters;  ///< number of the model's parameters
    std::string device;
};

/// Receives the events of a training run.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    /// A message for the user.
    virtual void onNote(const std::string&) {}
    virtual void onStart(const TrainingStart&) {}
    virtual void onStep(const MetricsRow&) {}
    virtual void onEvaluation(const EvaluationRow&) {}
    virtual void onPause(bool /*paused*/) {}
};

/// Writes a message for the user to the log of a run and sends it to the observer; does nothing for an empty
/// text.
void note(RunRecorder& recorder, TrainingObserver& observer, const std::string& text);

/// Overrides of the specification from one start of the trainer to its end; empty or 0: not overridden.
struct SessionOptions {
    std::string device;
    std::int64_t threads = 0;
    std::int64_t processes = 1;           ///< that train the run together, each a part of every batch
    std::string specification;            ///< SHA-256 that run.toml must have; empty: any
    bool ignore_memory_estimate = false;  ///< start even if the estimated memory is not available
};

/// Trains a queued run, or continues one from its newest checkpoint, until it is finished or asked to end.
/// Failures are written to the run's status and log before they are thrown.
/// @throws Error of any kind
RunState trainRun(const RunFolder& folder, TrainingObserver& observer, const SessionOptions& session = {});

/// Bytes of free memory on the device for training; nullopt if the system does not report it.
std::optional<double> freeMemoryFor(const Specification& specification);

/// Checks the memory requirements before anything is allocated.
/// @throws Error (memory) with the estimate, the free memory and what to change
void requireMemory(const Specification& specification);

/// @throws Error (usage) if there are more processes than sequences in a batch
void requireSequencePerProcess(const Specification& specification, std::int64_t processes);

}  // namespace roper
