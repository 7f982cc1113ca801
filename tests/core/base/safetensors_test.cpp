#include "core/base/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/file_reading.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

std::string fileWith(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    std::string content(sizeof length, '\0');
    std::memcpy(content.data(), &length, sizeof length);
    return content + header + data;
}

void expectDamaged(const std::string& content, const std::string& part) {
    expectError(ErrorKind::checkpoint, part, [&] { SafetensorsFile::parse(content, "file"); });
}

// A checkpoint was read with twice its size: room for the end was added when the content was full.
TEST(Safetensors, AFileIsReadInLittleMoreMemoryThanItsSize) {
    const TemporaryFolder folder;
    constexpr std::int64_t kMegabyte = 1 << 20;
    const std::vector<std::byte> zeros(64 * kMegabyte);
    writeSafetensors(folder / "x.safetensors",
                     std::vector<TensorToWrite>{{"a", Dtype::U8, {64 * kMegabyte}, zeros}}, {});
    EXPECT_TRUE(finishesWithin(10, 72 * kMegabyte, [&] {
        const auto file = SafetensorsFile::read(folder / "x.safetensors", SafetensorsFile::kUnlimitedSize);
        EXPECT_EQ(file.tensor("a").bytes.size(), zeros.size());
    }));
}

TEST(Safetensors, ATensorIsWrittenAsItIsMade) {
    const TemporaryFolder folder;
    const std::vector<float> row = {1, 2, 3};
    const auto writing = [&](int rows) {
        return std::vector<TensorToWrite>{{.name = "a",
                                           .dtype = Dtype::F32,
                                           .shape = {2, 3},
                                           .produce = [&row, rows](const AppendBytes& append) {
                                               for (int i = 0; i < rows; ++i)
                                                   append(std::as_bytes(std::span(row)));
                                           }}};
    };
    writeSafetensors(folder / "x.safetensors", writing(2), {});
    const SafetensorsFile file =
        SafetensorsFile::read(folder / "x.safetensors", SafetensorsFile::kUnlimitedSize);
    EXPECT_EQ(std::memcmp(file.tensor("a").bytes.data() + 12, row.data(), 12), 0);
    EXPECT_THROW(writeSafetensors(folder / "y.safetensors", writing(3), {}), std::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder / "y.safetensors"));
}

TEST(Safetensors, ReadsBackWhatItWrites) {
    const TemporaryFolder folder;
    const std::vector<float> a = {1, 2, 3, 4, 5, 6};
    const std::vector<std::int64_t> b = {-7};
    const std::vector<std::uint8_t> c = {1, 2, 3};
    writeSafetensors(folder / "x.safetensors",
                     {{"a", Dtype::F32, {2, 3}, std::as_bytes(std::span(a))},
                      {"b", Dtype::I64, {}, std::as_bytes(std::span(b))},
                      {"c", Dtype::U8, {3}, std::as_bytes(std::span(c))},
                      {"empty", Dtype::F64, {0, 4}, {}}},
                     {{"step", "12"}, {"text", "ü\"\n"}});
    const SafetensorsFile file =
        SafetensorsFile::read(folder / "x.safetensors", SafetensorsFile::kUnlimitedSize);
    EXPECT_EQ(file.tensors().size(), 4U);
    EXPECT_EQ(file.tensor("a").shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(std::memcmp(file.tensor("a").bytes.data(), a.data(), 24), 0);
    EXPECT_EQ(file.tensor("b").shape.size(), 0U);
    EXPECT_EQ(file.entry("text"), "ü\"\n");
    expectError(ErrorKind::checkpoint, "no tensor \"d\"", [&] { file.tensor("d"); });
    const std::string content = readFile(folder / "x.safetensors");
    std::uint64_t header = 0;
    std::memcpy(&header, content.data(), sizeof header);
    EXPECT_EQ(header % 8, 0U);
}

TEST(Safetensors, RefusesToWriteWhatDoesNotFit) {
    const TemporaryFolder folder;
    const std::vector<float> a = {1, 2};
    const auto bytes = std::as_bytes(std::span(a));
    EXPECT_THROW(writeSafetensors(folder / "x", {{"a", Dtype::F32, {3}, bytes}}, {}), std::invalid_argument);
    EXPECT_THROW(
        writeSafetensors(folder / "x", {{"a", Dtype::F32, {2}, bytes}, {"a", Dtype::F32, {2}, bytes}}, {}),
        std::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST(Safetensors, RefusesEveryDamage) {
    const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_NO_THROW(SafetensorsFile::parse(fileWith(good, std::string(8, 'x')), "file"));
    expectDamaged("", "shorter");
    expectDamaged("1234567", "shorter");
    expectDamaged(fileWith(good, "").substr(0, 20), "ends inside its header");
    expectDamaged(std::string(8, '\xff'), "100 MB");
    expectDamaged(fileWith(" " + good, std::string(8, 'x')), "begin with '{'");
    expectDamaged(fileWith(good, std::string(7, 'x')), "beyond the end");
    expectDamaged(fileWith(good, std::string(9, 'x')), "after its last tensor");
    expectDamaged(fileWith("{\"a\":", ""), "header");
    const auto expectEntry = [](const std::string& entry, const std::string& part) {
        expectDamaged(fileWith("{\"a\":" + entry + "}", std::string(8, 'x')), part);
    };
    expectEntry(R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})", "unknown dtype");
    expectEntry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", "dimension");
    expectEntry(R"({"dtype":"F32","shape":[2.5],"data_offsets":[0,8]})", "dimension");
    expectEntry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", "does not match");
    expectEntry(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]})", "does not match");
    expectEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", "does not match");
    expectEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})", "offset");
    expectEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})", "two numbers");
    expectEntry(R"({"dtype":"F32","shape":[2]})", "must contain exactly");
    expectEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1})", "must contain exactly");
    expectEntry(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", "not a list");
    expectEntry(R"([])", "must contain exactly");
}

TEST(Safetensors, RefusesKeysThatOccurTwice) {
    expectDamaged(fileWith(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                           R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                           std::string(8, 'x')),
                  "occurs twice");
    expectDamaged(fileWith(R"({"__metadata__":{"k":"1","k":"2"}})", ""), "occurs twice");
}

TEST(Safetensors, RefusesGapsOverlapsAndOddMetadata) {
    const auto two = [](const char* first, const char* second) {
        return fileWith(std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + first +
                            R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}",
                        std::string(12, 'x'));
    };
    expectDamaged(two("[0,4]", "[8,12]"), "gap");
    expectDamaged(two("[0,4]", "[0,4]"), "overlap");
    expectDamaged(fileWith(R"({"__metadata__":{"k":1}})", ""), "__metadata__");
}

TEST(Safetensors, EveryTruncationIsSeen) {
    const std::string whole =
        fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string(8, 'x'));
    for (std::size_t length = 0; length < whole.size(); ++length)
        expectError(ErrorKind::checkpoint, "file",
                    [&] { SafetensorsFile::parse(whole.substr(0, length), "file"); });
}

TEST(Safetensors, AHeaderThatIsNoneTakesNoMemory) {
    const TemporaryFolder folder;
    const std::uint64_t length = 99'000'000;
    std::ofstream(folder / "x.safetensors", std::ios::binary)
        .write(reinterpret_cast<const char*>(&length), sizeof length);
    std::filesystem::resize_file(folder / "x.safetensors", 1ULL << 30U);
    EXPECT_TRUE(finishesWithin(10, 30'000'000, [&] {
        expectError(ErrorKind::checkpoint, "does not begin with '{'",
                    [&] { SafetensorsHeader::read(folder / "x.safetensors"); });
    }));
}

}  // namespace
}  // namespace roper
