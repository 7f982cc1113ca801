#pragma once

namespace roper {

/// What rotation.cu is to do. Both the host's compiler and NVRTC read this file, so it includes nothing.
struct RotationJob {
    struct Part {
        const void* from;
        void* to;
        const float *cosine, *sine;                      ///< [tokens, pairs]
        long long from_sequence, from_head, from_token;  ///< strides, in numbers
        long long to_sequence, to_head, to_token;
        int pairs;
    } parts[3];
    int sequences, heads, tokens;
    int half_width;  ///< half of a head's features
    int halves;      ///< whether features i and i + pairs are a pair; otherwise 2i and 2i + 1 are
    float sign;      ///< +1 rotates forward, −1 back
};

}  // namespace roper
