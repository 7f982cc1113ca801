#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace roper {

/// The files of a text: the file itself, or those of a folder and of its folders by name, hidden ones left
/// out.
/// @throws Error (usage) if there is none, Error (disk)
std::vector<std::filesystem::path> textFiles(const std::filesystem::path& text);

/// Reads files one after the other in parts that end with a line where that can be: flat memory, however long
/// a text or a line is. Every part is whole UTF-8; a byte order mark at a file's start is left out.
class TextReader {
  public:
    explicit TextReader(std::vector<std::filesystem::path> files, std::size_t part_bytes = 1U << 20U);

    /// The next part; false at the end. Parts one after the other are the text: each file's bytes, with a
    /// newline added to a file that ends without one.
    /// @throws Error (usage) naming file and byte of what is not UTF-8 or is 0, Error (disk)
    bool next(std::string& part);

    /// Bytes handed out so far.
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
    std::uint64_t place_ = 0;  ///< in the file, of the first byte of `rest_`
    std::string rest_;         ///< read and not handed out
    std::uint64_t bytes_ = 0;
};

}  // namespace roper
