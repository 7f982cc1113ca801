#include "core/model/kernel_attention.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <numbers>

#include "core/kernels/attention.h"
#include "core/kernels/cached_attention.h"
#include "core/operators/rotary_operator.h"
#include "core/operators/tensor_data.h"
#include "core/operators/threads.h"

namespace roper {
namespace {

/// The data of a float32 tensor; null if it is undefined or empty.
const float* floatData(const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
}

/// cos and sin [rows, pairs], or [rows, 1, pairs], in the form used by kernels; they must be contiguous.
RotationTable rotationTable(const CosSin& cos_sin) {
    return {floatData(cos_sin.cosine), floatData(cos_sin.sine),
            static_cast<std::size_t>(cos_sin.cosine.size(-1))};
}

std::size_t sizeOf(std::int64_t size) {
    return static_cast<std::size_t>(size);
}

/// The part of a kernel's setup that a layout determines.
template <class Setup>
void setHeads(const HeadLayout& layout, Setup& setup) {
    setup.H = sizeOf(layout.heads);
    setup.K = sizeOf(layout.kv_heads);
    setup.d = sizeOf(layout.head_dim);
    setup.shared_kv = layout.shared_kv;
}

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// cos and sin of queries, keys, values and outputs.
using Tables = std::array<CosSin, 4>;

Tables tablesOf(const PassPositions& pass, std::size_t layer) {
    return {pass.queryCosSin(layer), pass.keyCosSin(layer), pass.valueCosSin(layer),
            pass.outputCosSin(layer)};
}

template <class Setup>
void setTables(const Tables& tables, Setup& setup) {
    setup.query = rotationTable(tables[0]);
    setup.key = rotationTable(tables[1]);
    setup.value = rotationTable(tables[2]);
    setup.output = rotationTable(tables[3]);
}

class FusedAttentionFunction : public torch::autograd::Function<FusedAttentionFunction> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& bias,
                              const at::Tensor& sinks, const HeadLayout& layout, const AttentionScope& scope,
                              std::int64_t pairing, const Tables& tables) {
        RECORD_USER_SCOPE("attention");
        const at::Tensor qkv = given.contiguous(), beta = bias.contiguous();
        const std::int64_t B = qkv.size(0), T = qkv.size(1);
        const at::Tensor out = at::empty({B, T, layout.queryWidth()}, qkv.options());
        const at::Tensor log_sum_exps = at::empty({B, layout.heads, T}, qkv.options().dtype(at::kFloat));
        context->saved_data["layout"] = std::vector<std::int64_t>{layout.heads, layout.kv_heads,
                                                                  layout.head_dim, layout.shared_kv ? 1 : 0};
        context->saved_data["causal"] = scope.causal;
        context->saved_data["window"] = scope.window;
        context->saved_data["pairing"] = pairing;
        tensor_list saved = {qkv, out, log_sum_exps, beta, sinks};
        for (const CosSin& table : tables)
            saved.insert(saved.end(), {table.cosine, table.sine});
        context->save_for_backward(saved);
        const AttentionArguments setup = setupOf(context, qkv, beta, sinks, tables);
        dispatchType(qkv, [&](auto number) {
            const auto* const from = typedData<decltype(number)>(qkv);
            auto* const to = typedData<decltype(number)>(out);
            float* const sums = typedData<float>(log_sum_exps);
            forEachItem<AttentionScratch>(setup.items(), [&](std::size_t item, AttentionScratch& scratch) {
                attendForward(setup, from, to, sums, item, scratch);
            });
        });
        return out;
    }

    static tensor_list backward(AutogradContext* context, tensor_list gradients) {
        const tensor_list saved = context->get_saved_variables();
        const at::Tensor &qkv = saved[0], &out = saved[1], &log_sum_exps = saved[2], &beta = saved[3],
                         &sinks = saved[4];
        const Tables tables = {
            {{saved[5], saved[6]}, {saved[7], saved[8]}, {saved[9], saved[10]}, {saved[11], saved[12]}}};
        const AttentionArguments setup = setupOf(context, qkv, beta, sinks, tables);
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
            forEachItem<AttentionScratch>(setup.items(), [&](std::size_t item, AttentionScratch& scratch) {
                attendBackward(setup, from, output, sums, given, to, bias_data, item, scratch);
            });
        });
        at::Tensor grad_sinks;
        if (sinks.numel() > 0 && context->needs_input_grad(2))
            grad_sinks = gradientOfSinks(sinks, out, log_sum_exps, grad_out);
        return {grad_qkv, grad_bias.defined() ? grad_bias.sum(0) : grad_bias, grad_sinks, {}, {}, {}, {}};
    }

  private:
    /// −Σ p ∂L/∂o · o with the sink's weight p of each query, since the sink's value is 0.
    static at::Tensor gradientOfSinks(const at::Tensor& sinks, const at::Tensor& out,
                                      const at::Tensor& log_sum_exps, const at::Tensor& grad_out) {
        const std::int64_t H = sinks.numel();
        const at::Tensor weight = at::exp2(sinks.view({1, H, 1}) * std::numbers::log2e - log_sum_exps);
        const at::Tensor products = (grad_out.to(at::kFloat) * out.to(at::kFloat)).unflatten(2, {H, -1});
        return -(weight * products.sum(-1).transpose(1, 2)).sum(at::IntArrayRef{0, 2});
    }

    static AttentionArguments setupOf(AutogradContext* context, const at::Tensor& qkv, const at::Tensor& bias,
                                      const at::Tensor& sinks, const Tables& tables) {
        const std::vector<std::int64_t> layout = context->saved_data["layout"].toIntVector();
        AttentionArguments setup;
        setup.B = sizeOf(qkv.size(0));
        setup.T = sizeOf(qkv.size(1));
        setHeads({layout[0], layout[1], layout[2], layout[3] != 0}, setup);
        setup.causal = context->saved_data["causal"].toBool();
        setup.window = sizeOf(context->saved_data["window"].toInt());
        setup.pairing = static_cast<Pairing>(context->saved_data["pairing"].toInt());
        setTables(tables, setup);
        setup.bias = floatData(bias);
        setup.sinks = floatData(sinks);
        return setup;
    }
};

template <class Number>
CachedLayer<Number> layerOf(const at::Tensor& keys, const at::Tensor& values, std::int64_t capacity) {
    return {typedData<Number>(keys), typedData<Number>(values), sizeOf(capacity)};
}

}  // namespace

at::Tensor fusedAttention(const at::Tensor& qkv, const HeadLayout& layout, const AttentionScope& scope,
                          Pairing pairing, const PassPositions& pass, std::size_t layer,
                          const at::Tensor& sinks) {
    TORCH_CHECK(qkv.dim() == 3 && qkv.size(2) == layout.jointWidth() && qkv.is_cpu(),
                "fusedAttention: no q, k and v of ", layout.heads, " and ", layout.kv_heads, " heads in ",
                qkv.sizes());
    const Tables tables = tablesOf(pass, layer);
    const std::int64_t T = qkv.size(1);
    for (const CosSin& cos_sin : tables)
        for (const at::Tensor& table : {cos_sin.cosine, cos_sin.sine})
            TORCH_CHECK(table.dim() == 2 && table.size(0) == T && 2 * table.size(1) <= layout.head_dim &&
                            table.sizes() == cos_sin.cosine.sizes() && table.is_contiguous() &&
                            table.scalar_type() == at::kFloat && !table.requires_grad(),
                        "fusedAttention: a table of ", table.sizes(), " for ", qkv.sizes());
    TORCH_CHECK(!pass.distance_bias.defined() ||
                    pass.distance_bias.sizes() == at::IntArrayRef({layout.heads, 2 * T - 1}),
                "fusedAttention: a bias must be [heads, 2T - 1] = [", layout.heads, ", ", 2 * T - 1,
                "], not ", pass.distance_bias.sizes());
    TORCH_CHECK(scope.causal || scope.window == 0, "fusedAttention: a window in both directions");
    TORCH_CHECK(!sinks.defined() || (sinks.sizes() == at::IntArrayRef({layout.heads}) &&
                                     sinks.scalar_type() == at::kFloat && sinks.is_contiguous()),
                "fusedAttention: sinks of ", sinks.sizes());
    // Autograd functions accept no undefined tensors.
    const auto orEmpty = [](const at::Tensor& x) { return x.defined() ? x : at::empty({0}, at::kFloat); };
    return FusedAttentionFunction::apply(qkv, orEmpty(pass.distance_bias), orEmpty(sinks), layout, scope,
                                         static_cast<std::int64_t>(pairing), tables);
}

void KernelKeyValueCache::append(const at::Tensor& given, const PassPositions& pass) {
    const at::Tensor qkv = given.contiguous();
    const std::int64_t B = qkv.size(0), T = qkv.size(1);
    TORCH_CHECK(T <= capacity_ && qkv.size(2) == layout_.jointWidth(), "KernelKeyValueCache: no room for ",
                qkv.sizes());
    const std::size_t layer = keys_.size();
    const auto elements =
        static_cast<std::int64_t>(cachedElements(sizeOf(layout_.head_dim), sizeOf(capacity_)));
    for (auto* layers : {&keys_, &values_})
        layers->push_back(at::zeros({B, layout_.kv_heads, elements}, qkv.options()));
    slots_ = at::arange(B, at::kLong);
    AttentionArguments setup;
    setup.B = sizeOf(B);
    setup.T = sizeOf(T);
    setHeads(layout_, setup);
    setup.pairing = pairing_;
    setTables(tablesOf(pass, layer), setup);
    dispatchType(qkv, [&](auto number) {
        const auto* const from = typedData<decltype(number)>(qkv);
        const auto to = layerOf<decltype(number)>(keys_[layer], values_[layer], capacity_);
        forEachItem<AttentionScratch>(setup.items(), [&](std::size_t item, AttentionScratch& scratch) {
            cachePrompt(setup, from, to, item, scratch);
        });
    });
}

at::Tensor KernelKeyValueCache::attend(std::size_t layer, const at::Tensor& given,
                                       const at::Tensor& positions, const PassPositions& pass,
                                       const at::Tensor& sinks) {
    const at::Tensor qkv = given.contiguous(),
                     bias = pass.bias.defined() ? pass.bias.contiguous() : at::Tensor();
    TORCH_CHECK(positions.size(0) == slots_.size(0) && qkv.size(0) >= slots_.size(0) && qkv.size(1) == 1,
                "KernelKeyValueCache: ", positions.size(0), " positions and ", qkv.sizes(), " for ",
                slots_.size(0), " sequences");
    const at::Tensor out = at::zeros({qkv.size(0), 1, layout_.queryWidth()}, qkv.options());
    DecodingArguments setup;
    setup.B = sizeOf(slots_.size(0));
    setHeads(layout_, setup);
    setup.pairing = pairing_;
    setTables(tablesOf(pass, layer), setup);
    setup.positions = positions.const_data_ptr<std::int64_t>();
    setup.slots = slots_.const_data_ptr<std::int64_t>();
    setup.bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
    setup.bias_keys = bias.defined() ? sizeOf(bias.size(3)) : 0;
    setup.sinks = sinks.defined() ? sinks.const_data_ptr<float>() : nullptr;
    setup.window = sizeOf(window_);
    dispatchType(qkv, [&](auto number) {
        const auto* const from = typedData<decltype(number)>(qkv);
        auto* const to = typedData<decltype(number)>(out);
        const auto cache = layerOf<decltype(number)>(keys_[layer], values_[layer], capacity_);
        forEachItem<AttentionScratch>(setup.B * setup.K, [&](std::size_t item, AttentionScratch& scratch) {
            attendToCache(setup, from, cache, to, item, scratch);
        });
    });
    return out;
}

}  // namespace roper
