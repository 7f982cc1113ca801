#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// Runs `roper-tokenizer` from this program's folder and waits for it.
/// @param arguments  after the program's name
/// @param input    its stdin
/// @param should_continue  called a few times a second; the program is ended when this returns false. May be
/// empty.
/// @return         its stdout; nothing if it was ended
/// @throws Error with the program's message if it failed, Error (usage) if it does not exist
std::optional<std::string> runTokenizer(const std::vector<std::string>& arguments, std::string_view input,
                                        const std::function<bool()>& should_continue = {});

}  // namespace roper
