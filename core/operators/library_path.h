#pragma once

#include <filesystem>

namespace roper {

/// Path of a library that is part of this program and opened on demand: in the program's own folder.
inline std::filesystem::path libraryPath(const char* library) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / library;
}

}  // namespace roper
