#include "core/runs/line_tail.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"

namespace roper {

LineTail::Update LineTail::poll(std::size_t max_bytes) {
    Update update;
    problem_.clear();
    // A failed read may succeed at the next poll, so previously returned lines remain valid.
    Descriptor file;
    try {
        file = openFileIfExists(path_, O_RDONLY);
    } catch (const Error& error) {
        problem_ = error.what();
        return update;
    }
    if (!file) {
        update.restarted = offset_ > 0;
        offset_ = 0;
        return update;
    }
    struct stat info {};
    ::fstat(file.number(), &info);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (info.st_ino != inode_ || size < offset_) {
        update.restarted = offset_ > 0;
        inode_ = info.st_ino;
        offset_ = 0;
    }
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size - offset_, max_bytes)), '\0');
    try {
        bytes.resize(readAt(file, bytes, offset_, path_.string()));
    } catch (const Error& error) {
        problem_ = error.what();
        return update;
    }
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string::npos) {
        if (bytes.size() == max_bytes)
            problem_ = path_.string() + " has a line longer than " +
                       formatBytes(static_cast<double>(max_bytes)) + "; the rest is not read";
        return update;
    }
    offset_ += end + 1;
    update.more = bytes.size() == max_bytes && offset_ < size;
    update.lines = split(std::string_view(bytes).substr(0, end), '\n');
    return update;
}

}  // namespace roper
