#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/bench_baselines.h"
#include "app/roper_train/commands.h"
#include "app/roper_train/experiment_commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/bench/bench.h"
#include "core/kernels/attention.h"
#include "core/runs/speeds.h"
#include "core/specification/cost.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6, kGiga = 1e9, kMilli = 1e-3;

/// One of the measured workloads (docs/performance.md).
struct Workload {
    std::string name, preset;
    int times;  ///< repetitions
};

std::vector<Workload> workloadsOf(const BenchOptions& options) {
    if (!options.what.empty()) return {{options.what, options.what, options.times > 0 ? options.times : 20}};
    const int a = options.times > 0 ? options.times : 200;
    return {{"A", "prefix-paper", a}, {"B", "addition-paper", std::max(3, a / 40)}};
}

/// Whether --set sets the field with this key, which may also be given by its bare or former name.
bool setsField(const BenchOptions& options, const std::string& key) {
    return std::ranges::any_of(options.settings, [&](const std::string& setting) {
        return findField(trimmed(setting.substr(0, setting.find('=')))).key() == key;
    });
}

/// The position methods to measure: RoPE and RoPER, or the one given by --set.
std::vector<std::string> methodsOf(const BenchOptions& options, const Workload& work) {
    if (!setsField(options, "model.position")) return twinMethods();
    return {loadSpecification(work.preset, options.settings).model.position};
}

/// A workload with a position method, in every precision that the machine computes natively.
std::vector<Specification> candidatesOf(const BenchOptions& options, const Workload& work,
                                        const std::string& method) {
    const Specification specification =
        withPosition(loadSpecification(work.preset, options.settings), method);
    return mapped(nativePrecisions(specification), [&](const std::string& precision) {
        Specification candidate = specification;
        candidate.device.precision = precision;
        requireValid(candidate, work.preset);
        return candidate;
    });
}

std::vector<Specification> candidatesOf(const BenchOptions& options, const Workload& work) {
    return concatenated(mapped(methodsOf(options, work), [&](const std::string& method) {
        return candidatesOf(options, work, method);
    }));
}

void printLine(const BenchOptions& options, const Json& line) {
    if (options.json) {
        print(line);
        return;
    }
    for (const auto& [key, value] : line.items())
        if (value.is_number())
            std::cout << "  " << key << " " << formatRounded(value.get<double>(), 4);
        else
            std::cout << (key == "work" ? "" : " ") << value.get<std::string>();
    std::cout << std::endl;
}

/// The first members of a line: the workload, and the candidate.
Json lineOf(const Workload& work, const Specification& candidate) {
    return {
        {"work", work.name}, {"method", candidate.model.position}, {"precision", candidate.device.precision}};
}

/// The output of `bench first` in a separate process.
Json firstStepOf(const BenchOptions& options, const Workload& work, const Specification& candidate) {
    std::vector<std::string> arguments = {"roper-train", "bench",     "first",  "--json",
                                          "--preset",    work.preset, "--runs", options.runs};
    std::vector<std::string> settings = options.settings;
    settings.push_back("model.position=" + candidate.model.position);
    settings.push_back("device.precision=" + candidate.device.precision);
    for (const std::string& setting : settings)
        arguments.insert(arguments.end(), {"--set", setting});
    if (!options.target.empty()) arguments.insert(arguments.end(), {"--target", options.target});
    PipedProcess process("/proc/self/exe", arguments);
    const std::optional<std::string> line = process.read();
    if (!line)
        throw Error(ErrorKind::other,
                    "the process that measures the first step has ended; see its message above");
    return Json::parse(*line);
}

void benchFirst(const BenchOptions& options) {
    const Specification specification = withoutUnused(loadSpecification(options.what, options.settings));
    requireValid(specification, options.what);
    const FirstStepCost first = measureFirstStep(specification);
    printLine(options, {{"first_step_s", first.seconds}, {"peak_mb", first.peak_bytes / kMega}});
}

double tokensOf(const Specification& specification) {
    return static_cast<double>(specification.training.batch * specification.inputLength());
}

/// How a step is computed: "plain" (LibTorch), the instruction set of the kernels, or "GPU".
std::string kernelOf(const Specification& specification, const MachineRates& rates) {
    if (specification.device.kernel == "plain") return "plain";
    return rates.multiply_add > 0 ? kernelTarget() : "GPU";
}

void benchStep(const BenchOptions& options, const Workload& work) {
    const std::vector<Specification> candidates = candidatesOf(options, work);
    const auto names = mapped(
        candidates, [](const Specification& one) { return one.model.position + " " + one.device.precision; });
    std::cerr << work.name << ": " << work.times << " × " << join(names, ", ") << std::endl;
    const std::vector<StepBench> benches =
        benchInterleaved(candidates, work.times, std::clamp(work.times / 10, 1, 5));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const Specification& candidate = candidates[i];
        const BenchTimes& times = benches[i].times;
        const MachineRates& rates = benches[i].rates;
        for (const std::string& note : benches[i].notes)
            std::cerr << names[i] << ": " << note << std::endl;
        const double seconds = times.median();
        const Json first = firstStepOf(options, work, candidate);
        Json line = lineOf(work, candidate);
        line.update({{"kernel", kernelOf(candidate, rates)},
                     {"ms", seconds / kMilli},
                     {"min", times.minimum() / kMilli},
                     {"max", times.maximum() / kMilli},
                     {"tokens_per_s", tokensOf(candidate) / seconds},
                     {"first_step_s", first.at("first_step_s")},
                     {"peak_mb", first.at("peak_mb")},
                     {"gemm_gflops", rates.gemm / kGiga},
                     {"share_of_gemm", costOf(candidate).flop_per_step / seconds / rates.gemm}});
        if (rates.multiply_add > 0) {
            line["fma_gflops"] = rates.multiply_add / kGiga;
            line["share_of_fma"] = costOf(candidate).flop_per_step / seconds / rates.multiply_add;
            for (std::size_t part = 0; part < kStepCategories; ++part)
                line[std::string(categoryName(static_cast<StepCategory>(part))) + "_ms"] =
                    benches[i].parts[part] / kMilli;
        }
        printLine(options, line);
        if (options.save_speed) saveSpeed(options.runs, candidate, seconds);
    }
}

void benchKernel(const BenchOptions& options, const Workload& work) {
    for (const char* key : {"device.name", "device.kernel"})
        if (setsField(options, key))
            throw Error(ErrorKind::usage,
                        "`bench attention` compares the CPU kernel with LibTorch's operations; leave out "
                        "--set " +
                            std::string(key));
    BenchOptions here = options;
    here.settings.emplace_back("device.name=cpu");  // the kernel is for CPUs
    for (const Specification& candidate : candidatesOf(here, work)) {
        if (candidate.model.attention != "softmax" || candidate.model.frequencies == "trained")
            throw Error(ErrorKind::usage,
                        "the kernel supports only softmax attention with fixed frequencies");
        const AttentionBench bench = benchAttention(candidate, work.times);
        const double seconds = bench.kernel.median();
        Json line = lineOf(work, candidate);
        line.update({{"target", kernelTarget()},
                     {"ms", seconds / kMilli},
                     {"min", bench.kernel.minimum() / kMilli},
                     {"max", bench.kernel.maximum() / kMilli},
                     {"plain_ms", bench.plain.median() / kMilli},
                     {"fma_gflops", bench.rates.multiply_add / kGiga},
                     {"share_of_fma", bench.flop / seconds / bench.rates.multiply_add}});
        printLine(options, line);
    }
}

void benchGenerate(const BenchOptions& options, const Workload& work) {
    for (const Specification& candidate : candidatesOf(options, work)) {
        const double step = benchStepSeconds(candidate);
        const GenerationBench generation = benchGeneration(candidate, std::min(work.times, 3));
        const double seconds = generation.times.median();
        Json line = lineOf(work, candidate);
        line.update({{"problems", candidate.evaluation.problems},
                     {"ms", seconds / kMilli},
                     {"characters_per_s", static_cast<double>(generation.characters) / seconds},
                     {"step_ms", step / kMilli},
                     {"in_steps", seconds / step}});
        printLine(options, line);
    }
}

void printBaselines(const BenchOptions& options, const Workload& work, const Specification& candidate,
                    const std::vector<ProgramBench>& rows, const MachineRates& rates) {
    const double tokens = tokensOf(candidate);
    const double ours = rows.front().times.median();
    if (options.json) {
        for (const ProgramBench& row : rows)
            print({{"work", work.name},
                   {"who", row.name},
                   {"method", candidate.model.position},
                   {"precision", row.precision},
                   {"steps", row.times.seconds.size()},
                   {"ms", row.times.median() / kMilli},
                   {"min", row.times.minimum() / kMilli},
                   {"max", row.times.maximum() / kMilli},
                   {"tokens_per_s", tokens / row.times.median()},
                   {"first_step_s", row.first_step_s},
                   {"peak_mb", row.peak_mb},
                   {"times_ours", row.times.median() / ours}});
        return;
    }
    std::cout
        << "Workload " << work.name << ", " << positionMethod(candidate.model.position).title << ", "
        << candidate.device.precision << "; this machine: " << formatRounded(rates.gemm / kGiga, 3)
        << " GFLOP/s of LibTorch's GEMM, " << formatRounded(rates.multiply_add / kGiga, 3)
        << " of multiply-adds\n\n"
        << "| program | steps | ms per step | min | max | tokens/s | peak MB | first step s | times ours |\n"
        << "|---|---|---|---|---|---|---|---|---|\n";
    for (const ProgramBench& row : rows) {
        std::cout << "| " << row.name
                  << (row.precision == candidate.device.precision ? "" : ", " + row.precision) << " | "
                  << row.times.seconds.size();
        for (const double value :
             {row.times.median() / kMilli, row.times.minimum() / kMilli, row.times.maximum() / kMilli,
              tokens / row.times.median(), row.peak_mb, row.first_step_s, row.times.median() / ours})
            std::cout << " | " << formatRounded(value, 3);
        std::cout << " |\n";
    }
    std::cout << std::endl;
}

/// Alternates a few steps of roper-train and of the baselines.
void benchBaselines(const BenchOptions& options, const Workload& work, const Specification& candidate) {
    const Json first = firstStepOf(options, work, candidate);
    std::vector<Baseline> baselines = startBaselines(candidate, vocabularySize(candidate.task));
    constexpr int kStepsPerRound = 5;
    const StepBench ours = benchInterleaved({candidate}, work.times, 2, [&](int round) {
                               if (round % kStepsPerRound != 0) return;
                               for (Baseline& baseline : baselines)
                                   baseline.runSteps();
                           }).front();
    std::vector<ProgramBench> rows = {{"roper-train", candidate.device.precision, ours.times,
                                       first.at("first_step_s"), first.at("peak_mb")}};
    for (const Baseline& baseline : baselines)
        rows.push_back(baseline.measured());
    printBaselines(options, work, candidate, rows, ours.rates);
}

}  // namespace

int benchCommand(const BenchOptions& options) {
    const std::vector<std::string> targets = kernelTargets();
    if (!options.target.empty() && !hasElement(targets, options.target))
        throw Error(ErrorKind::usage, "--target: this computer cannot run kernels for " + options.target +
                                          "; it can run those for " + join(targets, ", "));
    if (options.save_speed && options.work != "step")
        throw Error(ErrorKind::usage, "--remember saves the time per step; `bench " + options.work +
                                          "` does not measure it: leave it out");
    selectKernelTarget(options.target);
    if (options.work == "first") {
        if (options.what.empty())
            throw Error(ErrorKind::usage, "`bench first` measures one preset: name it with --preset");
        benchFirst(options);
        return 0;
    }
    // In older versions `baselines` was called "peers".
    if (options.work == "baselines" || options.work == "peers") {
        const bool changed =
            !options.what.empty() ||
            std::ranges::any_of(options.settings, [](const auto& s) { return !s.starts_with("device."); });
        if (changed)
            throw Error(
                ErrorKind::usage,
                "the baselines are measured on workload A unchanged: leave out --preset, and use --set "
                "only for device.…");
        const Workload work = workloadsOf(options).front();
        for (const char* method : {"roper", "rope"})
            for (const Specification& candidate : candidatesOf(options, work, method))
                benchBaselines(options, work, candidate);
        return 0;
    }
    for (const Workload& work : workloadsOf(options)) {
        if (options.work == "step") benchStep(options, work);
        if (options.work == "attention") benchKernel(options, work);
        if (options.work == "generate") benchGenerate(options, work);
    }
    return 0;
}

}  // namespace roper
