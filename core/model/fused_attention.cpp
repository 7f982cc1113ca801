#include "core/model/fused_attention.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/model/attention_items.h"
#include "core/operators/typed_data.h"

namespace roper {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class FusedAttentionFunction : public torch::autograd::Function<FusedAttentionFunction> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& bias,
                              std::int64_t heads, bool causal, std::int64_t pairing, const CosSin& queries,
                              const CosSin& keys, const CosSin& values) {
        RECORD_USER_SCOPE("attention");
        const at::Tensor qkv = given.contiguous(), beta = bias.contiguous();
        const std::int64_t B = qkv.size(0), T = qkv.size(1), C = qkv.size(2) / 3;
        const at::Tensor out = at::empty({B, T, C}, qkv.options());
        const at::Tensor log_sum_exps = at::empty({B, heads, T}, qkv.options().dtype(at::kFloat));
        context->saved_data["heads"] = heads;
        context->saved_data["causal"] = causal;
        context->saved_data["pairing"] = pairing;
        context->save_for_backward({qkv, out, log_sum_exps, beta, queries.cosine, queries.sine, keys.cosine,
                                    keys.sine, values.cosine, values.sine});
        const AttentionSetup setup = setupOf(context, qkv, beta, queries, keys, values);
        dispatchType(qkv, [&](auto number) {
            const auto* const from = typedData<decltype(number)>(qkv);
            auto* const to = typedData<decltype(number)>(out);
            float* const sums = typedData<float>(log_sum_exps);
            forEachItem(setup.B * setup.H, [&](std::size_t item, AttentionScratch& scratch) {
                attendForward(setup, from, to, sums, item, scratch);
            });
        });
        return out;
    }

    static tensor_list backward(AutogradContext* context, tensor_list gradients) {
        const tensor_list saved = context->get_saved_variables();
        const at::Tensor &qkv = saved[0], &out = saved[1], &log_sum_exps = saved[2], &beta = saved[3];
        const CosSin queries{saved[4], saved[5]}, keys{saved[6], saved[7]}, values{saved[8], saved[9]};
        const AttentionSetup setup = setupOf(context, qkv, beta, queries, keys, values);
        const at::Tensor grad_out = gradients[0].contiguous();
        const at::Tensor grad_qkv = at::empty_like(qkv);
        at::Tensor grad_bias;  // [B, H, 2T − 1]
        if (beta.numel() > 0 && context->needs_input_grad(1))
            grad_bias = at::empty({qkv.size(0), beta.size(0), beta.size(1)}, beta.options());
        float* const bias_data = grad_bias.defined() ? grad_bias.mutable_data_ptr<float>() : nullptr;
        dispatchType(qkv, [&](auto number) {
            using Number = decltype(number);
            const Number *const from = typedData<Number>(qkv), *const output = typedData<Number>(out),
                                *const given = typedData<Number>(grad_out);
            Number* const to = typedData<Number>(grad_qkv);
            const float* const sums = typedData<float>(log_sum_exps);
            forEachItem(setup.B * setup.H, [&](std::size_t item, AttentionScratch& scratch) {
                attendBackward(setup, from, output, sums, given, to, bias_data, item, scratch);
            });
        });
        return {grad_qkv, grad_bias.defined() ? grad_bias.sum(0) : grad_bias, {}, {}, {}, {}, {}, {}};
    }

  private:
    static AttentionSetup setupOf(AutogradContext* context, const at::Tensor& qkv, const at::Tensor& bias,
                                  const CosSin& queries, const CosSin& keys, const CosSin& values) {
        AttentionSetup setup;
        setup.B = static_cast<std::size_t>(qkv.size(0));
        setup.T = static_cast<std::size_t>(qkv.size(1));
        setup.H = static_cast<std::size_t>(context->saved_data["heads"].toInt());
        setup.d = static_cast<std::size_t>(qkv.size(2)) / 3 / setup.H;
        setup.causal = context->saved_data["causal"].toBool();
        setup.pairing = static_cast<Pairing>(context->saved_data["pairing"].toInt());
        setup.query = rotationTable(queries);
        setup.key = rotationTable(keys);
        setup.value = rotationTable(values);
        setup.bias = floatData(bias);
        return setup;
    }
};

}  // namespace

at::Tensor fusedAttention(const at::Tensor& qkv, std::int64_t heads, bool causal, Pairing pairing,
                          const PassPositions& pass, std::size_t layer) {
    TORCH_CHECK(qkv.dim() == 3 && qkv.size(2) % (3 * heads) == 0 && qkv.is_cpu(),
                "fusedAttention: no q, k and v of ", heads, " heads in ", qkv.sizes());
    const CosSin &queries = pass.queryCosSin(layer), &keys = pass.keyCosSin(layer),
                 &values = pass.valueCosSin(layer);
    const std::int64_t T = qkv.size(1), d = qkv.size(2) / 3 / heads;
    for (const CosSin* cos_sin : {&queries, &keys, &values})
        for (const at::Tensor& table : {cos_sin->cosine, cos_sin->sine})
            TORCH_CHECK(table.dim() == 2 && table.size(0) == T && 2 * table.size(1) <= d &&
                            table.sizes() == cos_sin->cosine.sizes() && table.is_contiguous() &&
                            table.scalar_type() == at::kFloat && !table.requires_grad(),
                        "fusedAttention: a table of ", table.sizes(), " for ", qkv.sizes());
    TORCH_CHECK(
        !pass.distance_bias.defined() || pass.distance_bias.sizes() == at::IntArrayRef({heads, 2 * T - 1}),
        "fusedAttention: a bias must be [heads, 2T - 1] = [", heads, ", ", 2 * T - 1, "], not ",
        pass.distance_bias.sizes());
    // Autograd functions accept no undefined tensors.
    const at::Tensor bias = pass.distance_bias.defined() ? pass.distance_bias : at::empty({0}, at::kFloat);
    return FusedAttentionFunction::apply(qkv, bias, heads, causal, static_cast<std::int64_t>(pairing),
                                         queries, keys, values);
}

}  // namespace roper
