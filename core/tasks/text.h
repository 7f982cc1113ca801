#pragma once

#include <filesystem>
#include <memory>

#include "core/tasks/task.h"

namespace roper {

/// Tokens of a text on disk, mapped into memory: unsigned numbers of 2 bytes (little-endian) if the
/// vocabulary has at most 65,536 tokens, else of 4.
class MappedTokens {
  public:
    /// @throws std::runtime_error naming the file if it cannot be mapped or is no whole number of tokens
    MappedTokens(const std::filesystem::path& path, int vocabulary_size);
    ~MappedTokens();
    MappedTokens(const MappedTokens&) = delete;
    MappedTokens& operator=(const MappedTokens&) = delete;

    std::int64_t size() const { return static_cast<std::int64_t>(bytes_ / width_); }
    std::int64_t operator[](std::int64_t index) const;

    static std::size_t widthFor(int vocabulary_size) { return vocabulary_size <= 65536 ? 2 : 4; }

  private:
    const unsigned char* data_ = nullptr;
    std::size_t bytes_ = 0, width_ = 2;
};

/// A text that a language model learns. Its last part is kept for validation: training sequences begin at
/// random places before, validation sequences stand one after the other in it.
class TextTask : public Task {
  public:
    /// Knows the vocabulary alone: enough to ask a trained model, not to train one.
    explicit TextTask(Vocabulary vocabulary) : Task(std::move(vocabulary)) {}

    /// @param validation_share  of the tokens, 0 … 1
    TextTask(Vocabulary vocabulary, std::shared_ptr<const MappedTokens> tokens, double validation_share);

    bool hasProblems() const override { return false; }
    bool isOpenEnded() const override { return true; }
    std::int64_t validationSequences(int length) const override { return validation_ / length; }

    std::int64_t trainingTokens() const { return training_; }
    std::int64_t validationTokens() const { return validation_; }

    /// The text of `length` tokens, whatever its length in characters.
    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const override;

    /// @throws std::invalid_argument if that part of the text has fewer tokens, or if there is no text
    std::vector<std::int64_t> tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                     int length) const override;

  private:
    std::shared_ptr<const MappedTokens> tokens_;
    std::int64_t training_ = 0, validation_ = 0;
};

}  // namespace roper
