#include "core/pretrained/quantized_folder.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/pretrained/quantized_tensors.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Quantization methods of folders, by quant_method, with their usual names.
struct QuantMethod {
    const char *method, *called;
    void (*combine)(const Json& members, TensorStore& store) = nullptr;  ///< null if not supported
};
constexpr QuantMethod kMethods[] = {{"bitsandbytes", "bitsandbytes", combineBitsandbytes},
                                    {"bitsandbytes_4bit", "bitsandbytes", combineBitsandbytes},
                                    {"bitsandbytes_8bit", "bitsandbytes", combineBitsandbytes},
                                    {"fp8", "FP8", combineFp8},
                                    {"fbgemm_fp8", "FP8 (FBGEMM)"},
                                    {"mxfp8", "MXFP8"},
                                    {"mxfp4", "MXFP4", combineMxfp4},
                                    {"nvfp4", "NVFP4"},
                                    {"gptq", "GPTQ", combineGptq},
                                    {"awq", "AWQ", combineAwq},
                                    {"compressed-tensors", "compressed-tensors"},
                                    {"modelopt", "ModelOpt"},
                                    {"auto-round", "AutoRound"},
                                    {"exl2", "EXL2"},
                                    {"exl3", "EXL3"},
                                    {"hqq", "HQQ"},
                                    {"aqlm", "AQLM"},
                                    {"eetq", "EETQ"},
                                    {"quanto", "Quanto"},
                                    {"quark", "Quark"},
                                    {"torchao", "torchao"},
                                    {"higgs", "HIGGS"},
                                    {"spqr", "SpQR"},
                                    {"vptq", "VPTQ"},
                                    {"bitnet", "BitNet", combineBitnet}};

/// Files that programs wrote before config.json described the quantization, in place of quant_method.
constexpr QuantMethod kFilesBeside[] = {
    {"quantize_config.json", "GPTQ"}, {"quant_config.json", "AWQ"}, {"hf_quant_config.json", "ModelOpt"}};

/// Configs of MLX do not name the method.
constexpr QuantMethod kMlx = {"", "MLX", combineMlx};

/// " in 4 bits", if a member says so.
std::string bitsOf(const Json& quantized) {
    for (const auto& [key, bits] : {std::pair("load_in_4bit", 4), std::pair("load_in_8bit", 8)})
        if (quantized.contains(key) && quantized[key] == true) return " in " + std::to_string(bits) + " bits";
    if (quantized.contains("bits") && quantized["bits"].is_number())
        return " in " + formatNumber(quantized["bits"].get<double>()) + " bits";
    return "";
}

constexpr const char* kQuantizationKeys[] = {"quantization_config", "compression_config", "quantization"};

/// The quantization described by a config.
struct Quantization {
    std::string key;  ///< "quantization_config"
    const Json* members;
    const QuantMethod* method;  ///< null if unknown

    /// "quantized by FP8 (quantization_config)"
    std::string text() const {
        const std::string where = " (" + key + ")";
        if (method != nullptr)
            return std::string("quantized by ") + method->called + bitsOf(*members) + where;
        if (members->is_object() && members->contains("quant_method") &&
            (*members)["quant_method"].is_string())
            return "quantized by " + quoteExcerpt((*members)["quant_method"].get<std::string>()) +
                   bitsOf(*members) + where;
        return "quantized" + where;
    }
};

const QuantMethod* methodNamed(const std::string& name) {
    for (const QuantMethod& known : kMethods)
        if (name == known.method) return &known;
    return nullptr;
}

const QuantMethod* methodOf(const Json& members) {
    if (!members.is_object()) return nullptr;
    if (members.contains("quant_method") && members["quant_method"].is_string())
        return methodNamed(members["quant_method"].get<std::string>());
    // Older configs of bitsandbytes do not name their method; MLX's have only the members tested below.
    if (members.contains("load_in_8bit") || members.contains("load_in_4bit"))
        return methodNamed("bitsandbytes");
    // Without a name: ModelOpt says which program wrote the file, compressed-tensors does not.
    if (members.contains("config_groups"))
        return methodNamed(members.contains("producer") ? "modelopt" : "compressed-tensors");
    return members.contains("group_size") && members.contains("bits") ? &kMlx : nullptr;
}

/// Empty if the config does not mention quantization.
std::optional<Quantization> quantizationOf(const Json& config) {
    if (!config.is_object()) return std::nullopt;
    for (const char* const key : kQuantizationKeys)
        if (config.contains(key) && !config[key].is_null() && !config[key].empty())
            return Quantization{key, &config[key], methodOf(config[key])};
    for (const char* const part : {"text_config", "language_config", "llm_config"})
        if (config.contains(part))
            if (const auto found = quantizationOf(config[part])) return found;
    return std::nullopt;
}

/// Empty if the text is not JSON, which is reported when the config is read.
std::optional<Json> parsedConfig(std::string_view config) {
    try {
        return parseStrictJson(config);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

[[noreturn]] void refuseQuantized(const FilePath& path, const std::string& what) {
    throw Error(
        ErrorKind::checkpoint,
        path.string() + ": this model is " + what +
            ", which is not supported: use the unquantized folder, in F32, F16 or BF16, or the model as a "
            "GGUF file");
}

}  // namespace

bool isQuantizationKey(std::string_view key) {
    return hasElement(kQuantizationKeys, key);
}

void requireSupportedQuantization(const FilePath& folder, std::string_view config) {
    if (const auto json = parsedConfig(config))
        if (const auto found = quantizationOf(*json)) {
            if (found->method == nullptr || found->method->combine == nullptr)
                refuseQuantized(folder / "config.json", found->text());
            return;
        }
    for (const QuantMethod& beside : kFilesBeside)
        if (pathExists(folder / beside.method))
            refuseQuantized(folder / beside.method, std::string("quantized by ") + beside.called);
}

void combineQuantizedMatrices(const FilePath& folder, std::string_view config, TensorStore& store,
                              std::vector<std::string>& notes) {
    const auto json = parsedConfig(config);
    const auto found = json ? quantizationOf(*json) : std::nullopt;
    if (!found || found->method == nullptr || found->method->combine == nullptr) return;
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::checkpoint,
                    (folder / "config.json").string() + ": this model is " + found->text() + ": " + why);
    };
    try {
        found->method->combine(*found->members, store);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        refuse(error.what());
    } catch (const std::invalid_argument& error) {
        refuse(error.what());
    }
    notes.push_back("the model is " + found->text() +
                    ": its matrices are decoded to float32, and activations are not quantized");
}

}  // namespace roper
