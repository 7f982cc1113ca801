#include <ATen/ATen.h>

#include "core/language_model/decoder.h"

// The gated short convolution of LFM2 (arXiv 2511.23404, section 2.1). T tokens, C = width, K taps w_k [C]:
//
//   (b, c, u) = W_in x,  s = b ⊙ u,  y_t = Σ_k w_k ⊙ s_{t − K + 1 + k},  out = W_out (c ⊙ y)

namespace roper {

/// Σ_k w_k ⊙ x_{t − K + 1 + k}
at::Tensor Decoder::convolved(const at::Tensor& x, const MatrixLocation& taps, std::int64_t layer,
                              const Pass& pass) {
    const std::int64_t T = x.size(0), K = taps.in;
    const bool continues = pass.cache != nullptr && pass.first > 0;
    const at::Tensor before = continues ? pass.cache->at(layer).convolved : at::zeros({K - 1, x.size(1)});
    const at::Tensor all = at::cat({before, x}), weights = weights_.matrix(taps);
    if (pass.cache != nullptr) pass.cache->at(layer).convolved = all.narrow(0, T, K - 1).clone();
    at::Tensor y = at::zeros_like(x);
    for (std::int64_t k = 0; k < K; ++k)
        y.add_(all.narrow(0, k, T) * weights.select(1, k));
    return y;
}

at::Tensor Decoder::shortConvolution(const at::Tensor& x, const ShortConvolutionWeights& by,
                                     std::int64_t layer, const Pass& pass) {
    const std::vector<at::Tensor> gates = linear(x, by.in).chunk(3, 1);
    at::Tensor y = convolved(gates[0] * gates[2], by.taps, layer, pass);
    if (by.bias) y.add_(weights_.vector(*by.bias));
    return linear(y.mul_(gates[1]), by.out);
}

}  // namespace roper
