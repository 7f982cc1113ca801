#include "core/explorer/attention_maps.h"

#include <cmath>
#include <map>
#include <stdexcept>

#include "core/rotary/scores.h"

namespace roper {
namespace {

/// φ(x) = elu(x) + 1, positive everywhere. (Katharopoulos et al. 2020)
Eigen::MatrixXd positiveFeatures(const Eigen::MatrixXd& X) {
    return (X.array() > 0).select(X.array() + 1, X.array().min(0.0).exp());
}

/// The vectors that are rotated, from q or k [T × d]: unchanged, φ(x), or scaled to length 1.
Eigen::MatrixXd featureMap(AttentionKind kind, const Eigen::MatrixXd& X) {
    switch (kind) {
        case AttentionKind::softmax:
            return X;
        case AttentionKind::linear_numerator:
            return positiveFeatures(X);
        case AttentionKind::linear_cosine:
            return X.rowwise().normalized();
    }
    throw std::logic_error("features: no such attention");
}

double scaleOf(const ScoreFormula& rule, Eigen::Index head_dim) {
    return rule.attention != AttentionKind::softmax ? 1.0 : 1.0 / std::sqrt(static_cast<double>(head_dim));
}

void zeroAblatedPairs(const ScoreFormula& rule, Eigen::MatrixXd& Q) {
    for (const int pair : rule.ablated_pairs) {
        const auto [first, second] = rule.form.query.rotary.plane(pair);
        Q.col(first).setZero();
        Q.col(second).setZero();
    }
}

/// Multiplies every pair of row t by the method's decay.
void applyDecay(const ScoreFormula& rule, Eigen::MatrixXd& X, const Rotary& rotary,
                const Eigen::VectorXd& positions, bool is_query) {
    if (!rule.decay) return;
    for (int i = 0; i < rotary.pairs(); ++i) {
        const auto [first, second] = rotary.features(i);
        for (Eigen::Index t = 0; t < X.rows(); ++t) {
            const double factor = rule.decay(i, rotary.pairs(), positions[t], is_query);
            X(t, first) *= factor;
            X(t, second) *= factor;
        }
    }
}

/// YaRN and LongRoPE multiply cos and sin, so unrotated features are not scaled.
void applyAttentionFactor(const ScoreFormula& rule, const Rotary& rotary, Eigen::MatrixXd& X) {
    if (rule.attention_factor == 1 || rule.attention != AttentionKind::softmax) return;
    X.middleCols(rotary.first, rotary.rotatedWidth()) *= rule.attention_factor;
}

/// Queries or keys as used in the product, from rows of Q or K and their positions: rotated; queries also
/// without ablated pairs, and scaled.
Eigen::MatrixXd rotatedRows(const ScoreFormula& rule, const Eigen::MatrixXd& X,
                            const Eigen::VectorXd& positions, bool is_query) {
    const TensorRotation& step = is_query ? rule.form.query : rule.form.key;
    Eigen::MatrixXd rotated = step.apply(featureMap(rule.attention, X), positions);
    // Ablation follows the rotation: without the query's pair it contributes to no product.
    if (is_query) zeroAblatedPairs(rule, rotated);
    if (step.direction != 0) applyAttentionFactor(rule, step.rotary, rotated);
    applyDecay(rule, rotated, step.rotary, positions, is_query);
    if (is_query) rotated *= scaleOf(rule, X.cols());
    return rotated;
}

/// The bias of query n and key j, including the constant 1 in the similarity 1 + cosine of linear_cosine.
double biasOf(const ScoreFormula& rule, Eigen::Index query, Eigen::Index key) {
    const double of_method = rule.bias ? rule.bias(static_cast<int>(query - key)) : 0.0;
    return of_method + (rule.attention == AttentionKind::linear_cosine ? 1.0 : 0.0);
}

bool hasBias(const ScoreFormula& rule) {
    return rule.bias || rule.attention == AttentionKind::linear_cosine;
}

ScoreFormula ruleFor(const Setup& setup, AttentionForm form) {
    ScoreFormula rule;
    rule.attention = setup.attention;
    rule.form = std::move(form);
    rule.attention_factor = setup.attentionFactor();
    rule.causal = setup.causal;
    rule.ablated_pairs = setup.ablated_pairs;
    const PositionMethod& method = setup.positionMethod();
    rule.decay = method.decay;
    if (method.bias && setup.attention == AttentionKind::softmax)
        rule.bias = method.bias(setup.headContext());
    return rule;
}

MistakeEffect difference(const ScoreFormula& a, double shift_a, const ScoreFormula& b, double shift_b,
                         const HeadVectors& heads) {
    const Eigen::MatrixXd scores_a = scores(a, heads, shift_a), scores_b = scores(b, heads, shift_b);
    const Eigen::MatrixXd outputs_a = outputs(a, heads, weights(a, heads, scores_a), shift_a),
                          outputs_b = outputs(b, heads, weights(b, heads, scores_b), shift_b);
    Eigen::MatrixXd change = scores_a - scores_b;
    if (a.causal) change = change.triangularView<Eigen::Lower>();
    return {change.cwiseAbs().maxCoeff(), (outputs_a - outputs_b).cwiseAbs().maxCoeff()};
}

}  // namespace

ScoreFormula scoreFormula(const Setup& setup) {
    return ruleFor(setup, setup.form());
}

ScoreFormula correctScoreRule(const Setup& setup) {
    return ruleFor(setup, setup.correctForm());
}

Eigen::MatrixXd scores(const ScoreFormula& rule, const HeadVectors& heads, double shift) {
    const Eigen::VectorXd positions = consecutivePositions(heads.tokens(), shift);
    const Eigen::MatrixXd Q = rotatedRows(rule, heads.Q, positions, true);
    const Eigen::MatrixXd K = rotatedRows(rule, heads.K, positions, false);
    Eigen::MatrixXd made(Q.rows(), K.rows());
    made.noalias() = Q * K.transpose();
    if (hasBias(rule))
        for (Eigen::Index key = 0; key < made.cols(); ++key)
            for (Eigen::Index query = 0; query < made.rows(); ++query)
                made(query, key) += biasOf(rule, query, key);
    return made;
}

Eigen::VectorXd scoreRow(const ScoreFormula& rule, const HeadVectors& heads, int query, double shift) {
    const Eigen::VectorXd positions = consecutivePositions(heads.tokens(), shift);
    const Eigen::MatrixXd q = rotatedRows(rule, heads.Q.row(query), positions.segment(query, 1), true);
    Eigen::VectorXd row = rotatedRows(rule, heads.K, positions, false) * q.row(0).transpose();
    if (hasBias(rule))
        for (Eigen::Index key = 0; key < row.size(); ++key)
            row[key] += biasOf(rule, query, key);
    return row;
}

Eigen::VectorXd weightRow(const ScoreFormula& rule, const HeadVectors& heads,
                          const Eigen::VectorXd& score_row, int query) {
    const Eigen::Index seen = rule.causal ? query + 1 : score_row.size();
    Eigen::VectorXd row = Eigen::VectorXd::Zero(score_row.size());
    if (rule.attention == AttentionKind::linear_numerator) {
        const Eigen::RowVectorXd q = positiveFeatures(heads.Q.row(query));
        const double denominator = (positiveFeatures(heads.K.topRows(seen)) * q.transpose()).sum();
        row.head(seen) = score_row.head(seen) / denominator;
    } else if (rule.attention == AttentionKind::linear_cosine) {
        const double sum = score_row.head(seen).sum();
        // If all similarities are 0 (every key exactly opposed), the weights are uniform.
        row.head(seen) = sum > 0 ? (score_row.head(seen) / sum).eval()
                                 : Eigen::VectorXd::Constant(seen, 1.0 / static_cast<double>(seen)).eval();
    } else {
        row.head(seen) = (score_row.head(seen).array() - score_row.head(seen).maxCoeff()).exp();
        row.head(seen) /= row.head(seen).sum();
    }
    return row;
}

Eigen::MatrixXd weights(const ScoreFormula& rule, const HeadVectors& heads, const Eigen::MatrixXd& scores) {
    if (rule.attention == AttentionKind::softmax) return attentionWeights(scores, rule.causal);
    Eigen::MatrixXd made(scores.rows(), scores.cols());
    for (int query = 0; query < scores.rows(); ++query)
        made.row(query) = weightRow(rule, heads, scores.row(query), query);
    return made;
}

Eigen::VectorXd scoreContributions(const ScoreFormula& rule, const HeadVectors& heads, int query, int key,
                                   double shift) {
    const Eigen::VectorXd q_position = Eigen::VectorXd::Constant(1, query + shift),
                          k_position = Eigen::VectorXd::Constant(1, key + shift);
    const Eigen::RowVectorXd product =
        rotatedRows(rule, heads.Q.row(query), q_position, true)
            .cwiseProduct(rotatedRows(rule, heads.K.row(key), k_position, false));
    const Rotary& rotary = rule.form.query.rotary;
    Eigen::VectorXd parts(rotary.planes() + 1);
    for (int i = 0; i < rotary.planes(); ++i) {
        const auto [first, second] = rotary.plane(i);
        parts[i] = product[first] + product[second];
    }
    parts[rotary.planes()] = biasOf(rule, query, key);
    return parts;
}

Eigen::MatrixXd outputs(const ScoreFormula& rule, const HeadVectors& heads, const Eigen::MatrixXd& weights,
                        double shift) {
    const Eigen::VectorXd positions = consecutivePositions(heads.tokens(), shift);
    return rule.form.output.apply(weights * rule.form.value.apply(heads.V, positions), positions);
}

MistakeEffect shiftEffect(const Setup& setup, const HeadVectors& heads, double shift) {
    const ScoreFormula rule = scoreFormula(setup);
    return difference(rule, shift, rule, 0, heads);
}

MistakeEffect formEffect(const Setup& setup, const HeadVectors& heads, double shift) {
    return difference(scoreFormula(setup), shift, correctScoreRule(setup), shift, heads);
}

std::vector<DistanceScores> scoresByDistance(const ScoreFormula& rule, const HeadVectors& heads, double shift,
                                             int max_queries) {
    struct Sum {
        double sum = 0, minimum = 0, maximum = 0;
        int count = 0;
    };
    std::map<int, Sum> by_distance;
    const int T = heads.tokens();
    const int step = std::max(1, (T + max_queries - 1) / max_queries);
    // Starts with the last query, which has the longest distances.
    for (int query = T - 1; query >= 0; query -= step) {
        const Eigen::VectorXd row = scoreRow(rule, heads, query, shift);
        const int last = rule.causal ? query : T - 1;
        for (int key = 0; key <= last; ++key) {
            Sum& at = by_distance[query - key];
            const double score = row[key];
            at.minimum = at.count == 0 ? score : std::min(at.minimum, score);
            at.maximum = at.count == 0 ? score : std::max(at.maximum, score);
            at.sum += score;
            ++at.count;
        }
    }
    std::vector<DistanceScores> profile;
    for (const auto& [distance, at] : by_distance)
        profile.push_back({distance, at.sum / at.count, at.minimum, at.maximum});
    return profile;
}

MixedValues mixedValues(const Setup& setup, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                        int query, int key) {
    const MixedTokens mixed_tokens = setup.effectiveMixedTokens();
    if (mixed_tokens == MixedTokens::all) return {weights, V};
    MixedValues mixed{Eigen::VectorXd::Zero(V.rows()), Eigen::MatrixXd(V.rows(), V.cols())};
    for (Eigen::Index i = 0; i < V.cols(); ++i)
        mixed.V.col(i).setConstant(initialFeature(setup, static_cast<int>(i)));
    mixed.weights[key] = mixed_tokens == MixedTokens::one ? 1.0 : 0.5;
    if (mixed_tokens == MixedTokens::two) mixed.weights[query] += 0.5;
    return mixed;
}

}  // namespace roper
