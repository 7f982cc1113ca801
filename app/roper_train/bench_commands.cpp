#include "app/roper_train/bench_commands.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/bench_peers.h"
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
    const Specification specification =
        withPosition(namedSpecification(work.preset, options.settings), position);
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
    if (!options.target.empty()) {
        arguments.emplace_back("--target");
        arguments.push_back(options.target);
    }
    ConversingProcess process("/proc/self/exe", arguments);
    const std::optional<std::string> line = process.read();
    if (!line)
        throw Error(ErrorKind::other,
                    "the process that takes a first step has ended; its message stands above");
    return Json::parse(*line);
}

void benchFirst(const BenchOptions& options) {
    const Specification specification = withoutUnused(namedSpecification(options.what, options.settings));
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
        if (specification.model.attention != "softmax" || specification.model.frequencies == "trained")
            throw Error(ErrorKind::usage, "the kernel is for softmax attention with fixed frequencies");
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

/// One row of the table of peers.
struct PeerRow {
    std::string name;
    BenchTimes times;
    double first_step_s, peak_mb;
};

void printPeers(const BenchOptions& options, const Work& work, const std::string& method, double tokens,
                const std::vector<PeerRow>& rows, const MachineRates& rates) {
    const double ours = rows.front().times.median();
    if (options.json) {
        for (const PeerRow& row : rows)
            std::cout << Json{{"work", work.name},
                              {"who", row.name},
                              {"method", method},
                              {"precision", "fp32"},
                              {"steps", row.times.seconds.size()},
                              {"ms", row.times.median() / kMilli},
                              {"min", row.times.least() / kMilli},
                              {"max", row.times.greatest() / kMilli},
                              {"tokens_per_s", tokens / row.times.median()},
                              {"first_step_s", row.first_step_s},
                              {"peak_mb", row.peak_mb},
                              {"times_ours", row.times.median() / ours}}
                             .dump()
                      << std::endl;
        return;
    }
    std::cout
        << "Work " << work.name << ", " << methodTitle(method)
        << ", fp32; this machine: " << formatRounded(rates.gemm / kGiga, 3) << " GFLOP/s of LibTorch's GEMM, "
        << formatRounded(rates.multiply_add / kGiga, 3) << " of multiply-adds\n\n"
        << "| who | steps | ms a step | least | most | tokens/s | peak MB | first step s | times ours |\n"
        << "|---|---|---|---|---|---|---|---|---|\n";
    for (const PeerRow& row : rows) {
        std::cout << "| " << row.name << " | " << row.times.seconds.size();
        for (const double value :
             {row.times.median() / kMilli, row.times.least() / kMilli, row.times.greatest() / kMilli,
              tokens / row.times.median(), row.peak_mb, row.first_step_s, row.times.median() / ours})
            std::cout << " | " << formatRounded(value, 3);
        std::cout << " |\n";
    }
    std::cout << std::endl;
}

/// Ours and the peers, a few steps of each by turns.
void benchPeers(const BenchOptions& options, const Work& work, const std::string& method) {
    const Specification specification = specificationOf(options, work, method);
    const Json first = firstStepOf(options, work, method);
    const auto peers = startPeers(specification, vocabularySize(specification.task));
    constexpr int kStepsATurn = 5;
    const StepBenches benches = benchByTurns({specification}, work.times, 2, [&](int turn) {
        if (turn % kStepsATurn != 0) return;
        for (const auto& peer : peers)
            peer->turn();
    });
    std::vector<PeerRow> rows = {
        {"roper-train", benches.steps.front().times, first.at("first_step_s"), first.at("peak_mb")}};
    for (const auto& peer : peers)
        rows.push_back({peer->kind().name, peer->times(), peer->firstStepSeconds(), peer->peakMegabytes()});
    printPeers(options, work, method, tokensOf(specification), rows, benches.rates);
}

}  // namespace

int benchCommand(const BenchOptions& options) {
    const std::vector<std::string> targets = kernelTargets();
    if (!options.target.empty() && std::find(targets.begin(), targets.end(), options.target) == targets.end())
        throw Error(ErrorKind::usage, "this computer has no " + options.target + "; its kernels are for " +
                                          join(targets, ", "));
    useKernelTarget(options.target);
    if (options.work == "first") {
        benchFirst(options);
        return 0;
    }
    if (options.work == "peers") {
        if (!options.what.empty() || !options.settings.empty())
            throw Error(ErrorKind::usage,
                        "the peers are measured on work A as it is, without --preset and --set");
        const Work work = worksOf(options).front();
        for (const char* method : {"roper", "rope"})
            benchPeers(options, work, method);
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
