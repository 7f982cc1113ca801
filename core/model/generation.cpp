#include "core/model/generation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <stdexcept>

namespace roper {

at::Tensor encodePadded(const Vocabulary& vocabulary, const std::vector<std::string>& texts) {
    std::size_t longest = 0;
    for (const std::string& text : texts)
        longest = std::max(longest, text.size());
    at::Tensor tokens =
        at::zeros({static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(longest)}, at::kLong);
    auto rows = tokens.accessor<std::int64_t, 2>();
    for (std::size_t b = 0; b < texts.size(); ++b) {
        const std::vector<std::int64_t> encoded = vocabulary.encode(texts[b]);
        for (std::size_t t = 0; t < encoded.size(); ++t)
            rows[static_cast<std::int64_t>(b)][static_cast<std::int64_t>(t)] = encoded[t];
    }
    return tokens;
}

std::vector<std::string> completeGreedily(Transformer& model, const Vocabulary& vocabulary,
                                          const std::vector<std::string>& prompts, int longest,
                                          const std::function<bool(std::string_view)>& is_complete) {
    const at::NoGradGuard no_gradients;
    std::vector<std::string> written(prompts.size());
    if (prompts.empty() || longest <= 0) return written;
    const at::Device device = model.parameters().front().second.device();
    const at::Tensor prompt_tokens = encodePadded(vocabulary, prompts);
    at::Tensor last =
        at::empty({prompt_tokens.size(0)}, at::kLong);  // position of each sequence's last token
    for (std::size_t b = 0; b < prompts.size(); ++b) {
        if (prompts[b].empty()) throw std::invalid_argument("a prompt must have at least one character");
        last[static_cast<std::int64_t>(b)] = static_cast<std::int64_t>(prompts[b].size()) - 1;
    }
    last = last.to(device);

    KeyValueCache cache;
    const at::Tensor prompt_logits =
        model.prefill(prompt_tokens.to(device), prompt_tokens.size(1) + longest, cache);
    const at::Tensor index = last.view({-1, 1, 1}).expand({-1, 1, prompt_logits.size(2)});
    at::Tensor logits = prompt_logits.gather(1, index).squeeze(1);  // [B, V] after each prompt's last token

    std::vector<bool> complete(prompts.size(), false);
    for (int made = 0; made < longest; ++made) {
        const at::Tensor next = logits.argmax(-1);
        const at::Tensor on_cpu = next.cpu();
        const auto chosen = on_cpu.accessor<std::int64_t, 1>();
        bool all_complete = true;
        for (std::size_t b = 0; b < prompts.size(); ++b) {
            if (!complete[b]) {
                written[b] += vocabulary.decode(chosen[static_cast<std::int64_t>(b)]);
                complete[b] = is_complete(written[b]);
            }
            all_complete = all_complete && complete[b];
        }
        if (all_complete || made + 1 == longest) break;
        last = last + 1;
        logits = model.decode(next, last, cache);
    }
    return written;
}

}  // namespace roper
