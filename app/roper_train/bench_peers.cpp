#include "app/roper_train/bench_peers.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/runs/child_process.h"
#include "core/runs/error.h"

namespace roper {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The folder of the project that this program was built in: above build/PRESET/bin.
fs::path projectFolder() {
    return fs::read_symlink("/proc/self/exe").parent_path() / "../../..";
}

std::vector<std::string> commandOf(const Peer::Kind& kind, const std::string& work,
                                   const std::string& method) {
    const fs::path project = projectFolder();
    const fs::path python = project / ".lab/peers/bin/python", script = project / "tests/bench/peers.py";
    for (const fs::path& needed : {python, script})
        if (!fs::exists(needed))
            throw Error(ErrorKind::usage, "the peers need " + needed.lexically_normal().string() +
                                              ": run `./lab setup --peers` in the project's folder, and the "
                                              "roper-train that is built there");
    std::vector<std::string> command = {"env"};
    if (kind.warm_heap)  // what `keepHeapWarm` sets
        command.insert(command.end(), {"MALLOC_MMAP_THRESHOLD_=1073741824",
                                       "MALLOC_TRIM_THRESHOLD_=1073741824", "MALLOC_TOP_PAD_=67108864"});
    command.insert(command.end(),
                   {python.string(), script.string(), kind.peer, "--work", work, "--method", method});
    return command;
}

}  // namespace

Peer::Peer(Kind kind, const std::string& work, const std::string& method)
    : kind_(std::move(kind)),
      process_(std::make_unique<ConversingProcess>("/usr/bin/env", commandOf(kind_, work, method))) {
    const auto line = process_->read();
    if (!line) throw Error(ErrorKind::other, "the peer " + kind_.name + " ended before its first step");
    first_step_s_ = Json::parse(*line).at("first_step_s").get<double>();
}

Peer::~Peer() = default;

void Peer::turn() {
    process_->write(std::to_string(kind_.steps_a_turn));
    const auto line = process_->read();
    if (!line) throw Error(ErrorKind::other, "the peer " + kind_.name + " ended while it was measured");
    const Json answer = Json::parse(*line);
    for (const Json& ms : answer.at("ms"))
        times_.seconds.push_back(1e-3 * ms.get<double>());
}

double Peer::end() {
    process_->write("end");
    const auto line = process_->read();
    if (!line) throw Error(ErrorKind::other, "the peer " + kind_.name + " ended without a word");
    return Json::parse(*line).at("peak_mb").get<double>();
}

std::vector<std::unique_ptr<Peer>> startPeers(const std::string& work, const std::string& method) {
    std::vector<Peer::Kind> kinds = {{"tight PyTorch", "tight", false, 5},
                                     {"tight PyTorch, warm heap", "tight", true, 5},
                                     {"torch.compile", "compile", false, 5},
                                     {"torch.compile, warm heap", "compile", true, 5}};
    // It keeps every weight of every head, for work B more than most machines' memory; its RoPE asks for
    // parts of its companion package that newer ones of that no longer have.
    if (work == "A" && method == "roper") kinds.insert(kinds.begin(), {"labml-nn", "labml", false, 1});
    std::vector<std::unique_ptr<Peer>> peers;
    for (const Peer::Kind& kind : kinds) {
        std::cerr << "starting " << kind.name << " …" << std::endl;
        peers.push_back(std::make_unique<Peer>(kind, work, method));
    }
    return peers;
}

}  // namespace roper
