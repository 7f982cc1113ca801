#include <ATen/ATen.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/cuda/rotation_compiler.h"
#include "core/kernels/bfloat16.h"
#include "core/operators/rotary_operator.h"
#include "tests/support/fake_gpu.h"
#include "tests/support/make_rotary.h"

// Defines CUDA's keywords so that the kernel compiles as C++; its threads run one after another.
#define __device__
#define __global__

namespace roper {
namespace {

struct Place {
    unsigned x = 0, y = 0;
};
Place blockIdx, blockDim, threadIdx;

float __uint_as_float(unsigned bits) {
    return std::bit_cast<float>(bits);
}

unsigned __float_as_uint(float number) {
    return std::bit_cast<unsigned>(number);
}

namespace kernel {
#include "core/cuda/rotation.cu"
}  // namespace kernel

void run(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction) {
    const RotationJob job = makeRotationJob(parts, pairing, direction);
    constexpr unsigned kThreads = 64;
    const auto all = static_cast<unsigned>(parts.front().from.numel() / 2);
    blockDim = {kThreads, 1};
    for (blockIdx.y = 0; blockIdx.y < parts.size(); ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x * kThreads < all; ++blockIdx.x)
            for (threadIdx.x = 0; threadIdx.x < kThreads; ++threadIdx.x)
                if (parts.front().from.scalar_type() == at::kBFloat16)
                    kernel::rotate_bfloat16(job);
                else
                    kernel::rotate_float32(job);
}

CosSin tableOf(std::int64_t T, std::int64_t d, double fraction, Pairing pairing) {
    const CosSin table = makeCosSinTable(
        makeRotary(static_cast<int>(d), pairing, 10000.0, FrequencyFormula::standard, fraction), 0, T,
        at::kFloat);
    return {table.cosine, table.sine};
}

/// Strided as the output of the combined q, k, v product: a view [3, B, H, T, d] of [B, T, 3, H, d].
at::Tensor heads(std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t d, at::ScalarType type) {
    return at::randn({B, T, 3, H, d}).to(type).permute({2, 0, 3, 1, 4});
}

TEST(RotationKernel, RotatesAsTheOperatorDoes) {
    at::manual_seed(1);
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved})
        for (const double fraction : {0.0, 0.25, 1.0})
            for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
                for (const Direction direction : {Direction::forward, Direction::inverse}) {
                    constexpr std::int64_t B = 2, H = 3, T = 7, d = 16;
                    const at::Tensor from = heads(B, H, T, d, type);
                    const at::Tensor to = at::full({3, B, T, H, d}, NAN, type).transpose(2, 3);
                    const CosSin cos_sin = tableOf(T, d, fraction, pairing),
                                 none = tableOf(T, d, 0.0, pairing);
                    run({{from[0], to[0], cos_sin.cosine, cos_sin.sine},
                         {from[1], to[1], cos_sin.cosine, cos_sin.sine},
                         {from[2], to[2], none.cosine, none.sine}},
                        pairing, direction);
                    for (std::int64_t part = 0; part < 2; ++part) {
                        const at::Tensor exact = rotate(from[part].to(at::kFloat), cos_sin.cosine,
                                                        cos_sin.sine, pairing, direction);
                        const double most = type == at::kFloat ? 1e-6 : 2e-2;
                        EXPECT_LT((to[part].to(at::kFloat) - exact).abs().max().item<double>(), most);
                    }
                    EXPECT_TRUE(to[2].equal(from[2])) << "what is not rotated is copied";
                }
}

TEST(RotationKernel, RoundsToTheNearestBFloat16) {
    for (const float number : {0.0F, -1.0F, 1.00390625F, 1.01171875F, 3.3e38F, INFINITY}) {
        unsigned short rounded = 0;
        kernel::BFloat16::store(&rounded, number);
        EXPECT_EQ(rounded, static_cast<unsigned short>(toBFloat16(number))) << number;
    }
    unsigned short rounded = 0;
    kernel::BFloat16::store(&rounded, std::bit_cast<float>(0x7FFFFFFFU));
    EXPECT_TRUE(std::isnan(kernel::BFloat16::load(&rounded)));
}

TEST(RotationKernel, IsCompiledForGpusOfManyYears) {
    void* const compiler = ::dlopen("libnvrtc.so.13", RTLD_NOW);
    if (compiler == nullptr) GTEST_SKIP() << "NVRTC is not installed here: " << ::dlerror();
    for (const char* architecture : {"sm_80", "sm_90", "sm_120"})
        EXPECT_GT(compileRotationKernel(architecture).size(), 1000U) << architecture;
    EXPECT_THROW(compileRotationKernel("sm_1"), c10::Error);
}

TEST(RotationKernel, RefusesWhatItCannotRotate) {
    const at::Tensor from = heads(1, 2, 5, 8, at::kFloat)[0];
    const CosSin cos_sin = tableOf(5, 8, 1.0, Pairing::half), longer = tableOf(6, 8, 1.0, Pairing::half);
    const auto job = [&](const at::Tensor& to, const CosSin& table) {
        return makeRotationJob({{from, to, table.cosine, table.sine}}, Pairing::half, Direction::forward);
    };
    EXPECT_NO_THROW(job(at::empty_like(from), cos_sin));
    EXPECT_THROW(job(at::empty_like(from), longer), c10::Error);
    EXPECT_THROW(job(at::empty({1, 2, 5, 6}), cos_sin), c10::Error);
    EXPECT_THROW(job(at::empty({1, 2, 5, 8}, at::kDouble), cos_sin), c10::Error);
}

TEST(RotateHeads, OnAGpuGivesTheSameBackAndForth) {
    at::manual_seed(2);
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
        const CosSin queries = tableOf(9, 12, 1.0, pairing), values = tableOf(9, 12, 0.5, pairing);
        const CosSin keys = {0.5 * queries.cosine, 0.5 * queries.sine};
        const at::Tensor given = at::randn({2, 9, 3, 4, 12}), grads = at::randn({3, 2, 4, 9, 12});
        const auto outAndGradient = [&] {
            const at::Tensor x = given.clone().requires_grad_(true);
            const RotatedHeads made = rotateHeads(x.permute({2, 0, 3, 1, 4}), queries, keys, values, pairing);
            (made.q * grads[0] + made.k * grads[1] + made.v * grads[2]).sum().backward();
            return std::pair(at::stack({made.q, made.k, made.v}).detach(), x.grad());
        };
        const auto [out, gradient] = outAndGradient();
        const ScopedGpu used(std::make_shared<FakeGpu>(run));
        const auto [gpu_out, gpu_gradient] = outAndGradient();
        EXPECT_LT((out - gpu_out).abs().max().item<double>(), 1e-6);
        EXPECT_LT((gradient - gpu_gradient).abs().max().item<double>(), 1e-6);
    }
}

}  // namespace
}  // namespace roper
