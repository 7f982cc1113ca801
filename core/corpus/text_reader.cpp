#include "core/corpus/text_reader.h"

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

std::string hexadecimal(unsigned char byte) {
    constexpr std::string_view kUpperCaseDigits = "0123456789ABCDEF";
    return {'0', 'x', kUpperCaseDigits[byte >> 4U], kUpperCaseDigits[byte & 15U]};
}

}  // namespace

std::vector<fs::path> textFiles(const fs::path& text) {
    std::error_code problem;
    if (fs::is_regular_file(text, problem)) return {text};
    if (!fs::is_directory(text, problem))
        throw Error(ErrorKind::usage,
                    "text not found: " + text.string() +
                        "; put it there, or name another (task.text): a UTF-8 file or a folder of them");
    std::vector<fs::path> files;
    try {
        for (auto at = fs::recursive_directory_iterator(text); at != fs::recursive_directory_iterator();
             ++at) {
            const bool hidden = at->path().filename().string().starts_with(".");
            if (hidden && at->is_directory()) at.disable_recursion_pending();
            if (!hidden && at->is_regular_file()) files.push_back(at->path());
        }
    } catch (const fs::filesystem_error& error) {
        throw diskError("read", error.path1().string(), error.code().value());
    }
    if (files.empty()) throw Error(ErrorKind::usage, "the folder " + text.string() + " contains no files");
    std::ranges::sort(files);
    return files;
}

TextReader::TextReader(std::vector<fs::path> files, std::size_t part_bytes)
    : files_(std::move(files)), part_bytes_(part_bytes) {}

bool TextReader::openNext() {
    if (next_file_ == files_.size()) return false;
    file_ = std::ifstream(files_[next_file_], std::ios::binary);
    if (!file_) throw diskError("read", files_[next_file_].string(), errno);
    ++next_file_;
    offset_ = 0;
    fill();
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (unread_.starts_with(kByteOrderMark)) {
        unread_.erase(0, kByteOrderMark.size());
        offset_ = kByteOrderMark.size();
    }
    return true;
}

/// Reads until the buffer holds a whole part or the file ends.
void TextReader::fill() {
    if (!file_.is_open()) return;
    const std::size_t had = unread_.size();
    if (had >= part_bytes_) return;
    unread_.resize(part_bytes_);
    file_.read(unread_.data() + had, static_cast<std::streamsize>(part_bytes_ - had));
    unread_.resize(had + static_cast<std::size_t>(file_.gcount()));
    if (file_.bad()) throw diskError("read", files_[next_file_ - 1].string(), errno);
    if (!file_.eof()) return;
    file_.close();
    if (!unread_.empty() && unread_.back() != '\n') unread_ += '\n';
}

/// End of the last complete line. If a line is longer than a part, the end of a word or, failing that, of a
/// character.
std::size_t TextReader::endOfPart() const {
    if (!file_.is_open()) return unread_.size();
    for (const char end : {'\n', ' '})
        if (const std::size_t at = unread_.rfind(end); at != std::string::npos) return at + 1;
    std::size_t at = unread_.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(unread_[at]) & 0xC0U) == 0x80)
        --at;
    return at > 0 ? at : unread_.size();
}

void TextReader::requireText(const std::string& part) const {
    if (const std::size_t zero = part.find('\0'); zero != std::string::npos)
        throw Error(ErrorKind::usage, files_[next_file_ - 1].string() + ": byte " +
                                          std::to_string(offset_ + zero + 1) +
                                          " is 0, which does not occur in text. Is it another kind of file, "
                                          "or UTF-16? iconv -f UTF-16 -t UTF-8 converts UTF-16.");
    const std::size_t wrong = findInvalidUtf8(part);
    if (wrong == std::string::npos) return;
    throw Error(ErrorKind::usage,
                files_[next_file_ - 1].string() + ": byte " + std::to_string(offset_ + wrong + 1) + " (" +
                    hexadecimal(static_cast<unsigned char>(part[wrong])) +
                    ") is not UTF-8. Convert the file, for example with iconv -f LATIN1 -t UTF-8.");
}

bool TextReader::next(std::string& part) {
    fill();
    while (unread_.empty())
        if (!openNext()) return false;
    const std::size_t end = endOfPart();
    part.assign(unread_, 0, end);
    requireText(part);
    unread_.erase(0, end);
    offset_ += end;
    bytes_ += end;
    return true;
}

}  // namespace roper
