#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roper {

/// The heads of an attention layer. Its joint projection "qkv" yields the queries of all heads, then the keys
/// and then the values of the key/value heads. With `shared_kv` the keys are also the values.
struct HeadLayout {
    std::int64_t heads = 0;
    /// Key/value heads, a divisor of `heads`; head h uses number ⌊h·kv_heads/heads⌋.
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    bool shared_kv = false;

    std::int64_t queryWidth() const { return heads * head_dim; }
    std::int64_t keyWidth() const { return kv_heads * head_dim; }
    /// Features of a token's queries, keys and values together.
    std::int64_t jointWidth() const { return queryWidth() + (shared_kv ? 1 : 2) * keyWidth(); }

    /// Whether queries, keys and values have the same shape and are all stored.
    bool isUniform() const { return heads == kv_heads && !shared_kv; }

    bool operator==(const HeadLayout&) const = default;
};

/// Which tensors of an attention layer rotate by the positions of their tokens: queries, keys and values
/// forward, the output back. Su (kexue.fm/archives/10862) names such sets by letters: RoPE is "qk", RoPER
/// "qkvo".
struct RotatedTensors {
    bool query = false, key = false, value = false, output = false;

    bool anyOfScores() const { return query || key; }
    bool anyOfValues() const { return value || output; }
    /// Whether scores depend on positions only through distances; whether outputs do, for given weights.
    bool scoresAreRelative() const { return query == key; }
    bool outputsAreRelative() const { return value == output; }

    bool operator==(const RotatedTensors&) const = default;
};

inline constexpr RotatedTensors kRopeTensors = {true, true, false, false};
inline constexpr RotatedTensors kRoperTensors = {true, true, true, true};

/// The names of all non-empty sets, starting with those that Su compares.
const std::vector<std::string>& rotatedTensorsNames();

/// The set with this name, such as "qkv": letters in the order q, k, v, o.
/// @throws std::invalid_argument if there is none
RotatedTensors rotatedTensorsFromName(const std::string& name);

std::string nameOf(const RotatedTensors& rotated);

/// To which keys a query attends.
struct AttentionScope {
    bool causal = true;       ///< to keys up to its own position, otherwise to all
    std::int64_t window = 0;  ///< if causal: only to the last `window` of these; 0: to all of these
};

}  // namespace roper
