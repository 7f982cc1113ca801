#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// What is known of a text that has been tokenized.
struct CorpusSummary {
    int vocab_size = 0;
    std::string kind;  ///< unigram or bpe
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;
    double unigram_entropy =
        0;  ///< nats per token: the loss of a predictor that knows only how often each token occurs
    std::string fingerprint;  ///< of the tokenizer's model and tokens.bin, hexadecimal
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
    explicit CorpusFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

    const std::filesystem::path& folder() const { return folder_; }
    /// SentencePiece's file, and `formatVocabulary`. Older versions called them pieces.model and pieces.txt,
    /// which are used where there are no others.
    std::filesystem::path model() const { return named("tokenizer.model", "pieces.model"); }
    std::filesystem::path vocabulary() const { return named("vocabulary.txt", "pieces.txt"); }
    std::filesystem::path tokens() const { return folder_ / "tokens.bin"; }    ///< `MappedTokens`
    std::filesystem::path summary() const { return folder_ / "corpus.json"; }  ///< written last

    /// @throws Error (disk), Error (usage) saying what is wrong
    CorpusSummary readSummary() const;

  private:
    std::filesystem::path named(const char* name, const char* former) const;

    std::filesystem::path folder_;
};

}  // namespace roper
