#include "core/pretrained/pretrained_model.h"

#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/safetensors.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/pretrained/gguf_rotation.h"
#include "core/pretrained/quantized_folder.h"
#include "core/pretrained/quantized_tensors.h"

namespace roper {
namespace {

constexpr const char *kConfig = "config.json", *kSingle = "model.safetensors",
                     *kIndex = "model.safetensors.index.json";
constexpr std::size_t kMaxFiles = 1024;

/// The type of the same name; a Bool is a byte.
ElementType elementTypeOf(Dtype dtype) {
    return dtype == Dtype::Bool ? ElementType::U8 : elementTypeNamed(dtypeName(dtype)).value();
}

/// Whether tensors of this type are parameters, rather than parts of quantized matrices.
bool holdsParameters(ElementType type) {
    return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16 ||
           type == ElementType::F8_E4M3 || type == ElementType::F8_E5M2;
}

/// Whether a tensor is a table of experts by token (`ExpertMixture::hashed`), which holds whole numbers.
bool isTableOfExperts(const std::string& name) {
    return name.ends_with(".tid2eid");
}

/// The files that an index refers to, without duplicates.
std::set<std::string> filesOfIndex(const FilePath& path) {
    using Json = nlohmann::json;
    const auto refuse = [&](const std::string& why) {
        return Error(ErrorKind::checkpoint, path.string() + ": " + why);
    };
    std::set<std::string> files;
    try {
        const Json json = parseStrictJson(readFile(path));
        for (const auto& [tensor, file] : json.at("weight_map").items())
            if (files.size() <= kMaxFiles) files.insert(file.get<std::string>());
    } catch (const Json::exception& error) {
        throw refuse(jsonErrorMessage(error.what()));
    } catch (const std::invalid_argument& error) {
        throw refuse(error.what());
    }
    if (files.empty() || files.size() > kMaxFiles)
        throw refuse(files.empty() ? "it lists no file" : "it lists more than 1024 files");
    for (const std::string& file : files)
        if (file.find('/') != std::string::npos || file.starts_with('.') || !file.ends_with(".safetensors"))
            throw refuse("it lists the file " + quoteExcerpt(file) +
                         ", which is not a .safetensors file next to it");
    return files;
}

std::shared_ptr<TensorStore> openTensors(const FilePath& folder) {
    auto store = std::make_shared<TensorStore>();
    if (pathExists(folder / kSingle)) {
        addSafetensors(folder / kSingle, *store);
        return store;
    }
    if (!pathExists(folder / kIndex))
        throw Error(
            ErrorKind::checkpoint,
            folder.string() + " contains neither " + kSingle + " nor " + kIndex +
                ": RoPER Lab reads models as safetensors; pytorch_model.bin and the like are not supported");
    for (const std::string& file : filesOfIndex(folder / kIndex))
        addSafetensors(folder / file, *store);
    return store;
}

void addNotes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
}

/// A note on how much ALiBi lowers the scores of the first and the last head, if the model has it.
std::vector<std::string> biasNotes(const Architecture& model) {
    if (!model.hasBias()) return {};
    const auto slope = [&](std::size_t head) {
        return formatRounded(model.key_bias.empty() ? -model.head_bias[head](1) : model.key_bias[head](1), 4);
    };
    const auto last = static_cast<std::size_t>(model.heads) - 1;
    return {"ALiBi lowers scores by distance, in head 0 by " + slope(0) + " per token, in head " +
            std::to_string(last) + " by " + slope(last)};
}

PretrainedModel openFolder(const FilePath& folder) {
    const std::string config = readFile(folder / kConfig);
    requireSupportedQuantization(folder, config);
    ParsedArchitecture parsed;
    try {
        parsed = readConfigArchitecture(config);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        throw Error(ErrorKind::checkpoint, (folder / kConfig).string() + ": " + error.what());
    }
    const auto store = openTensors(folder);
    addNotes(parsed.notes, biasNotes(parsed.architecture));
    combineQuantizedMatrices(folder, config, *store, parsed.notes);
    ModelWeights weights = locateWeights(*store, Naming::hugging_face, parsed.architecture, parsed.biases);
    addNotes(parsed.notes, weights.notes);
    return {folder.path().filename().string(),
            folder,
            std::move(parsed.architecture),
            std::move(weights),
            store,
            {},
            std::move(parsed.notes)};
}

PretrainedModel openGguf(const FilePath& path) {
    GgufFile file = GgufFile::read(path);
    ParsedArchitecture parsed = readGgufArchitecture(file.metadata);
    addNotes(parsed.notes, biasNotes(parsed.architecture));
    combineSecondScales(*file.tensors, parsed.notes);
    readFrequencyFactors(*file.tensors, parsed.architecture);
    ModelWeights weights = locateWeights(*file.tensors, Naming::gguf, parsed.architecture, parsed.biases);
    addNotes(parsed.notes, weights.notes);
    return {
        path.path().stem().string(), path,         std::move(parsed.architecture),
        std::move(weights),          file.tensors, std::make_shared<GgufMetadata>(std::move(file.metadata)),
        std::move(parsed.notes)};
}

}  // namespace

void addSafetensors(const FilePath& path, TensorStore& store) {
    const SafetensorsHeader header = SafetensorsHeader::read(path);
    const std::size_t file = store.addFile(path);
    for (const auto& [name, entry] : header.tensors) {
        StoredTensor tensor{elementTypeOf(entry.dtype), entry.shape, file, header.data_begin + entry.begin};
        if (!holdsParameters(tensor.type) && !isTableOfExperts(name)) {
            store.addUnsupported(name, dtypeName(entry.dtype), std::move(tensor));
            continue;
        }
        try {
            store.add(name, std::move(tensor));
        } catch (const std::invalid_argument& error) {
            throw Error(ErrorKind::checkpoint,
                        path.string() + ": the tensor " + toSingleLine(name) + ": " + error.what());
        }
    }
}

PretrainedModel openPretrainedModel(const FilePath& path) {
    const ModelLocation location = locateModel(path);
    return location.is_gguf ? openGguf(location.path) : openFolder(location.path);
}

}  // namespace roper
