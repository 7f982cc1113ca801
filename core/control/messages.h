#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roper {

/// The longest line that either side sends or takes. A longer one is refused and the connection closed.
inline constexpr std::size_t kLongestMessage = 64 * 1024;

/// The most bytes that may follow a reply's line.
inline constexpr std::size_t kLargestPayload = 80 * 1024 * 1024;

/// The longest text of a request for `head`, `maps` or `generate`, in bytes.
inline constexpr std::size_t kLongestProbe = 4096;

/// What a window may ask of a trainer between two steps.
enum class Command {
    status,
    pause,
    resume,
    stop,
    checkpoint,
    head,      ///< q, k and v of one head for a text
    maps,      ///< attention of all heads for a text
    generate,  ///< what the model generates after a text; "continue" in older versions
    look,      ///< any question of `roper-train look`
};

/// The most tokens that a model generates for one request.
inline constexpr std::int64_t kLongestContinuation = 1024;

struct Request {
    Command command = Command::status;
    std::string id = {};               ///< given back in the reply, so that its sender knows what it answers
    std::int64_t layer = 0, head = 0;  ///< of `head`, from 0
    std::string text = {};             ///< that the model reads for `head`, `maps` and `generate`
    std::int64_t count = 64;           ///< tokens to generate
    double temperature = 0;            ///< of `generate`: 0 takes the likeliest token
    std::int64_t seed = 0;             ///< of what `generate` samples
    /// Of `look`: the question's settings (core/questions/question.h), each once.
    std::vector<std::pair<std::string, std::string>> question = {};
};

struct Reply {
    std::string id;
    bool ok = true;
    std::string message;       ///< what was done, or why not
    std::string payload = {};  ///< bytes that follow the line; for `head` a safetensors file
};

/// {"command": "pause", "id": "7"} and {"id": "7", "ok": true, "message": "…"}, each one line without its
/// newline. A reply with a payload says how many bytes follow: "payload": 1234.
std::string formatRequest(const Request& request);
std::string formatReply(const Reply& reply);

/// @throws Error (usage) saying what is wrong; an unknown command comes with the nearest known one
Request parseRequest(std::string_view line);

/// A reply's line, and the size of the payload that follows it.
struct ReplyLine {
    Reply reply;
    std::size_t payload_size = 0;
};
ReplyLine parseReply(std::string_view line);

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
