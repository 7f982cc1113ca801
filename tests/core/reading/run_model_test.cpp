#include "core/reading/run_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <array>

#include "core/base/safetensors.h"
#include "core/explorer/attention_maps.h"
#include "core/language_model/decoder.h"
#include "core/model/transformer.h"
#include "core/reading/head_observer.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

constexpr std::int64_t kVocabulary = 20;

/// A model of this specification with random weights, none of them 0 or 1, and the same model read by
/// `convertRunModel`.
struct Both {
    explicit Both(const Specification& s) : ours(s, kVocabulary, at::kCPU) {
        const at::NoGradGuard no_gradients;
        at::manual_seed(3);
        std::vector<TensorToWrite> tensors;
        for (const auto& [name, tensor] : ours.parameters()) {
            tensor.add_(at::randn_like(tensor) * (name.ends_with("_frequencies") ? 0.01 : 0.2));
            // Checkpoints store the optimizer's moments next to each parameter.
            for (const char* const kept : {"", "optimizer.mean.", "optimizer.square."})
                tensors.push_back(
                    {kept + name,
                     Dtype::F32,
                     tensor.sizes().vec(),
                     {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}});
        }
        writeSafetensors(folder / "x.safetensors", tensors, {});
        auto store = std::make_shared<TensorStore>();
        addSafetensors(folder / "x.safetensors", *store);
        decoder = std::make_unique<Decoder>(convertRunModel(s, store, "run"));
    }

    TemporaryFolder folder;
    Transformer ours;
    std::unique_ptr<Decoder> decoder;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// The attention and block of DeepSeek V4's sliding layers, with a position method.
Settings likeDeepSeekV4(const std::string& position) {
    return {{"model.position", position},  {"model.block", "modern"},        {"model.kv_heads", "1"},
            {"model.shared_kv", "1"},      {"model.qk_norm", "1"},           {"model.attention_sinks", "1"},
            {"model.window", "9"},         {"model.pairing", "interleaved"}, {"model.rotary_fraction", "0.5"},
            {"model.rotated_part", "last"}};
}

Specification specificationWith(const Settings& settings) {
    Specification s;
    s.model.width = 24;
    s.model.heads = 3;
    s.model.layers = 2;
    s.model.feed_forward = 40;
    s.device.kernel = "plain";
    s.device.precision = "fp32";
    for (const auto& [key, value] : settings)
        findField(specificationFields(), key).set(s, value);
    return s;
}

std::vector<std::int64_t> someTokens() {
    std::vector<std::int64_t> tokens;
    for (std::int64_t t = 0; t < 30; ++t)
        tokens.push_back((t * 7 + t * t) % kVocabulary);
    return tokens;
}

TEST(RunModel, ComputesWhatItsTransformerDoes) {
    for (const Settings& settings :
         {Settings{{"model.position", "rope"}},
          Settings{{"model.position", "roper"}},
          Settings{{"model.position", "roper"}, {"model.norm", "post"}, {"model.activation", "relu"}},
          Settings{{"model.position", "roper"},
                   {"model.pairing", "interleaved"},
                   {"model.rotary_fraction", "0.5"},
                   {"model.value_rotary_fraction", "0.75"}},
          Settings{{"model.position", "roper"}, {"model.frequencies", "trained"}},
          Settings{{"model.position", "roper"}, {"model.value_rotation_strength", "0.3"}},
          Settings{{"model.position", "roper"},
                   {"model.frequencies", "trained"},
                   {"model.value_rotation_strength", "0.3"}},
          Settings{{"model.position", "roper"}, {"model.block", "modern"}, {"model.qk_norm", "1"}},
          Settings{{"model.position", "t5"}, {"model.block", "modern"}, {"model.norm", "post"}},
          Settings{{"model.position", "rope"}, {"model.qk_norm", "1"}, {"model.attention_sinks", "1"}},
          Settings{{"model.position", "roper"}, {"model.window", "7"}},
          Settings{{"model.position", "rope"},
                   {"model.block", "modern"},
                   {"model.latent_rank", "10"},
                   {"model.rotary_fraction", "0.5"},
                   {"model.rotated_part", "last"}},
          Settings{{"model.position", "roper"},
                   {"model.norm", "post"},
                   {"model.latent_rank", "6"},
                   {"model.rotary_fraction", "0.5"},
                   {"model.rotated_part", "last"},
                   {"model.no_rotation_every", "2"},
                   {"model.window", "8"},
                   {"model.attention_sinks", "1"}},
          Settings{{"model.position", "roper"},
                   {"model.latent_rank", "10"},
                   {"model.rotary_fraction", "0.25"},
                   {"model.value_rotary_fraction", "0.5"},
                   {"model.rotated_part", "last"},
                   {"model.pairing", "interleaved"},
                   {"model.frequencies", "trained"}},
          Settings{{"model.position", "roper"},
                   {"model.no_rotation_every", "2"},
                   {"model.rotary_fraction", "0.5"},
                   {"model.value_rotary_fraction", "0.75"},
                   {"model.rotated_part", "last"}},
          Settings{{"model.position", "rotary"},
                   {"model.rotates", "vo"},
                   {"model.value_rotary_fraction", "0.5"},
                   {"model.rotated_part", "last"}},
          likeDeepSeekV4("roper"),
          Settings{{"model.position", "rope"}, {"training.objective", "masked"}},
          Settings{{"model.position", "xpos"}},
          Settings{{"model.position", "alibi"}},
          Settings{{"model.position", "t5"}, {"model.bias_buckets", "9"}, {"model.bias_distance", "14"}},
          Settings{{"model.position", "t5"}, {"training.objective", "masked"}},
          Settings{{"model.position", "learned"}},
          Settings{{"model.position", "sinusoidal"}},
          Settings{{"model.position", "none"}},
          Settings{{"model.position", "rope"}, {"model.attention", "linear_cosine"}},
          Settings{{"model.position", "roper"}, {"model.attention", "linear_numerator"}},
          Settings{{"model.position", "rope"},
                   {"model.attention", "linear_numerator"},
                   {"training.objective", "masked"}},
          Settings{{"model.position", "rotary"}, {"model.rotates", "k"}},
          Settings{{"model.position", "rotary"}, {"model.rotates", "vo"}},
          Settings{{"model.position", "rotary"}, {"model.rotates", "qko"}, {"model.frequencies", "trained"}},
          Settings{{"model.position", "rotary"}, {"model.rotates", "kv"}, {"model.shared_kv", "1"}},
          Settings{{"model.position", "roper"}, {"model.kv_heads", "1"}},
          Settings{{"model.position", "rope"}, {"model.shared_kv", "1"}},
          Settings{{"model.position", "roper"}, {"model.kv_heads", "1"}, {"model.shared_kv", "1"}},
          Settings{{"model.position", "roper"},
                   {"model.shared_kv", "1"},
                   {"model.rotary_fraction", "0.5"},
                   {"model.frequencies", "trained"}},
          Settings{{"model.position", "roper"},
                   {"model.kv_heads", "1"},
                   {"model.shared_kv", "1"},
                   {"model.attention", "linear_cosine"}}}) {
        Both both(specificationWith(settings));
        EXPECT_EQ(both.decoder->model().weights.parameters, both.ours.parameterCount());
        std::string what;
        for (const auto& [key, value] : settings)
            what += key + "=" + value + " ";
        const at::NoGradGuard no_gradients;
        const std::vector<std::int64_t> tokens = someTokens();
        const at::Tensor right = both.ours.forward(at::tensor(tokens).unsqueeze(0)).squeeze(0);
        const at::Tensor got = both.decoder->logits(both.decoder->hidden(tokens));
        EXPECT_LT((got - right).abs().max().item<double>(), 2e-5 * right.abs().max().item<double>()) << what;
    }
}

/// q, k and v of a head, before any rotation, each [T, d].
std::array<at::Tensor, 3> vectorsOf(Decoder& decoder, const std::vector<std::int64_t>& tokens,
                                    std::int64_t layer, std::int64_t head) {
    std::array<at::Tensor, 3> found;
    ForwardHooks recorder;
    recorder.vectors = [&](const LayerView& view) {
        if (view.layer == layer)
            found = {view.q.select(0, head), view.k.select(0, head), view.v.select(0, head)};
    };
    decoder.hidden(tokens, {}, recorder);
    return found;
}

// The explorers compute the model's attention weights from q and k of a head.
TEST(RunModel, VectorsGiveTheWeightsOfTheirHead) {
    const at::NoGradGuard no_gradients;
    const Specification s =
        specificationWith({{"model.position", "roper"}, {"model.rotary_fraction", "0.5"}});
    Both both(s);
    const std::vector<std::int64_t> tokens = someTokens();
    const at::Tensor weights =
        both.ours.attentionWeights(at::tensor(tokens).unsqueeze(0));  // [L, 1, H, T, T]
    for (const std::int64_t layer : {0, 1})
        for (const std::int64_t head : {0, 2}) {
            const auto [q, k, v] = vectorsOf(*both.decoder, tokens, layer, head);
            roper::Setup setup;  // Setup alone is a name of GoogleTest's here
            setup.head_dim = static_cast<int>(q.size(1));
            setup.rotary_fraction = 0.5;
            setup.base = s.model.base;
            setup.pairing = s.model.pairing;
            const ScoreFormula rule = scoreFormula(sanitized(setup));
            const HeadVectors heads{matrixOf(q), matrixOf(k), matrixOf(v)};
            const Eigen::MatrixXd right = matrixOf(weights[layer][0][head]);
            EXPECT_LT((roper::weights(rule, heads, scores(rule, heads)) - right).cwiseAbs().maxCoeff(), 1e-5);
        }
}

// Lengths of pairs together are the length of the vector, however features are paired.
TEST(RunModel, VectorsHaveTheNormsOfSnapshots) {
    const at::NoGradGuard no_gradients;
    for (const char* position : {"rope", "roper", "alibi", "none"}) {
        Both both(specificationWith({{"model.position", position}}));
        const std::vector<std::int64_t> tokens = someTokens();
        const at::Tensor norms =
            both.ours.statistics(at::tensor(tokens).unsqueeze(0)).norms;  // [4, L, H, d/2]
        const at::Tensor q = vectorsOf(*both.decoder, tokens, 1, 2)[0];
        const std::int64_t d = q.size(1);
        const bool rotates = position[0] == 'r';  // else neighbors make a pair
        const at::Tensor pairs =
            rotates ? q.reshape({-1, 2, d / 2}).transpose(1, 2) : q.reshape({-1, d / 2, 2});
        const at::Tensor by_hand = pairs.square().sum(-1).sqrt().mean(0);
        EXPECT_EQ(norms.sizes().vec(), (std::vector<std::int64_t>{4, 2, 3, d / 2}));
        EXPECT_TRUE(at::allclose(norms[0][1][2], by_hand)) << position;
    }
}

// The factor of YaRN and LongRoPE is meant for scores. Rotating back by the negative angle does not divide by
// it, so on values it would remain, squared.
TEST(RunModel, ScalesFrequenciesAsItsTransformerDoes) {
    for (const auto& [position, shared_kv] :
         {std::pair{"rope", "0"}, {"roper", "0"}, {"roper", "1"}, {"rotary", "0"}}) {
        for (const ScalingMethod method :
             {ScalingMethod::linear, ScalingMethod::yarn, ScalingMethod::longrope}) {
            Both both(specificationWith({{"model.position", position}, {"model.shared_kv", shared_kv}}));
            Intervention scaled;
            scaled.scaling.emplace();
            scaled.scaling->method = method;
            scaled.scaling->factor = 4;
            scaled.scaling->original_length = 8;
            scaled.scaling->attention_factor = method == ScalingMethod::linear ? 0 : 1.4;
            const at::NoGradGuard no_gradients;
            const std::vector<std::int64_t> tokens = someTokens();
            both.ours.positions().rescale(*scaled.scaling, static_cast<double>(tokens.size()));
            const at::Tensor right = both.ours.forward(at::tensor(tokens).unsqueeze(0)).squeeze(0);
            const at::Tensor got = both.decoder->logits(both.decoder->hidden(tokens, scaled));
            EXPECT_LT((got - right).abs().max().item<double>(), 2e-5 * right.abs().max().item<double>())
                << position << " shared_kv " << shared_kv << " "
                << allNames<ScalingMethod>().at(static_cast<std::size_t>(method));
        }
    }
}

/// The largest change of the logits, relative to the largest logit, if all positions are shifted by 500.
double changeByShift(const Settings& settings) {
    Both both(specificationWith(settings));
    const std::vector<std::int64_t> tokens = someTokens();
    Intervention shifted;
    shifted.shift = 500;
    const at::Tensor whole = both.decoder->logits(both.decoder->hidden(tokens)),
                     there = both.decoder->logits(both.decoder->hidden(tokens, shifted));
    return ((there - whole).abs().max() / whole.abs().max()).item<double>();
}

// Shared keys and values rotate together. Unless outputs rotate back, they depend on absolute positions.
TEST(RunModel, AShiftOfAllPositionsRevealsWhetherOutputsRotateBack) {
    for (const char* heads : {"1", "3"}) {
        EXPECT_LT(changeByShift({{"model.position", "roper"}, {"model.kv_heads", heads}}), 1e-4);
        EXPECT_LT(
            changeByShift({{"model.position", "roper"}, {"model.kv_heads", heads}, {"model.shared_kv", "1"}}),
            1e-4);
        EXPECT_LT(changeByShift({{"model.position", "rope"}, {"model.kv_heads", heads}}), 1e-4);
        EXPECT_GT(
            changeByShift({{"model.position", "rope"}, {"model.kv_heads", heads}, {"model.shared_kv", "1"}}),
            1e-2);
    }
    for (const char* position : {"rope", "roper"}) {
        const double change = changeByShift(likeDeepSeekV4(position));
        if (std::string(position) == "rope")
            EXPECT_GT(change, 1e-2);
        else
            EXPECT_LT(change, 1e-4);
    }
}

// Scores depend on distance alone if queries and keys both rotate or neither does; outputs, if values and
// outputs do.
TEST(RunModel, AShiftRevealsWhichSetsOfRotatedTensorsAreAbsolute) {
    for (const std::string& rotates : rotatedTensorsNames()) {
        const RotatedTensors rotated = rotatedTensorsFromName(rotates);
        const double change = changeByShift({{"model.position", "rotary"}, {"model.rotates", rotates}});
        if (rotated.query == rotated.key && rotated.value == rotated.output)
            EXPECT_LT(change, 1e-4) << rotates;
        else
            EXPECT_GT(change, 1e-2) << rotates;
        RecordProperty("shift_" + rotates, std::to_string(change));
    }
}

TEST(RunModel, ValuesAndTheInverseRotationCanBeLeftOut) {
    Both both(specificationWith({{"model.position", "roper"}}));
    const std::vector<std::int64_t> tokens = someTokens();
    const at::Tensor whole = both.decoder->hidden(tokens);
    Intervention shifted, no_values, no_inverse, no_inverse_shifted;
    shifted.shift = 500;
    EXPECT_LT((both.decoder->hidden(tokens, shifted) - whole).abs().max().item<double>(), 1e-3);
    no_values.unrotated_value_heads = {{}};
    no_inverse.uninverted_heads = {{}};
    no_inverse_shifted = no_inverse;
    no_inverse_shifted.shift = 500;
    EXPECT_GT((both.decoder->hidden(tokens, no_values) - whole).abs().max().item<double>(), 0.1);
    const at::Tensor without = both.decoder->hidden(tokens, no_inverse);
    EXPECT_GT((without - whole).abs().max().item<double>(), 0.1);
    // Without the inverse rotation, outputs depend on absolute position.
    EXPECT_GT((both.decoder->hidden(tokens, no_inverse_shifted) - without).abs().max().item<double>(), 0.1);
    // Without any rotation of values, the model is RoPE with the same weights.
    Both rope(specificationWith({{"model.position", "rope"}}));
    EXPECT_LT(
        (both.decoder->hidden(tokens, no_values) - rope.decoder->hidden(tokens)).abs().max().item<double>(),
        1e-5);
}

}  // namespace
}  // namespace roper
