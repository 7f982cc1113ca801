#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// What is known of a text that has been cut into pieces.
struct CorpusSummary {
    int pieces = 0;    ///< of the vocabulary
    std::string kind;  ///< unigram or bpe
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;
    double unigram_entropy =
        0;                    ///< nats a token: the loss of who knows nothing but how often each piece occurs
    std::string fingerprint;  ///< of pieces.model and tokens.bin, hexadecimal
};

/// @throws Error (usage) saying what is wrong
CorpusSummary parseCorpusSummary(std::string_view json, const std::string& origin);
std::string formatCorpusSummary(const CorpusSummary& summary);

/// The texts of pieces, one a line: \\, \n, and \xHH for bytes that are no text by themselves.
std::string formatPieces(const std::vector<std::string>& pieces);
/// @throws Error (usage) naming the line that cannot be read
std::vector<std::string> parsePieces(std::string_view lines, const std::string& origin);

/// The files of a prepared text, in a folder. A run keeps all but the tokens.
class CorpusFiles {
  public:
    explicit CorpusFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

    const std::filesystem::path& folder() const { return folder_; }
    std::filesystem::path model() const { return folder_ / "pieces.model"; }   ///< SentencePiece's
    std::filesystem::path pieces() const { return folder_ / "pieces.txt"; }    ///< `formatPieces`
    std::filesystem::path tokens() const { return folder_ / "tokens.bin"; }    ///< `MappedTokens`
    std::filesystem::path summary() const { return folder_ / "corpus.json"; }  ///< written last

    /// @throws Error (disk), Error (usage) saying what is wrong
    CorpusSummary readSummary() const;

  private:
    std::filesystem::path folder_;
};

}  // namespace roper
