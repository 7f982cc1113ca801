#include "core/explorer/examples.h"

#include <gtest/gtest.h>

#include <set>

#include "core/explorer/attention_maps.h"

namespace roper {
namespace {

using ASetup = roper::Setup;  // GoogleTest defines a Setup of its own

/// The attention weights of an example, [T × T], one row per query.
Eigen::MatrixXd weightsOf(const std::string& name) {
    for (const Example* example : examplesForPage("attention")) {
        if (example->name != name) continue;
        const ASetup& setup = example->setup;
        const ScoreFormula rule = scoreFormula(setup);
        Eigen::MatrixXd weights(setup.tokens, setup.tokens);
        for (int query = 0; query < setup.tokens; ++query)
            weights.row(query) =
                weightRow(rule, setup.manual_vectors, scoreRow(rule, setup.manual_vectors, query, 0), query);
        return weights;
    }
    ADD_FAILURE() << "there is no example " << name;
    return {};
}

TEST(Examples, EachIsWhatItsTextRestores) {
    std::set<std::string> names;
    for (const Example& example : examples()) {
        EXPECT_TRUE(names.insert(example.page + "/" + example.name).second) << example.name;
        EXPECT_TRUE(sanitized(example.setup) == example.setup) << example.name;
        const SetupText restored = parseSetup(formatSetup({example.setup, example.view}));
        EXPECT_TRUE(restored.setup == example.setup) << example.name;
        EXPECT_EQ(restored.view, example.view) << example.name;
        EXPECT_FALSE(example.description.empty()) << example.name;
    }
    for (const char* page : {"rotation", "spectrum", "attention", "value-mixing"})
        EXPECT_GE(examplesForPage(page).size(), 4U) << page;
}

TEST(Examples, APreviousTokenHeadLooksAtTheTokenBefore) {
    const Eigen::MatrixXd weights = weightsOf("previous-token");
    for (Eigen::Index query = 1; query < weights.rows(); ++query)
        EXPECT_GT(weights(query, query - 1), 0.9) << query;
}

TEST(Examples, ALocalHeadLooksAtWhatIsNear) {
    const Eigen::MatrixXd weights = weightsOf("local");
    for (Eigen::Index query = 0; query < weights.rows(); ++query) {
        const Eigen::Index near = std::min<Eigen::Index>(query + 1, 4);
        EXPECT_GT(weights.row(query).segment(query + 1 - near, near).sum(), 0.9) << query;
        for (Eigen::Index back = 1; back < near; ++back)
            EXPECT_LT(weights(query, query - back), weights(query, query - back + 1))
                << query << ", " << back;
    }
}

TEST(Examples, AContentHeadFindsTheSameWord) {
    const Eigen::MatrixXd weights = weightsOf("content");
    // "I saw the cat sit on the mat and wait for the dog"
    EXPECT_GT(weights(11, 2) + weights(11, 6) + weights(11, 11), 0.95);
    EXPECT_GT(weights(11, 2), 0.3);  // nine positions away, yet attended almost as much as the token itself
    EXPECT_GT(weights(6, 2), 0.45);
    for (const Eigen::Index once : {1, 3, 4, 7, 12})
        EXPECT_GT(weights(once, once), 0.9) << once;
}

TEST(Examples, LinesOfTheFirstVersionKeepTheirDefaults) {
    const ASetup former = parseSetup("roper-lab:setup?base=500").setup;
    EXPECT_EQ(former.head_dim, 16);
    EXPECT_EQ(former.pair, 2);
    EXPECT_EQ(former.similarity, 0.25);
    EXPECT_EQ(former.mixed_tokens, MixedTokens::all);
    EXPECT_EQ(parseSetup("roper-lab:setup?defaults=2&base=500").setup.head_dim, ASetup{}.head_dim);
}

}  // namespace
}  // namespace roper
