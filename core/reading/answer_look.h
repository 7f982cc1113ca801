#pragma once

#include <string>

#include "core/questions/question.h"
#include "core/reading/model_reader.h"

namespace roper {

/// Answers a question about a model, as it is sent: JSON (core/questions/answers.h), or a safetensors file
/// for `attention` ("weights" [T, T]) and `thumbnails` ("weights" [L, H, cells, cells]).
/// @throws Error (usage) for a text without tokens, a head that the model lacks, or a change that it cannot
/// take
std::string answerLook(ModelReader& reader, const Question& question);

}  // namespace roper
