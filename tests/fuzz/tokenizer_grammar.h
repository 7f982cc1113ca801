#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace roper {

/// Generates members of a tokenizer.json. It uses few letters and short lists, so that what one member refers
/// to occurs in another.
class TokenizerGrammar {
  public:
    explicit TokenizerGrammar(unsigned seed) : random_(seed) {}

    nlohmann::json tokenizer();
    nlohmann::json normalizer(int depth = 0);
    nlohmann::json preTokenizer(int depth = 0);
    nlohmann::json postProcessor(int depth = 0);
    nlohmann::json decoder(int depth = 0);
    nlohmann::json addedTokens();
    nlohmann::json model();

    /// A random integer in 0 … `count` − 1.
    std::size_t below(std::size_t count) { return random_() % count; }
    bool oneIn(std::size_t count) { return below(count) == 0; }

  private:
    template <class Type>
    const Type& oneOf(const std::vector<Type>& choices) {
        return choices[below(choices.size())];
    }
    std::string letters(std::size_t most);
    std::string content();
    std::string characters(int depth);
    std::string expression(int depth = 0);
    std::string expressionPart(int depth);
    nlohmann::json pattern();
    nlohmann::json metaspace();
    nlohmann::json id();
    nlohmann::json charsmap();
    nlohmann::json stepNormalizer();
    nlohmann::json stepPreTokenizer();
    nlohmann::json stepDecoder();
    nlohmann::json vocabulary(std::vector<std::string>& pieces);
    nlohmann::json pairModel(const nlohmann::json& vocabulary, const std::vector<std::string>& pieces);
    nlohmann::json unigramModel(const std::vector<std::string>& pieces);

    std::mt19937 random_;
};

/// Changes a tokenizer.json, or generates one, so that its structure stays valid: members come from a grammar
/// of everything that tokenizers contain. Occasionally libFuzzer changes the bytes instead, as for other
/// parsers.
/// @param seed  determines the change
/// @returns the new size, at most `most`
std::size_t mutateTokenizer(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace roper
