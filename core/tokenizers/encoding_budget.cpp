#include "core/tokenizers/encoding_budget.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/base/error.h"

namespace roper {

EncodingBudget::EncodingBudget(std::size_t text_bytes, std::uint64_t max_steps)
    : text_bytes_(text_bytes),
      max_normalized_bytes_(
          std::min(kMaxNormalizedBytes,
                   kMaxGrowthFactor * std::min(text_bytes, kMaxTextBytes) + kExtraNormalizedBytes)),
      max_steps_(max_steps) {
    if (text_bytes > kMaxTextBytes)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(text_bytes) +
                                          " bytes; a model accepts at most " + std::to_string(kMaxTextBytes));
}

bool EncodingBudget::spend(std::uint64_t steps) noexcept {
    if (steps > max_steps_ - steps_) {
        steps_ = max_steps_;
        return false;
    }
    steps_ += steps;
    return true;
}

void EncodingBudget::require(std::uint64_t steps) {
    if (spend(steps)) return;
    throw std::invalid_argument("this tokenizer needs more than " + std::to_string(max_steps_) +
                                " steps for a text of " + std::to_string(text_bytes_) +
                                " bytes; use a shorter text or another tokenizer");
}

void EncodingBudget::requireOutputFits(std::size_t bytes) const {
    if (bytes <= max_normalized_bytes_) return;
    throw std::invalid_argument("the normalizer or pre_tokenizer turns a text of " +
                                std::to_string(text_bytes_) + " bytes into more than " +
                                std::to_string(max_normalized_bytes_) +
                                " bytes; use a shorter text or another tokenizer");
}

void EncodingBudget::spendOnWord(std::size_t bytes) {
    if (bytes > kMaxWordBytes)
        throw Error(ErrorKind::usage, "the tokenizer treats " + std::to_string(bytes) +
                                          " bytes of the text as one word; a word may have at most " +
                                          std::to_string(kMaxWordBytes) + ": shorten the text");
    require(kStepsToMergeByte * bytes);
}

void EncodingBudget::requireTokenCount(std::size_t count) {
    if (count > kMaxTokens)
        throw Error(ErrorKind::usage, "the text has more than " + std::to_string(kMaxTokens) +
                                          " tokens, more than a model reads: shorten it");
}

}  // namespace roper
