#include "core/pretrained/gguf_entries.h"

#include <algorithm>
#include <string_view>

#include "core/base/text.h"

namespace roper {
namespace {

enum class KeyUse {
    conditional,  ///< supported, but read only if other entries call for it
    harmless,     ///< does not affect the computation here
    neutral,      ///< not supported; accepted if its value has no effect
    like,         ///< not supported; accepted if it agrees with another key
};

/// How this program treats one key of an architecture.
struct GgufKey {
    std::string_view name;           ///< without the architecture; an asterisk matches any characters
    std::string_view architectures;  ///< to which the row applies, each between blanks; empty: all
    KeyUse use;
    /// Why the key is harmless, what it would change, or the key with which it must agree.
    std::string_view why = {};
    std::vector<double> neutral = {};  ///< accepted values; a flag is 0 or 1
};

constexpr std::string_view kExperts = "this model's feed-forward layers would be mixtures of experts",
                           kRecurrent = "some of this model's layers would be recurrent",
                           kLatent = "keys and values would come from a latent vector",
                           kImages = "it belongs to the image encoder, which text does not pass",
                           kPredictionHead =
                               "a part that reads the last residuals, which are shown as they are",
                           kLogits = "logits would be multiplied by it",
                           kOther = "it belongs to other families",
                           kScores = "scores would be multiplied by it",
                           kNormed = "this family has the other kind of norm";

/// Keys that may be left unread. The first row that matches a key and its architecture counts.
const std::vector<GgufKey>& knownKeys() {
    using enum KeyUse;
    static const std::vector<GgufKey> keys = {
        {"vocab_size", "", conditional},
        {"use_parallel_residual", "", neutral, "attention and feed-forward would be parallel", {0}},
        {"attention.sliding_window_pattern", "", conditional},
        {"attention.layer_norm_rms_epsilon", "", harmless, kNormed},
        {"attention.layer_norm_epsilon", "", harmless, kNormed},
        {"attn_logit_softcapping", " gemma3 gemma3n gemma4 ", harmless,
         "Gemma 3 normalizes queries and keys instead of capping scores"},
        {"attn_logit_softcapping", "", neutral, "scores would be capped", {0}},
        {"final_logit_softcapping", "", neutral, "logits would be capped", {0}},

        // GPT-2 has a table of positions and reads no rope entry.
        {"rope.*", " gpt2 ", harmless, "GPT-2 has a table of positions and rotates nothing"},
        {"rope.scale_linear", "", conditional},
        {"rope.scaling.attn_factor", "", conditional},
        {"rope.scaling.original_context_length", "", conditional},
        {"rope.scaling.yarn_beta_fast", "", conditional},
        {"rope.scaling.yarn_beta_slow", "", conditional},
        {"rope.scaling.yarn_ext_factor", "", conditional},
        {"rope.scaling.yarn_attn_factor", "", conditional},
        {"rope.scaling.finetuned", "", harmless,
         "says whether the model was trained with its scaling, not what is computed"},
        {"rope.scaling.yarn_log_multiplier", "", neutral, "YaRN's attention factor would be different", {0}},
        {"rope.scaling.alpha", "", neutral, "the base would grow with it", {0, 1}},
        {"rope.dimension_count_swa", "", like, "rope.dimension_count"},
        {"rope.dimension_sections", " qwen35 qwen35moe qwen2vl qwen3vl qwen3vlmoe ", harmless,
         "for a token of text, the positions in all sections are equal"},
        {"rope.dimension_sections", "", neutral, "pairs would rotate by several positions", {0}},

        {"attention.key_length_swa", "", like, "attention.key_length"},
        {"attention.value_length_swa", "", like, "attention.value_length"},
        {"attention.scale", "", neutral, kScores, {0}},
        {"attention.output_scale", "", neutral, "attention's output would be multiplied by it", {0, 1}},
        {"attention.temperature_length", "", neutral, "scores would grow with the position", {0}},
        {"attention.temperature_scale", "", neutral, "scores would grow with the position", {0}},
        {"attention.clamp_kqv", "", neutral, "queries, keys and values would be clamped", {0}},
        {"attention.max_alibi_bias", "", neutral, "scores would have a bias by distance", {0}},
        {"attention.shared_kv_layers", "", neutral, "layers would share keys and values", {0}},
        {"attention.*_lora_rank", "", neutral, kLatent, {0}},
        {"attention.group_norm_groups", "", neutral, kOther, {0}},
        {"attention.relative_buckets_count", "", neutral, "scores would have a bias by distance", {0}},
        {"attention.recurrent_layers", "", neutral, kRecurrent, {0}},

        {"logit_scale", "", neutral, kLogits, {0, 1}},
        {"embedding_scale", "", neutral, "embeddings would be multiplied by it", {0, 1}},
        {"residual_scale", "", neutral, "the outputs of blocks would be multiplied by it", {0, 1}},
        {"embedding_length_out", "", like, "embedding_length"},
        {"embedding_length_per_layer_input", "", neutral, "layers would have their own embeddings", {0}},
        {"expert_shared_feed_forward_length", " exaone-moe ", harmless,
         "it follows from expert_shared_count, which is read"},
        {"expert_shared_feed_forward_length", " ernie4_5-moe ", harmless,
         "its converter does not derive it from the shared experts; expert_shared_count is read"},
        {"expert_shared_count", " hunyuan-moe ", neutral, kExperts, {0, 1}},
        {"expert_feed_forward_length", " deepseek2 llama4 ", harmless,
         "Youtu's and MobileLLM's files have it without experts"},
        {"leading_dense_block_count", " deepseek2 ", harmless,
         "without experts, all layers of Youtu are dense"},
        {"expert_weights_scale", "", neutral, kExperts, {0, 1}},
        {"expert_*", "", neutral, kExperts, {0}},
        {"leading_dense_block_count", "", neutral, kExperts, {0}},
        {"interleave_moe_layer_step", "", neutral, kExperts, {0}},
        {"moe_every_n_layers", "", neutral, kExperts, {0}},
        {"router_logit_softcapping", "", neutral, kExperts, {0}},
        {"nextn_predict_layers", "", neutral, "blocks would predict several tokens", {0}},
        {"full_attention_interval", "", neutral, kRecurrent, {0, 1}},
        {"ssm.*", "", neutral, kRecurrent, {0}},
        {"swin_norm", "", neutral, "norms would follow the residual sums", {0}},
        {"n_deepstack_layers", " qwen3vl qwen3vlmoe ", harmless, kImages},
        {"n_deepstack_layers", "", neutral, "images would enter several layers", {0}},

        {"tensor_data_layout", " falcon llama ", harmless,
         "every converter orders queries and keys of this architecture in the same way"},
        {"pooling_type", "", harmless,
         "says how an embedding is made from the last residuals, which are shown as they are"},
        {"classifier.*", "", harmless, kPredictionHead},
        {"dense_2_feat_in", "", harmless, kPredictionHead},
        {"dense_2_feat_out", "", harmless, kPredictionHead},
        {"dense_3_feat_in", "", harmless, kPredictionHead},
        {"dense_3_feat_out", "", harmless, kPredictionHead},
        {"vision.*", "", harmless, kImages},
        {"mm.*", "", harmless, kImages},
    };
    return keys;
}

constexpr std::string_view kTokenizer = "tokenizer.ggml.";

/// The same for keys of tokenizers, without the prefix `kTokenizer`.
const std::vector<GgufKey>& knownTokenizerKeys() {
    using enum KeyUse;
    static const std::vector<GgufKey> keys = {
        {"model", "", conditional},
        {"pre", "", conditional},
        {"tokens", "", conditional},
        {"token_type", "", conditional},
        {"scores", "", conditional},
        {"merges", "", conditional},
        {"add_bos_token", "", conditional},
        {"add_eos_token", "", conditional},
        {"add_sep_token", "", conditional},
        {"add_space_prefix", "", conditional},
        {"remove_extra_whitespaces", "", conditional},
        {"escape_whitespaces", "", conditional},
        {"treat_whitespace_as_suffix", "", conditional},
        {"precompiled_charsmap", "", conditional},
        {"normalizer.*", "", conditional},
        {"*_token_id", "", harmless, "names a token; those around a text are read"},
        {"*_token_ids", "", harmless, "names tokens that end a text"},
        {"add_padding_token", "", harmless, "texts are not padded"},
        {"add_unknown_token", "", harmless, "texts have no such token around them"},
        {"suppress_tokens", "", harmless, "is for llama.cpp's sampling"},
        {"token_type_count", "", harmless, "counts the segments of encoders; all tokens belong to the first"},
    };
    return keys;
}

/// Prefixes of keys without an architecture, which do not affect the computation.
constexpr std::string_view kBeside[] = {
    "general.",    // names, licenses, types, versions; general.alignment is read with the tensors
    "tokenizer.",  // chat templates, and tokenizers of other programs
    "split.",      // read with the parts
    "quantize.",   // options of llama-quantize
    "xielu.",      // read by the family that has this activation
    "imatrix.",    // calibration texts of the importance matrix
};

bool matchesRow(const GgufKey& row, std::string_view name, const std::string& architecture) {
    if (!row.architectures.empty() &&
        row.architectures.find(" " + architecture + " ") == std::string_view::npos)
        return false;
    const std::size_t star = row.name.find('*');
    if (star == std::string_view::npos) return name == row.name;
    const std::string_view before = row.name.substr(0, star), after = row.name.substr(star + 1);
    return name.size() >= before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

const GgufKey* rowFor(const std::vector<GgufKey>& keys, std::string_view name,
                      const std::string& architecture) {
    for (const GgufKey& row : keys)
        if (matchesRow(row, name, architecture)) return &row;
    return nullptr;
}

std::string shownValue(const GgufMetadata::Value& value) {
    return std::visit(
        [](const auto& given) -> std::string {
            using Given = std::decay_t<decltype(given)>;
            if constexpr (std::is_same_v<Given, bool>)
                return given ? "true" : "false";
            else if constexpr (std::is_same_v<Given, std::int64_t>)
                return std::to_string(given);
            else if constexpr (std::is_same_v<Given, double>)
                return formatNumber(given);
            else if constexpr (std::is_same_v<Given, std::string>)
                return quoteExcerpt(given);
            else
                return "a list of " + std::to_string(given.size());
        },
        value);
}

/// Whether every number of the value is one of these.
bool containsOnly(const GgufMetadata::Value& value, const std::vector<double>& numbers) {
    const auto is_one = [&](auto number) { return hasElement(numbers, static_cast<double>(number)); };
    return std::visit(
        [&](const auto& given) {
            using Given = std::decay_t<decltype(given)>;
            if constexpr (std::is_arithmetic_v<Given>)
                return is_one(given);
            else if constexpr (std::is_same_v<Given, std::string> ||
                               std::is_same_v<Given, std::vector<std::string>>)
                return false;
            else
                return std::all_of(given.begin(), given.end(), is_one);
        },
        value);
}

/// The value of a key; if the file lacks it, the width of a head by llama.cpp's rule.
GgufMetadata::Value valueOfKey(const GgufEntries& entries, std::string_view name) {
    const auto& all = entries.metadata().entries();
    if (const auto found = all.find(entries.key(std::string(name))); found != all.end()) return found->second;
    if (name == "rope.dimension_count") return valueOfKey(entries, "attention.key_length");
    return entries.required("embedding_length", INT64_MAX) /
           entries.required("attention.head_count", INT64_MAX);
}

void checkKey(const GgufEntries& entries, const std::string& key, const GgufMetadata::Value& value) {
    const std::string name = key.substr(entries.architecture().size() + 1);
    if (entries.wasRead(name)) return;
    const GgufKey* const row = rowFor(knownKeys(), name, entries.architecture());
    const auto refuse = [&](const std::string& why) { entries.metadata().refuse(key, why); };
    if (row == nullptr)
        refuse("is unknown and may change what the model computes; its value is " + shownValue(value));
    if (row->use == KeyUse::neutral && !containsOnly(value, row->neutral))
        refuse("is " + shownValue(value) + ": " + std::string(row->why) + ", which is not supported");
    if (row->use == KeyUse::like && value != valueOfKey(entries, row->why))
        refuse("is " + shownValue(value) + " and differs from " + entries.key(std::string(row->why)) +
               ", which is not supported");
}

}  // namespace

std::vector<std::string> checkKeys(const GgufEntries& entries) {
    std::vector<std::string> notes;
    const std::string prefix = entries.architecture() + ".";
    for (const auto& [key, value] : entries.metadata().entries()) {
        if (key.starts_with(prefix)) {
            checkKey(entries, key, value);
            continue;
        }
        if (key.starts_with(kTokenizer) &&
            rowFor(knownTokenizerKeys(), std::string_view(key).substr(kTokenizer.size()),
                   entries.architecture()) == nullptr)
            entries.metadata().refuse(
                key, "is unknown and may change a text's tokens; its value is " + shownValue(value));
        if (std::none_of(std::begin(kBeside), std::end(kBeside),
                         [&key = key](std::string_view beside) { return key.starts_with(beside); }))
            notes.push_back("the entry " + toSingleLine(key) + " does not belong to the architecture " +
                            toSingleLine(entries.architecture()) + " and was not read");
    }
    return notes;
}

}  // namespace roper
