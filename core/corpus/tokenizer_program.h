#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// Runs `roper-tokenizer`, which stands beside this program, and waits for it.
/// @param input    what it reads from stdin
/// @param goes_on  called a few times a second; it is ended when this says no. May be empty.
/// @return         what it wrote to stdout; nothing if it was ended
/// @throws Error with what it said if it failed, Error (usage) if it is not there
std::optional<std::string> runTokenizer(const std::vector<std::string>& arguments, std::string_view input,
                                        const std::function<bool()>& goes_on = {});

}  // namespace roper
