#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The longest line that either side sends or takes. A longer one is refused and the connection closed.
inline constexpr std::size_t kLongestMessage = 64 * 1024;

/// What a window may ask of a trainer between two steps.
enum class Command { status, pause, resume, stop, checkpoint };

struct Request {
    Command command = Command::status;
    std::string id;  ///< given back in the reply, so that the asker knows what it answers
};

struct Reply {
    std::string id;
    bool ok = true;
    std::string message;  ///< what was done, or why not
};

/// {"command": "pause", "id": "7"} and {"id": "7", "ok": true, "message": "…"}, each one line without its
/// newline.
std::string formatRequest(const Request& request);
std::string formatReply(const Reply& reply);

/// @throws Error (usage) saying what is wrong; an unknown command comes with the nearest known one
Request parseRequest(std::string_view line);
Reply parseReply(std::string_view line);

std::string commandName(Command command);

/// Cuts a stream of bytes into lines, never keeping more than `kLongestMessage` of an unfinished one.
class LineFramer {
  public:
    /// @returns the lines completed by these bytes; nothing if a line grew too long: the sender must be
    /// dropped
    std::optional<std::vector<std::string>> add(std::string_view bytes);

  private:
    std::string unfinished_;
};

}  // namespace roper
