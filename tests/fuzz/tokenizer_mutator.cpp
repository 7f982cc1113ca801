#include "tests/fuzz/tokenizer_grammar.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace roper {
namespace {

using Json = nlohmann::json;

/// Collects all values of a document, including the root.
void collect(Json& value, std::vector<Json*>& all) {
    all.push_back(&value);
    if (!value.is_structured()) return;
    for (Json& member : value)
        collect(member, all);
}

/// A value of some member, which may not fit where it is used.
Json anyMember(TokenizerGrammar& grammar) {
    switch (grammar.below(6)) {
        case 0:
            return grammar.normalizer();
        case 1:
            return grammar.preTokenizer();
        case 2:
            return grammar.postProcessor();
        case 3:
            return grammar.addedTokens();
        case 4:
            return grammar.decoder();
        default:
            return grammar.model();
    }
}

std::string changedByLibFuzzer(std::string text) {
    const std::size_t size = text.size();
    text.resize(size + 16);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    return text;
}

/// Changes one value in place: a list gains or loses an element, a text or a number changes.
void changeValue(Json& value, TokenizerGrammar& grammar) {
    if (value.is_array() && !value.empty()) {
        const std::size_t at = grammar.below(value.size());
        const Json member = value[at];
        if (grammar.oneIn(2))
            value.erase(at);
        else
            for (std::size_t count = grammar.below(8) + 1; count > 0; --count)
                value.push_back(member);
    } else if (value.is_object() && !value.empty()) {
        value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(grammar.below(value.size()))).key());
    } else if (value.is_string()) {
        value = changedByLibFuzzer(value.get<std::string>());
    } else if (value.is_boolean()) {
        value = !value.get<bool>();
    } else if (value.is_number()) {
        value = grammar.below(30);
    } else {
        value = anyMember(grammar);
    }
}

void change(Json& tokenizer, TokenizerGrammar& grammar) {
    switch (grammar.below(9)) {
        case 0:
            tokenizer["normalizer"] = grammar.normalizer();
            return;
        case 1:
            tokenizer["pre_tokenizer"] = grammar.preTokenizer();
            return;
        case 2:
            tokenizer["post_processor"] = grammar.postProcessor();
            return;
        case 3:
            tokenizer["added_tokens"] = grammar.addedTokens();
            return;
        case 4:
            tokenizer["model"] = grammar.model();
            return;
        case 5:
            tokenizer["decoder"] = grammar.decoder();
            return;
        default:
            std::vector<Json*> all;
            collect(tokenizer, all);
            changeValue(*all[grammar.below(all.size())], grammar);
    }
}

}  // namespace

std::size_t mutateTokenizer(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    TokenizerGrammar grammar(seed);
    if (grammar.oneIn(8)) return LLVMFuzzerMutate(data, size, most);
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    Json tokenizer = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
    if (!tokenizer.is_object() || grammar.oneIn(16)) tokenizer = grammar.tokenizer();
    for (std::size_t count = grammar.below(3) + 1; count > 0; --count) {
        if (!tokenizer.is_object()) tokenizer = grammar.tokenizer();
        change(tokenizer, grammar);
    }
    const std::string made = tokenizer.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (made.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::memcpy(data, made.data(), made.size());
    return made.size();
}

}  // namespace roper
