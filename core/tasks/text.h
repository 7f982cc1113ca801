#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/tasks/task.h"

namespace roper {

/// Tokens of a text on disk: unsigned integers of 2 bytes (little-endian) for vocabularies of at most 65,536
/// tokens, otherwise of 4. They are read one sequence at a time through the page cache rather than mapped,
/// because a mapped file that is truncated would end the process with SIGBUS.
class TokenFile {
  public:
    /// @throws Error (disk) naming the file if it cannot be read or is not a whole number of tokens
    TokenFile(const FilePath& path, int vocabulary_size);

    /// Number of tokens.
    std::int64_t size() const { return static_cast<std::int64_t>(bytes_ / width_); }

    /// Tokens `first` … `first + count − 1`.
    /// @throws Error (disk) if the file has become shorter or contains a token outside the vocabulary
    std::vector<std::int64_t> read(std::int64_t first, int count) const;

    static std::size_t bytesPerToken(int vocabulary_size) { return vocabulary_size <= 65536 ? 2 : 4; }

  private:
    std::string path_;
    Descriptor file_;
    std::size_t bytes_ = 0, width_ = 2;  ///< bytes of the file, and of a token
    std::int64_t vocabulary_size_ = 0;
};

/// A text for language modeling. Its last part is reserved for validation. Training sequences are at random
/// positions before that part; validation sequences divide it.
class TextTask : public Task {
  public:
    /// A task with only a vocabulary, enough to run a trained model but not to train one.
    explicit TextTask(Vocabulary vocabulary) : Task(std::move(vocabulary)) {}

    /// @param validation_share  fraction of the tokens, 0 … 1
    TextTask(Vocabulary vocabulary, std::shared_ptr<const TokenFile> tokens, double validation_share);

    bool hasProblems() const override { return false; }
    bool isOpenEnded() const override { return true; }
    std::int64_t validationSequences(int length) const override { return validation_ / length; }

    std::int64_t trainingTokens() const { return training_; }
    std::int64_t validationTokens() const { return validation_; }

    /// The text of `length` tokens; its length in characters varies.
    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const override;

    /// @throws std::invalid_argument if that part of the text is shorter, or if there is no text
    std::vector<std::int64_t> tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                     int length) const override;

  private:
    std::shared_ptr<const TokenFile> tokens_;
    std::int64_t training_ = 0, validation_ = 0;  ///< numbers of tokens
};

}  // namespace roper
