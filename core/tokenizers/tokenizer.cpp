#include "core/tokenizers/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

std::string inNormalForm(const std::string& text, utf8proc_option_t form) {
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t length = ::utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                   static_cast<utf8proc_ssize_t>(text.size()), &made,
                                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
    if (length == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
    if (length < 0)
        throw std::invalid_argument(std::string("normalizing the text failed: ") + ::utf8proc_errmsg(length));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(made, &std::free);
    return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(length)};
}

std::string replaced(const std::string& text, const Pattern& pattern, const std::string& by) {
    std::string made;
    std::size_t done = 0;
    pattern.forEachMatch(text, [&](std::size_t begin, std::size_t end) {
        made.append(text, done, begin - done).append(by);
        done = end;
    });
    return made.append(text, done);
}

struct Part {
    std::size_t begin, end;
    bool matches;
};

/// The whole text, in matches and what lies between them.
std::vector<Part> partsOf(const std::string& text, const Pattern& pattern, bool inverted) {
    std::vector<Part> parts;
    std::size_t done = 0;
    pattern.forEachMatch(text, [&](std::size_t begin, std::size_t end) {
        if (begin > done) parts.push_back({done, begin, inverted});
        parts.push_back({begin, end, !inverted});
        done = end;
    });
    if (done < text.size()) parts.push_back({done, text.size(), inverted});
    return parts;
}

/// Joins matches with their neighbours as the rule says. Of matches in a row only the one beside other text
/// joins it.
std::vector<Part> joined(std::vector<Part> parts, Split::Match rule) {
    std::vector<Part> made;
    const bool backwards = rule == Split::Match::with_next;
    if (backwards) std::reverse(parts.begin(), parts.end());
    bool after_match = false;
    for (const Part& part : parts) {
        const bool joins =
            rule == Split::Match::contiguous ? part.matches == after_match : part.matches && !after_match;
        if (joins && !made.empty()) {
            made.back().begin = std::min(made.back().begin, part.begin);
            made.back().end = std::max(made.back().end, part.end);
        } else {
            made.push_back(part);
        }
        after_match = part.matches;
    }
    if (backwards) std::reverse(made.begin(), made.end());
    return made;
}

void cut(const std::string& text, const Pattern& pattern, const Split& split,
         std::vector<std::string>& words) {
    std::vector<Part> parts = partsOf(text, pattern, split.inverted);
    if (split.match == Split::Match::removed)
        std::erase_if(parts, [](const Part& part) { return part.matches; });
    else if (split.match != Split::Match::isolated)
        parts = joined(std::move(parts), split.match);
    for (const Part& part : parts)
        words.push_back(text.substr(part.begin, part.end - part.begin));
}

void cutAtBlanks(std::string text, const Split& split, bool is_first, std::vector<std::string>& words) {
    static const Pattern kBlank = Pattern::literal(" ");
    text = replaced(text, kBlank, split.space);
    const bool prefixed =
        split.prefix == Split::Prefix::always || (split.prefix == Split::Prefix::first && is_first);
    if (prefixed && !text.starts_with(split.space)) text.insert(0, split.space);
    if (!split.cuts) {
        words.push_back(std::move(text));
        return;
    }
    Split at_space;
    at_space.match = Split::Match::with_next;
    cut(text, *split.pattern, at_space, words);
}

std::string codePointAsUtf8(unsigned point) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto length = ::utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
}

std::vector<std::string> makeByteCharacters() {
    std::vector<std::string> characters(256);
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        characters[byte] = codePointAsUtf8(prints ? byte : next++);
    }
    return characters;
}

/// What a text of byte characters stands for; of one that is none of these, the character itself.
std::string bytesOfCharacters(std::string_view text) {
    static const auto bytes = [] {
        std::unordered_map<std::string, char> made;
        for (std::size_t byte = 0; byte < 256; ++byte)
            made.emplace(byteCharacters()[byte], static_cast<char>(byte));
        return made;
    }();
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = std::min(characterLength(text[at]), text.size() - at);
        const std::string character(text.substr(at, length));
        const auto found = bytes.find(character);
        if (found == bytes.end())
            made += character;
        else
            made += found->second;
        at += length;
    }
    return made;
}

/// The byte of a piece <0x0A>; nothing for any other.
std::optional<char> byteOfPiece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
    int byte = 0;
    for (const char digit : piece.substr(3, 2)) {
        const char* const digits = "0123456789ABCDEF";
        const std::size_t value = std::string_view(digits).find(digit);
        if (value == std::string_view::npos) return std::nullopt;
        byte = 16 * byte + static_cast<int>(value);
    }
    return static_cast<char>(byte);
}

bool isBlank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool isWordCharacter(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void requireToken(const std::string& text) {
    constexpr std::size_t kLongest = 1024;
    if (text.size() > kLongest)
        throw std::invalid_argument("the token " + quotedBeginning(text) + " is too long");
    if (firstNotUtf8(text) != std::string_view::npos)
        throw std::invalid_argument("the token " + onOneLine(text) + " is not UTF-8");
}

const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const std::vector<std::string>& byteCharacters() {
    static const std::vector<std::string> characters = makeByteCharacters();
    return characters;
}

/// A stretch of the text that is one added token, or has none.
struct Tokenizer::Segment {
    std::string_view text;
    const AddedToken* token;
};

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
    size_ = static_cast<std::int64_t>(parts_.bpe.pieces().size());
    for (const AddedToken& token : parts_.added) {
        requireToken(token.text);
        if (token.id < 0 || token.id > (1 << 24))
            throw std::invalid_argument("the token " + token.text + " has the id " +
                                        std::to_string(token.id));
        if (token.text.empty()) continue;
        (token.normalized ? after_normalizing_ : as_it_stands_).push_back(&token);
        added_by_id_.emplace(token.id, &token);
        size_ = std::max(size_, token.id + 1);
    }
    for (auto* const list : {&as_it_stands_, &after_normalizing_})
        std::stable_sort(list->begin(), list->end(), [](const AddedToken* a, const AddedToken* b) {
            return a->text.size() > b->text.size();
        });
    for (const auto* const ids : {&parts_.before, &parts_.after})
        for (const std::int64_t id : *ids)
            if (id < 0 || id >= size_)
                throw std::invalid_argument("the vocabulary has no token " + std::to_string(id) +
                                            ", which is to stand around every text");
}

std::vector<Tokenizer::Segment> Tokenizer::cutAtAdded(std::string_view text,
                                                      const std::vector<const AddedToken*>& among) const {
    std::array<bool, 256> begins{};  // which bytes begin an added token
    for (const AddedToken* const token : among)
        begins[static_cast<unsigned char>(token->text.front())] = true;
    std::vector<Segment> segments;
    std::size_t done = 0;
    const auto standsAlone = [&](std::size_t begin, std::size_t end) {
        return (begin == 0 || !isWordCharacter(text[begin - 1])) &&
               (end == text.size() || !isWordCharacter(text[end]));
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!begins[static_cast<unsigned char>(text[at])]) continue;
        const auto found = std::find_if(among.begin(), among.end(), [&](const AddedToken* token) {
            return text.substr(at).starts_with(token->text) &&
                   (!token->whole_word || standsAlone(at, at + token->text.size()));
        });
        if (found == among.end()) continue;
        std::size_t begin = at, end = at + (*found)->text.size();
        while ((*found)->takes_left && begin > done && isBlank(text[begin - 1]))
            --begin;
        while ((*found)->takes_right && end < text.size() && isBlank(text[end]))
            ++end;
        if (begin > done) segments.push_back({text.substr(done, begin - done), nullptr});
        segments.push_back({text.substr(begin, end - begin), *found});
        done = end;
        at = end - 1;
    }
    if (done < text.size()) segments.push_back({text.substr(done), nullptr});
    return segments;
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, bool with_special) const {
    if (const std::size_t wrong = firstNotUtf8(text); wrong != std::string_view::npos)
        throw Error(ErrorKind::usage, "the text is not UTF-8: byte " + std::to_string(wrong) + " is wrong");
    std::vector<std::int64_t> ids;
    if (with_special) ids = parts_.before;
    for (const Segment& segment : cutAtAdded(text, as_it_stands_)) {
        if (segment.token != nullptr)
            ids.push_back(segment.token->id);
        else
            encodeSegment(normalized(std::string(segment.text)), segment.text.data() == text.data(), ids);
    }
    if (with_special) ids.insert(ids.end(), parts_.after.begin(), parts_.after.end());
    return ids;
}

void Tokenizer::encodeSegment(std::string text, bool is_first, std::vector<std::int64_t>& ids) const {
    for (const Segment& segment : cutAtAdded(text, after_normalizing_)) {
        if (segment.token != nullptr)
            ids.push_back(segment.token->id);
        else
            encodeWords(std::string(segment.text), is_first && segment.text.data() == text.data(), ids);
    }
}

void Tokenizer::encodeWords(const std::string& text, bool is_first, std::vector<std::int64_t>& ids) const {
    std::vector<std::string> words = {text};
    if (parts_.byte_level && parts_.blank_first && !text.empty() && text.front() != ' ')
        words.front().insert(0, " ");
    for (const Split& split : parts_.splits) {
        std::vector<std::string> next;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (split.kind == Split::Kind::pattern)
                cut(words[i], *split.pattern, split, next);
            else
                cutAtBlanks(std::move(words[i]), split, is_first && i == 0, next);
        }
        words = std::move(next);
    }
    std::string as_characters;
    for (const std::string& word : words) {
        if (!parts_.byte_level) {
            parts_.bpe.encode(word, ids);
            continue;
        }
        as_characters.clear();
        for (const char byte : word)
            as_characters += byteCharacters()[static_cast<unsigned char>(byte)];
        parts_.bpe.encode(as_characters, ids);
    }
}

std::string Tokenizer::normalized(std::string text) const {
    using Kind = Normalization::Kind;
    for (const Normalization& step : parts_.normalizations) {
        switch (step.kind) {
            case Kind::nfc:
                text = inNormalForm(text, UTF8PROC_COMPOSE);
                break;
            case Kind::nfd:
                text = inNormalForm(text, UTF8PROC_DECOMPOSE);
                break;
            case Kind::nfkc:
                text = inNormalForm(text, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
                break;
            case Kind::nfkd:
                text =
                    inNormalForm(text, static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT));
                break;
            case Kind::prepend:
                if (!text.empty()) text.insert(0, step.text);
                break;
            case Kind::replace:
                text = replaced(text, *step.pattern, step.text);
                break;
        }
    }
    return text;
}

std::string Tokenizer::textOf(std::int64_t id) const {
    if (const auto found = added_by_id_.find(id); found != added_by_id_.end()) return found->second->text;
    const std::string& piece = pieceOf(id);
    if (parts_.byte_level) return bytesOfCharacters(piece);
    if (parts_.bpe.bytes_as_pieces)
        if (const auto byte = byteOfPiece(piece)) return {*byte};
    std::string text = piece;
    for (std::size_t at = text.find(parts_.blank); at != std::string::npos;
         at = text.find(parts_.blank, at + 1))
        text.replace(at, parts_.blank.size(), " ");
    return text;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids) const {
    std::string text;
    for (const std::int64_t id : ids)
        text += textOf(id);
    return text;
}

const std::string& Tokenizer::pieceOf(std::int64_t id) const {
    if (const auto found = added_by_id_.find(id); found != added_by_id_.end()) return found->second->text;
    if (id < 0 || id >= static_cast<std::int64_t>(parts_.bpe.pieces().size()))
        throw std::invalid_argument("the vocabulary has no token " + std::to_string(id));
    return parts_.bpe.pieces()[static_cast<std::size_t>(id)];
}

bool Tokenizer::isSpecial(std::int64_t id) const {
    const auto found = added_by_id_.find(id);
    return found != added_by_id_.end() && found->second->special;
}

}  // namespace roper
