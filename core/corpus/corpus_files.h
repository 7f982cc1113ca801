#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_path.h"

namespace roper {

/// What is known of a text that has been tokenized.
struct CorpusSummary {
    int vocab_size = 0;
    std::string kind;  ///< unigram or bpe
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;
    double unigram_entropy =
        0;  ///< nats per token: the loss of a predictor that knows only how often each token occurs
    std::string fingerprint;             ///< of the tokenizer's model and tokens.bin, hexadecimal
    std::string vocabulary_fingerprint;  ///< of vocabulary.txt; empty if an older version wrote the summary
};

/// @throws Error (usage) saying what is wrong
CorpusSummary parseCorpusSummary(std::string_view json, const std::string& origin);
std::string formatCorpusSummary(const CorpusSummary& summary);

/// The texts of tokens, one per line: \\, \n, and \xHH for bytes that are no text by themselves.
std::string formatVocabulary(const std::vector<std::string>& tokens);
/// @throws Error (usage) naming the line that cannot be read
std::vector<std::string> parseVocabulary(std::string_view lines, const std::string& origin);

/// The files of a prepared text, in a folder. A run keeps all but the tokens.
class CorpusFiles {
  public:
    explicit CorpusFiles(FilePath folder) : folder_(std::move(folder)) {}

    const FilePath& folder() const { return folder_; }
    /// SentencePiece's file, and `formatVocabulary`. Older versions called them pieces.model and pieces.txt,
    /// which are used where there are no others.
    FilePath model() const { return named("tokenizer.model", "pieces.model"); }
    FilePath vocabulary() const { return named("vocabulary.txt", "pieces.txt"); }
    FilePath tokens() const { return folder_ / "tokens.bin"; }    ///< `TokenFile`
    FilePath summary() const { return folder_ / "corpus.json"; }  ///< written last

    /// @throws Error (disk), Error (usage) saying what is wrong
    CorpusSummary readSummary() const;

    /// What of the files is not what the summary says: "tokens.bin is damaged"; nothing if all is well. Reads
    /// all of them, in flat memory.
    std::optional<std::string> damage() const;

  private:
    FilePath named(const char* name, const char* former) const;

    FilePath folder_;
};

}  // namespace roper
