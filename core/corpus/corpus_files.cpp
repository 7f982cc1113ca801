#include "core/corpus/corpus_files.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/fingerprint.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

int digitOf(char c) {
    const std::size_t at = kDigits.find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// Decodes a line of vocabulary.txt; false for an invalid escape.
bool unescape(const std::string& line, std::string& text) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\\') {
            text += line[i];
            continue;
        }
        const char kind = i + 1 < line.size() ? line[++i] : '\0';
        if (kind == '\\') {
            text += '\\';
        } else if (kind == 'n') {
            text += '\n';
        } else if (kind == 'x' && i + 2 < line.size() && digitOf(line[i + 1]) >= 0 &&
                   digitOf(line[i + 2]) >= 0) {
            text += static_cast<char>(16 * digitOf(line[i + 1]) + digitOf(line[i + 2]));
            i += 2;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string formatCorpusSummary(const CorpusSummary& summary) {
    const nlohmann::ordered_json json = {{"format", "roper-lab-corpus-1"},
                                         {"vocab_size", summary.vocab_size},
                                         {"kind", summary.kind},
                                         {"tokens", summary.tokens},
                                         {"bytes", summary.bytes},
                                         {"unigram_entropy", summary.unigram_entropy},
                                         {"fingerprint", summary.fingerprint},
                                         {"vocabulary_fingerprint", summary.vocabulary_fingerprint}};
    return json.dump(2) + "\n";
}

CorpusSummary parseCorpusSummary(std::string_view text, const std::string& origin) {
    try {
        const auto json = parseStrictJson(text);
        if (json.at("format") != "roper-lab-corpus-1")
            throw Error(ErrorKind::usage, origin + ": its format is not roper-lab-corpus-1");
        CorpusSummary summary;
        const char* const size = json.contains("pieces") ? "pieces" : "vocab_size";  // its former name
        summary.vocab_size = static_cast<int>(
            std::max<std::int64_t>(-1, integerMember(json, size, std::numeric_limits<int>::max())));
        if (summary.vocab_size < 0) throw Error(ErrorKind::usage, origin + ": its vocab_size is negative");
        summary.kind = json.at("kind").get<std::string>();
        summary.tokens = integerMember(json, "tokens");
        summary.bytes = integerMember(json, "bytes");
        summary.unigram_entropy = json.at("unigram_entropy").get<double>();
        summary.fingerprint = json.at("fingerprint").get<std::string>();
        summary.vocabulary_fingerprint = json.value("vocabulary_fingerprint", "");
        return summary;
    } catch (const nlohmann::json::exception& error) {
        throw Error(ErrorKind::usage, origin + ": " + jsonErrorMessage(error.what()));
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, origin + ": " + error.what());
    }
}

FilePath CorpusFiles::existingFile(const char* name, const char* former) const {
    const bool is_legacy = !pathExists(folder_ / name) && pathExists(folder_ / former);
    return folder_ / (is_legacy ? former : name);
}

CorpusSummary CorpusFiles::readSummary() const {
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    return parseCorpusSummary(readFile(summary(), kMaxBytes), summary().string());
}

std::optional<std::string> CorpusFiles::damage() const {
    try {
        const CorpusSummary known = readSummary();
        const std::string words = readFile(vocabulary());
        if (!known.vocabulary_fingerprint.empty() &&
            Fingerprint().add(words).text() != known.vocabulary_fingerprint)
            return vocabulary().string() + " has changed since it was written";
        if (std::ssize(parseVocabulary(words, vocabulary().string())) != known.vocab_size)
            return vocabulary().string() + " does not have as many tokens as " + summary().string() + " says";
        Fingerprint found;
        found.add(readFile(model()));
        forEachPart(tokens(), [&](std::string_view part) { found.add(part); });
        if (found.text() != known.fingerprint)
            return tokens().string() + " and " + model().path().filename().string() +
                   " have changed since they were written";
        return std::nullopt;
    } catch (const Error& error) {
        return error.what();
    }
}

std::string formatVocabulary(const std::vector<std::string>& tokens) {
    std::string lines;
    for (const std::string& token : tokens) {
        const bool is_byte = token.size() == 1 && static_cast<unsigned char>(token[0]) >= 0x80;
        for (const char c : token) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '\\')
                lines += "\\\\";
            else if (c == '\n')
                lines += "\\n";
            else if (is_byte || byte < 0x20)
                lines += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
            else
                lines += c;
        }
        lines += '\n';
    }
    return lines;
}

std::vector<std::string> parseVocabulary(std::string_view lines, const std::string& origin) {
    std::vector<std::string> tokens;
    if (lines.empty() || lines.back() != '\n')
        throw Error(ErrorKind::usage, origin + ": the last token is cut off");
    for (const std::string& line : split(lines.substr(0, lines.size() - 1), '\n')) {
        std::string token;
        if (!unescape(line, token))
            throw Error(ErrorKind::usage, origin + ":" + std::to_string(tokens.size() + 1) +
                                              ": a backslash is followed by an unknown character");
        tokens.push_back(std::move(token));
    }
    return tokens;
}

}  // namespace roper
