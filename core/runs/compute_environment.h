#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// The hardware and software that compute a run. Runs with the same specification and seeds are bit-identical
/// only if all of this is the same.
struct ComputeEnvironment {
    std::string device;     ///< "cpu", or "cuda:0, NVIDIA H100"
    std::string processor;  ///< "AMD EPYC 9R14"; empty if the system does not report it
    /// used by our kernels: "AVX-512 BF16"; empty if these are not used
    std::string instruction_set;
    /// implementation of attention and of the operations between matrix products: "ours" or "LibTorch"
    std::string kernel;
    std::string matrix_products;  ///< implementation of matrix products: "oneDNN 2.6.3, AVX-512 BF16"
    std::string precision;        ///< of the operands of matrix products: "float32", "bfloat16" or "float64"
    std::int64_t processes = 1;   ///< number of processes that trained it together
    std::int64_t threads = 0;     ///< per process
    std::string libtorch;         ///< version
    std::string program;          ///< version of RoPER Lab
    std::string commit;  ///< from which it was built, with "-dirty" if files had been changed; empty: unknown

    bool operator==(const ComputeEnvironment&) const = default;
};

/// Names and values for display: {"precision", "bfloat16"}, …; in the order of the members.
std::vector<std::pair<std::string, std::string>> fieldsOf(const ComputeEnvironment& computation);

/// The same for all environments of one run: the distinct values of each field.
std::vector<std::pair<std::string, std::set<std::string>>> fieldsOf(
    const std::vector<ComputeEnvironment>& computations);

/// One-line summary: "bfloat16, our kernels for AVX-512 BF16, …".
std::string textOf(const ComputeEnvironment& computation);

/// A period in which a trainer worked on a run.
struct Session {
    std::int64_t after_step = 0;  ///< step of the checkpoint from which it started; 0: the beginning
    double started_at = 0;        ///< seconds since 1970, UTC
    std::string host;
    ComputeEnvironment computation;
};

/// The file with one JSON line per session: sessions.jsonl.
FilePath sessionsPath(const RunFolder& run);

/// Appends a session. @throws Error (disk)
void addSession(const RunFolder& run, const Session& session);

/// All sessions in order; empty for runs of older versions. Malformed lines are skipped.
/// @throws Error (disk)
std::vector<Session> readSessions(const RunFolder& run);

/// The distinct environments in which the steps that a run has kept were computed. A session computes all
/// steps after its checkpoint again, so earlier results of these steps do not count.
std::vector<ComputeEnvironment> computeEnvironmentsOf(const std::vector<Session>& sessions);

}  // namespace roper
