#pragma once

#include <string>

#include "core/control/messages.h"
#include "core/reading/model_reader.h"

namespace roper {

/// Answers `head`, `maps` and `generate` of docs/control-socket.md for a published model, as safetensors
/// files of the same form as a run's, so that the pages which explore runs explore it. Of `head`, what the
/// model does beside rotating, such as a scale of its own, is in q already.
/// @throws Error (usage) for a head that the model lacks, or one that attends in a way that those pages do
/// not know: within a window that is shorter than the text, or with capped scores; for maps that are too
/// large to be sent
std::string answerPublishedProbe(ModelReader& reader, const Request& request);

}  // namespace roper
