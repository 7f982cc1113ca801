#include "core/tasks/vocabulary.h"

#include <stdexcept>
#include <utility>

namespace roper {

Vocabulary::Vocabulary(std::string characters) : characters_(std::move(characters)) {
    token_of_.fill(-1);
    for (std::size_t i = 0; i < characters_.size(); ++i) {
        auto& token = token_of_[static_cast<unsigned char>(characters_[i])];
        if (token >= 0)
            throw std::invalid_argument(std::string("'") + characters_[i] + "' is in the vocabulary twice");
        token = static_cast<std::int16_t>(i);
    }
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view text) const {
    std::vector<std::int64_t> tokens;
    tokens.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::int16_t token = token_of_[static_cast<unsigned char>(text[i])];
        if (token < 0)
            throw std::invalid_argument(std::string("character '") + text[i] + "' at place " +
                                        std::to_string(i + 1) + " is not in this task's vocabulary \"" +
                                        characters_ + "\"");
        tokens.push_back(token);
    }
    return tokens;
}

}  // namespace roper
