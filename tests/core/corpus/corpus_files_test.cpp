#include "core/corpus/corpus_files.h"

#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(CorpusFiles, PiecesReadBackWhateverTheyHold) {
    const std::vector<std::string> pieces = {"the", " of", "\n", "\\",      "\\n", "\xC3",
                                             "ä€",  "",    "\t", "a\\b\nc", "\x80"};
    EXPECT_EQ(parsePieces(formatPieces(pieces), "x"), pieces);
    EXPECT_EQ(formatPieces({"a", "\n", "\xC3"}), "a\n\\n\n\\xc3\n");
}

TEST(CorpusFiles, RefusesDamagedPieces) {
    expectError(ErrorKind::usage, "x:2: a backslash", [] { parsePieces("a\n\\q\n", "x"); });
    expectError(ErrorKind::usage, "x:1: a backslash", [] { parsePieces("\\xg0\n", "x"); });
    expectError(ErrorKind::usage, "x:1: a backslash", [] { parsePieces("a\\\n", "x"); });
    expectError(ErrorKind::usage, "cut off", [] { parsePieces("a\nb", "x"); });
    expectError(ErrorKind::usage, "cut off", [] { parsePieces("", "x"); });
}

TEST(CorpusFiles, SummariesReadBack) {
    CorpusSummary summary;
    summary.pieces = 2000;
    summary.kind = "bpe";
    summary.tokens = 5000000000;
    summary.bytes = 12345678901;
    summary.unigram_entropy = 6.123456789012345;
    summary.fingerprint = "0123456789abcdef";
    const CorpusSummary again = parseCorpusSummary(formatCorpusSummary(summary), "x");
    EXPECT_EQ(again.pieces, 2000);
    EXPECT_EQ(again.kind, "bpe");
    EXPECT_EQ(again.tokens, 5000000000);
    EXPECT_EQ(again.bytes, 12345678901);
    EXPECT_EQ(again.unigram_entropy, summary.unigram_entropy);
    EXPECT_EQ(again.fingerprint, summary.fingerprint);
    expectError(ErrorKind::usage, "x: ", [] { parseCorpusSummary("{}", "x"); });
    expectError(ErrorKind::usage, "not roper-lab-corpus-1",
                [] { parseCorpusSummary("{\"format\": \"other\"}", "x"); });
}

}  // namespace
}  // namespace roper
