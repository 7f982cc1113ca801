#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/safetensors.h"
#include "core/methods/position_method.h"
#include "core/rotary/attention_kind.h"

namespace roper {

/// Maximal length of a line in either direction. A longer one is refused and the connection closed.
inline constexpr std::size_t kMaxMessageLineBytes = 64 * 1024;

/// Maximal number of bytes that follow a reply's line.
inline constexpr std::size_t kMaxPayloadBytes = 80 * 1024 * 1024;

/// Maximal length of the text in a `head`, `maps` or `generate` request, in bytes.
inline constexpr std::size_t kMaxRequestTextBytes = 4096;

/// Requests to a trainer, handled between two steps. `head`, `maps` and `generate` are older forms of
/// `question`.
enum class Command {
    status,
    pause,
    resume,
    stop,
    checkpoint,
    head,      ///< queries, keys and values of one head for a text
    maps,      ///< attention of all heads for a text
    generate,  ///< a continuation of a text; "continue" in older versions
    question,  ///< "look": any question, as with `roper-train look`
};

/// Maximal number of generated tokens per request.
inline constexpr std::int64_t kMaxGeneratedTokens = 1024;

struct Request {
    Command command = Command::status;
    std::string id = {};               ///< returned in the reply, to match it to the request
    std::int64_t layer = 0, head = 0;  ///< for `head`, from 0
    std::string text = {};             ///< input for `head`, `maps` and `generate`
    std::int64_t count = 64;           ///< for `generate`: number of tokens
    double temperature = 0;            ///< for `generate`: 0 is greedy
    std::int64_t seed = 0;             ///< for `generate`: seed of the sampling
    /// For `question`: its settings (core/questions/question.h), each at most once.
    std::vector<std::pair<std::string, std::string>> question = {};
};

struct Reply {
    std::string id;
    bool ok = true;
    std::string message;       ///< what was done, or why it was refused
    std::string payload = {};  ///< bytes that follow the line (docs/control-socket.md)
};

/// {"command": "pause", "id": "7"} and {"id": "7", "ok": true, "message": "…"}, each on one line, here
/// without the newline. A reply with a payload states its size in bytes: "payload": 1234.
std::string formatRequest(const Request& request);
std::string formatReply(const Reply& reply);

/// @throws Error (usage) saying what is wrong; for an unknown command with the nearest known one
Request parseRequest(std::string_view line);

/// A reply's line, and the size of the payload after it.
struct ReplyLine {
    Reply reply;
    std::size_t payload_size = 0;
};
ReplyLine parseReply(std::string_view line);

std::string commandName(Command command);

/// Splits a stream of bytes into lines, buffering at most `kMaxMessageLineBytes` of an unfinished one.
class LineFramer {
  public:
    /// @returns the lines completed by these bytes; empty if a line is too long and the sender must be
    /// dropped
    std::optional<std::vector<std::string>> add(std::string_view bytes);

  private:
    std::string unfinished_;
};

/// Description of the model in the metadata of answers about heads and maps (docs/control-socket.md).
struct ModelDescription {
    std::int64_t step = -1;         ///< of a run's checkpoint; −1 for a published model
    std::string position = "none";  ///< name of the position method
    AttentionKind attention = AttentionKind::softmax;
    bool causal = true;
    RotaryConfig rotation;               ///< of queries and keys, without scaling
    double value_rotary_fraction = 1;    ///< fraction of the features of values that rotate
    double value_rotation_strength = 1;  ///< factor of the frequencies of values and outputs
    int layers = 0, heads = 0;

    std::map<std::string, std::string> toMetadata() const;
    /// @throws Error (checkpoint) for an entry that is missing or invalid in this version
    static ModelDescription fromFile(const SafetensorsFile& file);
};

}  // namespace roper
