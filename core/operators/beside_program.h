#pragma once

#include <filesystem>

namespace roper {

/// Where a library of ours is that is opened only when it is needed: in the program's own folder.
inline std::filesystem::path besideProgram(const char* library) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / library;
}

}  // namespace roper
