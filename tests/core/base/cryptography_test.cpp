#include "core/base/cryptography.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

TEST(Cryptography, HashesAsTheStandardSays) {
    // FIPS 180-2, appendix B.1, and the hash of an empty text.
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Cryptography, KeysAreNotTheSameTwice) {
    EXPECT_EQ(randomKey().size(), 64U);
    EXPECT_NE(randomKey(), randomKey());
}

TEST(Cryptography, ACodeIsOfOneKeyAndOneText) {
    const std::string key = randomKey(), code = authenticationCode(key, "text");
    EXPECT_EQ(code.size(), 32U);
    EXPECT_TRUE(isAuthentic(key, "text", code));
    EXPECT_FALSE(isAuthentic(key, "texts", code));
    EXPECT_FALSE(isAuthentic(randomKey(), "text", code));
    EXPECT_FALSE(isAuthentic(key, "text", code.substr(1)));
    EXPECT_FALSE(isAuthentic(key, "text", ""));
}

}  // namespace
}  // namespace roper
