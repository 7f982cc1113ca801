#include "core/training/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/machine_load.h"
#include "core/base/stop_signals.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/kernels/attention.h"
#include "core/model/device.h"
#include "core/operators/products.h"
#include "core/reading/serve_model.h"
#include "core/runs/compute_environment.h"
#include "core/training/batches.h"
#include "core/training/snapshot.h"

namespace roper {
namespace {

using namespace std::chrono_literals;

constexpr auto kHeartbeat = 1s;
constexpr auto kPausePollInterval = 50ms;
constexpr double kSmallDenominator = 1e-4;

std::string precisionName(at::ScalarType type) {
    if (type == at::kBFloat16) return "bfloat16";
    return type == at::kDouble ? "float64" : "float32";
}

/// Describes what computes a model's training in this process, on an opened device.
ComputeEnvironment currentComputeEnvironment(const Transformer& model, const c10::Device& device) {
    const bool uses_kernels = model.usesKernels();
    ComputeEnvironment c;
    c.device = device.is_cpu() ? "cpu" : describeDevice(device);
    c.processor = processorName();
    c.kernel = uses_kernels ? "ours" : "LibTorch";
    c.instruction_set = uses_kernels ? kernelTarget() : "";
    c.matrix_products = uses_kernels && reasonWithoutOneDnn().empty() ? oneDnnVersion() : "LibTorch";
    c.precision = precisionName(model.computeType());
    c.threads = at::get_num_threads();
    c.libtorch = TORCH_VERSION;
    c.program = programVersion();
    c.commit = programCommit();
    return c;
}

}  // namespace

Trainer::Trainer(Specification specification, std::unique_ptr<Task> task, at::Device device,
                 RunRecorder& recorder, RunControl& control, TrainingObserver& observer, Followers* followers)
    : specification_(std::move(specification)),
      device_(device),
      recorder_(recorder),
      control_(control),
      observer_(observer),
      followers_(followers),
      stream_(device),
      task_(std::move(task)),
      evaluator_(*task_, specification_),
      model_(specification_, modelVocabularySize(*task_, specification_), device),
      optimizer_(model_.parameters(), specification_.training),
      last_beat_(Clock::now()) {
    // Dropout uses the default generators; the weights have their own.
    at::manual_seed(static_cast<std::uint64_t>(specification_.training.model_seed));
    if (followers_ == nullptr) return;
    const ExitOnStopSignal nothing_to_save;
    followers_->connect([this] {
        const RunRequest request =
            control_.poll({[] { return std::string("waiting for the other processes"); }});
        if (request == RunRequest::stop || request == RunRequest::preempt)
            throw Error(ErrorKind::preempted, "stopped before the other processes were ready");
    });
    reducer_.emplace(followers_->group(), device);
}

void Trainer::restore() {
    const std::vector<StepFile> checkpoints = recorder_.folder().checkpoints();
    RewindPoint until;
    if (!checkpoints.empty()) {
        until = readNewest(checkpoints);
        recorder_.log("resumed from step " + std::to_string(position_.step));
    } else if (!specification_.training.initial_weights.empty()) {
        note(recorder_, observer_,
             loadInitialWeights(specification_, recorder_.folder().path().parent_path(),
                                task_->vocabulary().identity(), model_));
    }
    model_.positions().setStep(position_.step);
    for (const std::string& repair : recorder_.rewindTo(until))
        note(recorder_, observer_, repair);
    for (const EvaluationRow& row : recorder_.folder().evaluations())
        updateBest(row);
    last_report_s_ = position_.time_s;
    last_report_tokens_ = position_.tokens;
    saved_step_ = checkpoints.empty() ? -1 : position_.step;
}

/// Loads the newest readable checkpoint. Unreadable ones are quarantined once a readable one is found.
RewindPoint Trainer::readNewest(const std::vector<StepFile>& checkpoints) {
    std::optional<Error> first_problem;
    for (auto at = checkpoints.rbegin(); at != checkpoints.rend(); ++at) {
        try {
            const SafetensorsFile file = readCheckpoint(at->path, model_.parameterCount());
            const PreviousSettings former = requireSameSettings(file, specification_);
            const TrainingPosition position =
                loadCheckpoint(file, model_, optimizer_, task_->vocabulary().identity());
            if (position.step != at->step)
                throw Error(ErrorKind::checkpoint, file.origin() + " contains step " +
                                                       std::to_string(position.step) + ", unlike its name");
            note(recorder_, observer_, former.changes);
            for (auto damaged = checkpoints.rbegin(); damaged != at; ++damaged)
                recorder_.quarantine(*damaged);
            if (first_problem)
                note(recorder_, observer_,
                     std::string(first_problem->what()) + ". It is set aside; step " +
                         std::to_string(at->step) + " is the newest readable checkpoint.");
            position_ = position;
            const bool reports_as_before = former.report_every == specification_.training.report_every;
            return {position.step, position.tokens, position.time_s,
                    reports_as_before ? former.report_every : 0};
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::checkpoint) throw;
            if (!first_problem) first_problem = error;
        }
    }
    throw Error(ErrorKind::checkpoint,
                std::string(first_problem->what()) +
                    ". No other checkpoint can be read. If run.toml has been changed, restore it. To start "
                    "again from the first step, move the folder checkpoints away.");
}

RunState Trainer::run() {
    clock_.start(position_.time_s);
    recorder_.log("training on " + describeDevice(device_) + ", " + std::to_string(model_.parameterCount()) +
                  " parameters");
    recorder_.log(model_.describeComputation());
    if (reducer_ && !reducer_->note().empty()) recorder_.log(reducer_->note());
    ComputeEnvironment computation = currentComputeEnvironment(model_, device_);
    if (followers_ != nullptr) computation.processes = followers_->group().size();
    recorder_.requireLease();
    addSession(recorder_.folder(), {position_.step, secondsSinceEpoch(), thisHost(), computation});
    const std::string attention =
        model_.selectAttentionBackend(specification_.training.batch, specification_.inputLength());
    if (!attention.empty()) recorder_.log(attention);
    if (!control_.problem().empty()) recorder_.log("no control socket: " + control_.problem());
    observer_.onStart(
        {position_.step, specification_.training.steps, model_.parameterCount(), describeDevice(device_)});
    writeHeartbeat(RunState::running, Durability::machine_failure);
    if (position_.step == 0) {
        // The source of the initial weights may be trained further, or deleted.
        if (!specification_.training.initial_weights.empty()) saveCheckpointNow();
        takeSnapshot();
        if (recorder_.folder().rows<MethodRow>().empty()) reportMethod();
    }
    std::optional<Shard> shard;
    if (followers_ != nullptr) shard = shardOf(specification_.training.batch, 0, followers_->group().size());
    batches_.emplace(*task_, specification_, position_.next_sequence, shard);
    submitted_ = position_.step;
    stepper_ =
        makeStepper({model_, optimizer_, *batches_, specification_, device_, reducer_ ? &*reducer_ : nullptr},
                    position_.step);
    std::string logged_note;
    while (submitted_ < specification_.training.steps && !shouldStopEarly()) {
        RunRequest request = control_.poll(handlers("step ", RunState::running));
        if (request == RunRequest::pause) request = waitWhilePaused();
        if (request == RunRequest::stop || request == RunRequest::preempt) {
            catchUp();
            saveCheckpointNow();
            const RunState state = request == RunRequest::stop ? RunState::stopped : RunState::preempted;
            recorder_.log(stateName(state) + " at step " + std::to_string(position_.step));
            writeHeartbeat(state, Durability::machine_failure);
            return state;
        }
        const std::int64_t count = std::min(stepper_->maxStepsPerSubmission(), stepsUntilDue());
        if (followers_ != nullptr) stepWithFollowers(count);
        recordResults(stepper_->advance(count));
        submitted_ += count;
        if (stepper_->note() != logged_note) recorder_.log(logged_note = stepper_->note());
        const bool last = submitted_ == specification_.training.steps;
        const bool evaluates = last || isDue(specification_.evaluation.every);
        const bool takes_snapshot = last || isDue(specification_.snapshots.every);
        const bool saves =
            last || isDue(specification_.checkpoints.every) || control_.consumeCheckpointRequest();
        if (evaluates || takes_snapshot || saves) catchUp();
        if (evaluates || takes_snapshot) requireFiniteState();
        if (evaluates) runEvaluation();
        if (takes_snapshot) takeSnapshot();
        if (saves) saveCheckpointNow();
        if (Clock::now() - last_beat_ > kHeartbeat)
            writeHeartbeat(RunState::running, Durability::process_death);
    }
    if (shouldStopEarly() && submitted_ < specification_.training.steps) {
        catchUp();
        saveCheckpointNow();
        note(recorder_, observer_,
             "stopped early: none of the last " + std::to_string(evaluations_since_best_) +
                 " evaluations was better than the one at step " + std::to_string(best_->step) +
                 " (evaluation.patience)");
    }
    recorder_.log("finished");
    writeHeartbeat(RunState::finished, Durability::machine_failure);
    return RunState::finished;
}

/// Number of steps after the last submitted one until an evaluation, snapshot or checkpoint is due.
std::int64_t Trainer::stepsUntilDue() const {
    std::int64_t until = specification_.training.steps - submitted_;
    for (const std::int64_t every :
         {specification_.evaluation.every, specification_.snapshots.every, specification_.checkpoints.every})
        if (every > 0) until = std::min(until, every - submitted_ % every);
    return until;
}

void Trainer::recordResults(const std::vector<StepResult>& steps) {
    const double before_s = position_.time_s, now_s = clock_.seconds();
    const std::int64_t tokens = specification_.training.batch * specification_.inputLength();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const StepResult& step = steps[i];
        position_.step += 1;
        position_.next_sequence += static_cast<std::uint64_t>(specification_.training.batch);
        position_.tokens += tokens;
        // For steps executed asynchronously on a device only the end time is known: they are spaced evenly.
        position_.time_s =
            before_s + (now_s - before_s) * static_cast<double>(i + 1) / static_cast<double>(steps.size());
        report(step, position_.time_s);
        if (step.finite()) continue;
        const bool by_loss = !std::isfinite(step.loss);
        throw Error(ErrorKind::diverged, "training diverged at step " + std::to_string(position_.step) +
                                             ": the " + (by_loss ? "loss" : "gradient norm") + " is " +
                                             formatNumber(by_loss ? step.loss : step.gradient_norm) +
                                             ". The weights were not changed. " + remedy());
    }
}

std::string Trainer::remedy() const {
    const Specification::Training& training = specification_.training;
    std::vector<std::string> ways = {
        "a lower training.learning_rate than " + formatNumber(training.learning_rate),
        "more training.warmup_steps than " + std::to_string(training.warmup_steps)};
    if (training.clip_norm == 0) ways.emplace_back("training.clip_norm = 1");
    if (model_.computeType() == at::kBFloat16) ways.emplace_back("device.precision = fp32");
    const std::string last = ways.back();
    ways.pop_back();
    return "Resuming would diverge again at the same step: start a run with " + join(ways, ", ") + " or " +
           last + ".";
}

void Trainer::requireFiniteState() const {
    const auto require = [&](const at::Tensor& tensor, const std::string& name) {
        if (at::isfinite(tensor.detach()).all().item<bool>()) return;
        throw Error(ErrorKind::diverged,
                    "training diverged: after step " + std::to_string(position_.step) + " " + name +
                        " contains numbers that are not finite. They are not saved; checkpoints of "
                        "earlier steps are kept. " +
                        remedy());
    };
    for (std::size_t i = 0; i < model_.parameters().size(); ++i) {
        const auto& [name, parameter] = model_.parameters()[i];
        require(parameter, name);
        const AdamW::Moments moments = optimizer_.moments(i);
        require(moments.mean, "AdamW's first moment of " + name);
        require(moments.square, "AdamW's second moment of " + name);
    }
}

void Trainer::report(const StepResult& step, double time_s) {
    // The row of a diverged step is always kept, so that the chart can mark where it happened.
    const bool is_reported = position_.step % specification_.training.report_every == 0 ||
                             position_.step == specification_.training.steps || !step.finite();
    if (!is_reported) return;
    MetricsRow row;
    row.step = position_.step;
    row.time_s = time_s;
    row.tokens = position_.tokens;
    row.loss = step.loss;
    row.learning_rate = step.learning_rate;
    row.grad_norm = step.gradient_norm;
    const double elapsed = time_s - last_report_s_;
    row.tokens_per_s =
        elapsed > 0 ? static_cast<double>(position_.tokens - last_report_tokens_) / elapsed : 0;
    last_report_s_ = time_s;
    last_report_tokens_ = position_.tokens;
    recorder_.record(row);
    observer_.onStep(row);
}

void Trainer::runEvaluation() {
    const TrainingClock::Suspension rest(clock_);
    Evaluation evaluation = evaluator_.evaluate(model_, position_.step, position_.next_sequence);
    evaluation.row.time_s = clock_.seconds();
    for (const Sample& sample : evaluation.samples)
        recorder_.record(sample);
    reportMethod();  // first, so that these rows exist when the evaluation appears
    recorder_.record(evaluation.row);
    observer_.onEvaluation(evaluation.row);
    if (updateBest(evaluation.row)) saveCheckpointNow();
}

bool Trainer::updateBest(const EvaluationRow& row) {
    const bool better = !best_ || isBetter(row, *best_);
    if (better) best_ = row;
    evaluations_since_best_ = better ? 0 : evaluations_since_best_ + 1;
    return better;
}

bool Trainer::shouldStopEarly() const {
    return specification_.evaluation.patience > 0 &&
           evaluations_since_best_ >= specification_.evaluation.patience;
}

void Trainer::saveCheckpointNow() {
    if (saved_step_ == position_.step) return;
    requireFiniteState();
    const TrainingClock::Suspension rest(clock_);
    position_.time_s = clock_.seconds();
    recorder_.sync();  // rows first: a checkpoint must never cover steps whose rows could still be lost
    recorder_.requireLease();
    saveCheckpoint(recorder_.folder().checkpointPath(position_.step), model_, optimizer_, position_,
                   toToml(specification_), task_->vocabulary().identity());
    // The new file is read back before older ones are removed.
    verifyCheckpoint(recorder_.folder().checkpointPath(position_.step), model_.parameterCount());
    recorder_.pruneCheckpoints(specification_.checkpoints.keep);
    saved_step_ = position_.step;
    recorder_.log("checkpoint at step " + std::to_string(position_.step));
    followers_have_state_ = false;
}

/// After each checkpoint all processes continue from the state that a resumed run would load: processors of
/// different types round differently.
void Trainer::stepWithFollowers(std::int64_t steps) {
    if (!followers_have_state_) followers_->broadcastState(model_, optimizer_, position_);
    followers_have_state_ = true;
    followers_->step(steps);
}

void Trainer::takeSnapshot() {
    if (specification_.snapshots.every == 0) return;
    const TrainingClock::Suspension rest(clock_);
    recorder_.requireLease();
    writeSnapshot(recorder_.folder(), model_, *task_, specification_, position_.step);
}

void Trainer::reportMethod() {
    const at::Tensor tokens = makeSequences(*task_, specification_, Stream::validation, 0, 1).to(device_);
    const std::vector<MethodRow> rows = methodReport(model_, tokens, position_.step);
    recorder_.record(rows);
    for (const MethodRow& row : rows)
        if (row.quantity == "least_denominator" && row.value < kSmallDenominator)
            recorder_.log("layer " + std::to_string(row.layer.value_or(0)) + ", head " +
                          std::to_string(row.head.value_or(0)) +
                          ": a denominator of linear attention has fallen to " + formatNumber(row.value));
}

RequestHandlers Trainer::handlers(const std::string& status, RunState state) {
    return {[this, status] { return status + std::to_string(submitted_); }, true,
            [this, state](const Request& request) { return answer(request, state); }};
}

Reply Trainer::answer(const Request& request, RunState state) {
    const TrainingClock::Suspension rest(clock_);
    // On a GPU the stream executes all submitted steps before this copy.
    ReaderOptions options;
    options.threads.reset();
    options.progress = [&](std::int64_t, std::int64_t, const std::string&) {
        requireNotCancelled(control_);
        if (Clock::now() - last_beat_ > kHeartbeat) writeHeartbeat(state, Durability::process_death);
    };
    ModelReader reader(
        openTrainingModel(recorder_.folder(), specification_, task_, submitted_, model_.parameters()),
        options);
    return answerRequest(reader, request);
}

RunRequest Trainer::waitWhilePaused() {
    catchUp();
    const TrainingClock::Suspension rest(clock_);
    recorder_.log("paused at step " + std::to_string(position_.step));
    observer_.onPause(true);
    writeHeartbeat(RunState::paused, Durability::machine_failure);
    RunRequest request = RunRequest::pause;
    while (request == RunRequest::pause) {
        request = control_.poll(handlers("paused at step ", RunState::paused), kPausePollInterval);
        if (control_.consumeCheckpointRequest()) saveCheckpointNow();
        if (Clock::now() - last_beat_ > kHeartbeat)
            writeHeartbeat(RunState::paused, Durability::process_death);
    }
    if (request == RunRequest::none) {
        recorder_.log("resumed");
        observer_.onPause(false);
        writeHeartbeat(RunState::running, Durability::machine_failure);
    }
    return request;
}

void Trainer::writeHeartbeat(RunState state, Durability durability) {
    last_beat_ = Clock::now();
    Status status;
    status.state = state;
    status.step = position_.step;
    status.steps = specification_.training.steps;
    status.device = describeDevice(device_);
    const bool listening = state == RunState::running || state == RunState::paused;
    status.control = listening ? control_.socketPath() : "";
    if (state == RunState::preempted) status.exit_code = static_cast<int>(ErrorKind::preempted);
    recorder_.setStatus(status, durability);
}

}  // namespace roper
