#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// Tells a person something, on a line of its own of stderr. What comes from a file is in it as text:
/// characters that control a terminal become blanks.
void tellPerson(std::string_view text);

/// While it lives, whatever is written to std::cout and std::cerr is without characters that control a
/// terminal: names, keys and notes come from files, and pass through many hands. For `main`, once.
class CleanOutput {
  public:
    CleanOutput();
    ~CleanOutput();
    CleanOutput(const CleanOutput&) = delete;
    CleanOutput& operator=(const CleanOutput&) = delete;

  private:
    class Filter;
    std::unique_ptr<Filter> out_, err_;
};

/// stderr without that filter, for progress bars, which move the cursor themselves.
std::ostream& terminal();

/// What a program's main returns: what `work` returns, or the exit code of the error that it throws, which a
/// person is told on a line that begins with the program's name. Standard output that cannot be written, to a
/// full disk for example, is an error, too.
int reportingErrors(const std::string& program, const std::function<int()>& work);

/// Writes out what std::cout still holds. A reader that has left, or a stdout that was closed from the
/// beginning, is no failure. @throws Error (disk) if it could not be written, to a full disk for example
void requireOutput();

/// Ends the process once nobody reads its standard output any more, where that is a pipe or a socket: for
/// commands whose only outcome is what they print. A reader that has left, as in `… | head`, is no failure.
class EndsWithReader {
  public:
    EndsWithReader();
    ~EndsWithReader();
    EndsWithReader(const EndsWithReader&) = delete;
    EndsWithReader& operator=(const EndsWithReader&) = delete;

  private:
    Descriptor wake_;  ///< an eventfd that ends the watching
    std::thread watcher_;
};

}  // namespace roper
