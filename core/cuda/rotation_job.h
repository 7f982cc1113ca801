#pragma once

namespace roper {

/// Arguments of the kernels in rotation.cu. Both the host's compiler and NVRTC read this file, so it includes
/// nothing.
struct RotationJob {
    struct Part {
        const void* from;
        void* to;
        const float *cosine, *sine;                      ///< [tokens, pairs]
        long long from_sequence, from_head, from_token;  ///< strides, in elements
        long long to_sequence, to_head, to_token;        ///< likewise
        int pairs;
    } parts[3];
    int sequences, heads, tokens;
    int half_width;       ///< half of a head's features
    int is_half_pairing;  ///< 1: features i and i + pairs form a pair; 0: 2i and 2i + 1
    float sign;           ///< +1 rotates forward, −1 backward
};

}  // namespace roper
