// Rotates pairs of features by the angle of their token: y = R(±m)x. Each thread handles one pair.
//
// NVRTC, CUDA's run-time compiler, compiles this text when a GPU is opened. tests/core/cuda/rotation_test.cpp
// compiles it as C++ and runs its threads sequentially.

#include "rotation_job.h"

struct Float32 {
    typedef float Number;
    static __device__ float load(const float* from) { return *from; }
    static __device__ void store(float* to, float x) { *to = x; }
};

struct BFloat16 {  // the upper half of a float32
    typedef unsigned short Number;
    static __device__ float load(const unsigned short* from) {
        return __uint_as_float(static_cast<unsigned int>(*from) << 16);
    }
    static __device__ void store(unsigned short* to, float x) {
        const unsigned int bits = __float_as_uint(x);
        const unsigned int nearest = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
        *to = static_cast<unsigned short>(x == x ? nearest : 0x7FC0u);
    }
};

template <class Format>
__device__ void rotate(const roper::RotationJob& job) {
    typedef typename Format::Number Number;
    const roper::RotationJob::Part& part = job.parts[blockIdx.y];
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long all = static_cast<long long>(job.sequences) * job.tokens * job.heads * job.half_width;
    if (index >= all) return;
    const int i = static_cast<int>(index % job.half_width);
    const long long row = index / job.half_width;
    const int head = static_cast<int>(row % job.heads);
    const int token = static_cast<int>(row / job.heads % job.tokens);
    const int sequence = static_cast<int>(row / job.heads / job.tokens);
    const Number* from = static_cast<const Number*>(part.from) + sequence * part.from_sequence +
                         head * part.from_head + token * part.from_token;
    Number* to = static_cast<Number*>(part.to) + sequence * part.to_sequence + head * part.to_head +
                 token * part.to_token;
    if (i >= part.pairs) {  // this pair is not rotated
        to[2 * i] = from[2 * i];
        to[2 * i + 1] = from[2 * i + 1];
        return;
    }
    const int first = job.is_half_pairing ? i : 2 * i, second = job.is_half_pairing ? i + part.pairs : 2 * i + 1;
    const float c = part.cosine[static_cast<long long>(token) * part.pairs + i];
    const float s = part.sine[static_cast<long long>(token) * part.pairs + i] * job.sign;
    const float x1 = Format::load(from + first), x2 = Format::load(from + second);
    Format::store(to + first, x1 * c - x2 * s);
    Format::store(to + second, x2 * c + x1 * s);
}

extern "C" __global__ void rotate_float32(const roper::RotationJob job) {
    rotate<Float32>(job);
}

extern "C" __global__ void rotate_bfloat16(const roper::RotationJob job) {
    rotate<BFloat16>(job);
}
