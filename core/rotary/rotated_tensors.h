#pragma once

namespace roper {

/// Which tensors of an attention layer rotate by the positions of their tokens: queries, keys and values
/// forward, the output back. Su (kexue.fm/archives/10862) names them by their letters: RoPE is "qk", RoPER
/// "qkvo".
struct RotatedTensors {
    bool query = false, key = false, value = false, output = false;

    bool anyOfScores() const { return query || key; }
    bool anyOfValues() const { return value || output; }

    bool operator==(const RotatedTensors&) const = default;
};

}  // namespace roper
