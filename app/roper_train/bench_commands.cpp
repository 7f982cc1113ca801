#include "app/roper_train/bench_commands.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/commands.h"
#include "core/compare/grouping.h"
#include "core/kernels/attention.h"
#include "core/runs/child_process.h"
#include "core/runs/cost.h"
#include "core/runs/error.h"
#include "core/runs/speeds.h"
#include "core/runs/text.h"
#include "core/training/bench.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6, kGiga = 1e9, kMilli = 1e-3;
constexpr const char* kMethods[] = {"rope", "roper"};

/// One of the sizes that are measured (docs/performance.md).
struct Work {
    std::string name, preset;
    int times;
};

std::vector<Work> worksOf(const BenchOptions& options) {
    if (!options.what.empty()) return {{options.what, options.what, options.times > 0 ? options.times : 20}};
    const int a = options.times > 0 ? options.times : 200;
    return {{"A", "prefix-paper", a}, {"B", "addition-paper", std::max(3, a / 40)}};
}

Specification specificationOf(const BenchOptions& options, const Work& work, const std::string& position) {
    Specification specification = namedSpecification(work.preset);
    for (const std::string& setting : options.settings)
        applySetting(specification, setting);
    specification = withPosition(specification, position);
    requireValid(specification, work.preset);
    return specification;
}

std::vector<Specification> bothMethods(const BenchOptions& options, const Work& work) {
    std::vector<Specification> both;
    for (const char* position : kMethods)
        both.push_back(specificationOf(options, work, position));
    return both;
}

void print(const BenchOptions& options, const Json& line) {
    if (options.json) {
        std::cout << line.dump() << std::endl;
        return;
    }
    for (const auto& [key, value] : line.items())
        if (value.is_number())
            std::cout << "  " << key << " " << formatRounded(value.get<double>(), 4);
        else
            std::cout << (key == "work" ? "" : " ") << value.get<std::string>();
    std::cout << std::endl;
}

/// What `bench first` says in a process of its own.
Json firstStepOf(const BenchOptions& options, const Work& work, const std::string& position) {
    std::vector<std::string> arguments = {"roper-train", "bench", "first", "--json", "--preset", work.preset};
    for (const std::string& setting : options.settings) {
        arguments.emplace_back("--set");
        arguments.push_back(setting);
    }
    arguments.emplace_back("--set");
    arguments.push_back("model.position=" + position);
    ConversingProcess process("/proc/self/exe", arguments);
    const std::optional<std::string> line = process.read();
    if (!line) throw Error(ErrorKind::other, "the process that takes a first step ended without a word");
    return Json::parse(*line);
}

void benchFirst(const BenchOptions& options) {
    Specification specification = namedSpecification(options.what);
    for (const std::string& setting : options.settings)
        applySetting(specification, setting);
    specification = withoutUnused(specification);
    requireValid(specification, options.what);
    const FirstStep first = takeFirstStep(specification);
    print(options, {{"first_step_s", first.seconds}, {"peak_mb", first.peak_bytes / kMega}});
}

double tokensOf(const Specification& specification) {
    return static_cast<double>(specification.training.batch * specification.inputLength());
}

void benchStep(const BenchOptions& options, const Work& work) {
    const std::vector<Specification> both = bothMethods(options, work);
    const StepBenches benches = benchByTurns(both, work.times, std::clamp(work.times / 10, 1, 5));
    for (std::size_t i = 0; i < both.size(); ++i) {
        const BenchTimes& times = benches.steps[i].times;
        const double seconds = times.median(), rate = benches.rates.gemm;
        const Json first = firstStepOf(options, work, kMethods[i]);
        Json line = {{"work", work.name},
                     {"method", kMethods[i]},
                     {"precision", "fp32"},
                     {"ms", seconds / kMilli},
                     {"min", times.least() / kMilli},
                     {"max", times.greatest() / kMilli},
                     {"tokens_per_s", tokensOf(both[i]) / seconds},
                     {"first_step_s", first.at("first_step_s")},
                     {"peak_mb", first.at("peak_mb")},
                     {"gemm_gflops", rate / kGiga},
                     {"share_of_gemm", costOf(both[i]).flop_a_step / seconds / rate},
                     {"fma_gflops", benches.rates.multiply_add / kGiga}};
        for (std::size_t part = 0; part < kStepParts; ++part)
            line[std::string(partName(static_cast<StepPart>(part))) + "_ms"] =
                benches.steps[i].parts[part] / kMilli;
        print(options, line);
        if (options.remember) rememberSpeed(options.runs, both[i], seconds);
    }
}

void benchKernel(const BenchOptions& options, const Work& work) {
    for (const char* position : kMethods) {
        const Specification specification = specificationOf(options, work, position);
        const AttentionBench bench = benchAttention(specification, work.times);
        const double seconds = bench.kernel.median();
        print(options, {{"work", work.name},
                        {"method", position},
                        {"target", kernelTarget()},
                        {"ms", seconds / kMilli},
                        {"min", bench.kernel.least() / kMilli},
                        {"max", bench.kernel.greatest() / kMilli},
                        {"plain_ms", bench.plain.median() / kMilli},
                        {"fma_gflops", bench.rates.multiply_add / kGiga},
                        {"share_of_fma", bench.flop / seconds / bench.rates.multiply_add}});
    }
}

void benchGenerate(const BenchOptions& options, const Work& work) {
    for (const char* position : kMethods) {
        const Specification specification = specificationOf(options, work, position);
        const double step = benchSteps(specification, 3, 1).median();
        const GenerationBench generation = benchGeneration(specification, std::min(work.times, 3));
        const double seconds = generation.times.median();
        print(options, {{"work", work.name},
                        {"method", position},
                        {"problems", specification.evaluation.problems},
                        {"ms", seconds / kMilli},
                        {"characters_per_s", static_cast<double>(generation.characters) / seconds},
                        {"step_ms", step / kMilli},
                        {"in_steps", seconds / step}});
    }
}

}  // namespace

int benchCommand(const BenchOptions& options) {
    useKernelTarget(options.target);
    if (options.work == "first") {
        benchFirst(options);
        return 0;
    }
    for (const Work& work : worksOf(options)) {
        if (options.work == "step") benchStep(options, work);
        if (options.work == "attention") benchKernel(options, work);
        if (options.work == "generate") benchGenerate(options, work);
    }
    return 0;
}

}  // namespace roper
