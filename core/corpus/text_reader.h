#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace roper {

/// The files of a text: the file itself, or all files below a folder, sorted by name, without hidden ones.
/// @throws Error (usage) if there is none, Error (disk)
std::vector<std::filesystem::path> textFiles(const std::filesystem::path& text);

/// Reads files in sequence, in parts that end at a line break where possible. Memory is constant however long
/// the text or a line is. Every part is valid UTF-8; a byte order mark at the start of a file is removed.
class TextReader {
  public:
    /// @param part_bytes  maximal size of a part
    explicit TextReader(std::vector<std::filesystem::path> files, std::size_t part_bytes = 1U << 20U);

    /// Reads the next part; false at the end. The concatenated parts are the bytes of the files, with a
    /// newline added to a file that does not end with one.
    /// @throws Error (usage) naming file and byte for invalid UTF-8 and for a zero byte, Error (disk)
    bool next(std::string& part);

    /// Bytes returned so far.
    std::uint64_t bytesRead() const { return bytes_; }

  private:
    bool openNext();
    void fill();
    std::size_t endOfPart() const;
    void requireText(const std::string& part) const;

    std::vector<std::filesystem::path> files_;
    std::size_t part_bytes_;
    std::size_t next_file_ = 0;
    std::ifstream file_;
    std::uint64_t offset_ = 0;  ///< offset of the first byte of `unread_` in the file
    std::string unread_;        ///< read but not yet returned
    std::uint64_t bytes_ = 0;
};

}  // namespace roper
