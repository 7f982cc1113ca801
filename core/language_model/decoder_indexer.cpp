#include <ATen/ATen.h>

#include <cmath>

#include "core/language_model/decoder.h"
#include "core/operators/rotary_operator.h"

// The indexer of DeepSeek Sparse Attention (DeepSeek V3.2, arXiv 2512.02556, section 2.1). For h heads of
// width d, with the latent vector c_n of a query and the normed residual x_j of a token,
//
//   q_n = R W_q c_n [h, d],  k_j = R norm(W_k x_j) [d],  score_nj = Σ_h (W_w x_n)_h / √h · max(q_nh · k_j /
//   √d, 0)
//
// R rotates the first features as queries and keys of attention rotate, but always by halves. A query sees
// the preceding keys with the largest scores. The Hadamard transform of both vectors in DeepSeek's own code
// changes no product and is left out.

namespace roper {

/// @param queries  c [T, query_rank]
/// @returns [T, N] for N tokens so far; undefined if all keys are seen
at::Tensor Decoder::keysHiddenByIndexer(const at::Tensor& x, const at::Tensor& queries, std::int64_t layer,
                                        const Pass& pass) {
    const KeyIndexer& sizes = architecture().indexer;
    const IndexerWeights& by = *model_.weights.blocks[static_cast<std::size_t>(layer)].latent->indexer;
    const std::size_t kind = architecture().rotation_of_layer[static_cast<std::size_t>(layer)];
    const auto rotatedByHalves = [](const at::Tensor& of, const CosSin& angles) {
        return rotateByTensorOps(of, angles.cosine, angles.sine, Pairing::half, Direction::forward);
    };
    constexpr double kEpsilon = 1e-6;
    const at::Tensor own =
        at::layer_norm(linear(x, by.key), {sizes.head_dim}, weights_.vector(*by.key_norm.weight),
                       weights_.vector(*by.key_norm.bias), kEpsilon);
    at::Tensor k = rotatedByHalves(own.unsqueeze(0), pass.rotations[kind].keys);
    if (pass.cache != nullptr) k = pass.cache->append(layer, &DecoderCache::Layer::indexer_k, k);
    const std::int64_t T = pass.tokens, N = k.size(1);
    if (N <= sizes.keys) return {};

    const at::Tensor q =
        rotatedByHalves(linear(queries, by.query).unflatten(1, {sizes.heads, sizes.head_dim}).transpose(0, 1),
                        pass.rotations[kind].queries);
    const at::Tensor shares = linear(x, by.of_heads) / std::sqrt(static_cast<double>(sizes.heads));
    at::Tensor hidden = at::ones({T, N}, at::kBool);
    for (std::int64_t begin = 0; begin < T; begin += kQueries) {
        const std::int64_t count = std::min<std::int64_t>(kQueries, T - begin);
        const at::Tensor of_heads =  // [h, count, N]
            at::relu(at::matmul(q.narrow(1, begin, count), k.transpose(1, 2)) /
                     std::sqrt(static_cast<double>(sizes.head_dim)));
        at::Tensor scores = (of_heads * shares.narrow(0, begin, count).t().unsqueeze(-1)).sum(0);
        const at::Tensor n = at::arange(pass.first + begin, pass.first + begin + count).unsqueeze(1);
        scores.masked_fill_(at::arange(N) > n, -INFINITY);
        hidden.narrow(0, begin, count).scatter_(1, std::get<1>(at::topk(scores, sizes.keys)), false);
    }
    return hidden;
}

}  // namespace roper
