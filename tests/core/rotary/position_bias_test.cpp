#include "core/rotary/position_bias.h"

#include <gtest/gtest.h>

#include <cmath>

namespace roper {
namespace {

struct Row {
    int distance, bucket;
};

// rotary.md, fact 12: 32 causal buckets, calculated by hand from 16 + ⌊16·ln(δ/16)/ln 8⌋. Bucket 16 + k
// begins at the first integer δ ≥ 16·8^(k/16): 16, 18.2, 20.7, 23.6, 26.9, 30.6, 34.9, 39.7, 45.3, 51.5,
// 58.7, 66.8, 76.1, 86.7, 98.7, 112.4, 128.
TEST(T5Bucket, CausalTableByHand) {
    constexpr Row kTable[] = {
        {0, 0},    {1, 1},    {2, 2},    {7, 7},    {14, 14},  {15, 15},     {16, 16}, {18, 16}, {19, 17},
        {20, 17},  {21, 18},  {23, 18},  {24, 19},  {26, 19},  {27, 20},     {30, 20}, {31, 21}, {34, 21},
        {35, 22},  {39, 22},  {40, 23},  {45, 23},  {46, 24},  {51, 24},     {52, 25}, {58, 25}, {59, 26},
        {66, 26},  {67, 27},  {76, 27},  {77, 28},  {86, 28},  {87, 29},     {98, 29}, {99, 30}, {112, 30},
        {113, 31}, {127, 31}, {128, 31}, {129, 31}, {500, 31}, {100000, 31}, {-1, 0},  {-50, 0}};
    for (const Row& row : kTable)
        EXPECT_EQ(t5Bucket(row.distance, false), row.bucket) << row.distance;
}

// Half of the buckets for each side: exact below 8, then 8 + ⌊8·ln(δ/8)/ln 16⌋ up to 15; buckets from 16 on
// are for keys to the right.
TEST(T5Bucket, BidirectionalTableByHand) {
    constexpr Row kTable[] = {{0, 0},   {1, 1},   {7, 7},   {8, 8},    {11, 8},   {12, 9},   {15, 9},
                              {16, 10}, {22, 10}, {23, 11}, {31, 11},  {32, 12},  {45, 12},  {46, 13},
                              {63, 13}, {64, 14}, {90, 14}, {91, 15},  {127, 15}, {128, 15}, {1000, 15},
                              {-1, 17}, {-7, 23}, {-8, 24}, {-12, 25}, {-200, 31}};
    for (const Row& row : kTable)
        EXPECT_EQ(t5Bucket(row.distance, true), row.bucket) << row.distance;
}

TEST(Alibi, SlopesOfEightHeadsAreHalvesOfEachOther) {
    EXPECT_DOUBLE_EQ(alibiSlope(1, 8), 0.5);
    EXPECT_DOUBLE_EQ(alibiSlope(8, 8), 1.0 / 256);
    for (int head = 1; head < 8; ++head)
        EXPECT_DOUBLE_EQ(alibiSlope(head, 8), 2 * alibiSlope(head + 1, 8));
    EXPECT_THROW(alibiSlope(0, 8), std::invalid_argument);
    EXPECT_THROW(alibiSlope(9, 8), std::invalid_argument);
}

TEST(Xpos, BasesRiseFromTwoSevenths) {
    EXPECT_NEAR(xposBase(0, 64), 2.0 / 7, 1e-15);
    EXPECT_NEAR(xposBase(32, 64), 0.9 / 1.4, 1e-15);
    for (int i = 0; i < 64; ++i)
        EXPECT_NEAR(xposBase(i, 64), (2 * i + 0.4 * 128) / (1.4 * 128), 1e-15);  // torchscale's formula
}

}  // namespace
}  // namespace roper
