#include "core/tasks/text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

/// Tokens "0", "1", …, without an encoder.
Vocabulary numbers(int count) {
    std::vector<std::string> tokens;
    for (int i = 0; i < count; ++i)
        tokens.push_back(std::to_string(i) + " ");
    return {tokens,
            [](std::string_view) -> std::vector<std::int64_t> { throw std::logic_error("not asked for"); }};
}

std::shared_ptr<const TokenFile> tokenFile(const std::filesystem::path& path,
                                           const std::vector<std::int64_t>& tokens, int vocabulary_size) {
    std::ofstream file(path, std::ios::binary);
    for (const std::int64_t token : tokens)
        for (std::size_t byte = 0; byte < TokenFile::bytesPerToken(vocabulary_size); ++byte)
            file.put(static_cast<char>(token >> (8 * byte)));
    file.close();
    return std::make_shared<const TokenFile>(path, vocabulary_size);
}

TEST(TokenFile, ReadsBothWidths) {
    const TemporaryFolder folder;
    const std::vector<std::int64_t> small = {0, 1, 255, 256, 65535}, large = {0, 65536, 16777216, 2000000000};
    for (const auto& [size, tokens] : {std::pair{65536, small}, {2000000001, large}}) {
        const auto read = tokenFile(folder / "tokens", tokens, size);
        ASSERT_EQ(read->size(), static_cast<std::int64_t>(tokens.size()));
        for (std::size_t i = 0; i < tokens.size(); ++i)
            EXPECT_EQ(read->read(static_cast<std::int64_t>(i), 1).front(), tokens[i]);
    }
    std::ofstream(folder / "odd", std::ios::binary) << "abc";
    EXPECT_THROW(TokenFile(folder / "odd", 100), std::runtime_error);
    EXPECT_THROW(TokenFile(folder / "missing", 100), std::runtime_error);
    std::ofstream(folder / "empty", std::ios::binary).flush();
    EXPECT_THROW(TokenFile(folder / "empty", 100), std::runtime_error);
}

TEST(TokenFile, SaysWhatHasHappenedToIt) {
    const TemporaryFolder folder;
    const auto tokens = tokenFile(folder / "tokens", {1, 2, 3, 99}, 10);
    EXPECT_EQ(tokens->read(0, 3), (std::vector<std::int64_t>{1, 2, 3}));
    expectError(ErrorKind::disk, "contains the token 99", [&] { tokens->read(2, 2); });
    std::filesystem::resize_file(folder / "tokens", 3);
    expectError(ErrorKind::disk, "has been truncated", [&] { tokens->read(0, 3); });
    EXPECT_EQ(tokens->read(0, 1), (std::vector<std::int64_t>{1}));
}

TEST(TextTask, TrainingNeverSeesWhatIsKeptForValidation) {
    const TemporaryFolder folder;
    std::vector<std::int64_t> tokens(1000);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int64_t>(i);
    const TextTask task(numbers(1000), tokenFile(folder / "tokens", tokens, 1000), 0.1);
    EXPECT_EQ(task.trainingTokens(), 900);
    EXPECT_EQ(task.validationTokens(), 100);
    std::set<std::int64_t> trained, validated;
    for (std::uint64_t i = 0; i < 400; ++i) {
        const auto sequence = task.tokens(3, Stream::training, i, 30);
        ASSERT_EQ(sequence.size(), 30U);
        for (std::size_t t = 1; t < 30; ++t)
            EXPECT_EQ(sequence[t], sequence[t - 1] + 1);  // consecutive tokens of the text
        trained.insert(sequence.begin(), sequence.end());
    }
    EXPECT_LE(*trained.rbegin(), 899);
    EXPECT_GE(*trained.rbegin(), 890);
    EXPECT_GT(trained.size(), 890U);
    for (std::uint64_t i = 0; i < 3; ++i)
        for (const std::int64_t token : task.tokens(3, Stream::validation, i, 30))
            EXPECT_TRUE(validated.insert(token).second);  // in order, without repetition
    EXPECT_EQ(*validated.begin(), 900);
    EXPECT_EQ(task.tokens(3, Stream::validation, 3, 30), task.tokens(9, Stream::validation, 0, 30));
    EXPECT_EQ(task.tokens(3, Stream::training, 7, 30), task.tokens(3, Stream::training, 7, 30));
    EXPECT_NE(task.tokens(3, Stream::training, 7, 30), task.tokens(4, Stream::training, 7, 30));
    EXPECT_EQ(task.sequence(3, Stream::validation, 0, 3), "900 901 902 ");
}

TEST(TextTask, SaysWhatIsTooShort) {
    const TemporaryFolder folder;
    const TextTask task(numbers(50), tokenFile(folder / "tokens", std::vector<std::int64_t>(100, 1), 50),
                        0.2);
    EXPECT_THROW(task.tokens(0, Stream::validation, 0, 21), std::invalid_argument);
    EXPECT_NO_THROW(task.tokens(0, Stream::validation, 0, 20));
    EXPECT_THROW(task.tokens(0, Stream::training, 0, 81), std::invalid_argument);
    EXPECT_THROW(TextTask(numbers(5)).tokens(0, Stream::training, 0, 2), std::invalid_argument);
    EXPECT_FALSE(task.hasProblems());
}

}  // namespace
}  // namespace roper
