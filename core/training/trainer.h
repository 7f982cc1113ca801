#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "core/control/run_control.h"
#include "core/model/transformer.h"
#include "core/runs/run_recorder.h"
#include "core/tasks/task.h"
#include "core/training/batch_stream.h"
#include "core/training/checkpoint.h"
#include "core/training/data_parallel.h"
#include "core/training/evaluation.h"
#include "core/training/followers.h"
#include "core/training/optimizer.h"
#include "core/training/session.h"
#include "core/training/stepper.h"
#include "core/training/training_clock.h"

namespace roper {

/// Trains one run: steps, evaluations, checkpoints, and requests of the control socket between steps.
class Trainer {
  public:
    /// @param task       already opened (`openTask`)
    /// @param device     already opened (`openDevice`)
    /// @param followers  the other processes that train this run; null if there are none
    Trainer(Specification specification, std::unique_ptr<Task> task, at::Device device, RunRecorder& recorder,
            RunControl& control, TrainingObserver& observer, Followers* followers = nullptr);

    /// Continues from the newest checkpoint, if there is one; rows of later steps are dropped.
    /// @throws Error (checkpoint)
    void restore();

    /// Trains until the last step, or until asked to end. @throws Error (diverged, disk, …)
    RunState run();

  private:
    RewindPoint readNewest(const std::vector<StepFile>& checkpoints);

    /// Records the results of steps. @throws Error (diverged) if a number is not finite
    void recordResults(const std::vector<StepResult>& steps);
    void report(const StepResult& step, double time_s);
    /// @throws Error (diverged) if weights or moments are not finite, so that they are not saved
    void requireFiniteState() const;
    /// What to try after a divergence, except what is already set.
    std::string remedy() const;
    /// Waits for all submitted steps, so that `position_` and the weights are consistent.
    void catchUp() { recordResults(stepper_->finish()); }
    std::int64_t stepsUntilDue() const;
    /// Whether early stopping applies: the last evaluations brought no improvement.
    bool shouldStopEarly() const;
    void runEvaluation();
    /// Records an evaluation. @returns whether it is the best so far
    bool updateBest(const EvaluationRow& row);
    void saveCheckpointNow();
    void stepWithFollowers(std::int64_t steps);
    void takeSnapshot();
    void reportMethod();
    void writeHeartbeat(RunState state, Durability durability);
    RunRequest waitWhilePaused();
    /// Handlers of requests between steps; the status reply is `status`, followed by the step's number.
    RequestHandlers handlers(const std::string& status, RunState state);
    /// Answers a question about the model after the last submitted step.
    Reply answer(const Request& request, RunState state);
    bool isDue(std::int64_t every) const { return every > 0 && submitted_ % every == 0; }

    Specification specification_;
    at::Device device_;
    RunRecorder& recorder_;
    RunControl& control_;
    TrainingObserver& observer_;
    Followers* followers_;
    bool followers_have_state_ = false;         ///< that of the newest checkpoint, or the start
    std::optional<GradientAllReduce> reducer_;  ///< set if there are followers
    DedicatedStream stream_;
    std::shared_ptr<const Task> task_;
    Evaluator evaluator_;
    Transformer model_;
    AdamW optimizer_;
    TrainingPosition position_;           ///< after the last step with known results
    std::int64_t submitted_ = 0;          ///< the last submitted step; on the CPU the last finished one
    std::optional<BatchStream> batches_;  ///< from `position_` on, while training
    std::unique_ptr<Stepper> stepper_;    ///< set while training
    std::optional<EvaluationRow> best_;
    std::int64_t evaluations_since_best_ = 0;  ///< number of evaluations

    using Clock = std::chrono::steady_clock;
    TrainingClock clock_;
    double last_report_s_ = 0;
    std::int64_t last_report_tokens_ = 0;
    Clock::time_point last_beat_;
    std::int64_t saved_step_ = -1;
};

}  // namespace roper
