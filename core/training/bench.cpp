#include "core/training/bench.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "core/corpus/open_task.h"
#include "core/kernels/arithmetic_peak.h"
#include "core/kernels/attention.h"
#include "core/model/attention.h"
#include "core/model/device.h"
#include "core/model/fused_attention.h"
#include "core/model/generation.h"
#include "core/model/gpu.h"
#include "core/model/products.h"
#include "core/training/batch_stream.h"
#include "core/training/batches.h"
#include "core/training/loaded_model.h"
#include "core/training/optimizer.h"
#include "core/training/own_stream.h"
#include "core/training/queued_stepper.h"
#include "core/training/session.h"
#include "core/training/stepper.h"

namespace roper {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double secondsOf(Work work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A model that is trained, but for the run folder.
class Trainee {
  public:
    explicit Trainee(const Specification& specification)
        : specification_(specification),
          device_(openDevice(specification.device.name, specification.device.kernel == "plain").device),
          stream_(device_),
          task_(openTask(specification.task)),
          model_(specification, modelTokens(*task_, specification), device_),
          optimizer_(model_.parameters(), specification.training),
          batches_(*task_, specification_, 0),
          stepper_(makeStepper({model_, optimizer_, batches_, specification_, device_}, 0)) {
        model_.chooseAttention(specification.training.batch, specification.inputLength());
    }

    /// Steps that a device takes in a row: as many as in training on a GPU, one on the CPU.
    std::int64_t stepsInARow() const { return device_.is_cpu() ? 1 : QueuedStepper::kMostAtOnce; }

    /// Takes `count` steps, at most `stepsInARow()`, to the end.
    void step(std::int64_t count = 1) {
        stepper_->advance(count);
        stepper_->finish();
    }

    at::Device device() const { return device_; }
    at::ScalarType factors() const { return model_.factors(); }

  private:
    Specification specification_;
    at::Device device_;
    OwnStream stream_;
    std::unique_ptr<Task> task_;
    Transformer model_;
    AdamW optimizer_;
    BatchStream batches_;
    std::unique_ptr<Stepper> stepper_;
};

/// Whether a device multiplies bfloat16 itself.
bool multipliesBFloat16(const at::Device& device) {
    if (device.is_cpu()) return kernelsMultiplyBFloat16() && oneDnnMultipliesBFloat16();
    return gpu() != nullptr && gpu()->multipliesBFloat16();
}

/// Samples of what a device can do in one precision.
class RateMeter {
  public:
    /// @param type  bfloat16 counts as float32 where the device does not multiply it
    RateMeter(const at::Device& device, at::ScalarType type)
        : device_(device),
          type_(type == at::kBFloat16 && multipliesBFloat16(device) ? at::kBFloat16 : at::kFloat) {}

    void sample() {
        sampleGemm();
        if (device_.is_cpu()) sampleMultiplyAdds();
    }

    MachineRates rates() const {
        return {flop_ / gemm_.median(), device_.is_cpu() ? 1 / multiply_add_.median() : 0};
    }

  private:
    void sampleGemm() {
        const std::int64_t size = device_.is_cpu() ? 2048 : 8192, times = device_.is_cpu() ? 1 : 10;
        const at::NoGradGuard no_gradients;
        const auto finish = [&] { c_[0][0].item<float>(); };
        if (!a_.defined()) {
            const at::TensorOptions options = at::TensorOptions(device_).dtype(type_);
            a_ = at::randn({size, size}, options);
            b_ = at::randn({size, size}, options);
            c_ = at::mm(a_, b_);
        }
        finish();
        const double seconds = secondsOf([&] {
            for (std::int64_t i = 0; i < times; ++i)
                at::mm_out(c_, a_, b_);
            finish();
        });
        gemm_.seconds.push_back(seconds / static_cast<double>(times));
        const auto n = static_cast<double>(size);
        flop_ = 2 * n * n * n;
    }

    void sampleMultiplyAdds() {
        constexpr std::size_t kRounds = 2000000;
        std::atomic<double> done{0};
        const double seconds = secondsOf([&] {
            at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t thread = begin; thread < end; ++thread)
                    done += type_ == at::kBFloat16 ? bfloat16MultiplyAdds(kRounds) : multiplyAdds(kRounds);
            });
        });
        multiply_add_.seconds.push_back(seconds / done);
    }

    at::Device device_;
    at::ScalarType type_;
    at::Tensor a_, b_, c_;
    double flop_ = 0;
    BenchTimes gemm_, multiply_add_;  ///< the latter by operation
};

/// Bytes that this program has had in memory at once. getrusage would count what its parent had before exec.
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

void prepare(const Specification& specification) {
    keepHeapWarm();  // as training does
    setThreads(specification.device.threads);
}

}  // namespace

double BenchTimes::median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.at(sorted.size() / 2);
}

double BenchTimes::least() const {
    return *std::min_element(seconds.begin(), seconds.end());
}

double BenchTimes::greatest() const {
    return *std::max_element(seconds.begin(), seconds.end());
}

BenchTimes benchSteps(const Specification& specification, int steps, int warm_up, double least_seconds) {
    return translatingErrors([&] {
        prepare(specification);
        Trainee trainee(specification);
        BenchTimes times;
        double spent = 0;
        for (int step = 1; step <= warm_up + steps || spent < least_seconds; ++step) {
            const std::int64_t count = trainee.stepsInARow();
            const double seconds = secondsOf([&] { trainee.step(count); });
            if (step <= warm_up) continue;
            times.seconds.push_back(seconds / static_cast<double>(count));
            spent += seconds;
        }
        return times;
    });
}

std::vector<std::string> precisionsOf(const Specification& specification) {
    if (specification.device.precision != "auto") return {specification.device.precision};
    const bool plain = specification.device.kernel == "plain";
    const at::Device device = openDevice(specification.device.name, plain).device;
    if (!multipliesBFloat16(device) || (device.is_cpu() && plain)) return {"fp32"};
    return {"fp32", "bf16"};
}

std::vector<StepBench> benchByTurns(const std::vector<Specification>& specifications, int steps, int warm_up,
                                    const std::function<void(int)>& before_turn) {
    return translatingErrors([&] {
        constexpr int kProfiled = 5, kBetweenRates = 8;
        prepare(specifications.front());
        std::vector<std::unique_ptr<Trainee>> trainees;
        for (const Specification& specification : specifications) {
            trainees.push_back(std::make_unique<Trainee>(specification));
            for (int i = 0; i < warm_up; ++i)
                trainees.back()->step(trainees.back()->stepsInARow());
        }
        std::vector<StepBench> benches(trainees.size());
        std::map<at::ScalarType, RateMeter> meters;
        for (const auto& trainee : trainees)
            meters.try_emplace(trainee->factors(), trainee->device(), trainee->factors());
        for (int turn = 0; turn < steps; ++turn) {
            if (before_turn) before_turn(turn);
            if (turn % kBetweenRates == 0)
                for (auto& [type, meter] : meters)
                    meter.sample();
            for (std::size_t i = 0; i < trainees.size(); ++i) {
                const std::int64_t count = trainees[i]->stepsInARow();
                const double seconds = secondsOf([&] { trainees[i]->step(count); });
                benches[i].times.seconds.push_back(seconds / static_cast<double>(count));
            }
        }
        const int profiled = std::min(kProfiled, steps);
        for (std::size_t i = 0; i < trainees.size(); ++i) {
            benches[i].rates = meters.at(trainees[i]->factors()).rates();
            if (!trainees[i]->device().is_cpu()) continue;
            const StepProfile profile;
            const double all = secondsOf([&] {
                for (int step = 0; step < profiled; ++step)
                    trainees[i]->step();
            });
            auto& parts = benches[i].parts;
            parts = profile.seconds();
            double covered = 0;
            for (double& part : parts) {
                covered += part;
                part /= profiled;
            }
            parts[static_cast<std::size_t>(StepPart::other)] = (all - covered) / profiled;
        }
        return benches;
    });
}

AttentionBench benchAttention(const Specification& specification, int times) {
    return translatingErrors([&] {
        prepare(specification);
        const std::int64_t B = specification.training.batch, T = specification.inputLength(),
                           C = specification.model.width, H = specification.model.heads, d = C / H;
        const at::TensorOptions options = at::kFloat;
        Parameters parameters(0, options);
        PositionMethod positions(specification, parameters, options);
        const PassPositions pass = positions.forPass({T});
        const bool causal = !specification.isMasked();
        const Sight sight = sightOfSequences(causal, T, pass.distance_bias);
        const at::ScalarType type = specification.device.precision == "bf16" ? at::kBFloat16 : at::kFloat;
        const at::Tensor product = at::randn({B, T, 3 * C}).to(type),
                         gradient = at::randn({B, T, C}).to(type);
        const auto ours = [&](const at::Tensor& x) {
            return fusedAttention(x, H, causal, positions.pairing(), pass, 0);
        };
        const auto plain = [&](const at::Tensor& x) {
            const at::Tensor qkv = x.view({B, T, 3, H, d}).permute({2, 0, 3, 1, 4});
            const auto turned = [&](std::int64_t part, const Turns& turns) {
                return rotate(qkv.select(0, part), turns.cosine, turns.sine, positions.pairing());
            };
            const Heads heads{
                turned(0, pass.queryKey(0)), turned(1, pass.queryKey(0)), turned(2, pass.value(0)), {}, {}};
            return rotate(mix(AttentionKind::softmax, heads, sight), pass.value(0).cosine, pass.value(0).sine,
                          positions.pairing(), Turn::back)
                .transpose(1, 2)
                .flatten(2);
        };
        const auto bothWays = [&](const auto& attend) {
            const at::Tensor x = product.detach().requires_grad_(true);
            return secondsOf([&] { attend(x).backward(gradient); });
        };
        AttentionBench bench;
        RateMeter meter(at::kCPU, type);
        for (int i = -1; i < times; ++i) {  // the first only warms up
            const double kernel = bothWays(ours), torch = bothWays(plain);
            if (i < 0) continue;
            meter.sample();
            bench.kernel.seconds.push_back(kernel);
            bench.plain.seconds.push_back(torch);
        }
        // Two products forward, five backward (scores and weights' gradients, then those of q, k and v),
        // 2·T²·d each.
        bench.flop = 14.0 * static_cast<double>(B * H * T * T * d) / (causal ? 2 : 1);
        bench.rates = meter.rates();
        return bench;
    });
}

FirstStep takeFirstStep(const Specification& specification) {
    return translatingErrors([&] {
        prepare(specification);
        Trainee(specification).step();
        FirstStep first;
        // Field 22 of /proc/self/stat: when the process began, in clock ticks since the machine did.
        std::ifstream file("/proc/self/stat");
        std::string text((std::istreambuf_iterator<char>(file)), {});
        std::istringstream rest(text.substr(text.rfind(')') + 1));
        std::string field;
        for (int i = 3; i <= 22; ++i)
            rest >> field;
        timespec now{};
        ::clock_gettime(CLOCK_BOOTTIME, &now);
        first.seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
                        std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
        first.peak_bytes = peakMemory();
        return first;
    });
}

GenerationBench benchGeneration(const Specification& specification, int times) {
    return translatingErrors([&] {
        prepare(specification);
        const at::Device device =
            openDevice(specification.device.name, specification.device.kernel == "plain").device;
        const auto task = openTask(specification.task);
        Transformer model(specification, task->vocabulary().size(), device);
        std::vector<std::string> prompts;
        for (std::int64_t i = 0; i < specification.evaluation.problems; ++i)
            prompts.push_back(task->hasProblems()
                                  ? task->problem(0, Stream::problems, static_cast<std::uint64_t>(i)).prompt
                                  : task->sequence(0, Stream::validation, static_cast<std::uint64_t>(i), 16));
        const int longest = task->hasProblems() ? task->longestAnswer()
                                                : static_cast<int>(specification.training.length) - 16;
        GenerationBench bench;
        bench.characters = specification.evaluation.problems * longest;
        for (int i = 0; i < times; ++i)
            bench.times.seconds.push_back(secondsOf([&] {
                complete(model, task->vocabulary(), prompts, {longest, {}});
            }));
        return bench;
    });
}

}  // namespace roper
