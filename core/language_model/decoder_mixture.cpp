#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/language_model/activated.h"
#include "core/language_model/decoder.h"

namespace roper {
namespace {

/// Sets the scores of experts outside the best groups to −∞. scores [T, experts]
at::Tensor inBestGroups(const ExpertMixture& mixture, const at::Tensor& scores) {
    const at::Tensor grouped = scores.unflatten(1, {mixture.groups, mixture.experts / mixture.groups});
    const at::Tensor of_groups = std::get<0>(at::topk(grouped, mixture.experts_summed_per_group)).sum(-1);
    const at::Tensor best = std::get<1>(at::topk(of_groups, mixture.groups_per_token));
    const at::Tensor hidden = at::ones_like(of_groups, at::kBool).scatter_(1, best, false);
    return grouped.masked_fill(hidden.unsqueeze(-1), -INFINITY).flatten(1);
}

/// Logits of the router [T, experts] → scores of the same shape
at::Tensor scoresOf(const ExpertMixture& mixture, const at::Tensor& logits) {
    if (mixture.scores == RouterScores::sigmoid) return at::sigmoid(logits);
    if (mixture.scores == RouterScores::sqrt_softplus) return at::softplus(logits).sqrt();
    return at::softmax(logits, -1);
}

/// SparseMixer without its noise. The k-th expert has the largest logit m of those not yet chosen; its weight
/// is its softmax among the remaining logits l with (m − l)/max(|l|, m) ≤ 2ε (`jitter_epsilon`).
ChosenExperts bySparseMixer(const ExpertMixture& mixture, const at::Tensor& logits) {
    std::vector<at::Tensor> experts, weights;
    at::Tensor left = logits;
    for (std::int64_t k = 0; k < mixture.per_token; ++k) {
        const auto [largest, expert] = left.max(-1, /*keepdim=*/true);
        const at::Tensor distance = (largest - logits) / at::maximum(logits.abs(), largest);
        const at::Tensor close =
            at::softmax(left.masked_fill(distance > 2 * mixture.jitter_epsilon, -INFINITY), -1);
        experts.push_back(expert);
        weights.push_back(close.gather(-1, expert));
        left = left.scatter(-1, expert, -INFINITY);
    }
    return {at::cat(experts, 1), at::cat(weights, 1)};
}

/// Tokens routed to an expert, and the expert's weight for each.
struct TokensOfExpert {
    std::vector<std::int64_t> tokens;
    std::vector<float> weights;
};

std::vector<TokensOfExpert> tokensByExpert(const ExpertMixture& mixture, const ChosenExperts& chosen) {
    std::vector<TokensOfExpert> all(static_cast<std::size_t>(mixture.choices()));
    const auto expert = chosen.experts.accessor<std::int64_t, 2>();
    const auto weight = chosen.weights.accessor<float, 2>();
    for (std::int64_t t = 0; t < expert.size(0); ++t)
        for (std::int64_t k = 0; k < expert.size(1); ++k) {
            TokensOfExpert& of = all[static_cast<std::size_t>(expert[t][k])];
            of.tokens.push_back(t);
            of.weights.push_back(weight[t][k]);
        }
    return all;
}

}  // namespace

ChosenExperts chooseExperts(const ExpertMixture& mixture, const at::Tensor& logits,
                            const at::Tensor& choice_bias, const at::Tensor& given) {
    ChosenExperts chosen;
    if (mixture.scores == RouterScores::sparse_mixer) {
        chosen = bySparseMixer(mixture, logits);
    } else {
        const at::Tensor scores = scoresOf(mixture, logits);
        // Logits have the same order as scores, and no ties where scores saturate.
        at::Tensor by = choice_bias.defined() ? scores + choice_bias : mixture.groups > 1 ? scores : logits;
        if (mixture.groups > 1) by = inBestGroups(mixture, by);
        chosen.experts = given.defined() ? given : std::get<1>(at::topk(by, mixture.per_token));
        chosen.weights = scores.gather(1, chosen.experts);
    }
    if (mixture.normalizes)
        chosen.weights =
            chosen.weights / (chosen.weights.sum(-1, /*keepdim=*/true).clamp_min(mixture.min_weight_sum) +
                              mixture.added_weight_sum);
    if (mixture.scale != 1) chosen.weights = chosen.weights * mixture.scale;
    return chosen;
}

/// x [tokens of the expert, C] → output of the same shape
at::Tensor Decoder::expertOutput(const at::Tensor& x, const FeedForwardWeights& expert) {
    constexpr auto kExpert = WeightReader::Part::of_expert;
    const Architecture& model = architecture();
    at::Tensor gate, up;
    if (expert.gate_up) {
        const at::Tensor both = linear(x, *expert.gate_up, kExpert);
        const std::int64_t F = both.size(1) / 2;
        gate = expert.gate_up_interleaved ? both.slice(1, 0, 2 * F, 2) : both.narrow(1, 0, F);
        up = expert.gate_up_interleaved ? both.slice(1, 1, 2 * F, 2) : both.narrow(1, F, F);
    } else {
        gate = linear(x, *expert.gate, kExpert);
        up = linear(x, expert.up, kExpert);
    }
    if (model.gate_limit > 0) {
        gate = gate.clamp_max(model.gate_limit);
        up = up.clamp(-model.gate_limit, model.gate_limit) + 1;
        gate = gate * at::sigmoid(gate * model.gate_steepness);
    } else {
        limitGate(gate, up, model.swiglu_limit);
        gate = activated(gate, model.activation);
    }
    return linear(gate * up, expert.down, kExpert);
}

/// The experts of each token [T, k], from a table with a row for each token id.
at::Tensor Decoder::hashedExperts(const MatrixLocation& table, const Pass& pass) {
    const at::Tensor experts = weights_.gatherRows(table, pass.ids).to(at::kLong);
    const std::int64_t most = architecture().mixture.experts - 1;
    if (experts.min().item<std::int64_t>() < 0 || experts.max().item<std::int64_t>() > most)
        throw Error(ErrorKind::checkpoint,
                    model_.tensors->pathOfFile(model_.tensors->tensor(table.tensor).file) + ": " +
                        toSingleLine(table.tensor) + " names experts other than 0 to " +
                        std::to_string(most));
    return experts;
}

/// x [T, C] → [T, C]. All tokens of an expert are computed as a batch; experts without tokens are not read.
at::Tensor Decoder::mixExperts(const at::Tensor& x, const at::Tensor& router_input, const MixtureWeights& by,
                               std::int64_t layer, const Pass& pass) {
    const ExpertMixture& mixture = architecture().mixture;
    const at::Tensor bias = by.choice_bias ? weights_.vector(*by.choice_bias) : at::Tensor();
    const at::Tensor given = by.hash_table ? hashedExperts(*by.hash_table, pass) : at::Tensor();
    ChosenExperts chosen = chooseExperts(mixture, linear(router_input, by.router), bias, given);
    if (by.beside_dense)
        chosen.weights = chosen.weights * weights_.vector(by.beside_dense->expert_scales)
                                              .index_select(0, chosen.experts.flatten())
                                              .view_as(chosen.weights);
    if (pass.recorder.experts) pass.recorder.experts(layer, chosen);
    at::Tensor sum = at::zeros_like(x);
    const std::vector<TokensOfExpert> tokens = tokensByExpert(mixture, chosen);
    for (std::size_t expert = 0; expert < tokens.size(); ++expert) {
        if (tokens[expert].tokens.empty()) continue;
        const at::Tensor rows = at::tensor(tokens[expert].tokens),
                         weights = at::tensor(tokens[expert].weights).unsqueeze(1);
        const at::Tensor input = x.index_select(0, rows);
        if (static_cast<std::int64_t>(expert) >= mixture.experts) {  // one that returns its input
            sum.index_add_(0, rows, input * weights);
            continue;
        }
        const FeedForwardWeights parameters = by.expert(static_cast<std::int64_t>(expert));
        sum.index_add_(0, rows,
                       mixture.weighs_inputs ? expertOutput(input * weights, parameters)
                                             : expertOutput(input, parameters) * weights);
    }
    if (!by.shared) return sum;
    const at::Tensor shared = feedForward(x, *by.shared);
    return sum.add_(by.shared_gate ? at::sigmoid(linear(x, *by.shared_gate)) * shared : shared);
}

/// norm₁(feed_forward(x)) + norm₂(experts(norm₃(r))) for the residual stream r and its norm x [T, C]; the
/// router reads norm₄(r)/√C.
at::Tensor Decoder::mixExpertsBesideDense(const at::Tensor& x, const at::Tensor& residual,
                                          const BlockWeights& block, std::int64_t layer, const Pass& pass) {
    const MixtureWeights::BesideDense& by = *block.mixture->beside_dense;
    const at::Tensor router_input =
        norm(residual, by.router) / std::sqrt(static_cast<double>(architecture().width));
    const at::Tensor experts =
        mixExperts(norm(residual, by.experts), router_input, *block.mixture, layer, pass);
    return norm(feedForward(x, block.feed_forward), by.after_dense) + norm(experts, by.after_experts);
}

}  // namespace roper
