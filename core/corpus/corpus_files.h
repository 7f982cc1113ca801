#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_path.h"

namespace roper {

/// Facts about a tokenized text.
struct CorpusSummary {
    int vocab_size = 0;
    std::string kind;  ///< of the tokenizer: "unigram" or "bpe" (byte-pair encoding)
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;
    /// Nats per token: the loss of a predictor that only knows the frequency of each token.
    double unigram_entropy = 0;
    std::string fingerprint;             ///< of the tokenizer's model and tokens.bin, hexadecimal
    std::string vocabulary_fingerprint;  ///< of vocabulary.txt; empty if written by an older version
};

/// @throws Error (usage) saying what is wrong
CorpusSummary parseCorpusSummary(std::string_view json, const std::string& origin);
std::string formatCorpusSummary(const CorpusSummary& summary);

/// The texts of tokens, one per line, with the escapes \\, \n, and \xHH for bytes that are not valid UTF-8 on
/// their own.
std::string formatVocabulary(const std::vector<std::string>& tokens);
/// @throws Error (usage) naming the invalid line
std::vector<std::string> parseVocabulary(std::string_view lines, const std::string& origin);

/// The files of a prepared text in a folder. A run keeps all of them except the tokens.
class CorpusFiles {
  public:
    explicit CorpusFiles(FilePath folder) : folder_(std::move(folder)) {}

    const FilePath& folder() const { return folder_; }
    /// SentencePiece's model file, and the output of `formatVocabulary`. Files of older versions are named
    /// pieces.model and pieces.txt; they are used if the others do not exist.
    FilePath model() const { return existingFile("tokenizer.model", "pieces.model"); }
    FilePath vocabulary() const { return existingFile("vocabulary.txt", "pieces.txt"); }
    FilePath tokens() const { return folder_ / "tokens.bin"; }    ///< `TokenFile`
    FilePath summary() const { return folder_ / "corpus.json"; }  ///< written last

    /// @throws Error (disk), Error (usage) saying what is wrong
    CorpusSummary readSummary() const;

    /// Compares the files with the summary: "PATH has changed since it was written"; empty if all is well.
    /// Reads all files, with constant memory.
    std::optional<std::string> damage() const;

  private:
    FilePath existingFile(const char* name, const char* former) const;

    FilePath folder_;
};

}  // namespace roper
