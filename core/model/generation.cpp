#include "core/model/generation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/random.h"
#include "core/base/text.h"
#include "core/operators/sample_token.h"

namespace roper {

at::Tensor padRight(const std::vector<std::vector<std::int64_t>>& lists) {
    std::size_t longest = 0;
    for (const auto& list : lists)
        longest = std::max(longest, list.size());
    at::Tensor tokens =
        at::zeros({static_cast<std::int64_t>(lists.size()), static_cast<std::int64_t>(longest)}, at::kLong);
    for (std::size_t b = 0; b < lists.size(); ++b)
        std::copy(lists[b].begin(), lists[b].end(),
                  tokens[static_cast<std::int64_t>(b)].mutable_data_ptr<std::int64_t>());
    return tokens;
}

namespace {

std::vector<std::vector<std::int64_t>> encoded(const Vocabulary& vocabulary,
                                               const std::vector<std::string>& texts) {
    return mapped(texts, [&](const std::string& text) { return vocabulary.encode(text); });
}

}  // namespace

at::Tensor encodePadded(const Vocabulary& vocabulary, const std::vector<std::string>& texts) {
    return padRight(encoded(vocabulary, texts));
}

std::vector<Completion> generate(Transformer& model, const Vocabulary& vocabulary,
                                 const std::vector<std::string>& prompts, const GenerationOptions& options) {
    return generate(model, vocabulary, encoded(vocabulary, prompts), options);
}

std::vector<Completion> generate(Transformer& model, const Vocabulary& vocabulary,
                                 const std::vector<std::vector<std::int64_t>>& prompts,
                                 const GenerationOptions& options) {
    const at::NoGradGuard no_gradients;
    if (!model.causal()) throw std::invalid_argument("this is a masked language model; it cannot generate");
    std::vector<Completion> completions(prompts.size());
    if (prompts.empty() || options.max_tokens <= 0) return completions;
    const at::Device device = model.parameters().front().second.device();
    const at::Tensor prompt_tokens = padRight(prompts);
    at::Tensor last =
        at::empty({prompt_tokens.size(0)}, at::kLong);  // position of each sequence's last token
    std::vector<std::size_t> active;                    // the prompt that each row of the batch continues
    std::vector<Random> random;
    for (std::size_t b = 0; b < prompts.size(); ++b) {
        if (prompts[b].empty()) throw std::invalid_argument("a prompt must have at least one token");
        last[static_cast<std::int64_t>(b)] = static_cast<std::int64_t>(prompts[b].size()) - 1;
        active.push_back(b);
        random.emplace_back(options.seed, Stream::sampling, options.first_prompt + b);
    }
    last = last.to(device);

    Transformer::Decoding texts = model.startDecoding(prompt_tokens.size(1) + options.max_tokens);
    const at::Tensor prompt_logits = model.prefill(prompt_tokens.to(device), texts);
    const at::Tensor index = last.view({-1, 1, 1}).expand({-1, 1, prompt_logits.size(2)});
    at::Tensor logits = prompt_logits.gather(1, index).squeeze(1);  // [B, V] after each prompt's last token

    for (int made = 1;; ++made) {
        const at::Tensor on_cpu = logits.to(at::kCPU, at::kFloat);
        std::vector<std::int64_t> chosen, rows;
        std::vector<std::size_t> unfinished;
        for (std::size_t row = 0; row < active.size(); ++row) {
            const std::size_t b = active[row];
            const std::int64_t token =
                sampleToken(on_cpu[static_cast<std::int64_t>(row)], options.temperature, random[b]);
            completions[b].text += vocabulary.decode(token);
            completions[b].tokens.push_back(token);
            if (options.is_complete && options.is_complete(completions[b].text)) continue;
            chosen.push_back(token);
            rows.push_back(static_cast<std::int64_t>(row));
            unfinished.push_back(b);
        }
        if (unfinished.empty() || made == options.max_tokens) break;
        if (unfinished.size() < active.size()) {
            const at::Tensor kept = at::tensor(rows, at::kLong).to(device);
            texts.selectSequences(kept);
            last = last.index_select(0, kept);
            active = std::move(unfinished);
        }
        last = last + 1;
        logits = model.decode(at::tensor(chosen, at::kLong).to(device), last, texts);
    }
    return completions;
}

}  // namespace roper
