#include "core/kernels/cached_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <random>
#include <type_traits>
#include <vector>

namespace roper {
namespace {

using Numbers = std::vector<float>;

struct Case {
    std::size_t d, T;
    std::size_t pairs, value_pairs;
    Pairing pairing = Pairing::half;
    bool bias = false;
    std::size_t kv_heads = 2;
    bool shared_kv = false;  ///< with as many pairs for values as for keys
    bool sinks = false;
    std::size_t window = 0;

    std::size_t row() const { return (2 + (shared_kv ? 1 : 2) * kv_heads) * d; }  ///< numbers of a token
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << "d " << c.d << ", T " << c.T << ", pairs " << c.pairs << " and " << c.value_pairs
               << (c.pairing == Pairing::half ? ", halves" : ", neighbors") << (c.bias ? ", biased" : "")
               << ", " << c.kv_heads << (c.shared_kv ? " shared" : "") << " key/value heads"
               << (c.sinks ? ", sinks" : "") << ", window " << c.window;
}

constexpr std::size_t kSequences = 3, kHeads = 2;
constexpr float kSinks[kHeads] = {0.5F, 6.0F};

Numbers randomNumbers(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0, 1);
    Numbers numbers(count);
    for (float& number : numbers)
        number = static_cast<float>(normal(generator));
    return numbers;
}

template <class Number>
Number numberOf(float x) {
    if constexpr (std::is_same_v<Number, float>)
        return x;
    else
        return toBFloat16(x);
}
float widened(float x) {
    return x;
}
float widened(BFloat16 x) {
    return toFloat(x);
}

/// cos and sin of positions 0 … T − 1, and selected rows of them.
struct Table {
    Table(std::size_t T, std::size_t d, std::size_t pairs_) : pairs(pairs_) {
        for (std::size_t m = 0; m < T; ++m)
            for (std::size_t i = 0; i < pairs; ++i) {
                const double angle =
                    static_cast<double>(m) *
                    std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(d));
                cosine.push_back(static_cast<float>(std::cos(angle)));
                sine.push_back(static_cast<float>(std::sin(angle)));
            }
    }
    Table rowsOf(const std::vector<std::int64_t>& positions) const {
        Table rows(0, 2, pairs);
        for (const std::int64_t m : positions) {
            const auto at = m * static_cast<std::int64_t>(pairs);
            rows.cosine.insert(rows.cosine.end(), cosine.begin() + at,
                               cosine.begin() + at + static_cast<std::int64_t>(pairs));
            rows.sine.insert(rows.sine.end(), sine.begin() + at,
                             sine.begin() + at + static_cast<std::int64_t>(pairs));
        }
        return rows;
    }
    RotationTable view() const { return {cosine.data(), sine.data(), pairs}; }

    std::size_t pairs;
    Numbers cosine, sine;
};

/// Whole sequences by the training kernel, which another test compares with float64; and the same sequences
/// token by token.
template <class Number>
class Decoder {
  public:
    explicit Decoder(const Case& c) : c_(c), query_key_(c.T, c.d, c.pairs), value_(c.T, c.d, c.value_pairs) {
        const Numbers numbers = randomNumbers(kSequences * c.T * c.row(), 1);
        for (const float x : numbers)
            qkv_.push_back(numberOf<Number>(x));
        if (c.bias) bias_ = randomNumbers(kHeads * (2 * c.T - 1), 2);
        const std::size_t each = cachedElements(c.d, c.T);
        keys_.resize(kSequences * c.kv_heads * each);
        values_.resize(keys_.size());
    }

    Numbers whole() {
        const AttentionArguments setup = setupOf(kSequences, c_.T);
        std::vector<Number> out(kSequences * c_.T * kHeads * c_.d);
        Numbers log_sum_exps(kSequences * kHeads * c_.T);
        for (std::size_t item = 0; item < setup.items(); ++item)
            attendForward(setup, qkv_.data(), out.data(), log_sum_exps.data(), item, scratch_);
        Numbers made;
        for (const Number x : out)
            made.push_back(widened(x));
        return made;
    }

    /// Reads prompts of `T` tokens.
    void readPrompts(std::size_t T) {
        std::vector<Number> prompts;
        for (std::size_t b = 0; b < kSequences; ++b) {
            const auto first = qkv_.begin() + static_cast<std::ptrdiff_t>(rowOf(b, 0));
            prompts.insert(prompts.end(), first, first + static_cast<std::ptrdiff_t>(T * c_.row()));
        }
        const AttentionArguments setup = setupOf(kSequences, T);
        for (std::size_t item = 0; item < setup.items(); ++item)
            cachePrompt(setup, prompts.data(), cache(), item, scratch_);
    }

    /// Decodes one token for some of the sequences, each at its own position. @returns [B, H, d]
    Numbers next(const std::vector<std::int64_t>& slots, const std::vector<std::int64_t>& positions) {
        const Table query_key = query_key_.rowsOf(positions), value = value_.rowsOf(positions);
        std::vector<Number> tokens;
        Numbers bias;
        for (std::size_t b = 0; b < slots.size(); ++b) {
            const auto n = static_cast<std::size_t>(positions[b]);
            const auto first =
                qkv_.begin() + static_cast<std::ptrdiff_t>(rowOf(static_cast<std::size_t>(slots[b]), n));
            tokens.insert(tokens.end(), first, first + static_cast<std::ptrdiff_t>(c_.row()));
            for (std::size_t h = 0; c_.bias && h < kHeads; ++h)
                for (std::size_t j = 0; j < c_.T; ++j)
                    bias.push_back(bias_[h * (2 * c_.T - 1) + n + c_.T - 1 - std::min(j, n)]);
        }
        const DecodingArguments setup{.B = slots.size(),
                                      .H = kHeads,
                                      .K = c_.kv_heads,
                                      .d = c_.d,
                                      .shared_kv = c_.shared_kv,
                                      .pairing = c_.pairing,
                                      .query = query_key.view(),
                                      .key = query_key.view(),
                                      .value = value.view(),
                                      .output = value.view(),
                                      .positions = positions.data(),
                                      .slots = slots.data(),
                                      .bias = c_.bias ? bias.data() : nullptr,
                                      .bias_keys = c_.T,
                                      .sinks = c_.sinks ? kSinks : nullptr,
                                      .window = c_.window};
        std::vector<Number> out(slots.size() * kHeads * c_.d);
        for (std::size_t item = 0; item < slots.size() * c_.kv_heads; ++item)
            attendToCache(setup, tokens.data(), cache(), out.data(), item, scratch_);
        Numbers made;
        for (const Number x : out)
            made.push_back(widened(x));
        return made;
    }

    const Case& problem() const { return c_; }

  private:
    std::size_t rowOf(std::size_t b, std::size_t t) const { return (b * c_.T + t) * c_.row(); }
    CachedLayer<Number> cache() { return {keys_.data(), values_.data(), c_.T}; }
    AttentionArguments setupOf(std::size_t B, std::size_t T) const {
        AttentionArguments setup;
        setup.B = B, setup.T = T, setup.H = kHeads, setup.K = c_.kv_heads, setup.d = c_.d;
        setup.shared_kv = c_.shared_kv;
        setup.pairing = c_.pairing;
        setup.query = setup.key = query_key_.view();
        setup.value = setup.output = value_.view();
        if (c_.bias) setup.bias = bias_.data();
        if (c_.sinks) setup.sinks = kSinks;
        setup.window = c_.window;
        return setup;
    }

    Case c_;
    Table query_key_, value_;
    std::vector<Number> qkv_, keys_, values_;
    Numbers bias_;
    AttentionScratch scratch_;
};

/// The largest difference between whole sequences and the same sequences continued from prompts of 5, 6 and 7
/// tokens (the longest padded with later tokens); the second sequence is removed half-way.
template <class Number>
float largestDifference(const Case& c) {
    Decoder<Number> decoder(c);
    const Numbers whole = decoder.whole();
    decoder.readPrompts(7);
    float largest = 0;
    std::vector<std::int64_t> slots = {0, 1, 2}, positions = {5, 6, 7};
    while (!slots.empty()) {
        const Numbers made = decoder.next(slots, positions);
        for (std::size_t b = 0; b < slots.size(); ++b) {
            const std::size_t row = kHeads * c.d, from = static_cast<std::size_t>(slots[b]) * c.T +
                                                         static_cast<std::size_t>(positions[b]);
            for (std::size_t i = 0; i < row; ++i)
                largest = std::max(largest, std::abs(made[b * row + i] - whole[from * row + i]));
        }
        if (slots.size() == kSequences && positions[0] > static_cast<std::int64_t>(c.T) / 2) {
            slots = {0, 2};
            positions = {positions[0], positions[2]};
        }
        for (std::int64_t& position : positions)
            ++position;
        while (!positions.empty() && positions.back() >= static_cast<std::int64_t>(c.T)) {
            positions.pop_back();
            slots.pop_back();
        }
    }
    return largest;
}

const std::vector<Case> kCases = {{8, 12, 4, 4},
                                  {64, 75, 32, 32},
                                  {32, 40, 16, 0},
                                  {24, 33, 5, 7},
                                  {80, 50, 40, 20, Pairing::interleaved},
                                  {64, 96, 0, 0, Pairing::half, true},
                                  {20, 64, 10, 10, Pairing::half, true},
                                  {24, 40, 12, 6, Pairing::half, true, 1},
                                  {32, 40, 16, 16, Pairing::half, true, 1, true},
                                  {20, 35, 5, 5, Pairing::interleaved, false, 2, true},
                                  {64, 75, 32, 32, Pairing::half, false, 2, false, true},
                                  {20, 40, 10, 10, Pairing::half, true, 1, true, true},
                                  {32, 60, 16, 16, Pairing::half, true, 1, false, false, 9},
                                  {20, 50, 10, 5, Pairing::half, false, 2, false, true, 1}};

TEST(CachedAttention, TokenByTokenIsTheSameAsWholeSequences) {
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        for (const Case& c : kCases)
            EXPECT_LT(largestDifference<float>(c), 1e-5) << target << ": " << c;
    }
    selectKernelTarget("");
}

// The maximum that is subtracted before weights are rounded is taken over the whole row here and by blocks
// there. The difference is the rounding of weights of at most 1 and of outputs of about 1.
TEST(CachedAttention, WithBFloat16ItRoundsTheSameFactors) {
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        for (const Case& c : kCases)
            EXPECT_LT(largestDifference<BFloat16>(c), 2e-2) << target << ": " << c;
    }
    selectKernelTarget("");
}

TEST(CachedAttention, OfOneQueryToRowsFollowsTheFormula) {
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        SCOPED_TRACE(target);
        std::mt19937 random(3);
        std::normal_distribution<float> normal;
        for (const bool has_sink : {false, true})
            for (const std::size_t N : {1, 5, 16, 37})
                for (const std::size_t width : {1, 12, 64, 100}) {
                    const std::size_t d = width + 3, stride = width + 7;
                    Numbers q(d), keys(N * stride), values(N * stride), out(width);
                    for (Numbers* numbers : {&q, &keys, &values})
                        for (float& number : *numbers)
                            number = normal(random);
                    RowAttention rows{N, d, width, 0.3F};
                    if (has_sink) rows.sink = 0.7F;
                    rows.keys = keys.data();
                    rows.values = values.data();
                    rows.key_stride = rows.value_stride = static_cast<std::ptrdiff_t>(stride);
                    Numbers space(RowAttention::spaceFor(N));
                    attendToRows(rows, q.data(), space.data(), out.data());
                    std::vector<double> sum(width);
                    double total = has_sink ? std::exp(0.7) : 0;
                    for (std::size_t j = 0; j < N; ++j) {
                        double score = 0;
                        for (std::size_t i = 0; i < d; ++i)
                            score += static_cast<double>(q[i]) * keys[j * stride + i];
                        const double weight = std::exp(0.3 * score);
                        total += weight;
                        for (std::size_t i = 0; i < width; ++i)
                            sum[i] += weight * values[j * stride + i];
                    }
                    for (std::size_t i = 0; i < width; ++i)
                        EXPECT_NEAR(out[i], sum[i] / total, 1e-5) << N << " keys, width " << width;
                }
    }
    selectKernelTarget("");
}

}  // namespace
}  // namespace roper
