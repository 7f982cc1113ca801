#include "core/bench/bench.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/this_process.h"
#include "core/bench/rate_meter.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/operators/threads.h"
#include "core/operators/translate_errors.h"
#include "core/training/batches.h"
#include "core/training/loaded_model.h"
#include "core/training/queued_stepper.h"
#include "core/training/stepper.h"

namespace roper {
namespace {

/// A model in training, without a run folder.
class BenchModel {
  public:
    BenchModel(const Specification& specification, const at::Device& device)
        : specification_(specification),
          device_(device),
          task_(openTask(specification.task)),
          model_(specification, modelVocabularySize(*task_, specification), device_),
          optimizer_(model_.parameters(), specification.training),
          batches_(*task_, specification_, 0),
          stepper_(makeStepper({model_, optimizer_, batches_, specification_, device_}, 0)) {
        model_.selectAttentionBackend(specification.training.batch, specification.inputLength());
    }

    /// Takes a round of steps and waits for them: on a GPU as many as training queues at once, on the CPU
    /// one.
    /// @returns seconds per step
    double takeRound() {
        const std::int64_t count = device_.is_cpu() ? 1 : QueuedStepper::kMaxStepsPerSubmission;
        return secondsOf([&] { takeSteps(count); }) / static_cast<double>(count);
    }

    void takeSteps(std::int64_t count) {
        stepper_->advance(count);
        stepper_->finish();
    }

    at::ScalarType computeType() const { return model_.computeType(); }
    std::string note() const { return stepper_->note(); }

  private:
    Specification specification_;
    at::Device device_;
    std::unique_ptr<Task> task_;
    Transformer model_;
    AdamW optimizer_;
    BatchStream batches_;
    std::unique_ptr<Stepper> stepper_;
};

/// Device, stream and threads of a benchmark, set up as for training.
struct BenchSetup {
    explicit BenchSetup(const Specification& specification)
        : opened(openDevice(specification.device)), stream(opened.device) {
        keepFreedHeapMemory();
        setThreads(specification.device.threads);
    }

    OpenedDevice opened;
    DedicatedStream stream;
};

/// Peak memory of this program, in bytes. getrusage would include the parent's peak before exec.
double peakMemory() {
    return 1024 * readNumberAfter("VmHWM:", "/proc/self/status").value_or(0);
}

double secondsSinceProcessStart() {
    const auto ticks = static_cast<double>(processStart(::getpid()));
    return secondsSinceBoot() - ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// The fraction of a step's time spent in each of its parts, measured by profiling `steps` steps.
std::array<double, kStepCategories> timeFractionsOfParts(BenchModel& model, int steps) {
    const StepProfile profile;
    const double all = secondsOf([&] {
        for (int step = 0; step < steps; ++step)
            model.takeSteps(1);
    });
    std::array<double, kStepCategories> fractions = profile.seconds();
    double rest = 1;
    for (double& fraction : fractions) {
        fraction /= all;
        rest -= fraction;
    }
    fractions[static_cast<std::size_t>(StepCategory::other)] += rest;
    return fractions;
}

}  // namespace

double BenchTimes::median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return (sorted.at(sorted.size() / 2) + sorted.at((sorted.size() - 1) / 2)) / 2;
}

double BenchTimes::minimum() const {
    return *std::min_element(seconds.begin(), seconds.end());
}

double BenchTimes::maximum() const {
    return *std::max_element(seconds.begin(), seconds.end());
}

double benchStepSeconds(const Specification& specification, double min_seconds) {
    return translateErrors([&] {
        constexpr int kRounds = 3;
        const BenchSetup setup(specification);
        BenchModel model(specification, setup.opened.device);
        model.takeRound();
        BenchTimes times;
        double spent = 0;
        for (int round = 1; round <= kRounds || spent < min_seconds; ++round)
            spent += secondsOf([&] { times.seconds.push_back(model.takeRound()); });
        return times.median();
    });
}

std::vector<std::string> nativePrecisions(const Specification& specification) {
    if (specification.device.precision != "auto") return {specification.device.precision};
    const bool plain = specification.device.kernel == "plain";
    const at::Device device = openDevice(specification.device).device;
    if (!multipliesBFloat16(device) || (device.is_cpu() && plain)) return {"fp32"};
    return {"fp32", "bf16"};
}

std::vector<StepBench> benchInterleaved(const std::vector<Specification>& specifications, int steps,
                                        int warm_up, const std::function<void(int)>& before_round) {
    return translateErrors([&] {
        constexpr int kProfiledSteps = 5, kRoundsPerRateSample = 8;
        const BenchSetup setup(specifications.front());
        const at::Device& device = setup.opened.device;
        std::vector<std::unique_ptr<BenchModel>> models;
        std::map<at::ScalarType, RateMeter> meters;
        for (const Specification& specification : specifications) {
            BenchModel& model = *models.emplace_back(std::make_unique<BenchModel>(specification, device));
            meters.try_emplace(model.computeType(), device, model.computeType());
            for (int i = 0; i < warm_up; ++i)
                model.takeRound();
        }
        std::vector<StepBench> benches(models.size());
        // On a GPU, a round consists of fifty steps.
        if (!device.is_cpu()) steps = std::max(3, steps / 10);
        for (int round = 0; round < steps; ++round) {
            if (before_round) before_round(round);
            if (round % kRoundsPerRateSample == 0)
                for (auto& [type, meter] : meters)
                    meter.sample();
            for (std::size_t i = 0; i < models.size(); ++i)
                benches[i].times.seconds.push_back(models[i]->takeRound());
        }
        for (std::size_t i = 0; i < models.size(); ++i) {
            benches[i].rates = meters.at(models[i]->computeType()).rates();
            if (device.is_cpu()) {
                benches[i].parts = timeFractionsOfParts(*models[i], std::min(kProfiledSteps, steps));
                for (double& part : benches[i].parts)
                    part *= benches[i].times.median();
            }
            for (const std::string& note : {setup.opened.note, models[i]->note()})
                if (!note.empty()) benches[i].notes.push_back(note);
        }
        return benches;
    });
}

FirstStepCost measureFirstStep(const Specification& specification) {
    return translateErrors([&] {
        const BenchSetup setup(specification);
        BenchModel(specification, setup.opened.device).takeSteps(1);
        return FirstStepCost{secondsSinceProcessStart(), peakMemory()};
    });
}

}  // namespace roper
