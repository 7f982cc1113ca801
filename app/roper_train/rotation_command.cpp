// The rotation of a model according to its config.json, GGUF metadata or run.toml.

#include <iostream>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/text.h"
#include "core/model_config/rotation_reading.h"
#include "core/reading/run_model.h"

namespace roper {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

const char* nameOf(ValueRotation values) {
    return values == ValueRotation::none      ? "none"
           : values == ValueRotation::rotated ? "rotated"
                                              : "rotated_back";
}

/// The rotation of a model, with its layers grouped by their rotation.
ParsedRotation parsedRotationOf(PretrainedModel model) {
    const Architecture& architecture = model.architecture;
    ParsedRotation parsed;
    parsed.model_type = architecture.family;
    parsed.notes = std::move(model.notes);
    parsed.positions = static_cast<double>(architecture.context);
    if (architecture.rotatesValues())
        parsed.values = architecture.rotatesOutputs() ? ValueRotation::rotated_back : ValueRotation::rotated;
    const RotatedTensors rotated = architecture.rotatedTensors();
    if (!rotated.scoresAreRelative() || (rotated.output && !rotated.value) ||
        (rotated.anyOfValues() && !rotated.anyOfScores()))
        parsed.notes.push_back("rotated tensors: " + nameOf(rotated));
    for (const RotaryConfig& rotary : architecture.rotations)
        parsed.layers.push_back({"", {}, rotary});
    for (std::size_t layer = 0; layer < architecture.rotation_of_layer.size(); ++layer)
        parsed.layers[architecture.rotation_of_layer[layer]].layers.push_back(static_cast<int>(layer));
    return parsed;
}

ParsedRotation parsedRotationOf(const fs::path& model, const fs::path& runs) {
    const bool is_file = model.extension() == ".json",
               is_folder = fs::is_directory(model) && pathExists(model / "config.json");
    if (!is_file && !is_folder)
        return parsedRotationOf(isPretrainedModel(model) ? openPretrainedModel(model)
                                                         : openRunModel(findRun(model.string(), runs)));
    return readRotationFile(is_file ? model : model / "config.json");
}

/// "0-4, 6": consecutive numbers as ranges.
std::string rangesOf(const std::vector<int>& numbers) {
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1)
            ++end;
        ranges.push_back(std::to_string(numbers[i]) +
                         (end > i ? "-" + std::to_string(numbers[end]) : std::string()));
        i = end + 1;
    }
    return join(ranges, ", ");
}

Json jsonOf(const ParsedRotation& parsed, const fs::path& model, double tokens) {
    Json all = Json::array();
    for (const RotatedLayers& layers : parsed.layers) {
        const RotaryConfig& rotary = layers.rotary;
        const ScaledFrequencies scaled = rotary.frequenciesForLength(tokens);
        all.push_back({{"kind", layers.kind},
                       {"layers", layers.layers},
                       {"head_dim", rotary.head_dim},
                       {"rotated_first", rotary.firstRotated()},
                       {"rotated_width", rotary.rotatedWidth()},
                       {"pairing", nameOf(rotary.pairing)},
                       {"theta", std::vector<double>(scaled.theta.begin(), scaled.theta.end())},
                       {"factor", scaled.attention_factor},
                       {"values", nameOf(parsed.values)}});
    }
    return {{"model", model.string()},
            {"model_type", parsed.model_type},
            {"layers", all},
            {"notes", parsed.notes}};
}

std::string scalingText(const Scaling& scaling) {
    const std::string name = nameOf(scaling.method);
    if (scaling.method == ScalingMethod::none) return "not scaled";
    if (scaling.method == ScalingMethod::p_rope) return name + " " + formatNumber(scaling.proportion);
    return name + " by " + formatRounded(scaling.factor, 4) + ", trained with contexts of " +
           formatRounded(scaling.original_length, 6) + " tokens";
}

void printText(const ParsedRotation& parsed, double tokens) {
    if (!parsed.model_type.empty()) std::cout << "model type " << parsed.model_type << "\n";
    const bool knows_layers =
        std::ranges::any_of(parsed.layers, [](const RotatedLayers& one) { return !one.layers.empty(); });
    for (const RotatedLayers& layers : parsed.layers) {
        const RotaryConfig& rotary = layers.rotary;
        if (!layers.kind.empty()) std::cout << layers.kind << ", ";
        if (!layers.layers.empty())
            std::cout << "layers " << rangesOf(layers.layers) << ", ";
        else if (knows_layers)
            std::cout << "in no layer of this model, ";
        std::cout << "heads of " << rotary.head_dim << " features: ";
        if (rotary.rotatedWidth() == 0) {
            std::cout << "no features rotate\n";
            continue;
        }
        const ScaledFrequencies scaled = rotary.frequenciesForLength(tokens);
        const bool pairs_neighbors = rotary.pairing == Pairing::interleaved;
        std::cout << (rotary.firstRotated() > 0 ? "the last " : "") << rotary.rotatedWidth()
                  << " rotate, feature i with "
                  << (pairs_neighbors ? "i + 1" : "i + " + std::to_string(rotary.rotatedWidth() / 2))
                  << ", base " << formatNumber(rotary.base) << ", " << scalingText(rotary.scaling)
                  << "\n  θ from " << formatRounded(scaled.theta[0], 6) << " to "
                  << formatRounded(scaled.theta[scaled.theta.size() - 1], 6)
                  << " radians per position; cos and sin are multiplied by "
                  << formatRounded(scaled.attention_factor, 6) << "\n";
    }
    if (parsed.values != ValueRotation::none)
        std::cout << "values also rotate"
                  << (parsed.values == ValueRotation::rotated_back ? ", and outputs are rotated back: RoPER\n"
                                                                   : ", and outputs are not rotated back\n");
    for (const std::string& note : parsed.notes)
        std::cerr << "roper-train: " << note << "\n";
}

}  // namespace

int rotationCommand(const RotationOptions& options) {
    const ExitOnClosedOutput exit_on_closed_output;
    const auto tokens = static_cast<double>(options.tokens);
    const auto answer = [&](const fs::path& model) {
        const ParsedRotation parsed = parsedRotationOf(model, options.runs);
        if (options.json) {
            print(jsonOf(parsed, model, tokens));
        } else {
            if (options.models.size() > 1) std::cout << model.string() << "\n";
            printText(parsed, tokens);
        }
    };
    return answerEach(options.models, options.json, answer, [](const fs::path& model) {
        return Json{{"model", model.string()}};
    });
}

}  // namespace roper
