#include "app/roper_train/bench_baselines.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/this_process.h"

namespace roper {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The project folder in which this program was built: above build/PRESET/bin.
fs::path projectFolder() {
    return fs::read_symlink("/proc/self/exe").parent_path() / "../../..";
}

std::vector<std::string> commandOf(const Baseline::Kind& kind, const Specification& s,
                                   std::int64_t vocabulary) {
    const fs::path project = projectFolder();
    const fs::path python = project / ".lab/baselines/bin/python",
                   script = project / "tests/bench/baselines.py";
    for (const fs::path& needed : {python, script})
        if (!fs::exists(needed))
            throw Error(ErrorKind::usage,
                        "the baselines need " + needed.lexically_normal().string() +
                            ": run `./lab setup --baselines` in the project's folder, then use "
                            "the roper-train built there");
    std::vector<std::string> command = {"env"};
    if (kind.warm_heap) {  // the settings of `keepFreedHeapMemory`
        const std::string threshold = std::to_string(kHeapThreshold), pad = std::to_string(kHeapPad);
        command.insert(command.end(), {"MALLOC_MMAP_THRESHOLD_=" + threshold,
                                       "MALLOC_TRIM_THRESHOLD_=" + threshold, "MALLOC_TOP_PAD_=" + pad});
    }
    command.insert(command.end(), {python.string(), script.string(), kind.baseline, "--method",
                                   s.model.position, "--precision", kind.precision});
    const std::pair<const char*, std::int64_t> sizes[] = {
        {"--vocabulary", vocabulary},  {"--width", s.model.width},
        {"--layers", s.model.layers},  {"--heads", s.model.heads},
        {"--length", s.inputLength()}, {"--feed_forward", s.model.feed_forward},
        {"--batch", s.training.batch}, {"--threads", s.device.threads}};
    for (const auto& [name, size] : sizes)
        command.insert(command.end(), {name, std::to_string(size)});
    return command;
}

/// Reads an answer of the script. @throws Error (other) if the process has ended or the answer is unexpected
Json answerOf(PipedProcess& process, const std::string& name) {
    const auto line = process.read();
    if (!line) throw Error(ErrorKind::other, "the baseline " + name + " has ended; see its messages above");
    Json answer = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object())
        throw Error(ErrorKind::other, "the baseline " + name + " answered \"" + line->substr(0, 100) +
                                          "\", which is not an answer of tests/bench/baselines.py");
    return answer;
}

}  // namespace

Baseline::Baseline(Kind kind, const Specification& specification, std::int64_t vocabulary)
    : kind_(std::move(kind)),
      process_(std::make_unique<PipedProcess>("/usr/bin/env", commandOf(kind_, specification, vocabulary))) {
    const Json answer = answerOf(*process_, kind_.name);
    first_step_s_ = answer.at("first_step_s").get<double>();
    peak_mb_ = answer.at("peak_mb").get<double>();
}

void Baseline::runSteps() {
    process_->write(std::to_string(kind_.steps_per_round));
    const Json answer = answerOf(*process_, kind_.name);
    for (const Json& ms : answer.at("ms"))
        times_.seconds.push_back(1e-3 * ms.get<double>());
}

std::vector<Baseline> startBaselines(const Specification& specification, std::int64_t vocabulary) {
    if (!specification.headLayout().isUniform())
        throw Error(ErrorKind::usage,
                    "the baselines have as many key/value heads as heads, and separate keys and values: "
                    "leave out model.kv_heads and model.shared_kv to compare with them");
    const Specification::Model& model = specification.model;
    if (specification.isModern() || model.latent_rank > 0 || model.qk_norm || model.attention_sinks ||
        model.window > 0 || model.no_rotation_every > 0 || model.rotated_part != RotatedPart::first)
        throw Error(
            ErrorKind::usage,
            "the baselines have classic blocks, rotate the first features of every layer, do not normalize "
            "queries and keys and have no latent vectors, sinks or windows: leave out model.block, "
            "latent_rank, no_rotation_every, rotated_part, qk_norm, attention_sinks and window to compare "
            "with them");
    std::vector<Baseline::Kind> kinds = {{"tight PyTorch", "tight", false, 5},
                                         {"tight PyTorch, warm heap", "tight", true, 5},
                                         {"torch.compile", "compile", false, 5},
                                         {"torch.compile, warm heap", "compile", true, 5}};
    // labml-nn's RoPE needs a part of the package labml that newer versions lack.
    if (specification.model.position == "roper") kinds.insert(kinds.begin(), {"labml-nn", "labml", false, 1});
    for (Baseline::Kind& kind : kinds)
        if (kind.baseline != "labml")
            kind.precision = specification.device.precision;  // labml-nn supports only float32
    std::vector<Baseline> baselines;
    for (const Baseline::Kind& kind : kinds) {
        std::cerr << "starting " << kind.name << " …" << std::endl;
        baselines.emplace_back(kind, specification, vocabulary);
    }
    return baselines;
}

}  // namespace roper
