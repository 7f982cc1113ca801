#include "core/pretrained/element_types/element_type.h"

#include <array>
#include <stdexcept>
#include <vector>

#include "core/pretrained/element_types/element_format.h"

namespace roper {
namespace {

struct UnreadType {
    std::uint32_t gguf;
    const char* name;
};
/// Types of ggml.h that are not supported: Q8_1 and Q8_K hold intermediate results, gguf 0.19.0 cannot decode
/// Q1_0 and Q2_0, and the others are no longer written.
constexpr std::array kUnread = {
    UnreadType{4, "Q4_2"},        UnreadType{5, "Q4_3"},        UnreadType{9, "Q8_1"},
    UnreadType{15, "Q8_K"},       UnreadType{31, "Q4_0_4_4"},   UnreadType{32, "Q4_0_4_8"},
    UnreadType{33, "Q4_0_8_8"},   UnreadType{36, "IQ4_NL_4_4"}, UnreadType{37, "IQ4_NL_4_8"},
    UnreadType{38, "IQ4_NL_8_8"}, UnreadType{41, "Q1_0"},       UnreadType{42, "Q2_0"}};

const std::vector<ElementFormat>& allFormats() {
    static const std::vector<ElementFormat> kAll = [] {
        std::vector<ElementFormat> all;
        for (const auto group : {plainFormats(), shortBlockFormats(), kFormats(), gridFormats(),
                                 ternaryFormats(), fourBitFormats()})
            all.insert(all.end(), group.begin(), group.end());
        return all;
    }();
    return kAll;
}

const ElementFormat& formatOf(ElementType type) {
    for (const ElementFormat& format : allFormats())
        if (format.type == type) return format;
    throw std::invalid_argument("no such element type");
}

}  // namespace

std::string nameOf(ElementType type) {
    return formatOf(type).name;
}

std::size_t elementsPerBlock(ElementType type) {
    return formatOf(type).elements;
}

std::size_t bytesPerBlock(ElementType type) {
    return formatOf(type).bytes;
}

std::optional<ElementType> elementTypeNamed(std::string_view name) {
    for (const ElementFormat& format : allFormats())
        if (format.name == name) return format.type;
    return std::nullopt;
}

std::optional<ElementType> elementTypeOfGguf(std::uint32_t number) {
    for (const ElementFormat& format : allFormats())
        if (format.gguf == number) return format.type;
    return std::nullopt;
}

std::string ggufTypeName(std::uint32_t number) {
    if (const auto known = elementTypeOfGguf(number)) return nameOf(*known);
    for (const UnreadType& unread : kUnread)
        if (unread.gguf == number) return unread.name;
    return "type " + std::to_string(number);
}

void decodeElements(ElementType type, std::span<const std::byte> blocks, std::span<float> out) {
    const ElementFormat& format = formatOf(type);
    const std::size_t count = blocks.size() / format.bytes;
    if (blocks.size() % format.bytes != 0 || count * format.elements != out.size())
        throw std::invalid_argument(std::to_string(blocks.size()) + " bytes of " + format.name + " are not " +
                                    std::to_string(out.size()) + " numbers");
    format.decode(reinterpret_cast<const std::uint8_t*>(blocks.data()), count, out.data());
}

}  // namespace roper
