#pragma once

#include <cstdint>
#include <string>

#include "core/runs/run_folder.h"

namespace roper {

class RunRecorder;

struct TrainingStart {
    std::int64_t step;
    std::int64_t steps;
    std::int64_t parameters;
    std::string device;
};

/// Told what happens while a run trains.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    /// Something a person should know.
    virtual void onNote(const std::string&) {}
    virtual void onStart(const TrainingStart&) {}
    virtual void onStep(const MetricsRow&) {}
    virtual void onEvaluation(const EvaluationRow&) {}
    virtual void onPause(bool /*paused*/) {}
};

/// Writes something a person should know into the log of a run and tells the observer; an empty text is
/// nothing.
void note(RunRecorder& recorder, TrainingObserver& observer, const std::string& text);

/// What may differ from the specification for one session; empty or 0 keeps what it says.
struct SessionOptions {
    std::string device;
    std::int64_t threads = 0;
    std::int64_t processes = 1;  ///< that train the run together, each a part of every batch
    std::string specification;   ///< SHA-256 that run.toml must have; empty: any
    bool anyway = false;         ///< begin also if memory does not suffice by our estimate
};

/// Trains a queued run, or continues one after its newest checkpoint, until it is finished or told to end.
/// Failure is written to the run's status and log before it is thrown.
/// @throws Error of every kind
RunState trainRun(const RunFolder& folder, TrainingObserver& observer, const SessionOptions& session = {});

}  // namespace roper
