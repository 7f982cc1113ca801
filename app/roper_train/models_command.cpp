// The models that other programs have downloaded, and the memory that reading them takes.

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/model_stores.h"
#include "core/reading/opened_model.h"
#include "core/reading/reading_memory.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

/// What the files of a downloaded model say.
struct ModelDetails {
    std::string family, type;  ///< type: data type of most parameters, "Q4_K"
    std::int64_t parameters = 0;
    std::uint64_t bytes = 0;   ///< of the tensors as stored
    double memory_bytes = 0;   ///< minimum for a text of kUsualTokens tokens
    std::string problem = {};  ///< why the model cannot be read; empty if it can
};

std::string typeOfMost(const TensorStore& tensors) {
    std::map<std::string, std::int64_t> elements;
    for (const auto& [name, tensor] : tensors.tensors())
        elements[tensor.quantized ? "quantized" : nameOf(tensor.type)] += tensor.count();
    const auto most =
        std::ranges::max_element(elements, [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == elements.end() ? std::string() : most->first;
}

ModelDetails detailsOf(const StoredModel& stored) {
    ModelDetails details;
    try {
        const OpenedModel opened = openPublished(FilePath::regular(stored.path));
        const PretrainedModel& model = opened.model;
        details.family = model.architecture.family;
        details.type = typeOfMost(*model.tensors);
        details.parameters = model.weights.parameters;
        details.bytes = model.tensors->sizeOfFiles();
        details.memory_bytes = leastMemoryToRead(model.architecture, kUsualTokens);
    } catch (const Error& error) {
        details.problem = error.what();
    }
    return details;
}

Json jsonOf(const StoredModel& stored, const ModelDetails& details) {
    Json json = {{"title", stored.title}, {"program", stored.program}, {"path", stored.path.string()}};
    if (!details.problem.empty()) {
        json["problem"] = details.problem;
        return json;
    }
    json.update({{"family", details.family},
                 {"parameters", details.parameters},
                 {"type", details.type},
                 {"bytes", details.bytes},
                 {"memory_bytes", details.memory_bytes}});
    return json;
}

void printModel(const StoredModel& stored, const ModelDetails& details) {
    std::cout << toSingleLine(stored.title) << " (" << stored.program << ")\n";
    if (details.problem.empty())
        std::cout << "  " << details.family << ", "
                  << formatWithUnit(static_cast<double>(details.parameters), kUnitsOfCounts)
                  << " parameters, " << details.type << ", "
                  << formatBytes(static_cast<double>(details.bytes)) << "; reading " << kUsualTokens
                  << " tokens takes at least " << formatBytes(details.memory_bytes) << " of memory\n";
    else
        std::cout << "  cannot be opened: " << toSingleLine(details.problem) << "\n";
    std::cout << "  " << toSingleLine(stored.path.string()) << "\n";
}

}  // namespace

int modelsCommand(bool json) {
    const ExitOnClosedOutput exit_on_closed_output;
    const std::vector<StoredModel> models = storedModels();
    for (const StoredModel& stored : models) {
        const ModelDetails details = detailsOf(stored);
        if (json)
            print(jsonOf(stored, details));
        else
            printModel(stored, details);
        std::cout << std::flush;
    }
    if (!json && models.empty())
        std::cerr << "roper-train: no models found in the caches of Hugging Face, LM Studio, Ollama and "
                     "llama.cpp\n";
    return 0;
}

}  // namespace roper
