#include "core/model/fused_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <atomic>

#include "core/kernels/attention.h"
#include "core/model/numbers.h"

namespace roper {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

const float* dataOf(const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
}

TurnTable tableOf(const Turns& turns) {
    return {dataOf(turns.cosine), dataOf(turns.sine), static_cast<std::size_t>(turns.cosine.size(-1))};
}

/// Does `work(item, scratch)` for every sequence and head. Each thread takes the next one as soon as it is
/// free, since nobody knows what else its core has to do.
template <class Work>
void forEachItem(const AttentionSetup& setup, Work work) {
    const std::size_t items = setup.B * setup.H;
    std::atomic<std::size_t> next{0};
    at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t, std::int64_t) {
        thread_local AttentionScratch scratch;
        for (std::size_t item = next++; item < items; item = next++)
            work(item, scratch);
    });
}

class FusedAttentionFunction : public torch::autograd::Function<FusedAttentionFunction> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& product, const at::Tensor& bias,
                              std::int64_t heads, bool causal, std::int64_t pairing, const Turns& query_key,
                              const Turns& value) {
        RECORD_USER_SCOPE("attention");
        const std::int64_t B = product.size(0), T = product.size(1), C = product.size(2) / 3;
        const at::Tensor qkv = product.contiguous(), beta = bias.contiguous();
        const at::Tensor out = at::empty({B, T, C}, product.options());
        const at::Tensor log_sums = at::empty({B, heads, T}, product.options().dtype(at::kFloat));
        context->saved_data["heads"] = heads;
        context->saved_data["causal"] = causal;
        context->saved_data["pairing"] = pairing;
        context->save_for_backward(
            {qkv, out, log_sums, beta, query_key.cosine, query_key.sine, value.cosine, value.sine});
        const AttentionSetup setup = setupOf(context, qkv, beta, query_key, value);
        withTypeOf(qkv, [&](auto number) {
            const auto* const from = numbersOf<decltype(number)>(qkv);
            auto* const to = numbersOf<decltype(number)>(out);
            float* const sums = numbersOf<float>(log_sums);
            forEachItem(setup, [&](std::size_t item, AttentionScratch& scratch) {
                attendForward(setup, from, to, sums, item, scratch);
            });
        });
        return out;
    }

    static tensor_list backward(AutogradContext* context, tensor_list gradients) {
        const tensor_list saved = context->get_saved_variables();
        const at::Tensor &qkv = saved[0], &out = saved[1], &log_sums = saved[2], &beta = saved[3];
        const Turns query_key{saved[4], saved[5]}, value{saved[6], saved[7]};
        const AttentionSetup setup = setupOf(context, qkv, beta, query_key, value);
        const at::Tensor grad_out = gradients[0].contiguous();
        const at::Tensor grad_qkv = at::empty_like(qkv);
        at::Tensor grad_bias;  // [B, H, 2T − 1]
        if (beta.numel() > 0 && context->needs_input_grad(1))
            grad_bias = at::empty({qkv.size(0), beta.size(0), beta.size(1)}, beta.options());
        float* const bias_data = grad_bias.defined() ? grad_bias.mutable_data_ptr<float>() : nullptr;
        withTypeOf(qkv, [&](auto number) {
            using Number = decltype(number);
            const Number *const from = numbersOf<Number>(qkv), *const output = numbersOf<Number>(out),
                                *const given = numbersOf<Number>(grad_out);
            Number* const to = numbersOf<Number>(grad_qkv);
            const float* const sums = numbersOf<float>(log_sums);
            forEachItem(setup, [&](std::size_t item, AttentionScratch& scratch) {
                attendBackward(setup, from, output, sums, given, to, bias_data, item, scratch);
            });
        });
        return {grad_qkv, grad_bias.defined() ? grad_bias.sum(0) : grad_bias, {}, {}, {}, {}, {}};
    }

  private:
    static AttentionSetup setupOf(AutogradContext* context, const at::Tensor& qkv, const at::Tensor& bias,
                                  const Turns& query_key, const Turns& value) {
        AttentionSetup setup;
        setup.B = static_cast<std::size_t>(qkv.size(0));
        setup.T = static_cast<std::size_t>(qkv.size(1));
        setup.H = static_cast<std::size_t>(context->saved_data["heads"].toInt());
        setup.d = static_cast<std::size_t>(qkv.size(2)) / 3 / setup.H;
        setup.causal = context->saved_data["causal"].toBool();
        setup.pairing = static_cast<Pairing>(context->saved_data["pairing"].toInt());
        setup.query_key = tableOf(query_key);
        setup.value = tableOf(value);
        setup.bias = dataOf(bias);
        return setup;
    }
};

}  // namespace

at::Tensor fusedAttention(const at::Tensor& product, std::int64_t heads, bool causal, Pairing pairing,
                          const PassPositions& pass, std::size_t layer) {
    TORCH_CHECK(product.dim() == 3 && product.size(2) % (3 * heads) == 0 && product.is_cpu(),
                "fusedAttention: no q, k and v of ", heads, " heads in ", product.sizes());
    const Turns &query_key = pass.queryKey(layer), &value = pass.value(layer);
    const std::int64_t T = product.size(1), d = product.size(2) / 3 / heads;
    for (const Turns* turns : {&query_key, &value})
        for (const at::Tensor& table : {turns->cosine, turns->sine})
            TORCH_CHECK(table.dim() == 2 && table.size(0) == T && 2 * table.size(1) <= d &&
                            table.sizes() == turns->cosine.sizes() && table.is_contiguous() &&
                            table.scalar_type() == at::kFloat && !table.requires_grad(),
                        "fusedAttention: a table of ", table.sizes(), " for ", product.sizes());
    TORCH_CHECK(
        !pass.distance_bias.defined() || pass.distance_bias.sizes() == at::IntArrayRef({heads, 2 * T - 1}),
        "fusedAttention: a bias of ", pass.distance_bias.sizes(), " for ", product.sizes());
    // An autograd function takes no undefined tensors.
    const at::Tensor bias = pass.distance_bias.defined() ? pass.distance_bias : at::empty({0}, at::kFloat);
    return FusedAttentionFunction::apply(product, bias, heads, causal, static_cast<std::int64_t>(pairing),
                                         query_key, value);
}

}  // namespace roper
