#include "core/corpus/corpus_files.h"

#include "core/base/durable_file.h"
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

}  // namespace
}  // namespace roper
