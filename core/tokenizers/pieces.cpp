#include "core/tokenizers/pieces.h"

#include <cstdio>

namespace roper {

Pieces::Pieces(std::vector<std::string> texts) : texts_(std::move(texts)) {
    ids_.reserve(texts_.size());
    for (std::size_t id = 0; id < texts_.size(); ++id)
        if (!texts_[id].empty()) ids_[texts_[id]] = static_cast<std::int32_t>(id);
    for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", byte);
        bytes_.push_back(idOf(name).value_or(-1));
    }
}

std::optional<std::int32_t> Pieces::idOf(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<char> byteOfPiece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
    int byte = 0;
    for (const char digit : piece.substr(3, 2)) {
        const std::size_t value = std::string_view("0123456789ABCDEFabcdef").find(digit);
        if (value == std::string_view::npos) return std::nullopt;
        byte = 16 * byte + static_cast<int>(value < 16 ? value : value - 6);
    }
    return static_cast<char>(byte);
}

std::size_t characterLength(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace roper
