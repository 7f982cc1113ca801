#include "core/language_model/decoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/safetensors.h"

namespace roper {
namespace {

const std::string kFolder = ROPER_PRETRAINED;

at::Tensor tensorOf(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsFile::Tensor& stored = file.tensor(name);
    const at::ScalarType type = stored.dtype == Dtype::I64 ? at::kLong : at::kFloat;
    return at::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, type).clone();
}

/// Reference results of transformers for a small model.
struct Expected {
    std::vector<std::int64_t> tokens;
    at::Tensor logits, attention;
};

Expected expectedOf(const std::string& family) {
    const SafetensorsFile file = SafetensorsFile::read(kFolder + "/" + family + "/expected.safetensors",
                                                       SafetensorsFile::kUnlimitedSize);
    const at::Tensor tokens = tensorOf(file, "tokens");
    const auto* const ids = tokens.const_data_ptr<std::int64_t>();
    return {{ids, ids + tokens.numel()}, tensorOf(file, "logits"), tensorOf(file, "attention")};
}

void expectClose(const at::Tensor& got, const at::Tensor& right, double tolerance, const std::string& what) {
    ASSERT_EQ(got.sizes(), right.sizes()) << what;
    EXPECT_LT((got - right).abs().max().item<double>(), tolerance) << what;
}

/// Attention weights of every layer, [L, H, T, T].
at::Tensor attentionOf(Decoder& decoder, const std::vector<std::int64_t>& tokens) {
    const auto T = static_cast<std::int64_t>(tokens.size());
    const at::Tensor all = at::zeros({decoder.architecture().layers, decoder.architecture().heads, T, T});
    PassRecorder recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        all.select(0, layer).narrow(1, first, weights.size(1)).narrow(2, 0, weights.size(2)).copy_(weights);
    };
    decoder.hidden(tokens, {}, recorder);
    return all;
}

void expectAsTransformers(const std::string& file, const std::string& family) {
    Decoder decoder(openPretrainedModel(kFolder + "/" + file));
    const Expected expected = expectedOf(family);
    expectClose(decoder.logits(decoder.hidden(expected.tokens)), expected.logits, 2e-4, file);
    expectClose(attentionOf(decoder, expected.tokens), expected.attention, 1e-5, file);
}

class DecoderOfFamily : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Families, DecoderOfFamily, testing::ValuesIn(knownFamilies()),
                         [](const auto& family) { return family.param; });

TEST_P(DecoderOfFamily, ComputesAsTransformersDoes) {
    expectAsTransformers(GetParam(), GetParam());
}

/// The files of llama.cpp's converter, which does not write every family.
TEST_P(DecoderOfFamily, ReadsTheSameFromGguf) {
    const std::set<std::string> without = {"helium", "ministral", "mistral"};
    if (without.count(GetParam()) > 0) GTEST_SKIP() << "llama.cpp's converter does not write this family";
    expectAsTransformers(GetParam() + ".gguf", GetParam());
}

TEST_P(DecoderOfFamily, ContinuesFromACache) {
    Decoder decoder(openPretrainedModel(kFolder + "/" + GetParam()));
    const std::vector<std::int64_t> tokens = expectedOf(GetParam()).tokens;
    Intervention changed;
    changed.unrotated = {{0, 1}};
    changed.ablated_heads = {{1, 2}};
    if (decoder.architecture().rotations.front().rotatedWidth() > 0) changed.ablated_pairs = {{{}, {0}}};
    for (const Intervention& intervention : {Intervention{}, changed}) {
        const at::Tensor whole = decoder.hidden(tokens, intervention);
        DecoderCache cache;
        std::vector<at::Tensor> parts;
        for (const auto& [begin, count] :
             std::vector<std::pair<std::size_t, std::size_t>>{{0, 9}, {9, 1}, {10, 1}, {11, 13}})
            parts.push_back(
                decoder.hidden(std::span(tokens).subspan(begin, count), intervention, {}, &cache));
        EXPECT_EQ(cache.tokens(), 24);
        expectClose(at::cat(parts), whole, 2e-5, GetParam());
    }
}

TEST(Decoder, WhatIsMutedIsLeftOutOfTheScores) {
    Decoder decoder(openPretrainedModel(kFolder + "/qwen3"));
    const std::vector<std::int64_t> tokens = expectedOf("qwen3").tokens;
    // The scores of layer 0 computed by hand: q and k there do not depend on the ablation.
    LayerView view;
    PassRecorder recorder;
    recorder.vectors = [&](const LayerView& seen) {
        if (seen.layer == 0)
            view = {.layer = 0,
                    .q = seen.q.clone(),
                    .k = seen.k.clone(),
                    .rotated_q = seen.rotated_q.clone(),
                    .rotated_k = seen.rotated_k.clone()};
    };
    decoder.hidden(tokens, {}, recorder);
    const auto weightsWith = [&](const Intervention& intervention) {
        at::Tensor found;
        PassRecorder attention;
        attention.attention = [&](std::int64_t layer, std::int64_t, const at::Tensor& weights) {
            if (layer == 0) found = weights.clone();
        };
        decoder.hidden(tokens, intervention, attention);
        return found;
    };
    const at::Tensor future = at::ones({24, 24}, at::kBool).triu(1);
    const auto softmaxOf = [&](const at::Tensor& q, const at::Tensor& k) {
        return at::softmax((at::mm(q, k.t()) / 4).masked_fill(future, -INFINITY), -1);
    };
    Intervention muted;
    muted.ablated_pairs = {{{0, 2}, {1, 7}}};
    at::Tensor q = view.rotated_q[2].clone();
    for (const int feature : {1, 9, 7, 15})
        q.select(1, feature).zero_();
    const at::Tensor whole = weightsWith({}), without = weightsWith(muted);
    expectClose(without[2], softmaxOf(q, view.rotated_k[1]), 1e-6, "two pairs muted");
    expectClose(without[3], whole[3], 1e-7, "other heads as they were");
    EXPECT_GT((without[2] - whole[2]).abs().max().item<double>(), 1e-3);
    Intervention unrotated;
    unrotated.unrotated = {{0, 2}};
    const at::Tensor flat = weightsWith(unrotated);
    expectClose(flat[2], softmaxOf(view.q[2], view.k[1]), 1e-6, "not rotated");
    expectClose(flat[3], whole[3], 1e-6, "its neighbour in the group still is");
}

}  // namespace
}  // namespace roper
