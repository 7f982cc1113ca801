#include "core/pretrained/quantized_tensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

StoredTensor QuantizedParts::require(const std::string& name) {
    if (auto part = store_.extract(name)) {
        if (part->count() == 0) refuse(name, *part, "is empty");
        return std::move(*part);
    }
    throw Error(ErrorKind::checkpoint, store_.pathOfFile(0) + ": the tensor " + toSingleLine(name) +
                                           ", which is part of a quantized matrix, is missing");
}

void QuantizedParts::requireShape(const std::string& name, const StoredTensor& part,
                                  const std::vector<std::int64_t>& shape) const {
    if (part.shape != shape)
        refuse(name, part,
               "is " + part.shapeText() + "; its matrix needs " + StoredTensor{part.type, shape}.shapeText());
}

void QuantizedParts::refuse(const std::string& name, const StoredTensor& part, const std::string& why) const {
    throw Error(ErrorKind::checkpoint,
                store_.pathOfFile(part.file) + ": the tensor " + toSingleLine(name) + " " + why);
}

std::vector<float> readAll(const TensorStore& store, const StoredTensor& tensor) {
    std::vector<float> all(static_cast<std::size_t>(tensor.count()));
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (!all.empty()) store.readRows(tensor, 0, tensor.count() / row, all);
    return all;
}

void requireKnownMembers(const nlohmann::json& members, const std::vector<std::string>& known) {
    for (const auto& [key, value] : members.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw Error(ErrorKind::usage,
                        "the member " + quoteExcerpt(key) + " of its quantization is unknown");
}

void requireOneOf(const nlohmann::json& members, const std::string& key,
                  const std::vector<nlohmann::json>& values) {
    const auto found = members.find(key);
    if (found == members.end() || found->is_null() ||
        std::find(values.begin(), values.end(), *found) != values.end())
        return;
    std::vector<std::string> texts;
    for (const nlohmann::json& value : values)
        texts.push_back(value.dump());
    throw Error(ErrorKind::usage, key + " is " + quoteExcerpt(found->dump()) +
                                      ", which is not supported; expected " + join(texts, " or "));
}

}  // namespace roper
