#include "core/base/file_reading.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/retry_interrupted.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::size_t kReadAtOnce = 64U << 10U;

/// read(2) or, with an offset, pread(2). @returns the number of bytes, 0 at the end
std::size_t readSome(const Descriptor& file, char* into, std::size_t bytes, const std::string& path,
                     std::optional<std::uint64_t> offset = {}) {
    const ssize_t got = retryInterrupted([&] {
        return offset ? ::pread(file.number(), into, bytes, static_cast<off_t>(*offset))
                      : ::read(file.number(), into, bytes);
    });
    if (got < 0) throw diskError("read", path, errno);
    return static_cast<std::size_t>(got);
}

Error tooLarge(const std::string& path, std::uint64_t max_bytes) {
    return {ErrorKind::disk, path + " is larger than " + formatBytes(static_cast<double>(max_bytes)) +
                                 ", the limit for such a file"};
}

Error lineTooLong(const std::string& path, std::uint64_t max_bytes) {
    return {ErrorKind::disk,
            path + " has a line longer than " + formatBytes(static_cast<double>(max_bytes)) +
                "; it is damaged or not a RoPER Lab file: move it away to continue without it"};
}

}  // namespace

std::string readFile(const FilePath& path, std::uint64_t max_bytes) {
    const Descriptor file = openFile(path, O_RDONLY);
    const std::uint64_t size = fileSize(file, path.string());
    if (size > max_bytes) throw tooLarge(path.string(), max_bytes);
    // With room beyond the expected size, so that a file that grows meanwhile is read to its end. Room made
    // later would copy the content.
    constexpr std::size_t kRoom = 4096;
    std::string content(size + kRoom, '\0');
    std::size_t filled = 0;
    while (true) {
        if (filled == content.size()) content.resize(content.size() + kRoom);
        const std::size_t got =
            readSome(file, content.data() + filled, content.size() - filled, path.string());
        if (got == 0) break;
        filled += got;
        if (filled > max_bytes) throw tooLarge(path.string(), max_bytes);
    }
    content.resize(filled);
    return content;
}

std::size_t readAt(const Descriptor& file, std::span<char> into, std::uint64_t offset,
                   const std::string& path) {
    std::size_t filled = 0;
    while (filled < into.size()) {
        const std::size_t got =
            readSome(file, into.data() + filled, into.size() - filled, path, offset + filled);
        if (got == 0) break;
        filled += got;
    }
    return filled;
}

std::uint64_t fileSize(const Descriptor& file, const std::string& path) {
    struct stat info {};
    if (::fstat(file.number(), &info) != 0) throw diskError("read", path, errno);
    if (S_ISDIR(info.st_mode)) throw diskError("read", path, EISDIR);
    return static_cast<std::uint64_t>(info.st_size);
}

std::uint64_t fileSize(const FilePath& path) {
    return fileSize(openFile(path, O_RDONLY), path.string());
}

std::string readEnd(const FilePath& path, std::size_t max_bytes) {
    const Descriptor file = openFileIfExists(path, O_RDONLY);
    if (!file) return {};
    const std::uint64_t size = fileSize(file, path.string());
    const std::uint64_t begin = size - std::min<std::uint64_t>(size, max_bytes);
    std::string end(static_cast<std::size_t>(size - begin), '\0');
    end.resize(readAt(file, end, begin, path.string()));
    return end;
}

void forEachPart(const FilePath& path, const std::function<void(std::string_view)>& consume) {
    const Descriptor file = openFile(path, O_RDONLY);
    std::string part(kReadAtOnce, '\0');
    while (const std::size_t got = readSome(file, part.data(), part.size(), path.string()))
        consume(std::string_view(part).substr(0, got));
}

LineReader::LineReader(const FilePath& path, LastLine last, OverlongLine overlong)
    : path_(path.string()), last_(last), overlong_(overlong), file_(openFileIfExists(path, O_RDONLY)) {
    if (file_) fileSize(file_, path_);
}

bool LineReader::fill() {
    if (!file_) return false;
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kReadAtOnce);
    const std::size_t got = readSome(file_, buffer_.data() + had, kReadAtOnce, path_);
    buffer_.resize(had + got);
    return got > 0;
}

std::optional<std::string_view> LineReader::next() {
    std::size_t searched = begin_;
    while (true) {
        const std::size_t end = buffer_.find('\n', searched);
        if (end != std::string::npos) {
            const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
            begin_ = end + 1;
            ++number_;
            return line;
        }
        if (buffer_.size() - begin_ > kMaxLineBytes) {
            if (overlong_ == OverlongLine::refused) throw lineTooLong(path_, kMaxLineBytes);
            return truncateLine();
        }
        searched = buffer_.size() - begin_;
        if (fill()) continue;
        if (last_ == LastLine::unfinished || buffer_.size() == begin_) return std::nullopt;
        const std::string_view line = std::string_view(buffer_).substr(begin_);
        begin_ = buffer_.size();
        ++number_;
        return line;
    }
}

/// Skips the rest of a line that is too long.
std::string_view LineReader::truncateLine() {
    constexpr std::size_t kKept = 1000;
    cut_ = buffer_.substr(begin_, kKept);
    std::uint64_t skipped = buffer_.size() - begin_;
    while (true) {
        begin_ = buffer_.size();
        if (!fill()) break;
        const std::size_t end = buffer_.find('\n');
        if (end != std::string::npos) {
            begin_ = end + 1;
            break;
        }
        skipped += buffer_.size();
        if (skipped > kMaxFileBytes) throw lineTooLong(path_, kMaxFileBytes);
    }
    ++number_;
    return cut_;
}

std::optional<std::string> lastLine(const FilePath& path) {
    for (std::size_t bytes = kReadAtOnce;; bytes = std::min(4 * bytes, LineReader::kMaxLineBytes)) {
        std::string end = readEnd(path, bytes);
        const bool is_cut = end.size() == bytes;
        end.resize(end.rfind('\n') == std::string::npos ? 0 : end.rfind('\n'));
        while (end.ends_with('\n'))
            end.pop_back();
        const std::size_t before = end.rfind('\n');
        if (before != std::string::npos) return end.substr(before + 1);
        if (!is_cut) return end.empty() ? std::nullopt : std::optional(end);
        if (bytes == LineReader::kMaxLineBytes) throw lineTooLong(path.string(), LineReader::kMaxLineBytes);
    }
}

}  // namespace roper
