#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// What computes a run. Two runs of the same specification and seeds come out the same, bit for bit, only
/// where all of this is the same.
struct Computation {
    std::string device;          ///< "cpu", or "cuda:0, NVIDIA H100"
    std::string processor;       ///< "AMD EPYC 9R14"; empty where the system does not say
    std::string instructions;    ///< that our kernels are for: "AVX-512 BF16"; empty where they are not used
    std::string kernel;          ///< of attention and of what is between the products: "ours" or "LibTorch"
    std::string products;        ///< what multiplies matrices: "oneDNN 2.6.3, AVX-512 BF16"
    std::string precision;       ///< of the operands of products: "float32", "bfloat16" or "float64"
    std::int64_t processes = 1;  ///< that trained it together
    std::int64_t threads = 0;    ///< of each
    std::string libtorch;        ///< version
    std::string program;         ///< version of RoPER Lab
    std::string
        commit;  ///< that it was built from, with "-dirty" where files had been changed; empty: unknown

    bool operator==(const Computation&) const = default;
};

/// Names and values as people read them: {"precision", "bfloat16"}, …; in the order of the members.
std::vector<std::pair<std::string, std::string>> fieldsOf(const Computation& computation);

/// The same of what has computed one run: of each field all values that differ, each once.
std::vector<std::pair<std::string, std::set<std::string>>> fieldsOf(
    const std::vector<Computation>& computations);

/// "bfloat16, our kernels for AVX-512 BF16, …": in one line.
std::string textOf(const Computation& computation);

/// A time in which a trainer has worked on a run.
struct Session {
    std::int64_t after_step = 0;  ///< of the checkpoint that it began from; 0: the beginning
    double began = 0;             ///< seconds since 1970, UTC
    std::string host;
    Computation computation;
};

/// The file with a line for each session, in JSON: sessions.jsonl.
FilePath sessionsPath(const RunFolder& run);

/// Adds one. @throws Error (disk)
void addSession(const RunFolder& run, const Session& session);

/// A run of an older version has none. Lines that cannot be read are left out.
/// @throws Error (disk)
std::vector<Session> readSessions(const RunFolder& run);

/// What computed the steps that a run has kept, each once: steps after a session's checkpoint were computed
/// again by it.
std::vector<Computation> computationsOf(const std::vector<Session>& sessions);

}  // namespace roper
