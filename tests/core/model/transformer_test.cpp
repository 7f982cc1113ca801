#include "core/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include <map>

#include "core/kernels/attention.h"
#include "core/model/generation.h"
#include "core/operators/products.h"
#include "core/operators/sample_token.h"
#include "core/specification/cost.h"
#include "tests/support/change_from_defaults.h"
#include "tests/support/eigen_transformer.h"

namespace roper {
namespace {

constexpr std::int64_t kVocabulary = 11;

Specification tiny(const std::string& position) {
    Specification s;
    s.model.position = position;
    s.model.width = 24;
    s.model.layers = 2;
    s.model.heads = 3;
    s.model.feed_forward = 40;
    s.training.length = 14;
    s.device.precision = "fp32";  // even if another precision is faster here
    if (position == "learned") s.model.specific_settings.set("table_positions", 40);
    return s;
}

/// Fewer key/value heads than heads, and keys that are also the values.
void addGroupedKinds(std::vector<Specification>& kinds) {
    for (const char* position : {"rope", "roper", "t5"}) {
        Specification grouped = tiny(position);
        grouped.model.width = 32;
        grouped.model.heads = 4;
        grouped.model.kv_heads = 2;
        kinds.push_back(grouped);
        grouped.model.kv_heads = 1;
        grouped.model.shared_kv = true;
        kinds.push_back(grouped);
    }
    Specification shared = tiny("roper");
    shared.model.shared_kv = true;
    shared.model.rotary_fraction = 0.5;
    shared.model.pairing = Pairing::interleaved;
    kinds.push_back(shared);
    shared.model.frequencies = "trained";
    kinds.push_back(shared);
    for (const char* attention : {"linear_numerator", "linear_cosine"}) {
        Specification linear = tiny("roper");
        linear.model.attention = attention;
        linear.model.kv_heads = 1;
        kinds.push_back(linear);
        linear.model.shared_kv = true;
        kinds.push_back(linear);
    }
}

/// Sets of rotated tensors other than those of RoPE and RoPER.
void addRotatedKinds(std::vector<Specification>& kinds) {
    for (const char* rotates : {"k", "vo", "qkv", "qo"}) {
        kinds.push_back(tiny("rotary"));
        kinds.back().model.specific_settings.set("rotates", rotates);
    }
    Specification trained = tiny("rotary");
    trained.model.frequencies = "trained";
    trained.model.specific_settings.set("rotates", "vo");
    kinds.push_back(trained);
    for (const char* frequencies : {"fixed", "trained"}) {
        kinds.push_back(tiny("roper"));
        kinds.back().model.frequencies = frequencies;
        kinds.back().model.value_rotation_strength = 0.4;
    }
    Specification shared = tiny("rotary");
    shared.model.shared_kv = true;
    shared.model.specific_settings.set("rotates", "kvo");
    kinds.push_back(shared);
    shared.model.frequencies = "trained";
    shared.model.specific_settings.set("rotates", "qo");
    kinds.push_back(shared);
}

/// Models with query-key norm, attention sinks, modern blocks, windows or layers that do not rotate.
void addCurrentKinds(std::vector<Specification>& kinds) {
    for (const char* position : {"rope", "roper", "t5"}) {
        kinds.push_back(tiny(position));
        kinds.back().model.qk_norm = true;
    }
    kinds.push_back(kinds.back());
    kinds.back().model.attention = "linear_cosine";
    kinds.back().model.position = "roper";
    kinds.push_back(tiny("roper"));
    kinds.back().model.qk_norm = kinds.back().model.shared_kv = true;
    kinds.back().model.kv_heads = 1;
    for (const char* position : {"rope", "roper", "t5", "learned"}) {
        kinds.push_back(tiny(position));
        kinds.back().model.attention_sinks = true;
    }
    kinds.push_back(tiny("roper"));
    kinds.back().model.attention_sinks = kinds.back().model.shared_kv = true;
    kinds.back().model.kv_heads = 1;
    for (const char* position : {"rope", "roper"}) {
        kinds.push_back(tiny(position));
        kinds.back().model.latent_rank = 10;
        kinds.back().model.rotary_fraction = 0.5;
        kinds.back().model.rotated_part = RotatedPart::last;
        kinds.back().model.block = std::string(position) == "rope" ? "modern" : "classic";
    }
    kinds.push_back(kinds.back());
    kinds.back().model.pairing = Pairing::interleaved;
    kinds.back().model.value_rotary_fraction = 0.25;
    kinds.back().model.frequencies = "trained";
    for (const char* norm : {"pre", "post"}) {
        kinds.push_back(tiny("roper"));
        kinds.back().model.block = "modern";
        kinds.back().model.norm = norm;
        kinds.back().model.qk_norm = true;
    }
    kinds.push_back(tiny("learned"));
    kinds.back().model.block = "modern";
    for (const char* position : {"rope", "roper", "t5"}) {
        kinds.push_back(tiny(position));
        kinds.back().model.window = 5;
    }
    kinds.push_back(kinds.back());
    kinds.back().model.attention_sinks = true;
    for (const char* position : {"rope", "roper", "rotary"}) {
        kinds.push_back(tiny(position));
        kinds.back().model.rotated_part = RotatedPart::last;
        kinds.back().model.rotary_fraction = 0.5;
        if (std::string(position) != "rope") kinds.back().model.value_rotary_fraction = 0.25;
    }
    kinds.push_back(kinds.back());  // as DeepSeek V4
    kinds.back().model.position = "roper";
    kinds.back().model.value_rotary_fraction = 1;
    kinds.back().model.shared_kv = kinds.back().model.qk_norm = kinds.back().model.attention_sinks = true;
    kinds.back().model.kv_heads = 1;
    kinds.back().model.pairing = Pairing::interleaved;
    for (const char* position : {"rope", "roper", "rotary", "xpos"}) {
        kinds.push_back(tiny(position));
        kinds.back().model.layers = 3;
        kinds.back().model.no_rotation_every = 2;
    }
    kinds.push_back(kinds.back());
    kinds.back().model.position = "roper";
    kinds.back().model.attention = "linear_numerator";
}

/// A small model of every kind that a specification can describe.
std::vector<Specification> allKinds() {
    std::vector<Specification> kinds;
    for (const PositionMethod& method : positionMethods())
        for (const char* norm : {"pre", "post"}) {
            Specification s = tiny(method.name);
            s.model.norm = norm;
            kinds.push_back(s);
        }
    Specification other = tiny("roper");
    other.model.pairing = Pairing::interleaved;
    other.model.frequency_formula = FrequencyFormula::worked_example;
    other.model.activation = "relu";
    other.model.base = 50;
    kinds.push_back(other);
    Specification partial = tiny("roper");
    partial.model.rotary_fraction = 0.5;
    partial.model.value_rotary_fraction = 0.25;
    kinds.push_back(partial);
    for (const PositionMethod& method : positionMethods()) {
        if (method.settings.empty()) continue;
        kinds.push_back(tiny(method.name));
        changeFromDefaults(kinds.back());
    }
    Specification buckets = tiny("t5");
    buckets.model.specific_settings.set(
        "bias_buckets",
        6);  // smaller than the 13 tokens of these tests, so the last bucket is used, too
    buckets.model.specific_settings.set("bias_distance", 9);
    kinds.push_back(buckets);
    for (const PositionMethod& method : positionMethods()) {
        if (!method.rotates()) continue;
        Specification trained = tiny(method.name);
        trained.model.frequencies = "trained";
        trained.model.rotary_fraction = 0.5;
        kinds.push_back(trained);
    }
    for (const char* attention : {"linear_numerator", "linear_cosine"})
        for (const PositionMethod& method : positionMethods()) {
            if (method.biases_scores) continue;
            Specification linear = tiny(method.name);
            linear.model.attention = attention;
            kinds.push_back(linear);
        }
    kinds.push_back(tiny("roper"));
    kinds.back().model.attention = "linear_cosine";
    kinds.back().model.frequencies = "trained";
    addGroupedKinds(kinds);
    addRotatedKinds(kinds);
    addCurrentKinds(kinds);
    return kinds;
}

/// The same kinds, each also with bidirectional attention.
std::vector<Specification> allKindsBothWays() {
    std::vector<Specification> kinds = allKinds();
    const std::size_t causal = kinds.size();
    for (std::size_t i = 0; i < causal; ++i) {
        Specification masked = kinds[i];
        masked.training.objective = "masked";
        if (masked.model.window > 0) continue;
        const PositionMethod& method = masked.model.method();
        if (!method.check || method.check(masked.model, masked.shape()).empty()) kinds.push_back(masked);
    }
    return kinds;
}

std::string nameOf(const Specification& s) {
    return s.training.objective + " " + s.model.position + " " + nameOf(s.model.rotatedTensors()) + " " +
           s.model.attention + " " + s.model.frequencies + " " + s.model.norm + " " +
           nameOf(s.model.pairing) + " " + s.model.activation + " kv_heads " +
           std::to_string(s.model.kv_heads) + (s.model.shared_kv ? " shared" : "") +
           (s.model.qk_norm ? " qk_norm" : "") + (s.model.attention_sinks ? " sinks" : "") + " " +
           s.model.block + " latent_rank " + std::to_string(s.model.latent_rank) + " window " +
           std::to_string(s.model.window) + " unrotated " + std::to_string(s.model.no_rotation_every);
}

at::Tensor someTokens(std::int64_t B, std::int64_t T) {
    return at::randint(kVocabulary, {B, T}, at::kLong);
}

// Compares the attention of both methods inside a whole model with Eigen.
TEST(Transformer, LogitsEqualTheEigenImplementation) {
    at::manual_seed(1);
    const at::NoGradGuard no_gradients;
    const at::Tensor tokens = someTokens(1, 13);
    const std::vector<std::int64_t> row(tokens.const_data_ptr<std::int64_t>(),
                                        tokens.const_data_ptr<std::int64_t>() + 13);
    for (const Specification& s : allKindsBothWays()) {
        for (const auto dtype : {at::kDouble, at::kFloat}) {
            Transformer model(s, kVocabulary, at::kCPU, dtype);
            const at::Tensor logits = model.forward(tokens).squeeze(0).to(at::kDouble);
            const Eigen::MatrixXd expected = eigenLogits(s, model.parameters(), row);
            EXPECT_TRUE(logits.isfinite().all().item<bool>()) << nameOf(s);
            double largest = 0;
            for (std::int64_t t = 0; t < logits.size(0); ++t)
                for (std::int64_t v = 0; v < kVocabulary; ++v)
                    largest =
                        std::max(largest, std::abs(logits.index({t, v}).item<double>() - expected(t, v)));
            EXPECT_LT(largest, dtype == at::kDouble ? 1e-10 : 1e-5) << nameOf(s);
        }
    }
}

TEST(Transformer, ValuesRotateFasterWithEveryStepOfTheirWarmup) {
    at::manual_seed(7);
    const at::NoGradGuard no_gradients;
    const at::Tensor tokens = someTokens(2, 13);
    for (const char* frequencies : {"fixed", "trained"}) {
        Specification s = tiny("roper");
        s.model.frequencies = frequencies;
        s.model.value_rotation_strength = 0.8;
        s.training.value_rotation_warmup = 4;
        Transformer model(s, kVocabulary, at::kCPU, at::kDouble);
        at::Tensor unrotated;
        for (const std::int64_t step : {0, 1, 3, 4, 9, 2}) {
            model.positions().setStep(step);
            const Specification constant = s.afterSteps(step);
            EXPECT_DOUBLE_EQ(constant.model.value_rotation_strength,
                             0.2 * static_cast<double>(std::min<std::int64_t>(step, 4)));
            Transformer expected(constant, kVocabulary, at::kCPU, at::kDouble);
            const at::Tensor found = model.forward(tokens);
            EXPECT_LT((found - expected.forward(tokens)).abs().max().item<double>(), 1e-12) << step;
            if (step == 0) {
                Transformer rope(withPosition(s, "rope"), kVocabulary, at::kCPU, at::kDouble);
                if (!s.model.trainsFrequencies()) {
                    EXPECT_LT((found - rope.forward(tokens)).abs().max().item<double>(), 1e-12);
                }
                unrotated = found;
            } else {
                EXPECT_GT((found - unrotated).abs().max().item<double>(), 1e-6) << step;
            }
        }
    }
}

TEST(Transformer, GradientsAreFiniteDifferences) {
    at::manual_seed(2);
    constexpr double h = 1e-5;
    const at::Tensor tokens = someTokens(2, 9);
    for (const Specification& s : allKindsBothWays()) {
        Transformer model(s, kVocabulary, at::kCPU, at::kDouble);
        model.loss(tokens).backward();
        const at::NoGradGuard no_gradients;
        for (const auto& [name, parameter] : model.parameters()) {
            for (int probe = 0; probe < 2; ++probe) {
                const std::int64_t i = at::randint(parameter.numel(), {1}).item<std::int64_t>();
                at::Tensor entry = parameter.detach().flatten()[i];
                const double before = entry.item<double>();
                entry.fill_(before + h);
                const double up = model.loss(tokens).item<double>();
                entry.fill_(before - h);
                const double down = model.loss(tokens).item<double>();
                entry.fill_(before);
                EXPECT_NEAR(parameter.grad().flatten()[i].item<double>(), (up - down) / (2 * h), 2e-8)
                    << nameOf(s) << " " << name;
            }
        }
    }
}

/// Logits and gradients of a model whose sequences are more than twice as long as the kernel's block of
/// queries.
std::vector<at::Tensor> logitsAndGradients(Specification s, const char* kernel,
                                           const char* precision = "fp32") {
    s.device.kernel = kernel;
    s.device.precision = precision;
    s.training.length = 140;
    s.model.specific_settings.set("table_positions", s.model.position == "learned" ? 140 : 0);
    Transformer model(s, kVocabulary, at::kCPU);
    at::manual_seed(5);
    const at::Tensor tokens = at::randint(kVocabulary, {2, 140}, at::kLong);
    model.loss(tokens, /*training=*/true).backward();
    std::vector<at::Tensor> all = {model.forward(tokens).detach()};
    for (const NamedParameter& parameter : model.parameters())
        all.push_back(parameter.second.grad());
    return all;
}

/// The largest difference between two lists of tensors, relative to the largest number of each tensor or to
/// 1.
double difference(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected) {
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(found[i].scalar_type(), at::kFloat);
        const double scale = std::max(1.0, expected[i].abs().max().item<double>());
        largest = std::max(largest, (found[i] - expected[i]).abs().max().item<double>() / scale);
    }
    return largest;
}

// LibTorch's own operations are the reference implementation for each of our kernels.
TEST(Transformer, OurKernelsAgreeWithLibTorchsOperations) {
    for (Specification s : allKinds())
        for (const char* objective : {"causal", "masked"}) {
            if (s.model.window > 0 && std::string(objective) == "masked") continue;
            s.training.objective = objective;
            const auto plain = logitsAndGradients(s, "plain"), ours = logitsAndGradients(s, "auto");
            EXPECT_LT(difference(ours, plain), 1e-5) << nameOf(s) << ", " << objective;
        }
}

// In bfloat16, kernels and LibTorch round at different places; both must stay as close to float32 as 8 bits
// allow.
TEST(Transformer, OfBFloat16StaysNearFloat32) {
    for (Specification s : allKinds())
        for (const char* objective : {"causal", "masked"}) {
            if (s.model.window > 0 && std::string(objective) == "masked") continue;
            s.training.objective = objective;
            const auto exact = logitsAndGradients(s, "plain");
            for (const char* kernel : {"auto", "plain"}) {
                const double off = difference(logitsAndGradients(s, kernel, "bf16"), exact);
                EXPECT_LT(off, 3e-2) << nameOf(s) << ", " << objective << ", " << kernel;
                EXPECT_GT(off, 1e-4) << "nothing was rounded: " << nameOf(s) << ", " << kernel;
            }
        }
}

/// As on a GPU: scores with a bias, a mask or a sink are float32, values bfloat16.
TEST(Transformer, RecordsEveryKindInBFloat16) {
    at::manual_seed(4);
    const at::NoGradGuard no_gradients;
    const at::Tensor tokens = someTokens(1, 12);
    for (Specification s : allKinds()) {
        s.device.kernel = "plain";
        s.device.precision = "bf16";
        Transformer rounded(s, kVocabulary, at::kCPU);
        const at::Tensor off =
            rounded.attentionWeights(tokens, Transformer::NumberMode::compute).to(at::kFloat) -
            rounded.attentionWeights(tokens);
        EXPECT_LT(off.abs().max().item<double>(), 5e-2) << nameOf(s);
    }
}

TEST(Transformer, SaysWhatComputesIt) {
    Specification s = tiny("roper");
    const auto said = [&] { return Transformer(s, kVocabulary, at::kCPU).describeComputation(); };
    s.device.precision = "fp32";
    EXPECT_EQ(said().find("computed in float32 by our kernels for "), 0);
    s.device.precision = "bf16";
    EXPECT_EQ(said().find("computed in bfloat16 by our kernels for "), 0);
    const bool native = kernelsMultiplyBFloat16() && oneDnnMultipliesBFloat16();
    EXPECT_EQ(said().find("float32 would be faster") == std::string::npos, native);
    s.device.precision = "auto";
    EXPECT_EQ(said().find("computed in bfloat16") == 0, native) << "taken where it is faster";
    s.device.kernel = "plain";
    EXPECT_EQ(said(), "computed in float32 by LibTorch's operations: device.kernel is plain");
}

TEST(Transformer, IsCausal) {
    at::manual_seed(3);
    const at::NoGradGuard no_gradients;
    for (const Specification& s : allKinds()) {
        Transformer model(s, kVocabulary, at::kCPU, at::kDouble);
        const at::Tensor tokens = someTokens(1, 10);
        at::Tensor changed = tokens.clone();
        changed.narrow(1, 6, 4).copy_((tokens.narrow(1, 6, 4) + 1) % kVocabulary);
        const at::Tensor difference = model.forward(tokens) - model.forward(changed);
        EXPECT_LT(difference.narrow(1, 0, 6).abs().max().item<double>(), 1e-12) << nameOf(s);
        EXPECT_GT(difference.narrow(1, 6, 4).abs().max().item<double>(), 1e-3) << nameOf(s);
    }
}

TEST(Transformer, AMaskedOneSeesBothSides) {
    at::manual_seed(3);
    const at::NoGradGuard no_gradients;
    Specification s = tiny("rope");
    s.training.objective = "masked";
    Transformer model(s, kVocabulary, at::kCPU, at::kDouble);
    const at::Tensor tokens = someTokens(1, 10);
    at::Tensor changed = tokens.clone();
    changed[0][9] = (tokens[0][9] + 1) % kVocabulary;
    EXPECT_GT((model.forward(tokens) - model.forward(changed))[0][0].abs().max().item<double>(), 1e-6);
    EXPECT_THROW(generate(model, Vocabulary("abcdefghijk"), std::vector<std::string>{"ab"}, {4, {}}),
                 std::invalid_argument);
}

TEST(Transformer, LossIsOverWhatIsAskedAlone) {
    at::manual_seed(3);
    const at::NoGradGuard no_gradients;
    Transformer model(tiny("rope"), kVocabulary, at::kCPU, at::kDouble);
    const at::Tensor tokens = someTokens(2, 6);
    at::Tensor targets = at::full_like(tokens, kIgnoreIndex);
    targets[0][2] = 4;
    targets[1][5] = 7;
    const at::Tensor p = at::log_softmax(model.forward(tokens), -1);
    const double expected = -(p[0][2][4].item<double>() + p[1][5][7].item<double>()) / 2;
    EXPECT_NEAR(model.loss(tokens, targets, false).item<double>(), expected, 1e-12);
}

TEST(Transformer, CachedDecodingEqualsTheWholeForwardPass) {
    at::manual_seed(4);
    const at::NoGradGuard no_gradients;
    for (const Specification& s : allKinds()) {
        Transformer model(s, kVocabulary, at::kCPU, at::kDouble);
        const at::Tensor tokens = someTokens(2, 12);
        // Prompts of 3 and 5 tokens, padded to 5; then each sequence continues from its own position.
        at::Tensor prompts = tokens.narrow(1, 0, 5).clone();
        prompts[0].narrow(0, 3, 2).zero_();
        Transformer::Decoding texts = model.startDecoding(12);
        const at::Tensor first = model.prefill(prompts, texts);
        const at::Tensor whole = model.forward(tokens);
        EXPECT_LT((first[0][2] - whole[0][2]).abs().max().item<double>(), 1e-10) << nameOf(s);
        EXPECT_LT((first[1][4] - whole[1][4]).abs().max().item<double>(), 1e-10) << nameOf(s);
        for (std::int64_t step = 0; step < 7; ++step) {
            const at::Tensor positions = at::tensor({3 + step, 5 + step}, at::kLong);
            const at::Tensor next = at::stack({tokens[0][3 + step], tokens[1][5 + step]});
            const at::Tensor logits = model.decode(next, positions, texts);
            EXPECT_LT((logits[0] - whole[0][3 + step]).abs().max().item<double>(), 1e-10) << nameOf(s);
            EXPECT_LT((logits[1] - whole[1][5 + step]).abs().max().item<double>(), 1e-10) << nameOf(s);
        }
    }
}

// In float32 and in bfloat16, the kernels decode with the arithmetic they use for whole sequences; only the
// order of summation differs.
TEST(Transformer, CachedDecodingByOurKernelsEqualsTheirForwardPass) {
    const at::NoGradGuard no_gradients;
    for (Specification s : allKinds())
        for (const auto& [precision, tolerance] : {std::pair{"fp32", 1e-5}, {"bf16", 1e-2}}) {
            at::manual_seed(4);
            s.device.precision = precision;
            Transformer model(s, kVocabulary, at::kCPU);
            const at::Tensor tokens = someTokens(3, 12);
            const at::Tensor whole = model.forward(tokens);
            const double scale = whole.abs().max().item<double>();
            Transformer::Decoding texts = model.startDecoding(12);
            model.prefill(tokens.narrow(1, 0, 5).contiguous(), texts);
            for (std::int64_t at = 5; at < 12; ++at) {
                const at::Tensor next = tokens.select(1, at).contiguous();
                const at::Tensor logits = model.decode(next, at::full({3}, at, at::kLong), texts);
                EXPECT_LT((logits - whole.select(1, at)).abs().max().item<double>() / scale, tolerance)
                    << nameOf(s) << ", " << precision;
            }
        }
}

TEST(Transformer, AttentionWeightsAreThoseOfTheForwardPass) {
    at::manual_seed(5);
    const at::NoGradGuard no_gradients;
    Transformer model(tiny("roper"), kVocabulary, at::kCPU, at::kDouble);
    const at::Tensor weights = model.attentionWeights(someTokens(1, 8));
    EXPECT_EQ(weights.sizes().vec(), (std::vector<std::int64_t>{2, 1, 3, 8, 8}));
    EXPECT_LT((weights.sum(-1) - 1).abs().max().item<double>(), 1e-12);
    EXPECT_EQ(weights.triu(1).abs().max().item<double>(), 0.0);
}

TEST(Transformer, TwinsStartFromTheSameWeights) {
    const Transformer rope(tiny("rope"), kVocabulary, at::kCPU), roper(tiny("roper"), kVocabulary, at::kCPU);
    ASSERT_EQ(rope.parameters().size(), roper.parameters().size());
    for (std::size_t i = 0; i < rope.parameters().size(); ++i)
        EXPECT_TRUE(at::equal(rope.parameters()[i].second, roper.parameters()[i].second))
            << rope.parameters()[i].first;
    Specification other_seed = tiny("rope");
    other_seed.training.model_seed = 1;
    const Transformer other(other_seed, kVocabulary, at::kCPU);
    EXPECT_FALSE(at::equal(rope.parameters()[0].second, other.parameters()[0].second));
    // Where shapes agree, even if the models differ otherwise.
    Specification deeper = tiny("rope");
    deeper.model.layers = 3;
    deeper.model.norm = "post";
    const Transformer deep(deeper, kVocabulary, at::kCPU);
    const std::map<std::string, at::Tensor> of_deep(deep.parameters().begin(), deep.parameters().end());
    for (const auto& [name, parameter] : rope.parameters()) {
        if (of_deep.count(name) == 0) continue;
        EXPECT_TRUE(at::equal(parameter, of_deep.at(name))) << name;
    }
}

TEST(Transformer, RopeAndRoperAreCasesOfRotary) {
    for (const auto& [method, rotates] : {std::pair{"rope", "qk"}, {"roper", "qkvo"}})
        for (const char* frequencies : {"fixed", "trained"}) {
            Specification named = tiny(method), chosen = tiny("rotary");
            named.model.frequencies = chosen.model.frequencies = frequencies;
            chosen.model.specific_settings.set("rotates", rotates);
            const std::vector<at::Tensor> expected = logitsAndGradients(named, "auto"),
                                          found = logitsAndGradients(chosen, "auto");
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                EXPECT_TRUE(found[i].equal(expected[i])) << rotates << " " << frequencies << " " << i;
        }
}

TEST(Transformer, ItsParametersAreCountedWithoutMakingThem) {
    for (const Specification& s : allKindsBothWays()) {
        const Transformer model(s, vocabularySize(s.task) + (s.isMasked() ? 1 : 0), at::kCPU);
        EXPECT_EQ(costOf(s).parameters, model.parameterCount()) << nameOf(s);
    }
}

TEST(Transformer, UntrainedLossIsNearGuessing) {
    const at::NoGradGuard no_gradients;
    Specification s;
    Transformer model(s, 20, at::kCPU);
    const double loss = model.loss(at::randint(20, {4, 100}, at::kLong)).item<double>();
    EXPECT_NEAR(loss, std::log(20.0), 0.5);
}

/// Continues a prompt without a cache: the whole text is read again for every character.
std::string withoutCache(Transformer& model, const Vocabulary& vocabulary, const std::string& prompt,
                         const GenerationOptions& options, std::size_t number) {
    Random random(options.seed, Stream::sampling, number);
    std::string written;
    while (written.size() < static_cast<std::size_t>(options.max_tokens) && !options.is_complete(written)) {
        const at::Tensor row = at::tensor(vocabulary.encode(prompt + written), at::kLong).unsqueeze(0);
        const at::Tensor logits = model.forward(row)[0][-1].contiguous();
        written += vocabulary.decode(sampleToken(logits, options.temperature, random));
    }
    return written;
}

// Both methods, both pairings, partial rotation, prompts of different lengths in one batch, greedy and
// sampled.
TEST(Generation, WithTheCacheEqualsWithout) {
    const at::NoGradGuard no_gradients;
    const Vocabulary vocabulary("abcdefghijk");
    const std::vector<std::string> prompts = {"abc", "kjihg", "f", "aaaaaaaaaa", "bcd"};
    const auto stop = [](std::string_view text) { return text.ends_with('e') || text.ends_with('b'); };
    std::set<std::size_t> lengths;
    for (const Specification& kind : allKinds()) {
        Transformer model(kind, kVocabulary, at::kCPU);
        for (const double temperature : {0.0, 0.7, 3.0}) {
            const GenerationOptions options{25, stop, temperature, 11};
            const std::vector<Completion> completions = generate(model, vocabulary, prompts, options);
            for (std::size_t i = 0; i < prompts.size(); ++i) {
                EXPECT_EQ(completions[i].text, withoutCache(model, vocabulary, prompts[i], options, i));
                lengths.insert(completions[i].text.size());
            }
        }
    }
    EXPECT_GT(lengths.size(), 5U);  // sequences leave the batch at different times
}

TEST(Generation, OurKernelsWriteWhatLibTorchsOperationsWrite) {
    const Vocabulary vocabulary("abcdefghijk");
    const std::vector<std::string> prompts = {"abc", "kjihg", "f", "aaaaaaaaaa", "bcd"};
    const auto stop = [](std::string_view text) { return text.ends_with('e'); };
    for (Specification s : allKinds()) {
        std::vector<std::string> written;
        for (const char* kernel : {"plain", "auto"}) {
            at::manual_seed(12);
            s.device.kernel = kernel;
            Transformer model(s, kVocabulary, at::kCPU);
            std::string all;
            for (const Completion& completion : generate(model, vocabulary, prompts, {25, stop}))
                all += completion.text + "\n";
            written.push_back(all);
        }
        EXPECT_EQ(written[1], written[0]) << nameOf(s);
    }
}

TEST(Generation, RefusesWhatItCannotRead) {
    const Vocabulary vocabulary("abcdefghijk");
    Transformer model(tiny("roper"), kVocabulary, at::kCPU);
    EXPECT_THROW(generate(model, vocabulary, {""}, {3, {}}), std::invalid_argument);
    EXPECT_THROW(generate(model, vocabulary, {"xyz"}, {3, {}}), std::invalid_argument);
}

TEST(Generation, DrawsAsOftenAsTheSoftmaxSays) {
    const at::Tensor logits = at::tensor({1.0F, 0.0F, -1.0F, 2.0F});
    constexpr int kDraws = 40000;
    for (const double temperature : {0.5, 1.0, 2.0}) {
        const at::Tensor expected = at::softmax(logits.to(at::kDouble) / temperature, 0);
        std::array<int, 4> counts{};
        Random random(1, Stream::sampling, 0);
        for (int i = 0; i < kDraws; ++i)
            ++counts[static_cast<std::size_t>(sampleToken(logits, temperature, random))];
        for (std::size_t token = 0; token < 4; ++token) {
            const double p = expected[static_cast<std::int64_t>(token)].item<double>();
            // Five standard deviations of a binomial distribution.
            EXPECT_NEAR(counts[token], kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p)));
        }
    }
    Random random(1, Stream::sampling, 0);
    EXPECT_EQ(sampleToken(logits, 0, random), 3);
}

// Compares the maps of snapshots with code that other tests cover; their norms: run_model_test.cpp.
TEST(ActivationStatistics, AgreesWithTheAttentionOfEachHead) {
    const at::NoGradGuard no_gradients;
    const at::Tensor tokens = at::randint(kVocabulary, {1, 9}, at::kLong);
    for (const Specification& kind : allKinds()) {
        Transformer model(kind, kVocabulary, at::kCPU, at::kDouble);
        const Transformer::ActivationStatistics statistics = model.statistics(tokens);
        EXPECT_TRUE(at::allclose(statistics.attention, model.attentionWeights(tokens).squeeze(1)));
    }
}

}  // namespace
}  // namespace roper
