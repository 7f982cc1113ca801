#include "core/pretrained/gguf_file.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/file_reading.h"
#include "core/base/safetensors.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

std::string header(std::uint64_t tensors, std::uint64_t entries) {
    return "GGUF" + bytesOfNumber<std::uint32_t>(3) + bytesOfNumber(tensors) + bytesOfNumber(entries);
}

std::string tensorBytes(const std::string& name, const std::vector<std::uint64_t>& dimensions,
                        std::uint32_t type, std::uint64_t offset) {
    std::string bytes = ggufText(name) + bytesOfNumber(static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t dimension : dimensions)
        bytes += bytesOfNumber(dimension);
    return bytes + bytesOfNumber(type) + bytesOfNumber(offset);
}

void read(const std::string& bytes) {
    const TemporaryFolder folder;
    std::ofstream(folder / "model.gguf", std::ios::binary) << bytes;
    GgufFile::read(folder / "model.gguf");
}

void expectProblem(const std::string& bytes, const std::string& part) {
    expectError(ErrorKind::checkpoint, part, [&] { read(bytes); });
}

/// Whether bits are equal, or both numbers are NaN.
bool isSame(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

TEST(Gguf, EveryTypeIsDecodedBitForBitAsByItsPackage) {
    const GgufFile file = GgufFile::read(ROPER_ELEMENT_TYPES ".gguf");
    const SafetensorsFile expected =
        SafetensorsFile::read(ROPER_ELEMENT_TYPES ".safetensors", SafetensorsFile::kUnlimitedSize);
    std::set<std::string> types;
    for (const auto& [name, tensor] : file.tensors->tensors()) {
        types.insert(nameOf(tensor.type));
        EXPECT_EQ(nameOf(tensor.type), name.substr(0, name.find(' ')));
        EXPECT_EQ(tensor.shape, expected.tensor(name).shape);
        std::vector<float> numbers(static_cast<std::size_t>(tensor.count()));
        file.tensors->readRows(tensor, 0, tensor.shape[0], numbers);
        std::vector<float> right(numbers.size());
        std::memcpy(right.data(), expected.tensor(name).bytes.data(), numbers.size() * sizeof(float));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            EXPECT_TRUE(isSame(numbers[i], right[i]))
                << name << " " << i << ": " << numbers[i] << ", not " << right[i];
        // The last row read separately is the same.
        std::vector<float> row(static_cast<std::size_t>(tensor.shape[1]));
        file.tensors->readRows(tensor, tensor.shape[0] - 1, 1, row);
        EXPECT_TRUE(std::equal(row.begin(), row.end(), numbers.end() - tensor.shape[1], isSame)) << name;
    }
    EXPECT_EQ(types.size(), 31U);
}

TEST(Gguf, EveryTypeOfGgmlIsKnownByName) {
    for (std::uint32_t number = 0; number <= 41; ++number)
        EXPECT_NE(ggufTypeName(number), "") << number;
    EXPECT_EQ(ggufTypeName(12), "Q4_K");
    EXPECT_EQ(ggufTypeName(41), "Q1_0");
    EXPECT_EQ(ggufTypeName(42), "Q2_0");
    EXPECT_EQ(ggufTypeName(43), "type 43");
}

TEST(Gguf, BlocksAreDecodedOnlyAsAWhole) {
    const GgufFile file = GgufFile::read(ROPER_ELEMENT_TYPES ".gguf");
    for (const auto& [name, tensor] : file.tensors->tensors()) {
        const std::size_t bytes = bytesPerBlock(tensor.type), elements = elementsPerBlock(tensor.type);
        const std::vector<std::byte> blocks(2 * bytes);
        std::vector<float> out(2 * elements);
        EXPECT_NO_THROW(decodeElements(tensor.type, blocks, out)) << name;
        EXPECT_THROW(decodeElements(tensor.type, blocks, std::span(out).first(elements)),
                     std::invalid_argument);
        EXPECT_THROW(decodeElements(tensor.type, std::span(blocks).first(bytes), out), std::invalid_argument);
        if (bytes == 1) continue;
        EXPECT_THROW(decodeElements(tensor.type, std::span(blocks).first(2 * bytes - 1), out),
                     std::invalid_argument);
    }
}

TEST(Gguf, MetadataOfEveryKindIsRead) {
    const GgufMetadata metadata = GgufFile::read(ROPER_ELEMENT_TYPES ".gguf").metadata;
    EXPECT_EQ(metadata.text("general.architecture"), "llama");
    EXPECT_EQ(metadata.text("text"), "Ωmega");
    EXPECT_EQ(*metadata.integers("whole numbers"), (std::vector<std::int64_t>{1, -2, 3}));
    EXPECT_EQ(*metadata.texts("texts"), (std::vector<std::string>{"a", "", "ß"}));
    EXPECT_EQ(metadata.number("number", 0, 1), 0.5);
    EXPECT_EQ(metadata.flag("flag"), true);
    EXPECT_EQ(metadata.text("missing"), std::nullopt);
    EXPECT_THROW(metadata.integer("text", 0, 1), Error);
    EXPECT_THROW(metadata.number("number", 0, 0.25), Error);
}

TEST(Gguf, AFileCutAnywhereIsRefusedOrWhole) {
    const std::string integer = readFile(ROPER_ELEMENT_TYPES ".gguf");
    for (std::size_t length = 0; length < integer.size(); length += length < 1500 ? 7 : 501)
        expectProblem(integer.substr(0, length), "model.gguf cannot be read as a GGUF file: ");
    EXPECT_NO_THROW(read(integer));
}

TEST(Gguf, WhatIsWrongIsSaid) {
    expectProblem("GGML....", "its beginning: does not begin with GGUF");
    expectProblem("GGUF" + bytesOfNumber<std::uint32_t>(1), "has version 1");
    expectProblem("GGUF" + bytesOfNumber<std::uint32_t>(0x03000000), "little-endian");
    expectProblem(header(1ULL << 60U, 0), "more than any model has");
    const std::string u32 = bytesOfNumber<std::uint32_t>(4), one = ggufText("one") + u32 + u32;
    expectProblem(header(0, 2) + one + one, "the entry one: occurs twice");
    expectProblem(header(0, 1) + ggufText("odd") + bytesOfNumber<std::uint32_t>(77),
                  "the entry odd: is of type 77");
    expectProblem(header(0, 1) + bytesOfNumber<std::uint64_t>(1ULL << 50U) + std::string(8, '\0'),
                  "a string has a length of");
    const std::string list = bytesOfNumber<std::uint32_t>(9);
    expectProblem(header(0, 1) + ggufText("long") + list + u32 + bytesOfNumber<std::uint64_t>(1ULL << 40U),
                  "the entry long: is a list with a length of");
    expectProblem(header(0, 1) + ggufText("deep") + list + list + bytesOfNumber<std::uint64_t>(1),
                  "list of lists");
    const std::string data(4096, '\0');
    expectProblem(header(1, 0) + tensorBytes("w", {32}, 9, 0) + data, "the tensor w: is stored as Q8_1");
    expectProblem(header(1, 0) + tensorBytes("w", {32}, 250, 0) + data, "is stored as type 250");
    expectProblem(header(1, 0) + tensorBytes("w", {33, 2}, 8, 0) + data,
                  "rows of 33 numbers are not a whole number of blocks");
    expectProblem(header(1, 0) + tensorBytes("w", {128, 2}, 22, 0) + data,
                  "rows of 128 numbers are not a whole number of blocks of IQ2_S");
    expectProblem(header(1, 0) + tensorBytes("w", {1U << 31U, 1U << 29U}, 27, 0) + data, "it is too large");
    expectProblem(header(1, 0) + tensorBytes("w", {1U << 31U, 1U << 31U}, 0, 0) + data, "it is too large");
    expectProblem(header(1, 0) + tensorBytes("w", {2048}, 0, 0) + data, "reach beyond the end");
    expectProblem(header(1, 0) + tensorBytes("w", {32}, 0, 1ULL << 62U) + data, "begins beyond the end");
    expectProblem(header(1, 0) + tensorBytes("w", {32}, 0, 16) + data, "not a multiple of 32");
    expectProblem(header(2, 0) + tensorBytes("w", {32}, 0, 0) + tensorBytes("w", {32}, 0, 128) + data,
                  "another has the same name");
    expectProblem(header(2, 0) + tensorBytes("v", {32}, 0, 0) + tensorBytes("w", {32}, 0, 64) + data,
                  "shares bytes with the tensor v");
    EXPECT_NO_THROW(read(header(1, 0) + tensorBytes("w", {32, 4}, 0, 0) + data));
}

TEST(Gguf, AHugeFileOfNothingIsRefusedAtOnce) {
    const TemporaryFolder folder;
    std::ofstream(folder / "model.gguf") << "GGUF";
    std::filesystem::resize_file(folder / "model.gguf", 100ULL << 30U);
    expectError(ErrorKind::checkpoint, "has version 0", [&] { GgufFile::read(folder / "model.gguf"); });
}

TEST(Gguf, CountsThatCannotBeTakeNoMemory) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& bytes) {
        std::ofstream(folder / "model.gguf", std::ios::binary) << bytes;
        std::filesystem::resize_file(folder / "model.gguf", 60'000'000);
        EXPECT_TRUE(finishesWithin(10, 24'000'000, [&] {
            expectError(ErrorKind::checkpoint, "the file ends inside its header",
                        [&] { GgufFile::read(folder / "model.gguf"); });
        }));
    };
    const std::string list = bytesOfNumber<std::uint32_t>(9), u64 = bytesOfNumber<std::uint32_t>(10);
    refused(header(0, 1) + ggufText("long") + list + u64 + bytesOfNumber<std::uint64_t>(1U << 23U));
}

}  // namespace
}  // namespace roper
