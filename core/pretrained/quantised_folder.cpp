#include "core/pretrained/quantised_folder.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Quantization methods of folders, by quant_method, with their usual names.
struct QuantMethod {
    const char *method, *called;
};
constexpr QuantMethod kMethods[] = {{"bitsandbytes", "bitsandbytes"},
                                    {"bitsandbytes_4bit", "bitsandbytes"},
                                    {"bitsandbytes_8bit", "bitsandbytes"},
                                    {"fp8", "FP8"},
                                    {"fbgemm_fp8", "FP8 (FBGEMM)"},
                                    {"mxfp8", "MXFP8"},
                                    {"mxfp4", "MXFP4"},
                                    {"nvfp4", "NVFP4"},
                                    {"gptq", "GPTQ"},
                                    {"awq", "AWQ"},
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
                                    {"bitnet", "BitNet"}};

/// Separate files that programs wrote before config.json described the quantization.
constexpr QuantMethod kFilesBeside[] = {
    {"quantize_config.json", "GPTQ"}, {"quant_config.json", "AWQ"}, {"hf_quant_config.json", "ModelOpt"}};

std::string calledOf(const std::string& method) {
    for (const QuantMethod& known : kMethods)
        if (method == known.method) return known.called;
    return quotedBeginning(method);
}

/// " in 4 bits", if a member says so.
std::string bitsOf(const Json& quantised) {
    for (const auto& [key, bits] : {std::pair("load_in_4bit", 4), std::pair("load_in_8bit", 8)})
        if (quantised.contains(key) && quantised[key] == true) return " in " + std::to_string(bits) + " bits";
    if (quantised.contains("bits") && quantised["bits"].is_number())
        return " in " + formatNumber(quantised["bits"].get<double>()) + " bits";
    return "";
}

/// "quantised by FP8 (quantization_config)"; nothing if the config does not mention quantization.
std::optional<std::string> quantisationOf(const Json& config) {
    if (!config.is_object()) return std::nullopt;
    for (const char* const key : {"quantization_config", "compression_config", "quantization"}) {
        if (!config.contains(key) || config[key].is_null() || config[key].empty()) continue;
        const Json& quantised = config[key];
        const std::string where = std::string(" (") + key + ")";
        if (!quantised.is_object()) return "quantised" + where;
        if (quantised.contains("quant_method") && quantised["quant_method"].is_string())
            return "quantised by " + calledOf(quantised["quant_method"].get<std::string>()) +
                   bitsOf(quantised) + where;
        // Older configs of bitsandbytes do not name their method; MLX's have only the members tested below.
        if (quantised.contains("load_in_8bit") || quantised.contains("load_in_4bit"))
            return "quantised by bitsandbytes" + bitsOf(quantised) + where;
        if (quantised.contains("group_size") && quantised.contains("bits"))
            return "quantised by MLX" + bitsOf(quantised) + where;
        return "quantised" + where;
    }
    for (const char* const part : {"text_config", "language_config", "llm_config"})
        if (config.contains(part))
            if (const auto found = quantisationOf(config[part])) return found;
    return std::nullopt;
}

[[noreturn]] void refuseQuantised(const FilePath& path, const std::string& what) {
    throw Error(ErrorKind::checkpoint,
                path.string() + ": this model is " + what +
                    ", which is not read here: use the folder that it was made from, in F32, F16 or BF16, or "
                    "the model as a GGUF file");
}

}  // namespace

void requireNotQuantised(const FilePath& folder, std::string_view config) {
    try {
        if (const auto what = quantisationOf(parseStrictJson(config)))
            refuseQuantised(folder / "config.json", *what);
    } catch (const Json::exception&) {
        return;  // reported where the config is read
    } catch (const std::invalid_argument&) {
        return;
    }
    for (const QuantMethod& beside : kFilesBeside)
        if (isThere(folder / beside.method))
            refuseQuantised(folder / beside.method, std::string("quantised by ") + beside.called);
}

}  // namespace roper
