#pragma once

#include <string>
#include <vector>

namespace roper {

/// The rotary settings of a well-known model, from its config.json on Hugging Face.
struct KnownModel {
    std::string name;
    std::string config;  ///< for `readHuggingFaceConfig`
};

/// One for each of the common ways of setting frequencies.
const std::vector<KnownModel>& knownModels();

}  // namespace roper
