#include "core/training/queued_stepper.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/corpus/open_task.h"
#include "core/model/rotary_operator.h"
#include "core/training/batches.h"
#include "core/training/trainer.h"
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
    s.training.clip_norm = 0.5;  // so low that clipping happens
    s.device.precision = "fp32";
    return s;
}

struct Trained {
    explicit Trained(const Specification& specification)
        : s(specification),
          task(openTask(s.task)),
          model(s, modelTokens(*task, s), at::kCPU),
          optimizer(model.parameters(), s.training),
          batches(*task, s, 0) {}

    Training training() { return {model, optimizer, batches, s, at::kCPU}; }

    Specification s;
    std::unique_ptr<Task> task;
    Transformer model;
    AdamW optimizer;
    BatchStream batches;
};

/// Repeats what was recorded by doing it again, or refuses to record.
class PretendedGpu final : public Gpu, public std::enable_shared_from_this<PretendedGpu> {
  public:
    explicit PretendedGpu(bool records) : records_(records) {}
    int repeats = 0;

    c10::DeviceType deviceType() const override { return c10::kCPU; }
    std::string name() const override { return "pretended"; }
    Memory memory() const override { return {}; }
    bool multipliesBFloat16() const override { return false; }
    void turn(const std::vector<TurnPart>& parts, Pairing pairing, Turn direction) override {
        const auto self = shared_from_this();
        useGpu(nullptr);  // as the CPU does it
        for (const TurnPart& part : parts)
            at::Tensor(part.to).copy_(rotate(part.from, part.cosine, part.sine, pairing, direction));
        useGpu(self);
    }
    std::unique_ptr<RecordedWork> record(const std::function<void()>& work) override {
        TORCH_CHECK(records_, "an operation cannot be recorded");
        struct Again final : RecordedWork {
            Again(std::function<void()> what, int& count) : work(std::move(what)), repeats(count) {}
            void repeat() override {
                ++repeats;
                work();
            }
            std::function<void()> work;
            int& repeats;
        };
        return std::make_unique<Again>(work, repeats);
    }

  private:
    bool records_;
};

std::vector<StepNumbers> queueSteps(Trained& trained, std::int64_t steps, std::string* note = nullptr) {
    QueuedStepper stepper(trained.training(), 0);
    std::vector<StepNumbers> all;
    const auto keep = [&](const std::vector<StepNumbers>& found) {
        all.insert(all.end(), found.begin(), found.end());
    };
    for (std::int64_t asked = 0, most = 1; asked < steps;
         asked += most, most = std::min<std::int64_t>(2 * most, 50))
        keep(stepper.advance(std::min(most, steps - asked)));
    keep(stepper.finish());
    if (note != nullptr) *note = stepper.note();
    return all;
}

void expectSame(const std::vector<StepNumbers>& queued, Trained& by_queue, std::int64_t steps) {
    Trained direct(by_queue.s);
    ASSERT_EQ(queued.size(), static_cast<std::size_t>(steps));
    for (std::int64_t step = 1; step <= steps; ++step) {
        const StepNumbers expected = takeStep(direct.model, direct.optimizer, direct.batches.next(),
                                              direct.s.training, step, at::kCPU);
        const StepNumbers& found = queued[static_cast<std::size_t>(step - 1)];
        EXPECT_NEAR(found.loss, expected.loss, 1e-3) << "step " << step;
        EXPECT_NEAR(found.gradient_norm, expected.gradient_norm, 2e-2 * (1 + expected.gradient_norm));
        EXPECT_EQ(found.learning_rate, expected.learning_rate);
    }
    EXPECT_EQ(by_queue.optimizer.stepsDone(), steps);
    for (std::size_t i = 0; i < direct.model.parameters().size(); ++i) {
        const at::Tensor &a = direct.model.parameters()[i].second, &b = by_queue.model.parameters()[i].second;
        EXPECT_LT((a - b).abs().max().item<double>(), 2e-3) << direct.model.parameters()[i].first;
    }
}

TEST(QueuedStepper, TakesTheSameStepsAsTheDirectWay) {
    Trained trained(small());
    expectSame(queueSteps(trained, 120), trained, 120);  // more than the arrays hold
}

TEST(QueuedStepper, RepeatsWhatWasRecorded) {
    const auto pretended = std::make_shared<PretendedGpu>(true);
    useGpu(pretended);
    Trained trained(small());
    const auto queued = queueSteps(trained, 40);
    useGpu(nullptr);
    EXPECT_EQ(pretended->repeats, 37) << "all but those that warm up";
    expectSame(queued, trained, 40);
}

TEST(QueuedStepper, GoesOnWhereNothingCanBeRecorded) {
    useGpu(std::make_shared<PretendedGpu>(false));
    Trained trained(small());
    std::string note;
    const auto queued = queueSteps(trained, 20, &note);
    useGpu(nullptr);
    expectSame(queued, trained, 20);
    EXPECT_EQ(note.find("steps are not recorded, so slower: "), 0) << note;
}

TEST(QueuedStepper, ChangesNothingFromANumberOnThatIsNotFinite) {
    Trained trained(small());
    QueuedStepper stepper(trained.training(), 0);
    stepper.advance(3);
    stepper.finish();
    std::vector<at::Tensor> before;
    {
        const at::NoGradGuard no_gradients;
        trained.model.parameters().front().second[0].fill_(NAN);  // a character that the next batch has
        for (const NamedParameter& parameter : trained.model.parameters())
            before.push_back(parameter.second.detach().clone());
    }
    stepper.advance(5);
    const std::vector<StepNumbers> found = stepper.finish();
    ASSERT_EQ(found.size(), 5U);
    EXPECT_FALSE(found.front().finite());
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(at::allclose(before[i], trained.model.parameters()[i].second, 0, 0, /*equal_nan=*/true));
}

/// Trains a run in this process, on a pretended GPU or as usual.
RunFolder train(const TemporaryFolder& runs, const std::string& name, const Specification& s, bool queued) {
    const RunFolder folder = createRun(runs.path(), name, s);
    RunRecorder recorder(folder);
    RunControl control(/*open_socket=*/false);
    TrainingObserver nobody;
    useGpu(queued ? std::make_shared<PretendedGpu>(true) : nullptr);
    Trainer trainer(s, openTask(s.task), at::kCPU, recorder, control, nobody);
    EXPECT_EQ(trainer.run(), RunState::finished);
    useGpu(nullptr);
    return folder;
}

TEST(QueuedStepper, LeavesTheSameRunFolder) {
    Specification s = small();
    s.task.digits_max = 1;
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
    EXPECT_EQ(stepper.mostAtOnce(), 1);
    for (int i = 0; i < 12; ++i)
        stepper.advance(std::min(stepper.mostAtOnce(), std::int64_t{8}));
    EXPECT_GT(stepper.mostAtOnce(), 1);
    EXPECT_LE(stepper.mostAtOnce(), QueuedStepper::kMostAtOnce);
}

}  // namespace
}  // namespace roper
