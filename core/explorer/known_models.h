#pragma once

#include <string>
#include <vector>

namespace roper {

/// The rotary settings of a well-known model, as its config.json on Hugging Face has them.
struct KnownModel {
    std::string name;
    std::string config;  ///< for `readHuggingFaceConfig`
};

/// One for each way in which models of these years set their frequencies.
const std::vector<KnownModel>& knownModels();

}  // namespace roper
