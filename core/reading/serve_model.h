#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/file_path.h"
#include "core/control/run_control.h"
#include "core/reading/model_reader.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Who is told what while a model is served.
struct ServeOptions {
    /// The socket's path when it listens, and the step of a run's checkpoint (−1 of a published model).
    std::function<void(const std::string& socket, std::int64_t step)> announce;
    std::function<bool()> goes_on;  ///< called a few times a second; ends when it says no
    TakeProgress progress = {};     ///< how far the answer to a question is; may be empty
};

/// For progress: ends the work on an answer. @throws Error (other) if the process is told to end, or nobody
/// waits for the answer any more
void requireSomeoneWaits(const RunControl& control);

/// Answers a request for `look`, or for `head`, `maps` or `generate`, which are former forms of questions.
/// @throws Error (usage, memory)
Reply answerRequest(ModelReader& reader, const Request& request);

/// Opens a control socket for a run that is not training and answers questions about one of its checkpoints
/// (docs/control-socket.md) until it is told to stop, a signal comes, or `ServeOptions::goes_on` says no.
/// @throws Error (checkpoint) if there is no such checkpoint, Error (disk) if there can be no socket
void serveRun(const RunFolder& folder, std::optional<std::int64_t> step, const ServeOptions& options);

/// The same for a published model: a GGUF file or a Hugging Face folder.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
void servePublished(const FilePath& path, const ServeOptions& options);

}  // namespace roper
