#include "core/corpus/corpus_files.h"

#include <rapidcheck.h>

#include "core/base/durable_file.h"
#include "core/base/text.h"
#include "core/corpus/text_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(CorpusFiles, VocabulariesReadBackWhateverTheyHold) {
    const std::vector<std::string> tokens = {"the", " of", "\n", "\\",      "\\n", "\xC3",
                                             "ä€",  "",    "\t", "a\\b\nc", "\x80"};
    EXPECT_EQ(parseVocabulary(formatVocabulary(tokens), "x"), tokens);
    EXPECT_EQ(formatVocabulary({"a", "\n", "\xC3"}), "a\n\\n\n\\xc3\n");
}

TEST(CorpusFiles, RefusesDamagedVocabularies) {
    expectError(ErrorKind::usage, "x:2: a backslash", [] { parseVocabulary("a\n\\q\n", "x"); });
    expectError(ErrorKind::usage, "x:1: a backslash", [] { parseVocabulary("\\xg0\n", "x"); });
    expectError(ErrorKind::usage, "x:1: a backslash", [] { parseVocabulary("a\\\n", "x"); });
    expectError(ErrorKind::usage, "cut off", [] { parseVocabulary("a\nb", "x"); });
    expectError(ErrorKind::usage, "cut off", [] { parseVocabulary("", "x"); });
}

TEST(CorpusFiles, SummariesReadBack) {
    CorpusSummary summary;
    summary.vocab_size = 2000;
    summary.kind = "bpe";
    summary.tokens = 5000000000;
    summary.bytes = 12345678901;
    summary.unigram_entropy = 6.123456789012345;
    summary.fingerprint = "0123456789abcdef";
    const CorpusSummary again = parseCorpusSummary(formatCorpusSummary(summary), "x");
    EXPECT_EQ(again.vocab_size, 2000);
    EXPECT_EQ(again.kind, "bpe");
    EXPECT_EQ(again.tokens, 5000000000);
    EXPECT_EQ(again.bytes, 12345678901);
    EXPECT_EQ(again.unigram_entropy, summary.unigram_entropy);
    EXPECT_EQ(again.fingerprint, summary.fingerprint);
    std::string former = formatCorpusSummary(summary);
    former.replace(former.find("vocab_size"), 10, "pieces");
    EXPECT_EQ(parseCorpusSummary(former, "x").vocab_size, 2000);
    expectError(ErrorKind::usage, "x: ", [] { parseCorpusSummary("{}", "x"); });
    expectError(ErrorKind::usage, "not roper-lab-corpus-1",
                [] { parseCorpusSummary("{\"format\": \"other\"}", "x"); });
}

TEST(CorpusFiles, FormerNamesAreUsedWhereThereAreNoOthers) {
    const TemporaryFolder folder;
    const CorpusFiles corpus(folder.path());
    EXPECT_EQ(corpus.model().path().filename(), "tokenizer.model");
    writeFileAtomically(folder / "pieces.model", "x");
    writeFileAtomically(folder / "pieces.txt", "x");
    EXPECT_EQ(corpus.model().path().filename(), "pieces.model");
    EXPECT_EQ(corpus.vocabulary().path().filename(), "pieces.txt");
    writeFileAtomically(folder / "tokenizer.model", "x");
    EXPECT_EQ(corpus.model().path().filename(), "tokenizer.model");
}

namespace fs = std::filesystem;

void put(const fs::path& path, const std::string& content) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
}

std::string readAll(const fs::path& text, std::size_t part_bytes) {
    TextReader reader(textFiles(text), part_bytes);
    std::string whole, part;
    while (reader.next(part)) {
        EXPECT_LE(part.size(), part_bytes + 1);
        EXPECT_EQ(findInvalidUtf8(part), std::string::npos);
        whole += part;
    }
    EXPECT_EQ(reader.bytesRead(), whole.size());
    return whole;
}

TEST(Utf8, KnowsWhatIsWrong) {
    EXPECT_EQ(findInvalidUtf8("plain, ä, €, 𝄞"), std::string::npos);
    EXPECT_EQ(findInvalidUtf8("ab\x80"), 2U);     // cannot begin a character
    EXPECT_EQ(findInvalidUtf8("a\xC3("), 1U);     // interrupted by another character
    EXPECT_EQ(findInvalidUtf8("a\xE2\x82"), 1U);  // incomplete
    EXPECT_EQ(findInvalidUtf8("\xC0\xAF"), 0U);   // overlong
    EXPECT_EQ(findInvalidUtf8("\xE0\x80\xAF"), 0U);
    EXPECT_EQ(findInvalidUtf8("\xED\xA0\x80"), 0U);      // a surrogate
    EXPECT_EQ(findInvalidUtf8("\xF4\x90\x80\x80"), 0U);  // beyond U+10FFFF
    EXPECT_EQ(findInvalidUtf8("\xF4\x8F\xBF\xBF"), std::string::npos);
}

TEST(TextReader, PartsAreTheTextWhateverTheirSize) {
    const TemporaryFolder folder;
    const std::string text =
        "first line\nzweite Zeile mit Ümläuten\n\n€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€ one word\nlast";
    put(folder / "a.txt", text);
    for (const std::size_t part : {8U, 16U, 17U, 64U, 4096U})
        EXPECT_EQ(readAll(folder / "a.txt", part), text + "\n") << part;
}

TEST(TextReader, FoldersAreReadByNameHiddenFilesLeftOut) {
    const TemporaryFolder folder;
    put(folder / "text/b.txt", "second");
    put(folder / "text/a/x.txt",
        "\xEF\xBB\xBF"
        "first\n");
    put(folder / "text/.hidden", "\xFF");
    put(folder / "text/.git/config", "\xFF");
    put(folder / "text/empty.txt", "");
    EXPECT_EQ(readAll(folder / "text", 64), "first\nsecond\n");
}

TEST(TextReader, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    put(folder / "latin.txt", "good line\nna\xEFve\n");
    for (const std::size_t part : {8U, 4096U})
        expectError(ErrorKind::usage, "latin.txt: byte 13 (0xEF) is not UTF-8",
                    [&] { readAll(folder / "latin.txt", part); });
    put(folder / "cut.txt", "ab\xE2\x82");
    expectError(ErrorKind::usage, "byte 3 (0xE2)", [&] { readAll(folder / "cut.txt", 64); });
    expectError(ErrorKind::usage, "text not found", [&] { textFiles(folder / "missing"); });
    fs::create_directory(folder / "bare");
    expectError(ErrorKind::usage, "contains no files", [&] { textFiles(folder / "bare"); });
}

}  // namespace

}  // namespace roper
