#include "core/reading/reading_memory.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/language_model/decoder.h"

namespace roper {

double minReadingBytes(const Architecture& model, std::int64_t tokens) {
    const std::int64_t of_queries = model.heads * model.head_dim,
                       of_keys = model.key_value_heads * model.head_dim + model.latent.rank;
    // Numbers per token that exist at once in attention (residuals before and after the norm; q, k and v, q
    // and k also rotated; weighted sums; scores and weights), in the feed-forward layers, and in the
    // computation of logits.
    const std::int64_t attending = (2 + model.altup.streams + model.hyper.streams) * model.width +
                                   model.layers * model.layer_embeddings.width + 3 * of_queries +
                                   3 * of_keys + 2 * model.heads * Decoder::kQueries;
    // In layers that do not attend: what is convolved, before and after, and the recurrence's vectors.
    const std::int64_t convolved =
        model.mixers.empty() ? 0
                             : 4 * std::max(3 * model.width, 2 * model.gated_delta.keysWidth() +
                                                                 2 * model.gated_delta.valuesWidth());
    const ExpertMixture& mixture = model.mixture;
    // In a mixture also the router's logits and scores, the sum, and an expert's input and output.
    const std::int64_t mixing = mixture.experts == 0
                                    ? 0
                                    : 6 * model.width + 2 * mixture.experts +
                                          std::max(3 * mixture.feed_forward, 2 * mixture.shared_feed_forward);
    const std::int64_t feeding = std::max(3 * model.width + 2 * model.feed_forward, mixing);
    // A dense layer in the LM head also has an input, an output, and a normalized output.
    const std::int64_t predicting = (model.head_activation ? 4 : 1) * model.width +
                                    std::min<std::int64_t>(Decoder::kLogits, model.vocabulary);
    return static_cast<double>(sizeof(float)) * static_cast<double>(tokens) *
           static_cast<double>(std::max({attending, convolved, feeding, predicting}));
}

double largestMatrixBytes(const Architecture& model) {
    const ExpertMixture& mixture = model.mixture;
    const bool is_dense =
        std::find(mixture.layers.begin(), mixture.layers.end(), false) != mixture.layers.end();
    const std::int64_t most_rows =
        std::max({model.query_rank > 0 ? 0 : model.heads * model.head_dim, model.query_rank,
                  model.output_groups * model.output_rank,
                  mixture.experts == 0 || is_dense || mixture.hasDenseBeside() ? model.feed_forward : 0,
                  mixture.feed_forward, mixture.shared_feed_forward, mixture.experts,
                  model.layers * model.layer_embeddings.width,
                  2 * model.gated_delta.keysWidth() + model.gated_delta.valuesWidth(),
                  model.mixers.empty() ? 0 : 3 * model.width,
                  std::min<std::int64_t>(Decoder::kLogits, model.vocabulary)});
    const std::int64_t of_queries = model.heads * model.head_dim * model.query_rank;
    return static_cast<double>(sizeof(float)) *
           static_cast<double>(std::max(most_rows * model.width, of_queries));
}

std::optional<std::string> modelMemoryProblem(const Architecture& model, double available_bytes) {
    const double bytes = largestMatrixBytes(model);
    if (bytes <= available_bytes) return std::nullopt;
    return "the largest matrix of this model alone takes " + formatBytes(bytes) + " of memory, and " +
           formatBytes(available_bytes) + " are free";
}

std::optional<std::string> readingMemoryProblem(const Architecture& model, std::int64_t tokens,
                                                double available_bytes) {
    const double bytes = minReadingBytes(model, tokens);
    if (bytes <= available_bytes) return std::nullopt;
    return "to read " + std::to_string(tokens) + " tokens this model takes at least " + formatBytes(bytes) +
           " of memory, and " + formatBytes(available_bytes) + " are free: shorten the text";
}

}  // namespace roper
