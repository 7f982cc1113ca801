#include "core/pretrained/quantized_tensors.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

StoredTensor takePart(TensorStore& store, const std::string& name) {
    if (auto part = store.extract(name)) {
        if (part->count() == 0) store.refuse(name, *part, "is empty");
        return std::move(*part);
    }
    throw Error(ErrorKind::checkpoint, store.pathOfFile(0) + ": the tensor " + toSingleLine(name) +
                                           ", which is part of a quantized matrix, is missing");
}

void requireType(const TensorStore& store, const std::string& name, const StoredTensor& part,
                 std::initializer_list<ElementType> types) {
    if (!hasElement(types, part.type))
        store.refuse(name, part,
                     "is " + part.shapeText() + " of " + nameOf(part.type) +
                         ", which does not fit such a quantized matrix");
}

void requireShape(const TensorStore& store, const std::string& name, const StoredTensor& part,
                  const std::vector<std::int64_t>& shape) {
    if (part.shape != shape)
        store.refuse(
            name, part,
            "is " + part.shapeText() + "; its matrix needs " + StoredTensor{part.type, shape}.shapeText());
}

void requireKnownMembers(const nlohmann::json& members, const std::vector<std::string>& known) {
    for (const auto& [key, value] : members.items())
        if (!hasElement(known, key))
            throw Error(ErrorKind::usage,
                        "the member " + quoteExcerpt(key) + " of its quantization is unknown");
}

void requireOneOf(const nlohmann::json& members, const std::string& key,
                  const std::vector<nlohmann::json>& values) {
    const auto found = members.find(key);
    if (found == members.end() || found->is_null() || hasElement(values, *found)) return;
    const auto texts = mapped(values, [](const nlohmann::json& value) { return value.dump(); });
    throw Error(ErrorKind::usage, key + " is " + quoteExcerpt(found->dump()) +
                                      ", which is not supported; expected " + join(texts, " or "));
}

}  // namespace roper
