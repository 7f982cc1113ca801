#include "core/bench/bench.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "core/base/warm_heap.h"
#include "core/bench/rate_meter.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/operators/threads.h"
#include "core/operators/translating_errors.h"
#include "core/training/batches.h"
#include "core/training/loaded_model.h"
#include "core/training/own_stream.h"
#include "core/training/queued_stepper.h"

namespace roper {
namespace {

/// A model in training, without a run folder.
class Trainee {
  public:
    Trainee(const Specification& specification, const at::Device& device)
        : specification_(specification),
          device_(device),
          task_(openTask(specification.task)),
          model_(specification, modelVocabularySize(*task_, specification), device_),
          optimizer_(model_.parameters(), specification.training),
          batches_(*task_, specification_, 0),
          stepper_(makeStepper({model_, optimizer_, batches_, specification_, device_}, 0)) {
        model_.chooseAttention(specification.training.batch, specification.inputLength());
    }

    /// Takes a round of steps and waits for them: on a GPU as many as training queues at once, on the CPU
    /// one.
    /// @returns seconds per step
    double takeRound() {
        const std::int64_t count = device_.is_cpu() ? 1 : QueuedStepper::kMostAtOnce;
        return secondsOf([&] { steps(count); }) / static_cast<double>(count);
    }

    void steps(std::int64_t count) {
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

/// What a benchmark runs on, set up as for training.
struct Workshop {
    explicit Workshop(const Specification& specification)
        : opened(openDevice(specification.device)), stream(opened.device) {
        keepHeapWarm();
        setThreads(specification.device.threads);
    }

    OpenDevice opened;
    OwnStream stream;
};

/// Peak memory of this program, in bytes. getrusage would include the parent's peak before exec.
double peakMemory() {
    std::ifstream status("/proc/self/status");
    std::string name;
    double kibibytes = 0;
    while (status >> name) {
        if (name == "VmHWM:" && status >> kibibytes) break;
        std::getline(status, name);
    }
    return 1024 * kibibytes;
}

double secondsSinceProcessStart() {
    // Field 22 of /proc/self/stat: start time of the process, in clock ticks since boot.
    std::ifstream file("/proc/self/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    std::string field;
    for (int i = 3; i <= 22; ++i)
        rest >> field;
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
           std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// The fraction of a step's time spent in each of its parts, from some profiled steps.
std::array<double, kStepParts> sharesOfParts(Trainee& trainee, int steps) {
    const StepProfile profile;
    const double all = secondsOf([&] {
        for (int step = 0; step < steps; ++step)
            trainee.steps(1);
    });
    std::array<double, kStepParts> shares = profile.seconds();
    double rest = 1;
    for (double& share : shares) {
        share /= all;
        rest -= share;
    }
    shares[static_cast<std::size_t>(StepPart::other)] += rest;
    return shares;
}

}  // namespace

double BenchTimes::median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return (sorted.at(sorted.size() / 2) + sorted.at((sorted.size() - 1) / 2)) / 2;
}

double BenchTimes::least() const {
    return *std::min_element(seconds.begin(), seconds.end());
}

double BenchTimes::greatest() const {
    return *std::max_element(seconds.begin(), seconds.end());
}

BenchTimes benchSteps(const Specification& specification, int steps, int warm_up, double least_seconds) {
    return translatingErrors([&] {
        const Workshop workshop(specification);
        Trainee trainee(specification, workshop.opened.device);
        BenchTimes times;
        double spent = 0;
        for (int round = 1; round <= warm_up + steps || spent < least_seconds; ++round) {
            double seconds = 0;
            const double all = secondsOf([&] { seconds = trainee.takeRound(); });
            if (round <= warm_up) continue;
            times.seconds.push_back(seconds);
            spent += all;
        }
        return times;
    });
}

std::vector<std::string> precisionsOf(const Specification& specification) {
    if (specification.device.precision != "auto") return {specification.device.precision};
    const bool plain = specification.device.kernel == "plain";
    const at::Device device = openDevice(specification.device).device;
    if (!multipliesBFloat16(device) || (device.is_cpu() && plain)) return {"fp32"};
    return {"fp32", "bf16"};
}

std::vector<StepBench> benchInterleaved(const std::vector<Specification>& specifications, int steps,
                                        int warm_up, const std::function<void(int)>& before_round) {
    return translatingErrors([&] {
        constexpr int kProfiled = 5, kBetweenRates = 8;
        const Workshop workshop(specifications.front());
        const at::Device& device = workshop.opened.device;
        std::vector<std::unique_ptr<Trainee>> trainees;
        std::map<at::ScalarType, RateMeter> meters;
        for (const Specification& specification : specifications) {
            Trainee& trainee = *trainees.emplace_back(std::make_unique<Trainee>(specification, device));
            meters.try_emplace(trainee.computeType(), device, trainee.computeType());
            for (int i = 0; i < warm_up; ++i)
                trainee.takeRound();
        }
        std::vector<StepBench> benches(trainees.size());
        // On a GPU, a round is fifty steps.
        if (!device.is_cpu()) steps = std::max(3, steps / 10);
        for (int round = 0; round < steps; ++round) {
            if (before_round) before_round(round);
            if (round % kBetweenRates == 0)
                for (auto& [type, meter] : meters)
                    meter.sample();
            for (std::size_t i = 0; i < trainees.size(); ++i)
                benches[i].times.seconds.push_back(trainees[i]->takeRound());
        }
        for (std::size_t i = 0; i < trainees.size(); ++i) {
            benches[i].rates = meters.at(trainees[i]->computeType()).rates();
            if (device.is_cpu()) {
                benches[i].parts = sharesOfParts(*trainees[i], std::min(kProfiled, steps));
                for (double& part : benches[i].parts)
                    part *= benches[i].times.median();
            }
            for (const std::string& note : {workshop.opened.note, trainees[i]->note()})
                if (!note.empty()) benches[i].notes.push_back(note);
        }
        return benches;
    });
}

FirstStep takeFirstStep(const Specification& specification) {
    return translatingErrors([&] {
        const Workshop workshop(specification);
        Trainee(specification, workshop.opened.device).steps(1);
        return FirstStep{secondsSinceProcessStart(), peakMemory()};
    });
}

}  // namespace roper
