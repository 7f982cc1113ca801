#include "core/tokenizers/decoding.h"

#include <unicode/unistr.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/tokenizers/normalization.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

using Texts = std::vector<std::string>;

const std::string kReplacementCharacter = "\uFFFD";
/// Even a step that does nothing takes as long as this many others.
constexpr std::uint64_t kStepsOfDecoding = 16;

/// The bytes of a piece of byte characters; the piece itself if it contains any other character.
std::string bytesOfCharacters(const std::string& piece) {
    static const auto bytes = [] {
        std::unordered_map<std::string, char> made;
        for (std::size_t byte = 0; byte < 256; ++byte)
            made.emplace(byteCharacters()[byte], static_cast<char>(byte));
        return made;
    }();
    std::string made;
    for (std::size_t at = 0; at < piece.size(); at += characterLength(piece[at])) {
        const auto found = bytes.find(piece.substr(at, characterLength(piece[at])));
        if (found == bytes.end()) return piece;
        made += found->second;
    }
    return made;
}

/// Each longest beginning of a character that is not complete, and each other wrong byte, becomes U+FFFD.
std::string asUtf8(const std::string& bytes) {
    std::string made;
    return icu::UnicodeString::fromUTF8(bytes).toUTF8String(made);
}

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
    if (from.empty()) return;
    std::string made;
    std::size_t done = 0;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, done)) {
        made.append(text, done, at - done).append(to);
        done = at + from.size();
    }
    if (done > 0) text = made.append(text, done);
}

void tidy(std::string& text) {
    static constexpr std::pair<const char*, const char*> kTidied[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : kTidied)
        replaceAll(text, from, to);
}

std::string strippedPiece(std::string_view piece, const Decoding& step) {
    for (std::uint64_t i = 0; i < step.at_begin && piece.starts_with(step.text); ++i)
        piece.remove_prefix(step.text.size());
    for (std::uint64_t i = 0; i < step.at_end && piece.ends_with(step.text); ++i)
        piece.remove_suffix(step.text.size());
    return std::string(piece);
}

/// Runs of bytes that are no UTF-8 become as many U+FFFD.
Texts withBytes(const Texts& pieces) {
    Texts made;
    std::string bytes;
    const auto finish = [&] {
        if (findInvalidUtf8(bytes) == std::string::npos) {
            if (!bytes.empty()) made.push_back(bytes);
        } else {
            made.insert(made.end(), bytes.size(), kReplacementCharacter);
        }
        bytes.clear();
    };
    for (const std::string& piece : pieces)
        if (const auto byte = byteOfPiece(piece)) {
            bytes += *byte;
        } else {
            finish();
            made.push_back(piece);
        }
    finish();
    return made;
}

/// A piece at some place of a text.
struct Place {
    bool is_first = false, is_last = false;
};

std::string withoutPadding(std::string piece, const Decoding& step) {
    replaceAll(piece, step.text, "");
    if (step.tidies) {
        tidy(piece);
        replaceAll(piece, step.delimiter, " ");
    }
    return piece;
}

std::string decodedPiece(std::string piece, const Decoding& step, Place place, EncodingBudget& budget) {
    using Kind = Decoding::Kind;
    budget.require(kStepsOfDecoding + piece.size());
    switch (step.kind) {
        case Kind::byte_level:
            return bytesOfCharacters(piece);
        case Kind::byte_fallback:
            if (const auto byte = byteOfPiece(piece)) return {*byte};
            return piece;
        case Kind::replace:
            // An incomplete character, which a pattern cannot read.
            if (findInvalidUtf8(piece) != std::string::npos) return piece;
            return replaced(piece, *step.pattern, step.text, budget);
        case Kind::strip:
            return strippedPiece(piece, step);
        case Kind::metaspace:
            replaceAll(piece, step.text, place.is_first && step.drops_first ? "" : " ");
            return piece;
        case Kind::word_piece:
            if (!place.is_first) {
                if (piece.starts_with(step.text))
                    piece.erase(0, step.text.size());
                else
                    piece.insert(0, " ");
            }
            if (step.tidies) tidy(piece);
            return piece;
        case Kind::word_suffix:
            replaceAll(piece, step.text, place.is_last ? "" : " ");
            return piece;
        case Kind::ctc:
            return withoutPadding(std::move(piece), step);
        case Kind::fuse:
            break;
    }
    return piece;
}

Texts decodedBy(const Decoding& step, Texts pieces, EncodingBudget& budget) {
    using Kind = Decoding::Kind;
    if (step.kind == Kind::byte_fallback) return withBytes(pieces);
    if (step.kind == Kind::fuse) return {join(pieces, "")};
    if (step.kind == Kind::ctc) pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        pieces[i] = decodedPiece(std::move(pieces[i]), step, {i == 0, i + 1 == pieces.size()}, budget);
        budget.requireOutputFits(bytes += pieces[i].size());
    }
    if (step.kind == Kind::byte_level) return {asUtf8(join(pieces, ""))};
    if (step.kind == Kind::ctc) std::erase(pieces, "");
    return pieces;
}

}  // namespace

std::string decoded(std::vector<std::string> pieces, const std::vector<Decoding>& steps,
                    EncodingBudget& budget) {
    for (const Decoding& step : steps)
        pieces = decodedBy(step, std::move(pieces), budget);
    return join(pieces, "");
}

std::string decodedWithin(std::string piece, const std::vector<Decoding>& steps, EncodingBudget& budget) {
    bool is_fused = false;
    for (const Decoding& step : steps) {
        is_fused = is_fused || step.kind == Decoding::Kind::fuse || step.kind == Decoding::Kind::byte_level;
        if (!is_fused || step.kind != Decoding::Kind::strip)
            piece = decodedPiece(std::move(piece), step, {}, budget);
    }
    return piece;
}

}  // namespace roper
