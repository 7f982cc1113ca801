#include "core/pretrained/quantized_folder.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/safetensors.h"
#include "core/pretrained/pretrained_model.h"
#include "core/pretrained/quantized_tensors.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

const FilePath kFolder = FilePath::regular("folder");

std::vector<float> numbersOf(const TensorStore& store, const StoredTensor& tensor, std::int64_t first,
                             std::int64_t rows) {
    std::vector<float> numbers(static_cast<std::size_t>(rows * tensor.shape.back()));
    store.readRows(tensor, first, rows, numbers);
    return numbers;
}

void expectSame(const std::vector<float>& numbers, const float* right, const std::string& where) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const bool same = std::bit_cast<std::uint32_t>(numbers[i]) == std::bit_cast<std::uint32_t>(right[i]);
        EXPECT_TRUE(same || (std::isnan(numbers[i]) && std::isnan(right[i])))
            << where << " " << i << ": " << numbers[i] << ", not " << right[i];
    }
}

const std::vector<float> kOneEach(16, 1);
const std::span<const std::byte> kOnes = std::as_bytes(std::span(kOneEach));

class QuantizedFolder : public testing::TestWithParam<const char*> {};

TEST_P(QuantizedFolder, IsDecodedBitForBitAsByItsPackage) {
    const std::string path = std::string(ROPER_QUANTIZED "/") + GetParam();
    const FilePath file = FilePath::regular(path + ".safetensors");
    const std::string config = SafetensorsHeader::read(file).metadata.at("config");
    TensorStore store;
    addSafetensors(file, store);
    std::vector<std::string> notes;
    requireSupportedQuantization(kFolder, config);
    combineQuantizedMatrices(kFolder, config, store, notes);
    EXPECT_EQ(notes.size(), config == "{}" ? 0U : 1U);
    const SafetensorsFile expected = SafetensorsFile::read(FilePath::regular(path + ".expected.safetensors"),
                                                           SafetensorsFile::kUnlimitedSize);
    EXPECT_EQ(store.tensors().size(), expected.tensors().size());
    EXPECT_TRUE(store.unsupportedTensors().empty());
    for (const auto& [name, right] : expected.tensors()) {
        const StoredTensor& tensor = store.tensor(name);
        ASSERT_EQ(tensor.shape, right.shape) << name;
        std::vector<float> all(static_cast<std::size_t>(tensor.count()));
        std::memcpy(all.data(), right.bytes.data(), all.size() * sizeof(float));
        const std::int64_t row = tensor.shape.back(), rows = tensor.count() / row;
        expectSame(numbersOf(store, tensor, 0, rows), all.data(), name);
        // Rows read separately, or as bytes, are the same.
        for (std::int64_t first = 0; first < rows; first += 5) {
            const std::int64_t count = std::min<std::int64_t>(rows - first, 7);
            expectSame(numbersOf(store, tensor, first, count), all.data() + first * row, name + " in part");
        }
        std::vector<float> decoded(static_cast<std::size_t>(row));
        decodeElements(tensor.type, store.readRowBytes(tensor, rows - 1, 1), decoded);
        expectSame(decoded, all.data() + (rows - 1) * row, name + " as bytes");
        EXPECT_THROW(numbersOf(store, tensor, rows - 1, 2), std::invalid_argument);
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, QuantizedFolder,
                         testing::Values("fp8", "fp8_by_matrix", "fp8_without_scales", "mxfp4", "gptq",
                                         "gptq_2_bits", "gptq_3_bits", "gptq_8_bits", "awq", "mlx_affine",
                                         "bitsandbytes_4_bits", "bitsandbytes_8_bits", "bitnet",
                                         "bitnet_older"));

/// A store with zeros of these types and shapes.
struct Part {
    std::string name;
    Dtype dtype;
    std::vector<std::int64_t> shape;
};
void combineParts(const std::string& config, const std::vector<Part>& parts) {
    const TemporaryFolder folder;
    std::vector<std::vector<std::byte>> bytes;
    for (const Part& part : parts)
        bytes.emplace_back(dtypeSize(part.dtype) *
                           static_cast<std::size_t>(std::accumulate(part.shape.begin(), part.shape.end(),
                                                                    std::int64_t{1}, std::multiplies<>())));
    std::vector<TensorToWrite> tensors;
    for (std::size_t i = 0; i < parts.size(); ++i)
        tensors.push_back({parts[i].name, parts[i].dtype, parts[i].shape, bytes[i]});
    const FilePath file = folder / "model.safetensors";
    writeSafetensors(file, tensors, {});
    TensorStore store;
    addSafetensors(file, store);
    std::vector<std::string> notes;
    combineQuantizedMatrices(kFolder, config, store, notes);
}

void expectNotCombined(const std::string& config, const std::vector<Part>& parts, const std::string& why) {
    expectError(ErrorKind::checkpoint, why, [&] { combineParts(config, parts); });
}

TEST(QuantizedFolderRefusals, PartsThatDoNotFitAreNamed) {
    const auto config = [](const std::string& members) {
        return R"({"quantization_config": {"quant_method": )" + members + "}}";
    };
    const std::string fp8 = config(R"("fp8", "weight_block_size": [4, 4])");
    const Part weight{"w", Dtype::F8_E4M3, {6, 8}};
    combineParts(fp8, {weight, {"w_scale_inv", Dtype::F32, {2, 2}}});
    expectNotCombined(fp8, {weight},
                      "the tensor w_scale_inv, which is part of a quantized matrix, is missing");
    expectNotCombined(fp8, {weight, {"w_scale_inv", Dtype::I32, {2, 2}}}, "w_scale_inv is 2 × 2 of I32");
    expectNotCombined(fp8, {weight, {"w_scale_inv", Dtype::F32, {1, 2}}},
                      "the tensor w_scale_inv is 1 × 2; its matrix needs 2 × 2");
    expectNotCombined(fp8, {{"w", Dtype::F8_E4M3, {8}}, {"w_scale_inv", Dtype::F32, {2}}},
                      "the tensor w is quantized but is not a matrix");
    expectNotCombined(fp8, {{"w", Dtype::F8_E4M3, {0, 8}}, {"w_scale_inv", Dtype::F32, {0, 2}}},
                      "the tensor w is empty");
    expectNotCombined(config(R"("fp8")"), {weight, {"w_scale_inv", Dtype::F32, {2, 2}}},
                      "the tensor w_scale_inv is 2 × 2; its matrix needs 1 × 1");
    const std::string whole = config(R"("fp8", "weight_block_size": null)");
    expectNotCombined(whole, {weight, {"w_scale_inv", Dtype::F32, {2, 2}}},
                      "one scale per matrix is expected");
    expectNotCombined(config(R"("fp8", "weight_block_size": [0, 4])"), {},
                      "weight_block_size is not a pair of sizes");
    expectNotCombined(config(R"("fp8", "new_member": 1)"), {},
                      "folder/config.json: this model is quantized by FP8 "
                      "(quantization_config): the member "
                      "\"new_member\" of its quantization is unknown");
    expectNotCombined(config(R"("fp8", "expert_dtype": "fp4")"), {}, "expert_dtype is");
    const std::string mxfp4 = config(R"("mxfp4")");
    const Part blocks{"e_blocks", Dtype::U8, {2, 3, 4, 16}};
    expectNotCombined(mxfp4, {blocks}, "the tensor e_scales, which is part");
    expectNotCombined(mxfp4, {blocks, {"e_scales", Dtype::U8, {2, 3, 3}}}, "needs 2 × 3 × 4");
    expectNotCombined(mxfp4, {{"e_blocks", Dtype::U8, {2, 3, 4, 8}}, {"e_scales", Dtype::U8, {2, 3, 4}}},
                      "is not experts × out × blocks × 16 of U8");
    expectNotCombined(mxfp4, {blocks, {"e_scales", Dtype::U8, {2, 3, 4}}, {"e", Dtype::F32, {1}}},
                      "there are two matrices named e, one of them quantized");
}

TEST(QuantizedFolderRefusals, GroupsThatDoNotFitAreNamed) {
    const std::string gptq =
        R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}})";
    const Part numbers{"a.qweight", Dtype::I32, {8, 16}}, zeros{"a.qzeros", Dtype::I32, {2, 2}},
        scales{"a.scales", Dtype::F16, {2, 16}};
    combineParts(gptq, {numbers, zeros, scales});
    expectNotCombined(gptq, {numbers, zeros},
                      "the tensor a.scales, which is part of a quantized matrix, is missing");
    expectNotCombined(gptq, {numbers, zeros, {"a.scales", Dtype::F16, {3, 16}}},
                      "the tensor a.scales is 3 × 16; its matrix needs 2 × 16");
    expectNotCombined(gptq, {numbers, {"a.qzeros", Dtype::I32, {2, 3}}, scales}, "its matrix needs 2 × 2");
    expectNotCombined(gptq, {{"a.qweight", Dtype::U8, {8, 16}}, zeros, scales},
                      "the tensor a.qweight is 8 × 16 of U8");
    expectNotCombined(gptq, {numbers, zeros, {"a.scales", Dtype::F16, {2, 12}}},
                      "does not fill whole 32-bit words");
    expectNotCombined(gptq, {numbers, zeros, scales, {"a.g_idx", Dtype::I32, {63}}},
                      "the tensor a.g_idx is 63; its matrix needs 64");
    expectNotCombined(R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32,)"
                      R"( "desc_act": true}})",
                      {numbers, zeros, scales}, "has no g_idx, although desc_act");
    expectNotCombined(gptq, {numbers, zeros, scales, {"a.weight", Dtype::F16, {16, 64}}},
                      "there are two matrices named a.weight, one of them quantized");
    expectNotCombined(R"({"quantization_config": {"quant_method": "gptq", "bits": 4}})", {},
                      "group_size is missing");
    expectNotCombined(R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32,)"
                      R"( "dynamic": {"a": {"bits": 8}}}})",
                      {}, "dynamic is");
    const std::string mlx =
        R"({"quantization": {"bits": 4, "group_size": 32, "b": {"bits": 7, "group_size": 32}}})";
    const Part words{"a.weight", Dtype::U32, {3, 8}}, grid{"a.scales", Dtype::F32, {3, 2}};
    combineParts(mlx, {words, grid, {"a.biases", Dtype::F32, {3, 2}}});
    expectNotCombined(mlx, {words, grid},
                      "the tensor a.biases, which is part of a quantized matrix, is missing");
    expectNotCombined(mlx, {{"a.weight", Dtype::U32, {3, 9}}, grid, {"a.biases", Dtype::F32, {3, 2}}},
                      "does not contain 64 numbers of 4 bits in a row");
    expectNotCombined(mlx, {{"b.scales", Dtype::F32, {3, 2}}}, "bits is \"7\"");
    expectNotCombined(mlx, {words, grid, {"a.biases", Dtype::I32, {3, 2}}}, "a.biases is 3 × 2 of I32");
    expectNotCombined(R"({"quantization": {"bits": 4, "group_size": 32, "mode": "mxfp4"}})", {grid},
                      "mode is");
    expectNotCombined(mlx, {{"mlp.switch_mlp.up_proj.scales", Dtype::F32, {3, 2}}},
                      "belongs to experts stacked by mlx-lm");
    // AwqConfig of transformers 5.24 takes this backend for another packing.
    expectNotCombined(R"({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 32,)"
                      R"( "backend": "llm-awq"}})",
                      {}, "backend is");
}

// llama.cpp multiplies the product of such a matrix by its scale, for each expert by the expert's
// (llama-graph.cpp of llama-cpp-python 0.3.36).
TEST(SecondScales, MultiplyMatricesInNvfp4) {
    constexpr std::size_t kMatrixBytes = 2 * 36;  // two rows of 64 numbers
    std::vector<std::byte> bytes(3 * kMatrixBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i * 37 % 113);
    const std::vector<float> factors = {0.5F, -3.0F, 0.25F};
    const auto made = [&](std::vector<std::int64_t> shape, std::int64_t scales,
                          std::vector<std::string>& notes) {
        auto store = std::make_unique<TensorStore>();
        const auto of_factors = std::as_bytes(std::span(factors));
        const std::size_t numbers = store->addBytes("numbers", bytes),
                          scale = store->addBytes("scales", {of_factors.begin(), of_factors.end()});
        store->add("a.weight", {ElementType::NVFP4, std::move(shape), numbers, 0});
        store->add("router.weight", {ElementType::F32, {1}, scale, 0});
        store->add("router.scale", {ElementType::F32, {1}, scale, 0});  // of Gemma 4, which is not ours
        store->add("plain", {ElementType::NVFP4, {6, 64}, numbers, 0});
        if (scales > 0) store->add("a.scale", {ElementType::F32, {scales}, scale, 0});
        if (scales > 0) store->add("a.input_scale", {ElementType::F32, {1}, scale, 0});
        combineSecondScales(*store, notes);
        return store;
    };
    const auto expectScaled = [&](std::vector<std::int64_t> shape, std::int64_t scales) {
        std::vector<std::string> notes;
        const auto store = made(std::move(shape), scales, notes);
        EXPECT_EQ(notes.size(), 1U);
        EXPECT_TRUE(store->has("router.scale"));
        EXPECT_FALSE(store->has("a.scale") || store->has("a.input_scale"));
        const std::vector<float> plain = numbersOf(*store, store->tensor("plain"), 0, 6),
                                 scaled = store->readAll(store->tensor("a.weight"));
        ASSERT_LE(scaled.size(), plain.size());
        for (std::size_t i = 0; i < scaled.size(); ++i)
            EXPECT_EQ(scaled[i], plain[i] * factors[scales == 1 ? 0 : i / 128]) << i;
    };
    expectScaled({6, 64}, 1);
    expectScaled({3, 2, 64}, 3);
    expectScaled({3, 2, 64}, 1);
    std::vector<std::string> notes;
    EXPECT_EQ(made({6, 64}, 0, notes)->tensor("a.weight").type, ElementType::NVFP4);
    EXPECT_TRUE(notes.empty());
    expectError(ErrorKind::checkpoint, "a.scale is 2; one scale per matrix is expected", [&] {
        made({3, 2, 64}, 2, notes);
    });
}

// GPTQConfig of transformers 5.24: checkpoint_format replaces format, its older name.
TEST(QuantizedFolders, TheNewerNameOfAFormatCounts) {
    const auto first = [](const std::string& formats) {
        const TemporaryFolder folder;
        TensorStore store;
        std::vector<std::string> notes;
        const std::vector<std::byte> zeros(1024);
        const std::vector<TensorToWrite> parts = {
            {"a.qweight", Dtype::I32, {8, 16}, std::span(zeros).first(512)},
            {"a.qzeros", Dtype::I32, {1, 2}, std::span(zeros).first(8)},
            {"a.scales", Dtype::F32, {1, 16}, kOnes}};
        writeSafetensors(folder / "x.safetensors", parts, {});
        addSafetensors(folder / "x.safetensors", store);
        combineQuantizedMatrices(
            kFolder,
            R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 64, )" + formats +
                "}}",
            store, notes);
        return numbersOf(store, store.tensor("a.weight"), 0, 1).front();
    };
    EXPECT_EQ(first(R"("checkpoint_format": "gptq", "format": "gptq_v2")"), -1);  // zeros are less one
    EXPECT_EQ(first(R"("checkpoint_format": "gptq_v2", "format": "gptq")"), 0);
    EXPECT_EQ(first(R"("format": "gptq_v2")"), 0);
    EXPECT_EQ(first(R"("checkpoint_format": null, "format": "gptq_v2")"), 0);
}

TEST(QuantizedFolderRefusals, MatricesOfBitsandbytesThatDoNotFitAreNamed) {
    const std::string config = R"({"quantization_config": {"load_in_8bit": true}})";
    const Part numbers{"a.weight", Dtype::I8, {4, 6}};
    combineParts(config, {numbers, {"a.SCB", Dtype::F32, {4}}});
    expectNotCombined(config, {numbers, {"a.SCB", Dtype::F32, {6}}},
                      "the tensor a.SCB is 6; its matrix needs 4");
    expectNotCombined(config, {{"a.SCB", Dtype::F32, {4}}}, "the tensor a.weight, which is part");
    expectNotCombined(config, {numbers, {"a.SCB", Dtype::I64, {4}}}, "a.SCB is 4 of I64");
    const Part state{"w.quant_state.bitsandbytes__nf4", Dtype::U8, {20}};
    expectNotCombined(config, {state}, "does not describe a four-bit matrix");
    expectNotCombined(config, {{state.name, Dtype::F32, {20}}}, "is not a short U8 string");
}

}  // namespace
}  // namespace roper
