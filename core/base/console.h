#pragma once

#include <string_view>

namespace roper {

/// Tells a person something, on a line of its own of stderr. What comes from a file is in it as text:
/// characters that control a terminal become blanks.
void tellPerson(std::string_view text);

}  // namespace roper
