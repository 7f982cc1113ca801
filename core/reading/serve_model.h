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

/// Callbacks while a model is served.
struct ServeOptions {
    /// Receives the socket's path when it listens, and the step of a run's checkpoint (−1 for a published
    /// model).
    std::function<void(const std::string& socket, std::int64_t step)> announce;
    std::function<bool()>
        should_continue;             ///< called a few times a second; serving ends when it returns false
    ProgressCallback progress = {};  ///< receives the progress of an answer; may be empty
};

/// Cancels the work on an answer from a progress callback. @throws Error (other) if the process is asked to
/// end, or the client has disconnected
void requireNotCancelled(const RunControl& control);

/// Answers a `look` request, or the older commands `head`, `maps` and `generate`.
/// @throws Error (usage, memory)
Reply answerRequest(ModelReader& reader, const Request& request);

/// Opens a control socket for a run that is not training and answers questions about one of its checkpoints
/// (docs/control-socket.md) until a request or a signal stops it, or `ServeOptions::should_continue` returns
/// false.
/// @throws Error (checkpoint) if there is no such checkpoint, Error (disk) if the socket cannot be created
void serveRun(const RunFolder& folder, std::optional<std::int64_t> step, const ServeOptions& options);

/// Serves a published model in the same way: a GGUF file or a Hugging Face folder.
/// @throws Error (checkpoint, usage, disk) saying what is wrong with it
void servePublished(const FilePath& path, const ServeOptions& options);

}  // namespace roper
