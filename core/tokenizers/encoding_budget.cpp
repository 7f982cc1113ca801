#include "core/tokenizers/encoding_budget.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/base/error.h"

namespace roper {

EncodingBudget::EncodingBudget(std::size_t text_bytes, std::uint64_t most_steps)
    : text_bytes_(text_bytes),
      room_(std::min(kMostRoom, kMostGrowth * std::min(text_bytes, kLongestText) + kRoomOfAnyText)),
      most_steps_(most_steps) {
    if (text_bytes > kLongestText)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(text_bytes) +
                                          " bytes; a model is given " + std::to_string(kLongestText) +
                                          " at most");
}

bool EncodingBudget::spend(std::uint64_t steps) noexcept {
    if (steps > most_steps_ - steps_) {
        steps_ = most_steps_;
        return false;
    }
    steps_ += steps;
    return true;
}

void EncodingBudget::require(std::uint64_t steps) {
    if (spend(steps)) return;
    throw std::invalid_argument("this tokenizer needs more than " + std::to_string(most_steps_) +
                                " steps for a text of " + std::to_string(text_bytes_) +
                                " bytes; give it a shorter text, or use another tokenizer");
}

void EncodingBudget::requireRoom(std::size_t bytes) const {
    if (bytes <= room_) return;
    throw std::invalid_argument("normalizer or pre_tokenizer make more than " + std::to_string(room_) +
                                " bytes of a text of " + std::to_string(text_bytes_) +
                                "; give it a shorter text, or use another tokenizer");
}

void EncodingBudget::requireWord(std::size_t bytes) {
    if (bytes > kLongestWord)
        throw Error(ErrorKind::usage, "the tokenizer takes " + std::to_string(bytes) +
                                          " bytes of the text for one word; it can have " +
                                          std::to_string(kLongestWord) + " at most: shorten the text");
    require(kStepsToMergeByte * bytes);
}

void EncodingBudget::requireTokens(std::size_t count) {
    if (count > kMostTokens)
        throw Error(ErrorKind::usage, "the text has more than " + std::to_string(kMostTokens) +
                                          " tokens, more than a model reads: shorten it");
}

}  // namespace roper
