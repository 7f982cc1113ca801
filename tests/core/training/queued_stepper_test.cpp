#include "core/training/queued_stepper.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/corpus/open_task.h"
#include "core/training/batches.h"
#include "core/training/trainer.h"
#include "tests/support/fake_gpu.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

Specification small() {
    Specification s;
    s.model.width = 32;
    s.model.layers = 2;
    s.model.heads = 2;
    s.model.feed_forward = 48;
    s.training.length = 49;
    s.training.batch = 4;
    s.training.steps = 200;
    s.training.warmup_steps = 20;
    s.training.clip_norm = 0.5;  // so low that clipping occurs
    s.device.precision = "fp32";
    return s;
}

struct Trained {
    explicit Trained(const Specification& specification)
        : s(specification),
          task(openTask(s.task)),
          model(s, modelVocabularySize(*task, s), at::kCPU),
          optimizer(model.parameters(), s.training),
          batches(*task, s, 0) {}

    StepperContext training() { return {model, optimizer, batches, s, at::kCPU}; }

    Specification s;
    std::unique_ptr<Task> task;
    Transformer model;
    AdamW optimizer;
    BatchStream batches;
};

std::vector<StepResult> queueSteps(Trained& trained, std::int64_t steps, std::string* note = nullptr) {
    QueuedStepper stepper(trained.training(), 0);
    std::vector<StepResult> all;
    const auto keep = [&](const std::vector<StepResult>& found) {
        all.insert(all.end(), found.begin(), found.end());
    };
    for (std::int64_t asked = 0, most = 1; asked < steps;
         asked += most, most = std::min<std::int64_t>(2 * most, 50))
        keep(stepper.advance(std::min(most, steps - asked)));
    keep(stepper.finish());
    if (note != nullptr) *note = stepper.note();
    return all;
}

/// Compares queued steps, their results and final weights, with steps taken one by one.
/// @param most  the largest difference of a weight; only rounding may differ, but it accumulates over steps
void expectSame(const std::vector<StepResult>& queued, Trained& by_queue, double most) {
    Trained direct(by_queue.s);
    const auto steps = static_cast<std::int64_t>(queued.size());
    for (std::int64_t step = 1; step <= steps; ++step) {
        const StepResult expected = trainStep(direct.model, direct.optimizer, direct.batches.next(),
                                              direct.s.training, step, at::kCPU);
        const StepResult& found = queued[static_cast<std::size_t>(step - 1)];
        EXPECT_NEAR(found.loss, expected.loss, most) << "step " << step;
        EXPECT_NEAR(found.gradient_norm, expected.gradient_norm, 10 * most * (1 + expected.gradient_norm));
    }
    EXPECT_EQ(by_queue.optimizer.stepsDone(), steps);
    for (std::size_t i = 0; i < direct.model.parameters().size(); ++i) {
        const at::Tensor &a = direct.model.parameters()[i].second, &b = by_queue.model.parameters()[i].second;
        EXPECT_LT((a - b).abs().max().item<double>(), most) << direct.model.parameters()[i].first;
    }
}

// The learning rate rises with each of these steps, so reading it at the wrong index would change weights by
// more.
TEST(QueuedStepper, TakesTheSameStepsAsTheDirectWay) {
    Trained trained(small());
    expectSame(queueSteps(trained, 6), trained, 2e-6);
    Trained longer(small());  // more steps than the arrays can hold
    expectSame(queueSteps(longer, 120), longer, 2e-3);
}

TEST(QueuedStepper, ReplaysWhatWasCaptured) {
    const auto pretended = std::make_shared<FakeGpu>();
    Trained trained(small());
    std::vector<StepResult> queued;
    {
        const ScopedGpu used(pretended);
        queued = queueSteps(trained, 8);
    }
    EXPECT_EQ(pretended->replays, 5) << "all but those that warm up";
    expectSame(queued, trained, 5e-6);
}

TEST(CaptureChecker, AreBrokenByWhoWaitsForANumber) {
    EXPECT_NONFATAL_FAILURE(
        {
            const CaptureChecker rules;
            at::ones({1}).item<float>();
        },
        "waits for the device");
}

// Follows the rules of captures (CaptureChecker) for every model.
TEST(QueuedStepper, CapturesEveryKindOfModel) {
    std::vector<Specification> kinds;
    for (const PositionMethod& method : positionMethods()) {
        kinds.push_back(small());
        kinds.back().model.position = method.name;
        kinds.back().device.kernel = "plain";  // as on a GPU
    }
    for (const char* attention : {"linear_numerator", "linear_cosine"}) {
        kinds.push_back(small());
        kinds.back().model.attention = attention;
        kinds.back().model.frequencies = "trained";
        kinds.back().model.norm = "post";
        kinds.back().device.precision = "bf16";
    }
    for (const char* frequencies : {"fixed", "trained"}) {
        kinds.push_back(small());
        kinds.back().model.frequencies = frequencies;
        kinds.back().device.kernel = "plain";
        kinds.back().training.value_rotation_warmup = 10;
    }
    for (const char* precision : {"fp32", "bf16"}) {
        kinds.push_back(small());  // with the parts of current models
        Specification& current = kinds.back();
        current.model.block = "modern";
        current.model.qk_norm = current.model.attention_sinks = true;
        current.model.window = 9;
        current.model.rotary_fraction = 0.5;
        current.model.rotated_part = RotatedPart::last;
        current.model.no_rotation_every = 2;
        current.device.kernel = "plain";
        current.device.precision = precision;
    }
    kinds.push_back(small());
    kinds.back().model.latent_rank = 8;
    kinds.back().model.rotary_fraction = 0.5;
    kinds.back().model.rotated_part = RotatedPart::last;
    kinds.back().device.kernel = "plain";
    for (const Specification& s : kinds) {
        SCOPED_TRACE(s.model.position + ", " + s.model.attention + ", " + s.model.block);
        const auto pretended = std::make_shared<FakeGpu>();
        Trained trained(s);
        std::vector<StepResult> queued;
        {
            const ScopedGpu used(pretended);
            queued = queueSteps(trained, 5);
        }
        EXPECT_EQ(pretended->replays, 2);
        // Softmax is invariant to a bias of the keys, so its gradient is only rounding, which AdamW scales up
        // to whole steps.
        expectSame(queued, trained, s.device.precision == "bf16" ? 2e-3 : 1e-4);
    }
}

TEST(QueuedStepper, GoesOnWhereNothingCanBeCaptured) {
    Trained trained(small());
    std::string note;
    std::vector<StepResult> queued;
    {
        const ScopedGpu used(std::make_shared<FakeGpu>(FakeGpu::Rotator(), /*captures=*/false));
        queued = queueSteps(trained, 6, &note);
    }
    expectSame(queued, trained, 2e-6);
    EXPECT_EQ(note.find("steps are not captured, and therefore slower: "), 0) << note;
}

// A benchmark takes more steps than the schedule has.
TEST(QueuedStepper, GoesOnBeyondTheLastRate) {
    Specification s = small();
    s.training.steps = 4;
    Trained trained(s);
    const auto queued = queueSteps(trained, 9);
    ASSERT_EQ(queued.size(), 9U);
    EXPECT_TRUE(queued.back().finite());
}

TEST(QueuedStepper, ChangesNothingFromANumberOnThatIsNotFinite) {
    Trained trained(small());
    QueuedStepper stepper(trained.training(), 0);
    stepper.advance(3);
    stepper.finish();
    std::vector<at::Tensor> before;
    {
        const at::NoGradGuard no_gradients;
        trained.model.parameters().front().second[0].fill_(NAN);  // a character that occurs in the next batch
        for (const NamedParameter& parameter : trained.model.parameters())
            before.push_back(parameter.second.detach().clone());
    }
    stepper.advance(5);
    const std::vector<StepResult> found = stepper.finish();
    ASSERT_EQ(found.size(), 5U);
    EXPECT_FALSE(found.front().finite());
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(at::allclose(before[i], trained.model.parameters()[i].second, 0, 0, /*equal_nan=*/true));
}

/// Trains a run in this process, on a simulated GPU or normally.
RunFolder train(const TemporaryFolder& runs, const std::string& name, const Specification& s, bool queued) {
    const RunFolder folder = createRun(runs.path(), name, s);
    RunRecorder recorder(folder);
    RunControl control(/*open_socket=*/false);
    TrainingObserver nobody;
    const ScopedGpu used(queued ? std::make_shared<FakeGpu>() : nullptr);
    Trainer trainer(s, openTask(s.task), at::kCPU, recorder, control, nobody);
    EXPECT_EQ(trainer.run(), RunState::finished);
    return folder;
}

TEST(QueuedStepper, LeavesTheSameRunFolder) {
    Specification s = small();
    s.task.specific_settings.set("digits_max", 1);
    s.training.steps = 60;
    s.evaluation.every = 25;
    s.evaluation.problems = 4;
    s.checkpoints.every = 20;
    s.checkpoints.keep = 10;
    const TemporaryFolder runs;
    const RunFolder queued = train(runs, "queued", s, true), direct = train(runs, "direct", s, false);
    const auto expected = direct.metrics(), found = queued.metrics();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].step, expected[i].step);
        EXPECT_EQ(found[i].tokens, expected[i].tokens);
        EXPECT_NEAR(found[i].loss, expected[i].loss, 1e-3);
        EXPECT_GT(found[i].tokens_per_s, 0);
        EXPECT_GT(found[i].time_s, i > 0 ? found[i - 1].time_s : 0);
    }
    const auto stepsOf = [](const auto& rows) {
        std::vector<std::int64_t> steps;
        for (const auto& row : rows)
            steps.push_back(row.step);
        return steps;
    };
    EXPECT_EQ(stepsOf(queued.evaluations()), (std::vector<std::int64_t>{25, 50, 60}));
    EXPECT_EQ(stepsOf(queued.evaluations()), stepsOf(direct.evaluations()));
    EXPECT_EQ(stepsOf(queued.checkpoints()), stepsOf(direct.checkpoints()));
}

TEST(QueuedStepper, IsAskedForAsManyStepsAsTakeAQuarterOfASecond) {
    Trained trained(small());
    QueuedStepper stepper(trained.training(), 0);
    EXPECT_EQ(stepper.maxStepsPerSubmission(), 1);
    for (int i = 0; i < 12; ++i)
        stepper.advance(std::min(stepper.maxStepsPerSubmission(), std::int64_t{8}));
    EXPECT_GT(stepper.maxStepsPerSubmission(), 1);
    EXPECT_LE(stepper.maxStepsPerSubmission(), QueuedStepper::kMaxStepsPerSubmission);
}

}  // namespace
}  // namespace roper
