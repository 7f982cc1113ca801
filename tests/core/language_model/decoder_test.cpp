#include "core/language_model/decoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/base/safetensors.h"

namespace roper {
namespace {

const std::string kFolder = ROPER_PRETRAINED;

at::Tensor tensorOf(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsFile::Tensor& stored = file.tensor(name);
    const at::ScalarType type = stored.dtype == Dtype::I64 ? at::kLong : at::kFloat;
    return at::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, type).clone();
}

/// What transformers computes of a small model.
struct Expected {
    std::vector<std::int64_t> tokens;
    at::Tensor logits, attention;
};

Expected expectedOf(const std::string& family) {
    const SafetensorsFile file =
        SafetensorsFile::read(kFolder + "/" + family + "/expected.safetensors", SafetensorsFile::kAnySize);
    const at::Tensor tokens = tensorOf(file, "tokens");
    const auto* const ids = tokens.const_data_ptr<std::int64_t>();
    return {{ids, ids + tokens.numel()}, tensorOf(file, "logits"), tensorOf(file, "attention")};
}

void expectClose(const at::Tensor& got, const at::Tensor& right, double tolerance, const std::string& what) {
    ASSERT_EQ(got.sizes(), right.sizes()) << what;
    EXPECT_LT((got - right).abs().max().item<double>(), tolerance) << what;
}

/// Attention weights of every layer → [L, H, T, T]
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

TEST(Decoder, ComputesEveryFamilyAsTransformersDoes) {
    for (const std::string family :
         {"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gpt_neox", "gpt2"}) {
        expectAsTransformers(family, family);
        if (family != "mistral") expectAsTransformers(family + ".gguf", family);
    }
}

}  // namespace
}  // namespace roper
