#include "core/base/text.h"
#include "core/pretrained/families/families.h"
#include "core/pretrained/gguf_entries.h"

// Encoders: every token attends to both sides, and masked tokens are predicted.

namespace roper::family {
namespace {

/// What BERT and its descendants have in common.
void describeBert(Architecture& model) {
    model.norm = NormKind::layer;
    model.causal = false;
    model.predicts_masked = true;
    model.gated = false;
    model.activation = Activation::gelu;
    model.norms_embeddings = true;
    model.head_activation = Activation::gelu;
}

/// BERT's descendants normalize after each addition, and add an embedding of the segment.
void describePostNormBert(Architecture& model) {
    describeBert(model);
    model.post_norm = true;
    model.token_types = 2;
}

/// Names the tensors of BERT's layers; those of norms differ from family to family.
void nameBertLayers(Family& family) {
    family.names.query = "attention.self.query";
    family.names.key = "attention.self.key";
    family.names.value = "attention.self.value";
    family.names.output = "attention.output.dense";
    family.names.up = "intermediate.dense";
    family.names.down = "output.dense";
}

/// Names the tensors of BERT's head, which predicts masked tokens.
void nameBertHead(Family& family, const char* norm) {
    family.names.head = "cls.predictions.decoder";
    family.encoder_names.head_dense = "cls.predictions.transform.dense";
    family.encoder_names.head_norm = norm;
    family.encoder_names.head_bias = "cls.predictions.bias";
}

}  // namespace

Family modernbert() {
    Family family;
    family.model_type = "modernbert";
    family.gguf = "modern-bert";
    family.describe = [](Architecture& model) {
        describeBert(model);
        model.gated = true;
        model.norms_first_layer = false;
    };
    family.names.embedding = "model.embeddings.tok_embeddings";
    family.names.final_norm = "model.final_norm";
    family.names.head = "decoder";
    family.names.layer = "model.layers.{}.";
    family.names.attention_norm = "attn_norm";
    family.names.query_key_value = "attn.Wqkv";
    family.names.output = "attn.Wo";
    family.names.feed_forward_norm = "mlp_norm";
    family.names.gate_up = "mlp.Wi";
    family.names.down = "mlp.Wo";
    family.names.embedding_norm = "model.embeddings.norm";
    family.encoder_names = {.head_dense = "head.dense", .head_norm = "head.norm"};
    ConfigRules& rules = family.config_rules;
    rules.context = 8192;
    rules.activation_key = "hidden_activation";
    rules.tied = true;
    rules.norm_epsilon = 1e-5;
    rules.norm_epsilon_key = "norm_eps";
    rules.windowed = WindowedLayers::all_but_every_nth_from_first;
    rules.window = 128;
    rules.window_key = "local_attention";
    rules.biases = {{never, never, never, never, never},
                    {"attention_bias"},
                    {"attention_bias"},
                    {"mlp_bias"},
                    {"decoder_bias", true},
                    {"classifier_bias"}};
    rules.encoder = {.norm_bias_flag = "norm_bias", .head_activation_key = "classifier_activation"};
    rules.ignored = {"classifier_pooling",        "deterministic_flash_attn", "gradient_checkpointing",
                     "initializer_cutoff_factor", "position_embedding_type",  "reference_compile",
                     "repad_logits_with_grad",    "sparse_pred_ignore_index", "sparse_prediction"};
    GgufRules& gguf = family.gguf_rules;
    gguf.gate_and_up_fused = true;
    gguf.window_pattern = 3;
    gguf.unread_tensor_prefixes = {"cls."};  // of rerankers
    gguf.read = [](const GgufEntries& entries, Architecture& model) {
        model.norm_biases = false;
        constexpr const char* kActivation = "hidden_activation";
        const std::string name = entries.text(kActivation);
        if (name == "silu")
            model.activation = Activation::silu;
        else if (!name.empty() && name != "gelu")
            entries.refuse(kActivation, "is " + quoteExcerpt(name) + "; only gelu and silu are supported");
    };
    return family;
}

Family eurobert() {
    Family family = llamaLike("eurobert", "eurobert");
    family.describe = [](Architecture& model) {
        model.causal = false;
        model.predicts_masked = true;
    };
    ConfigRules& rules = family.config_rules;
    rules.context = 8192;
    rules.norm_epsilon = 1e-5;
    rules.biases.query_key_value = rules.biases.output = {"attention_bias"};
    rules.biases.feed_forward = rules.biases.head = {"mlp_bias"};
    rules.ignored = {"clf_pooling", "classifier_pooling"};
    return family;
}

/// RoFormer (Su et al., 2021, arXiv:2104.09864).
Family roformer() {
    Family family;
    family.model_type = "roformer";
    family.describe = describePostNormBert;
    nameBertLayers(family);
    nameBertHead(family, "cls.predictions.transform.LayerNorm");
    family.names.embedding = "roformer.embeddings.word_embeddings";
    family.names.layer = "roformer.encoder.layer.{}.";
    family.names.attention_norm = "attention.output.LayerNorm";
    family.names.feed_forward_norm = "output.LayerNorm";
    family.names.embedding_norm = "roformer.embeddings.LayerNorm";
    family.encoder_names.token_types = "roformer.embeddings.token_type_embeddings";
    family.encoder_names.sinusoids = "roformer.encoder.embed_positions.weight";
    ConfigRules& rules = family.config_rules;
    rules.context = 1536;
    rules.tied = true;
    rules.norm_epsilon = 1e-12;
    rules.norm_epsilon_key = "layer_norm_eps";
    rules.biases.plain = {always, always, always, always, always};
    rules.encoder = {.head_activation_key = "hidden_act",
                     .token_types_key = "type_vocab_size",
                     .embedding_width_key = "embedding_size",
                     .refused_flags = {"is_decoder", "add_cross_attention"}};
    rules.ignored = {"directionality",       "pooler_fc_size",       "pooler_num_attention_heads",
                     "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"};
    return family;
}

/// ESM-2 (Lin et al., 2023), a language model of proteins.
Family esm() {
    Family family;
    family.model_type = "esm";
    family.describe = [](Architecture& model) {
        describeBert(model);
        model.norms_embeddings = false;
        model.mask_dropout = 0.15 * 0.8;
    };
    nameBertLayers(family);
    family.names.embedding = "esm.embeddings.word_embeddings";
    family.names.final_norm = "esm.encoder.emb_layer_norm_after";
    family.names.head = "lm_head.decoder";
    family.names.layer = "esm.encoder.layer.{}.";
    family.names.attention_norm = "attention.LayerNorm";
    family.names.feed_forward_norm = "LayerNorm";
    family.names.embedding_norm = "esm.embeddings.layer_norm";
    family.encoder_names = {.head_dense = "lm_head.dense",
                            .head_norm = "lm_head.layer_norm",
                            .head_bias = "lm_head.bias",
                            .frequencies = "rotary_embeddings.inv_freq"};
    family.other_output_name_parts = {"contact_head.", "pooler.", "embeddings.position_embeddings."};
    ConfigRules& rules = family.config_rules;
    rules.context = 1026;
    rules.activation_key = nullptr;
    rules.tied = true;
    rules.norm_epsilon = 1e-12;
    rules.norm_epsilon_key = "layer_norm_eps";
    rules.biases.plain = {always, always, always, always, always};
    rules.encoder = {.embedding_norm_flag = "emb_layer_norm_before",
                     .mask_dropout_flag = "token_dropout",
                     .required_key = "position_embedding_type",
                     .required_text = "rotary",
                     .refused_flags = {"is_decoder", "add_cross_attention", "is_folding_model"}};
    rules.ignored = {"esmfold_config", "vocab_list"};
    return family;
}

/// nomic-embed-text (Nussbaum et al., 2024, arXiv:2402.01613).
Family nomic_bert() {
    Family family;
    family.model_type = "nomic_bert";
    family.gguf = "nomic-bert";
    family.describe = [](Architecture& model) {
        describePostNormBert(model);
        model.gated = true;
        model.activation = Activation::silu;
        model.head_activation = Activation::silu;
    };
    nameBertHead(family, "cls.predictions.transform.layer_norm");
    family.names.embedding = "nomic_bert.embeddings.word_embeddings";
    family.names.layer = "nomic_bert.encoder.layers.{}.";
    family.names.attention_norm = "norm1";
    family.names.query_key_value = "attn.Wqkv";
    family.names.output = "attn.out_proj";
    family.names.feed_forward_norm = "norm2";
    family.names.gate = "mlp.fc12";
    family.names.up = "mlp.fc11";
    family.names.down = "mlp.fc2";
    family.names.embedding_norm = "nomic_bert.emb_ln";
    family.encoder_names.token_types = "nomic_bert.embeddings.token_type_embeddings";
    ConfigRules& rules = family.config_rules;
    rules.tied = true;
    rules.norm_epsilon = 1e-12;
    rules.norm_epsilon_key = "layer_norm_eps";
    rules.biases.plain = {never, never, never, always, always};
    rules.encoder = {.head_activation_key = "hidden_act", .token_types_key = "type_vocab_size"};
    GgufRules& gguf = family.gguf_rules;
    gguf.attention_norm = "attn_output_norm";
    gguf.feed_forward_norm = "layer_output_norm";
    gguf.read = [](const GgufEntries& entries, Architecture& model) {
        constexpr std::int64_t kMaxTypes = 1 << 16;
        if (const auto types = entries.metadata().integer("tokenizer.ggml.token_type_count", 1, kMaxTypes))
            model.token_types = *types;
    };
    return family;
}

}  // namespace roper::family
