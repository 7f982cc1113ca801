#include "core/tasks/vocabulary.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "core/base/fingerprint.h"

namespace roper {
namespace {

/// Encodes each character by a table.
Vocabulary::Encoder characterEncoder(const std::string& characters) {
    std::array<std::int16_t, 256> token_of;
    token_of.fill(-1);
    for (std::size_t i = 0; i < characters.size(); ++i) {
        auto& token = token_of[static_cast<unsigned char>(characters[i])];
        if (token >= 0)
            throw std::invalid_argument(std::string("'") + characters[i] + "' is in the vocabulary twice");
        token = static_cast<std::int16_t>(i);
    }
    return [characters, token_of](std::string_view text) {
        std::vector<std::int64_t> tokens;
        tokens.reserve(text.size());
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::int16_t token = token_of[static_cast<unsigned char>(text[i])];
            if (token < 0)
                throw std::invalid_argument(std::string("character '") + text[i] + "' at position " +
                                            std::to_string(i + 1) + " is not in this task's vocabulary \"" +
                                            characters + "\"");
            tokens.push_back(token);
        }
        return tokens;
    };
}

/// The format of this string must not change, because checkpoints store it.
std::string identityOf(const std::vector<std::string>& tokens) {
    Fingerprint fingerprint;
    for (const std::string& token : tokens)
        fingerprint.add({token.c_str(), token.size() + 1});  // including the terminating zero
    return std::to_string(tokens.size()) + " pieces, " + std::to_string(fingerprint.value());
}

}  // namespace

Vocabulary::Vocabulary(const std::string& characters)
    : encoder_(characterEncoder(characters)), identity_(characters) {
    for (const char character : characters)
        texts_.emplace_back(1, character);
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, Encoder encoder)
    : texts_(std::move(tokens)), encoder_(std::move(encoder)), identity_(identityOf(texts_)) {}

std::string Vocabulary::decode(const std::vector<std::int64_t>& tokens) const {
    std::string text;
    for (const std::int64_t token : tokens)
        text += decode(token);
    return text;
}

}  // namespace roper
