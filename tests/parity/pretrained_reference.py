"""Writes small random models of every family that is read into pretrained/dense.tar.xz, those with mixtures of experts into
pretrained/mixtures.tar.xz (--mixtures writes that alone), those with latent attention into pretrained/latent.tar.xz
(--latent), and encoders, with a tokenizer, into pretrained/encoders.tar.xz (--encoders), and those of FURTHER into
pretrained/further.tar.xz (--further), and models that also take images into pretrained/composites.tar.xz (--composites):
FAMILY/ as a Hugging Face folder, FAMILY.gguf, and FAMILY/expected.safetensors, the tokens, logits and attention that
transformers computes, and of an encoder -ln p of every token that is not special, each masked in turn. Writes -ln p of these
models under other settings, too: pretrained/gguf_entries.json with the entries of a GGUF file that ask for them (--entries
writes that alone) and pretrained/configs.json with the members of a config.json (--configs). Needs the Python packages torch
(2.11.0), transformers (5.24.0), safetensors and sentencepiece, and on PYTHONPATH the folders llama.cpp and llama.cpp/gguf-py
of llama-cpp-python's source package (0.3.36), whose `conversion` writes the GGUF files."""

import json
import math
import pathlib
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable

import conversion
import gguf
import torch
import transformers
from archive import pack
from as_made import as_made
from safetensors.torch import load_file, save_file
from transformers.models.mpt.configuration_mpt import MptAttentionConfig

HERE = pathlib.Path(__file__).parent / "pretrained"
ARCHIVE, MIXTURE_ARCHIVE, LATENT_ARCHIVE = HERE / "dense.tar.xz", HERE / "mixtures.tar.xz", HERE / "latent.tar.xz"
ENCODER_ARCHIVE = HERE / "encoders.tar.xz"
FURTHER_ARCHIVE, COMPOSITE_ARCHIVE = HERE / "further.tar.xz", HERE / "composites.tar.xz"
UNPACKED = pathlib.Path(tempfile.mkdtemp(prefix="small-models-"))
TOKENS = 24
SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "intermediate_size": 48, "max_position_embeddings": 128, "initializer_range": 0.3}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.75,
            "original_max_position_embeddings": 64, "short_factor": [1.0, 1.1, 1.2], "long_factor": [1.0, 2.0, 3.0]}
NO_SIZES = {name: None for name in SIZES if name not in ("vocab_size", "initializer_range")}
OF_GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
# Model type: members of its config in addition to SIZES, where None leaves one out and NULL is null, and storage type.
NULL = object()
DENSE = {
    "llama": ({"rope_parameters": LLAMA3}, torch.bfloat16),
    "mistral": ({"sliding_window": 7, "head_dim": 12}, torch.float16),
    "ministral": ({"sliding_window": 6, "head_dim": 12}, torch.float32),
    "ministral3": ({"head_dim": 12, "rope_parameters": {**YARN, "original_max_position_embeddings": 8, "mscale": 1.0,
                                                        "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}}, torch.float32),
    "qwen2": ({"rope_parameters": YARN, "tie_word_embeddings": True}, torch.bfloat16),
    "qwen3": ({"head_dim": 16}, torch.float32),
    "gemma": ({"head_dim": 16}, torch.bfloat16),
    "gemma2": ({"head_dim": 16, "sliding_window": 6, "query_pre_attn_scalar": 16}, torch.bfloat16),
    "gemma3_text": ({"head_dim": 16, "sliding_window": 6, "num_hidden_layers": 6, "query_pre_attn_scalar": 16}, torch.bfloat16),
    "phi": ({"num_key_value_heads": 4, "intermediate_size": 128, "partial_rotary_factor": 0.5}, torch.float32),
    "phi3": ({"rope_parameters": LONGROPE, "original_max_position_embeddings": 64, "tie_word_embeddings": True}, torch.bfloat16),
    "olmo": ({"clip_qkv": 1.5}, torch.float32),
    "olmo2": ({}, torch.float32),
    "olmo3": ({"num_hidden_layers": 4, "sliding_window": 6}, torch.float32),
    "granite": ({"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.3, "logits_scaling": 2.5,
                 "attention_bias": True, "mlp_bias": True}, torch.bfloat16),
    "smollm3": ({"num_hidden_layers": 4}, torch.float32),
    "exaone4": ({"num_hidden_layers": 4, "sliding_window": 6}, torch.float32),
    "cohere": ({"logit_scale": 0.25, "use_qk_norm": True}, torch.float32),
    "cohere2": ({"num_hidden_layers": 4, "sliding_window": 6}, torch.float32),
    "glm": ({"head_dim": 8, "rms_norm_eps": 1e-5}, torch.float32),
    "glm4": ({"head_dim": 8, "num_key_value_heads": 1}, torch.float32),
    "starcoder2": ({}, torch.float32),
    "nemotron": ({"head_dim": 8}, torch.float32),
    "stablelm": ({"use_qkv_bias": True, "use_parallel_residual": False}, torch.float32),
    "arcee": ({}, torch.float32),
    "ernie4_5": ({"use_bias": True, "head_dim": 8}, torch.float32),
    "helium": ({"head_dim": 8}, torch.float32),
    "internlm3": ({"attention_bias": True, "mlp_bias": True, "qkv_bias": True, "bias": True, "head_dim": 8}, torch.float32),
    "seed_oss": ({"head_dim": 12, "num_key_value_heads": 1}, torch.float32),
    "gpt_neox": ({"num_key_value_heads": None}, torch.bfloat16),
    "gpt2": ({**NO_SIZES, **OF_GPT}, torch.float32),
}
OF_OPT = {"model_type": "opt", "num_key_value_heads": None, "intermediate_size": None, "ffn_dim": 48, "init_std": 0.3,
          "max_position_embeddings": 64}
OF_MPT = {"clip_qkv": 1.5}
OF_FALCON = {"model_type": "falcon", "num_key_value_heads": None, "intermediate_size": None}
# Of five layers the last two use keys and values of others, one with a window and one without.
OF_GEMMA_3N = {"num_hidden_layers": 5, "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
                                                       "sliding_attention", "full_attention"],
               "head_dim": 12, "sliding_window": 6, "intermediate_size": [48, 48, 40, 48, 48], "num_kv_shared_layers": 2,
               "activation_sparsity_pattern": [0.9, 0.5, 0.0, 0.0, 0.0], "laurel_rank": 6, "hidden_size_per_layer_input": 10,
               "vocab_size_per_layer_input": 64}
OF_LFM = {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention"] * 2, "conv_L_cache": 4}
OF_SIX_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 12}
OF_DELTA = {"num_hidden_layers": 3, "layer_types": ["linear_attention", "full_attention", "linear_attention"], "head_dim": 8,
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6, "linear_value_head_dim": 7,
            "linear_conv_kernel_dim": 3}
OF_GEMMA_4 = {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2, "head_dim": 12,
              "global_head_dim": 16, "sliding_window": 6, "num_kv_shared_layers": 2, "use_double_wide_mlp": True,
              "hidden_size_per_layer_input": 10, "vocab_size_per_layer_input": 64, "final_logit_softcapping": 20.0}
# The same of families that are written to an archive of their own, and variants of a family with other tensors.
FURTHER = {
    "gptj": ({**NO_SIZES, **OF_GPT, "rotary_dim": 6}, torch.bfloat16),
    "codegen": ({**NO_SIZES, **OF_GPT, "n_head": 8, "n_inner": 48, "rotary_dim": 4}, torch.bfloat16),
    "opt": (OF_OPT, torch.bfloat16),
    "opt_350m": ({**OF_OPT, "do_layer_norm_before": False, "word_embed_proj_dim": 20, "tie_word_embeddings": False},
                 torch.bfloat16),
    "bloom": ({**NO_SIZES, "n_layer": 2, "n_head": 6, "hidden_size": 36}, torch.bfloat16),
    "mpt": ({**NO_SIZES, "d_model": 32, "n_heads": 4, "n_layers": 2, "attn_config": OF_MPT}, torch.bfloat16),
    "stablelm_12b": ({"model_type": "stablelm", "qk_layernorm": True, "use_parallel_residual": True}, torch.bfloat16),
    "apertus": ({"rope_parameters": LLAMA3}, torch.float32),
    "bitnet": ({}, torch.bfloat16),
    "falcon": ({**OF_FALCON, "num_kv_heads": 2, "new_decoder_architecture": True}, torch.bfloat16),
    "falcon_7b": ({**OF_FALCON, "ffn_hidden_size": 48}, torch.bfloat16),
    "falcon_rw": ({**OF_FALCON, "ffn_hidden_size": 48, "num_attention_heads": 6, "hidden_size": 36, "alibi": True,
                   "multi_query": False, "parallel_attn": False, "bias": True}, torch.bfloat16),
    "lfm2": ({**OF_LFM, "block_multiple_of": 8}, torch.bfloat16),
    "lfm2_biased": ({**OF_LFM, "model_type": "lfm2", "conv_bias": True, "block_auto_adjust_ff_dim": False, "conv_L_cache": 2},
                    torch.bfloat16),
    "lfm2_moe": ({**OF_LFM, "num_dense_layers": 1, "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 12},
                 torch.bfloat16),
    "qwen3_next": ({**OF_DELTA, **OF_SIX_EXPERTS, "shared_expert_intermediate_size": 20}, torch.bfloat16),
    "qwen3_5_text": ({**OF_DELTA, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5,
                                                      "mrope_section": [1, 1, 0]}}, torch.bfloat16),
    "qwen3_5_moe_text": ({**OF_DELTA, **OF_SIX_EXPERTS, "intermediate_size": None, "shared_expert_intermediate_size": 20}, torch.bfloat16),
    "gemma_embedding": ({"model_type": "gemma3_text", "use_bidirectional_attention": True, "head_dim": 16, "sliding_window": 8,
                         "num_hidden_layers": 6, "query_pre_attn_scalar": 16}, torch.bfloat16),
    "gemma3n_text": (OF_GEMMA_3N, torch.bfloat16),
    # Without a scale, and with fewer embeddings of layers than tokens.
    "gemma3n_few": ({**OF_GEMMA_3N, "model_type": "gemma3n_text", "altup_num_inputs": 2, "altup_active_idx": 1,
                     "altup_correct_scale": False, "vocab_size_per_layer_input": 40, "num_kv_shared_layers": 0,
                     "attention_bias": True}, torch.bfloat16),
    "gemma4_text": (OF_GEMMA_4, torch.bfloat16),
    "gemma4_experts": ({**OF_GEMMA_4, "model_type": "gemma4_text", "hidden_size_per_layer_input": 0, "attention_k_eq_v": True,
                        "num_global_key_value_heads": 1, "enable_moe_block": True, "num_experts": 6, "top_k_experts": 3,
                        "moe_intermediate_size": 12, "num_kv_shared_layers": 0, "use_double_wide_mlp": False}, torch.bfloat16),
}
OF_EXPERTS = {"intermediate_size": 24, "num_local_experts": 5, "num_experts_per_tok": 3}
OF_GRANITE = {**OF_EXPERTS, "embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.3,
              "logits_scaling": 2.5}
# The scale by which llama.cpp's converter writes Phi's factors, and the published model has.
MSCALE = math.sqrt(1 + math.log(2) / math.log(64))
OF_PHI = {**LONGROPE, "partial_rotary_factor": 1.0, "short_factor": [1.0, 1.1, 1.2, 1.4], "long_factor": [1.0, 2.0, 3.0, 4.0],
          "short_mscale": MSCALE, "long_mscale": MSCALE}
OF_QWEN = {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 12}
OF_GLM = {"n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 12, "n_shared_experts": 2,
          "routed_scaling_factor": 1.7, "first_k_dense_replace": 1, "num_hidden_layers": 3, "head_dim": 8}
OF_LATENT = {"num_key_value_heads": 4, "kv_lora_rank": 12, "qk_rope_head_dim": 6, "qk_nope_head_dim": 10, "v_head_dim": 7,
             "initializer_range": 0.1}  # larger scores would be rounded too much
OF_DEEPSEEK = {**OF_LATENT, "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 12, "first_k_dense_replace": 1}
# As in all published models, mscale is mscale_all_dim: GGUF files contain only that.
OF_LATENT_YARN = {**YARN, "original_max_position_embeddings": 8, "mscale": 0.7, "mscale_all_dim": 0.7}
# The same of families with latent attention.
LATENT = {
    "deepseek_v2": ({**OF_DEEPSEEK, "q_lora_rank": NULL, "rope_parameters": OF_LATENT_YARN, "n_shared_experts": 2}, torch.bfloat16),
    "deepseek_v3": ({**OF_DEEPSEEK, "q_lora_rank": 14, "n_group": 4, "topk_group": 2, "attention_bias": True,
                     "num_hidden_layers": 3}, torch.bfloat16),
    "kimi_k2": ({**OF_DEEPSEEK, "num_attention_heads": 3, "num_key_value_heads": 3, "q_lora_rank": 10, "kv_lora_rank": 9,
                 "qk_rope_head_dim": 8, "qk_nope_head_dim": 5, "v_head_dim": 11, "n_group": 1, "topk_group": 1,
                 "rope_parameters": {**OF_LATENT_YARN, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 1.0, "beta_slow": 1.0}},
                torch.bfloat16),
    "glm4_moe_lite": ({**OF_DEEPSEEK, "num_attention_heads": 3, "num_key_value_heads": 3, "q_lora_rank": 11, "n_group": 2,
                       "topk_group": 1, "first_k_dense_replace": None, "num_hidden_layers": 3,
                       "mlp_layer_types": ["dense", "sparse", "sparse"], "qk_rope_head_dim": 4, "qk_nope_head_dim": 12,
                       "v_head_dim": 16}, torch.bfloat16),
    # A query sees nine keys.
    "deepseek_v32": ({**OF_DEEPSEEK, "q_lora_rank": 14, "n_group": 2, "topk_group": 1, "num_hidden_layers": 3, "index_topk": 9,
                      "index_n_heads": 8, "index_head_dim": 10, "rope_parameters": OF_LATENT_YARN}, torch.bfloat16),
    # Without compressed keys; the experts of a token are those of a table in the first layer. A window of seven tokens.
    "deepseek_v4": ({"head_dim": 16, "num_key_value_heads": 1, "intermediate_size": None, "moe_intermediate_size": 12, "q_lora_rank": 14,
                     "partial_rotary_factor": 0.375, "o_groups": 2, "o_lora_rank": 10, "n_routed_experts": 8, "num_experts_per_tok": 3,
                     "sliding_window": 7, "num_hidden_layers": 3, "layer_types": ["sliding_attention"] * 3, "hc_mult": 3,
                     "mlp_layer_types": ["hash_moe", "moe", "moe"], "swiglu_limit": 1.0}, torch.bfloat16),
    # Of nine experts three are identities.
    "longcat_flash": ({**OF_LATENT, "num_hidden_layers": None, "intermediate_size": None, "num_layers": 2, "ffn_hidden_size": 48,
                       "q_lora_rank": 14, "head_dim": 6, "moe_topk": 3, "n_routed_experts": 6, "zero_expert_num": 3,
                       "expert_ffn_hidden_size": 12}, torch.bfloat16),
    # The scale of queries grows beyond this text: GGUF files lack it.
    "mistral4": ({**OF_DEEPSEEK, "q_lora_rank": 14, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1, "n_shared_experts": 2,
                  "rope_parameters": {**OF_LATENT_YARN, "original_max_position_embeddings": 32, "mscale": 1.0, "mscale_all_dim": 1.0,
                                      "llama_4_scaling_beta": 0.1}}, torch.bfloat16),
    "youtu": ({**OF_LATENT, "q_lora_rank": 9, "kv_lora_rank": 13, "v_head_dim": 12, "rope_parameters": OF_LATENT_YARN}, torch.bfloat16),
    # The factors of the published model, which its GGUF files do not contain.
    "minicpm3": ({**OF_LATENT, "q_lora_rank": 12, "qk_rope_head_dim": 8, "v_head_dim": 8,
                  "rope_parameters": {**LONGROPE, "partial_rotary_factor": 1.0, "original_max_position_embeddings": 128,
                                      "short_factor": [1.0, 1.1, 1.2, 1.4], "long_factor": [1.0, 2.0, 3.0, 4.0]}}, torch.bfloat16),
}
# Model types whose code is not part of transformers, and the same model there.
RENAMED = {"kimi_k2": "deepseek_v3"}
# Special tokens of encoders by id; the others are letters, as in the tests of other families.
CLS, SEP, MASK = 0, 1, 2
SPECIAL = ["[CLS]", "[SEP]", "[MASK]", "[PAD]"]
OF_ENCODERS = {"num_key_value_heads": None, "num_hidden_layers": 3, "cls_token_id": CLS, "sep_token_id": SEP, "bos_token_id": CLS,
               "eos_token_id": SEP, "pad_token_id": 3}
# The same of encoders.
ENCODERS = {
    "modernbert": ({**OF_ENCODERS, "local_attention": 8, "num_hidden_layers": 4}, torch.float32),
    "eurobert": ({**OF_ENCODERS, "num_key_value_heads": 2, "mask_token_id": MASK}, torch.float32),
    "roformer": ({**OF_ENCODERS, "rotary_value": True}, torch.float32),
    "esm": ({**OF_ENCODERS, "position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": MASK,
             "emb_layer_norm_before": True}, torch.float32),
    "nomic_bert": (OF_ENCODERS, torch.float32),
}
# The same of families with mixtures of experts.
MIXTURES = {
    "mixtral": ({**OF_EXPERTS, "num_experts_per_tok": 2}, torch.bfloat16),
    "qwen2_moe": ({**OF_QWEN, "shared_expert_intermediate_size": 20}, torch.bfloat16),
    "qwen3_moe": ({**OF_QWEN, "head_dim": 12, "norm_topk_prob": True}, torch.bfloat16),
    "olmoe": ({**OF_EXPERTS, "num_local_experts": None, "num_experts": 6}, torch.bfloat16),
    "granitemoe": (OF_GRANITE, torch.bfloat16),
    "granitemoeshared": ({**OF_GRANITE, "shared_intermediate_size": 20}, torch.bfloat16),
    "phimoe": ({**OF_EXPERTS, "num_experts_per_tok": 2, "attention_bias": True, "lm_head_bias": True,
                "rope_parameters": OF_PHI}, torch.bfloat16),
    "gpt_oss": ({**OF_EXPERTS, "num_experts_per_tok": 2, "head_dim": 12, "sliding_window": 6,
                 "rope_parameters": {**YARN, "factor": 8.0, "truncate": False, "original_max_position_embeddings": 16}}, torch.bfloat16),
    "ernie4_5_moe": ({"moe_num_experts": 6, "moe_k": 2, "moe_intermediate_size": 12, "num_hidden_layers": 3, "head_dim": 8},
                     torch.bfloat16),
    "glm4_moe": ({**OF_GLM, "n_group": 4, "topk_group": 2, "use_qk_norm": True, "attention_bias": True}, torch.bfloat16),
    "dots1": ({**OF_GLM, "norm_topk_prob": True}, torch.bfloat16),
    "minimax_m2": ({**OF_EXPERTS, "head_dim": 8, "rotary_dim": 4}, torch.bfloat16),
    "flex_olmo": ({**OF_EXPERTS, "num_local_experts": None, "num_experts": 6}, torch.bfloat16),
    # Its converter uses one dense layer and a share of 0.5, as in GLM 4.5, unless the config has them, as published ones do.
    "solar_open": ({**OF_GLM, "first_k_dense_replace": 0, "num_hidden_layers": 2, "attention_bias": True, "intermediate_size": None,
                    "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 1.0}}, torch.bfloat16),
    "exaone_moe": ({**OF_QWEN, "num_hidden_layers": 4, "head_dim": 8, "num_experts": 8, "n_group": 4, "topk_group": 2,
                    "sliding_window": 6, "num_shared_experts": 2}, torch.bfloat16),
    "hunyuan_v1_dense": ({"head_dim": 8}, torch.bfloat16),
    "hunyuan_v1_moe": ({"intermediate_size": 24, "num_experts": 5, "moe_topk": 2, "head_dim": 8}, torch.bfloat16),
    "llama4_text": ({**OF_EXPERTS, "num_experts_per_tok": 1, "intermediate_size_mlp": 40, "head_dim": 8, "num_hidden_layers": 4,
                     "interleave_moe_layer_step": 2, "rope_parameters": LLAMA3}, torch.bfloat16),
}
# Stored a second time, in merged/, with the names of transformers 5's own classes: one tensor for all experts.
MERGED = {"mixtral", "granitemoe", "phimoe", "ernie4_5_moe", "deepseek_v4"}
MODELS = {**DENSE, **FURTHER, **MIXTURES, **LATENT, **ENCODERS}
OF_SIGHT = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16, "patch_size": 8}
OF_QWEN_SIGHT = {"depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "out_hidden_size": 32}
OF_QWEN_3_SIGHT = {**OF_QWEN_SIGHT, "num_position_embeddings": 4, "deepstack_visual_indexes": [0]}
SECTIONS = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [3, 3, 2]}
# Models that also take images: the model type and the members of their language part, and those of their part for images.
COMPOSITES = {
    "gemma3": ("gemma3_text", DENSE["gemma3_text"][0], OF_SIGHT),
    "mistral3": ("ministral3", DENSE["ministral3"][0], {**OF_SIGHT, "head_dim": 8}),
    "qwen2_5_vl": ("qwen2_5_vl_text", {"rope_parameters": {**SECTIONS, "mrope_section": [1, 1, 2]}},
                   {**OF_QWEN_SIGHT, "fullatt_block_indexes": [0]}),
    "qwen2_vl": ("qwen2_vl_text", {"rope_parameters": {**SECTIONS, "mrope_section": [2, 1, 1]}, "tie_word_embeddings": True},
                 {"depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2}),
    "qwen3_vl": ("qwen3_vl_text", {"head_dim": 16, "rope_parameters": SECTIONS}, OF_QWEN_3_SIGHT),
    "qwen3_vl_moe": ("qwen3_vl_moe_text", {"head_dim": 16, **OF_QWEN, "rope_parameters": {**SECTIONS, "mrope_interleaved": True}},
                     OF_QWEN_3_SIGHT),
    "smolvlm": ("llama", {}, OF_SIGHT),
}
# llama.cpp's converter does not know most of these; it writes Mistral's models as Llama's.
WITHOUT_GGUF = {"bitnet", "codegen", "deepseek_v32", "deepseek_v4", "falcon_7b", "falcon_rw", "flex_olmo", "gemma3n_few", "gptj", "helium",
                "lfm2_biased", "longcat_flash", "ministral", "mistral", "opt", "opt_350m", "smolvlm", "esm", "roformer"}
# Members that the converter expects of nomic's own class, whose names for sizes these are, too.
OF_NOMIC = {"n_positions": 2048, "activation_function": "swiglu", "causal": False, "qkv_proj_bias": False, "mlp_fc1_bias": False,
            "mlp_fc2_bias": False, "prenorm": False, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
            "rotary_emb_scale_base": None}

# Name: family, entries (without the architecture) and tensors that its GGUF file gets, and the equivalent fields of the config.
# Without a window, the model is not causal. Each of eight pairs has its own factor.
SHORT, LONG = [1.0 + 0.1 * i for i in range(8)], [1.0 + 0.5 * i for i in range(8)]
SCALED = {"rope_theta": 10000.0, "factor": 4.0}
OF_YARN = {**SCALED, "rope_type": "yarn", "original_max_position_embeddings": 32}
YARN_ENTRIES = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32}
LONGROPE_ENTRIES = {"rope.scaling.type": "longrope", "rope.scaling.attn_factor": 1.25}
OF_LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "factor": 1.0, "attention_factor": 1.25, "short_factor": SHORT,
               "long_factor": LONG}
FACTOR_TENSORS = {"rope_factors_short.weight": SHORT, "rope_factors_long.weight": LONG}
THIRDS = ["sliding_attention", "sliding_attention", "full_attention"] * 2
ARCHITECTURES = {"deepseek_v2": "deepseek2", "deepseek_v3": "deepseek2", "gemma3_text": "gemma3", "mixtral": "llama", "qwen3_moe": "qwen3moe", "glm4_moe": "glm4moe", "gpt_oss": "gpt-oss"}
ENTRIES = {
    "a factor without a type": ("qwen3", {"rope.scaling.factor": 4.0}, {}, {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "the older key": ("qwen3", {"rope.scale_linear": 4.0}, {}, {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "the newer key wins": ("qwen3", {"rope.scale_linear": 9.0, "rope.scaling.factor": 4.0}, {},
                           {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "linear": ("qwen3", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {},
               {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "none": ("qwen3", {"rope.scaling.type": "none", "rope.scaling.factor": 4.0}, {}, {}),
    "a factor of 0": ("qwen3", {"rope.scaling.factor": 0.0}, {}, {}),
    "yarn": ("qwen3", YARN_ENTRIES, {}, {"rope_parameters": OF_YARN}),
    "yarn from the whole context": ("qwen3", {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}, {},
                                    {"rope_parameters": {**OF_YARN, "original_max_position_embeddings": 128}}),
    "betas": ("qwen3", {**YARN_ENTRIES, "rope.scaling.yarn_beta_fast": 2.0, "rope.scaling.yarn_beta_slow": 0.25}, {},
              {"rope_parameters": {**OF_YARN, "beta_fast": 2.0, "beta_slow": 0.25}}),
    "an attention factor": ("qwen3", {**YARN_ENTRIES, "rope.scaling.attn_factor": 0.75}, {},
                            {"rope_parameters": {**OF_YARN, "attention_factor": 0.75 * (0.1 * math.log(4) + 1)}}),
    "yarn that does nothing": ("qwen3", {"rope.scaling.type": "yarn", "rope.scaling.attn_factor": 1.5}, {},
                               {"rope_parameters": {**OF_YARN, "factor": 1.0, "attention_factor": 1.5}}),
    "longrope in a short text": ("qwen3", {**LONGROPE_ENTRIES, "rope.scaling.original_context_length": 32}, FACTOR_TENSORS,
                                 {"rope_parameters": {**OF_LONGROPE, "original_max_position_embeddings": 32}}),
    "longrope in a long text": ("qwen3", {**LONGROPE_ENTRIES, "rope.scaling.original_context_length": 16}, FACTOR_TENSORS,
                                {"rope_parameters": {**OF_LONGROPE, "original_max_position_embeddings": 16}}),
    "not causal": ("qwen3", {"attention.causal": False}, {}, {"is_causal": False}),
    "capped logits": ("gemma3_text", {"final_logit_softcapping": 5.0}, {}, {"final_logit_softcapping": 5.0}),
    "every third layer sees all": ("gemma3_text", {"attention.sliding_window_pattern": 3}, {}, {"layer_types": THIRDS}),
    "a flag for each layer": ("gemma3_text", {"attention.sliding_window_pattern": [kind == "sliding_attention" for kind in THIRDS]},
                              {}, {"layer_types": THIRDS}),
    "one expert of a token": ("mixtral", {"expert_used_count": 1}, {}, {"num_experts_per_tok": 1}),
    "weights that are not divided": ("qwen3_moe", {"expert_weights_norm": False}, {}, {"norm_topk_prob": False}),
    "weights that are divided": ("olmoe", {"expert_weights_norm": True}, {}, {"norm_topk_prob": True}),
    "a scale of weights": ("glm4_moe", {"expert_weights_scale": 0.5, "expert_gating_func": 2}, {}, {"routed_scaling_factor": 0.5}),
    "other groups": ("glm4_moe", {"expert_group_count": 2, "expert_group_used_count": 1}, {}, {"n_group": 2, "topk_group": 1}),
    "another window of gpt-oss": ("gpt_oss", {"attention.sliding_window": 3}, {}, {"sliding_window": 3}),
    "YaRN's factor on scores": ("deepseek_v2", {"rope.scaling.yarn_log_multiplier": 0.1}, {},
                                {"rope_parameters": {**OF_LATENT_YARN, "mscale": 1.0, "mscale_all_dim": 1.0}}),
    "no factor on scores": ("deepseek_v2", {"rope.scaling.yarn_log_multiplier": 0.0}, {},
                            {"rope_parameters": {**YARN, "original_max_position_embeddings": 8}}),
    "latent attention that is not scaled": ("deepseek_v2", {"rope.scaling.type": "none"}, {},
                                            {"rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}}),
    "the best groups of DeepSeek V2": ("deepseek_v2", {"expert_group_count": 4, "expert_group_used_count": 2}, {},
                                       {"topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 2}),
    "the best groups of DeepSeek V3": ("deepseek_v3", {"expert_group_count": 2, "expert_group_used_count": 1,
                                                       "expert_weights_scale": 0.5, "expert_weights_norm": False}, {},
                                       {"n_group": 2, "topk_group": 1, "routed_scaling_factor": 0.5, "norm_topk_prob": False}),
    "other slopes of MPT": ("mpt", {"attention.max_alibi_bias": 16.0}, {}, {"attn_config": {"alibi_bias_max": 16, **OF_MPT}}),
    "other clipping of MPT": ("mpt", {"attention.clamp_kqv": 0.5}, {}, {"attn_config": {**OF_MPT, "clip_qkv": 0.5}}),
    "another base of Falcon": ("falcon", {"rope.freq_base": 100.0}, {},
                               {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    "scaled layers that see all": ("gemma3_text", {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0}, {},
                                   {"rope_parameters": {"full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
                                                        "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"}}}),
}


def class_of(name: str) -> type:
    if name == "mistral4":  # no Auto class knows it
        return transformers.Mistral4ForCausalLM
    if name in COMPOSITES:
        return transformers.AutoModelForImageTextToText
    return transformers.AutoModelForMaskedLM if name in ENCODERS else transformers.AutoModelForCausalLM


def composite_config(name: str) -> transformers.PreTrainedConfig:
    model_type, of_text, of_sight = COMPOSITES[name]
    config = transformers.AutoConfig.for_model(name, text_config={"model_type": model_type, **SIZES, **of_text}, vision_config=of_sight)
    for part in (config, config.text_config):  # of special tokens, which are not used
        for key in [key for key in vars(part) if key.endswith(("_token_id", "_token_index"))]:
            setattr(part, key, None if key.startswith(("bos", "eos", "pad")) else SIZES["vocab_size"] - 1)
    return config


def random_model(name: str) -> transformers.PreTrainedModel:
    torch.manual_seed(sum(map(ord, name)))
    if name in COMPOSITES:
        return with_random_vectors(class_of(name).from_config(composite_config(name), attn_implementation="eager"))
    more, dtype = MODELS[name]
    given = {"model_type": RENAMED.get(name, name), **SIZES, **more}
    members = {key: None if value is NULL else value for key, value in given.items() if value is not None}
    config = transformers.AutoConfig.for_model(**members)
    if (getattr(config, "pad_token_id", None) or 0) >= config.vocab_size:
        config.pad_token_id = 0
    of = class_of(name)
    make = of.from_config if hasattr(of, "from_config") else of._from_config
    return with_random_vectors(make(config, attn_implementation="eager")).to(dtype)


def with_random_vectors(model: transformers.PreTrainedModel) -> transformers.PreTrainedModel:
    with torch.no_grad():  # values that are all ones or zeros would hide mistakes
        for key, parameter in model.named_parameters():
            if parameter.ndim == 1 or "norm" in key or "correction" in key:
                parameter.add_(torch.randn_like(parameter) * 0.2)
        for key, buffer in model.named_buffers():
            if any(part in key for part in ("correction", "layer_scalar", "expert_bias")):
                buffer.add_(torch.randn_like(buffer) * 0.2)
            if "tid2eid" in key:  # different experts for every token
                buffer.copy_(torch.stack([torch.randperm(model.config.n_routed_experts)[:buffer.size(1)] for _ in buffer]))
    return model.eval()


def expected(folder: pathlib.Path) -> dict[str, torch.Tensor]:
    # Read again, because casting a model would also cast its rotary frequencies.
    is_encoder = folder.name in ENCODERS
    model = class_of(folder.name).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokens = torch.randint(len(SPECIAL) if is_encoder else 0, 64, (1, TOKENS), generator=torch.Generator().manual_seed(5))
    if is_encoder:
        tokens[0, 0], tokens[0, 9], tokens[0, -1] = CLS, MASK, SEP
    with torch.no_grad():
        out = as_made(model)(tokens, output_attentions=True, **({} if is_encoder else {"use_cache": False}))
    attention = [layer[0] for layer in out.attentions]
    kinds = getattr(model.config, "layer_types", None) or []
    if len(attention) < len(kinds):  # layers that do not attend return no weights
        of_layers = iter(attention)
        attention = [next(of_layers) if "attention" in kind and "linear" not in kind else torch.zeros_like(attention[0])
                     for kind in kinds]
    return {"tokens": tokens[0].contiguous(), "logits": out.logits[0].float().contiguous(),
            "attention": torch.stack(attention).float().contiguous(),
            **({"nll": masked_nll(model, tokens[0])} if is_encoder else {})}


def masked_nll(model: transformers.PreTrainedModel, tokens: torch.Tensor) -> torch.Tensor:
    """-ln p of every token that is not special, each masked in turn (Salazar et al., 2020, arXiv:1910.14659)."""
    nll = []
    for position in (tokens >= len(SPECIAL)).nonzero()[:, 0].tolist():
        masked = tokens.clone()
        masked[position] = MASK
        with torch.no_grad():
            logits = model(masked[None]).logits[0, position].float()
        nll.append(torch.nn.functional.cross_entropy(logits, tokens[position]))
    return torch.stack(nll)


def write_tokenizer(folder: pathlib.Path) -> None:
    """Letters, and the special tokens of encoders around every text."""
    vocabulary = {token: i for i, token in enumerate(SPECIAL + [chr(ord("0") + i) for i in range(len(SPECIAL), 64)])}
    around = {token: {"id": token, "ids": [vocabulary[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")}
    template = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    (folder / "tokenizer.json").write_text(json.dumps({
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
        "added_tokens": [{"id": i, "content": token, "special": True} for i, token in enumerate(SPECIAL)],
        "post_processor": {"type": "TemplateProcessing", "single": template, "pair": [], "special_tokens": around}}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"mask_token": "[MASK]"}))


def with_returned_tensors(modify: Callable) -> Callable:
    """The norms of StableLM's heads are returned by a generator, whose callers only see what it yields."""

    def modified(self, *arguments):
        yield from (yield from modify(self, *arguments)) or ()

    return modified


def remove_head(folder: pathlib.Path, config: dict) -> dict:
    """Makes a masked language model what the converter reads, an encoder without its head. Returns its config."""
    path, prefix = folder / "model.safetensors", config["model_type"] + "."
    tensors = {name.removeprefix("model.").removeprefix(prefix): tensor for name, tensor in load_file(path).items()}
    save_file({name: tensor for name, tensor in tensors.items() if not name.startswith(("head.", "decoder.", "lm_head.", "cls."))},
              path, {"format": "pt"})
    of_family = OF_NOMIC if config["model_type"] == "nomic_bert" else {}
    config.pop("classifier_pooling", None)  # it refuses EuroBERT's default
    return {**config, **of_family, "architectures": [config["architectures"][0].replace("ForMaskedLM", "Model")]}


def write_gguf(folder: pathlib.Path, path: pathlib.Path) -> None:
    """As llama.cpp's own converter does, in float32; without a tokenizer, which the tests add."""
    with tempfile.TemporaryDirectory() as copy:
        model = pathlib.Path(shutil.copytree(folder, copy, dirs_exist_ok=True))
        # Gemma 3's tokens are counted.
        tokens = {str(i): i for i in range(SIZES["vocab_size"])}
        (model / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordPiece", "vocab": tokens}, "added_tokens": []}))
        config = conversion.ModelBase.load_hparams(model, False)
        if folder.name in ENCODERS:
            config = remove_head(model, config)
        # The converter reads these under their names of transformers 4.
        config.setdefault("rotary_pct", (config.get("rope_parameters") or {}).get("partial_rotary_factor", 1.0))
        config.setdefault("n_ctx", config.get("n_positions"))
        if config["model_type"] == "modernbert":
            config.setdefault("layer_norm_eps", config["norm_eps"])
        # It knows classes by their names in published models.
        published = {"PhimoeForCausalLM": "PhiMoEForCausalLM", "MptForCausalLM": "MPTForCausalLM",
                     "Mistral4ForCausalLM": "Ministral3ForCausalLM",
                     **({"Gemma3ForCausalLM": "Gemma3TextModel"} if folder.name == "gemma_embedding" else {})}
        config["architectures"] = [published.get(name, name) for name in config["architectures"]]
        if config["model_type"] in ("deepseek_v3", "kimi_k2", "glm4_moe_lite"):
            # As in published configs; otherwise the file says softmax, and no dense layers.
            config = {"scoring_func": "sigmoid", "first_k_dense_replace": 1, **config}
        if config["model_type"] == "hunyuan_v1_moe":  # published configs list these by layer
            layers = config["num_hidden_layers"]
            config |= {"moe_intermediate_size": [config["intermediate_size"]] * layers, "moe_topk": [config["moe_topk"]] * layers,
                       "num_shared_expert": [1] * layers}
        kind = conversion.get_model_class(conversion.get_model_architecture(config, conversion.ModelType.TEXT))
        if config["model_type"] in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"):
            kind.no_mtp = True  # otherwise it asks for layers that predict several tokens
        # Mistral's class leaves the work to others.
        for one in (kind, getattr(kind, "Mistral4Model", kind), getattr(kind, "Ministral3Model", kind)):
            one.set_vocab = lambda self: self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])
        if config["model_type"] == "modernbert":
            kind.set_vocab = lambda self: None  # it writes that size itself
        if config["model_type"] == "stablelm":
            kind.modify_tensors = with_returned_tensors(kind.modify_tensors)
        with torch.inference_mode():
            kind(model, gguf.LlamaFileType.ALL_F32, path, hparams=config, model_name=folder.name).write()


def nll_with(name: str, changes: dict) -> list[float]:
    """-ln p of the family's tokens with some fields of its config changed."""
    folder = UNPACKED / name
    config = transformers.AutoConfig.from_pretrained(folder)
    for key, value in changes.items():
        setattr(config, key, MptAttentionConfig(**value) if key == "attn_config" else value)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, config=config, dtype=torch.float32, attn_implementation="eager")
    tokens = load_file(folder / "expected.safetensors")["tokens"][None]
    with torch.no_grad():
        logits = as_made(model)(tokens, use_cache=False).logits[0]
    return [round(float(nll), 6) for nll in torch.nn.functional.cross_entropy(logits[:-1], tokens[0, 1:], reduction="none")]


def write_entries() -> None:
    written = {}
    for name, (family, entries, tensors, changes) in ENTRIES.items():
        architecture = ARCHITECTURES.get(family, family)
        written[name] = {"family": family, "entries": {f"{architecture}.{key}": value for key, value in entries.items()},
                         "tensors": tensors, "nll": nll_with(family, changes)}
    lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in written.items()]
    (HERE / "gguf_entries.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


# Name: family, and members of its config.json; null means None.
CONFIGS = {
    "none": ("qwen2", {}),
    "both sides": ("qwen2", {"is_causal": False}),
    "both sides, of Llama": ("llama", {"is_causal": False}),
    "both sides, with windows": ("gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 10}),
    # The mask that follows is_causal includes the token at the distance of the window.
    "both sides within a window": ("mistral", {"is_causal": False}),
    "both sides of DeepSeek V4": ("deepseek_v4", {"is_causal": False}),
    "both sides of Gemma 3 by the mask": ("gemma3_text", {"is_causal": False}),
    "both sides of Gemma 4 by the mask": ("gemma4_text", {"is_causal": False}),
    "both sides of Gemma 4 by both": ("gemma4_text", {"is_causal": False, "use_bidirectional_attention": "all", "sliding_window": 10}),
    "chunks of Llama 4 stay causal": ("llama4_text", {"is_causal": False}),
    "no scale": ("gpt2", {"scale_attn_weights": False}),
    "scale by layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    "rope_scaling beside rope_parameters": ("qwen2", {"rope_theta": 5000.0, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}),
    "a share that Qwen does not read": ("qwen3", {"partial_rotary_factor": 0.5}),
    "an odd share": ("gpt_neox", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.45}}),
    "caps that are null": ("gemma2", {"attn_logit_softcapping": None, "final_logit_softcapping": None}),
    "a cap that Gemma 3 does not read": ("gemma3_text", {"attn_logit_softcapping": 5.0}),
    "the final cap of Gemma 3": ("gemma3_text", {"final_logit_softcapping": 3.0}),
    "local layers without theta": ("gemma3_text", {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0},
                                                                      "sliding_attention": {"rope_type": "default"}}}),
    "another window": ("mistral", {"sliding_window": 3}),
    "a window that is null": ("mistral", {"sliding_window": None}),
    "another activation of Gemma": ("gemma", {"hidden_act": "relu"}),
    "an activation that Gemma does not read": ("gemma", {"hidden_activation": "relu"}),
    "gelu, which Gemma takes for that by tanh": ("gemma", {"hidden_act": "gelu"}),
    "another activation of Gemma 2": ("gemma2", {"hidden_activation": "relu"}),
    "a window of Phi 3": ("phi3", {"sliding_window": 5}),
    "a window of StarCoder 2": ("starcoder2", {"sliding_window": 3}),
    "a window of SmolLM 3": ("smollm3", {"use_sliding_window": True, "sliding_window": 4,
                                         "layer_types": ["sliding_attention", "full_attention"] * 2}),
    "other unrotated layers": ("smollm3", {"no_rope_layers": [0, 1, 1, 0]}),
    "no window, so all rotate": ("exaone4", {"sliding_window": None, "layer_types": ["full_attention"] * 4}),
    "another pattern of windows": ("cohere2", {"layer_types": ["full_attention", "sliding_attention"] * 2}),
    "other factors": ("granite", {"embedding_multiplier": 1.5, "residual_multiplier": 0.9, "attention_multiplier": 0.1,
                                  "logits_scaling": 0.5}),
    "another scale of logits": ("cohere", {"logit_scale": 2.0}),
    "no scale of logits": ("cohere", {"logit_scale": 1.0}),
    "no clipping": ("olmo", {"clip_qkv": None}),
    "other growth of queries": ("ministral3", {"rope_parameters": {**YARN, "original_max_position_embeddings": 5, "mscale": 1.0,
                                                                   "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.5}}),
    "one expert of a token": ("mixtral", {"num_experts_per_tok": 1}),
    "a window of Mixtral": ("mixtral", {"sliding_window": 5}),
    "weights that are divided by their sum": ("qwen2_moe", {"norm_topk_prob": True}),
    "windows of Qwen 2 with experts": ("qwen2_moe", {"use_sliding_window": True, "sliding_window": 4, "layer_types": None}),
    "a window that Qwen 2 with experts does not read": ("qwen2_moe", {"sliding_window": 4}),
    "weights that are not divided by their sum": ("qwen3_moe", {"norm_topk_prob": False}),
    "windows of Qwen 3 with experts": ("qwen3_moe", {"use_sliding_window": True, "sliding_window": 4}),
    "clipping after norms": ("olmoe", {"clip_qkv": 0.5, "norm_topk_prob": True}),
    "other logits are close": ("phimoe", {"router_jitter_noise": 0.4, "sliding_window": 7}),
    "other constants of gpt-oss": ("gpt_oss", {"swiglu_limit": 0.5, "swiglu_alpha": 1.0, "sliding_window": 3}),
    "a least sum of weights": ("ernie4_5_moe", {"moe_norm_min": 0.9}),
    "other groups": ("glm4_moe", {"n_group": 2, "topk_group": 1, "routed_scaling_factor": 0.5, "norm_topk_prob": False}),
    "chunks of Llama 4, and queries that grow": ("llama4_text", {"attention_chunk_size": 10, "floor_scale": 3, "attn_scale": 0.5}),
    "no chunks of Llama 4": ("llama4_text", {"attention_chunk_size": None, "layer_types": None, "floor_scale": 3,
                                             "attn_temperature_tuning": False, "use_qk_norm": False}),
    "other chunked layers of Llama 4": ("llama4_text", {"attention_chunk_size": 5, "no_rope_layers": [1, 0, 0, 1],
                                                        "layer_types": ["full_attention", "chunked_attention"] * 2}),
    "windows of EXAONE with experts": ("exaone_moe", {"sliding_window": 3, "norm_topk_prob": False, "n_group": 1, "topk_group": 1}),
    "windows of dots.llm1": ("dots1", {"sliding_window": 4, "max_window_layers": 1, "layer_types": None}),
    "the best groups of DeepSeek V2": ("deepseek_v2", {"topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 2,
                                                       "routed_scaling_factor": 1.7, "norm_topk_prob": True}),
    "no YaRN, and so no factor on scores": ("deepseek_v2", {"rope_parameters": {"rope_type": "default", "rope_theta": 5000.0}}),
    "YaRN of DeepSeek V3 by halves": ("deepseek_v3", {"rope_parameters": {**OF_LATENT_YARN, "mscale": 1.0}, "rope_interleave": False,
                                                      "routed_scaling_factor": 0.5, "norm_topk_prob": False}),
    "factors of MiniCPM 3 that are null": ("minicpm3", {"scale_emb": 3.0, "scale_depth": None, "dim_model_base": None}),
    "other factors of MiniCPM 3": ("minicpm3", {"scale_depth": 2.0, "dim_model_base": 16}),
    "other groups of GLM 4.7 Flash": ("glm4_moe_lite", {"n_group": 4, "topk_group": 3, "routed_scaling_factor": 0.5,
                                                        "norm_topk_prob": False}),
    "another stream of Gemma 3n, and other cut-offs": ("gemma3n_text", {"altup_active_idx": 2, "altup_correct_scale": False,
                                                                        "activation_sparsity_pattern": [0.0, 0.3, 0.8, 0.0, 0.99],
                                                                        "sliding_window": 3, "final_logit_softcapping": 5.0}),
    "Gemma 4 on both sides": ("gemma4_text", {"use_bidirectional_attention": "all", "sliding_window": 10}),
    "more pairs of Gemma 4 turn": ("gemma4_text", {"final_logit_softcapping": None, "rope_parameters": {
        "full_attention": {"rope_type": "proportional", "rope_theta": 100.0, "partial_rotary_factor": 0.5, "factor": 2.0},
        "sliding_attention": {"rope_type": "linear", "rope_theta": 50.0, "factor": 3.0}}}),
    "one expert of Gemma 4": ("gemma4_experts", {"top_k_experts": 1, "num_global_key_value_heads": 3}),
    "fewer keys of DeepSeek V3.2": ("deepseek_v32", {"index_topk": 3, "norm_topk_prob": False, "rope_parameters": {
        "rope_type": "linear", "rope_theta": 50.0, "factor": 2.0}}),
    "more keys of DeepSeek V3.2 than there are": ("deepseek_v32", {"index_topk": 100}),
    "fewer experts of LongCat Flash": ("longcat_flash", {"moe_topk": 2, "routed_scaling_factor": 0.7, "rms_norm_eps": 0.01}),
    "more experts of LongCat Flash than have parameters": ("longcat_flash", {"moe_topk": 7}),
    "another base and epsilon of LFM2": ("lfm2", {"norm_eps": 0.01, "rope_parameters": {"rope_type": "default", "rope_theta": 70.0}}),
    "other weights of LFM2's experts": ("lfm2_moe", {"norm_topk_prob": False, "routed_scaling_factor": 0.5, "num_experts_per_tok": 2}),
    "other weights of Qwen3-Next's experts": ("qwen3_next", {"norm_topk_prob": False, "num_experts_per_tok": 1, "rope_parameters": {
        "rope_type": "default", "rope_theta": 70.0, "partial_rotary_factor": 0.5}}),
    "another activation of Qwen 3.5": ("qwen3_5_text", {"hidden_act": "gelu", "rms_norm_eps": 0.01}),
    "growth of queries of Mistral 4": ("mistral4", {"routed_scaling_factor": 0.5, "norm_topk_prob": False, "rope_parameters": {
        **OF_LATENT_YARN, "original_max_position_embeddings": 5, "mscale": 1.0, "mscale_all_dim": 0.5, "llama_4_scaling_beta": 0.5,
        "partial_rotary_factor": 0.375}}),
    "wider windows of ModernBERT, in other layers": ("modernbert", {"local_attention": 13, "layer_types": None,
                                                                    "global_attn_every_n_layers": 2}),
    "other bases of ModernBERT": ("modernbert", {"rope_parameters": None, "global_rope_theta": 500.0, "local_rope_theta": 50.0}),
    "another activation before logits": ("modernbert", {"classifier_activation": "relu", "hidden_activation": "silu"}),
    "EuroBERT scaled": ("eurobert", {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}}),
    "values of RoFormer that do not rotate": ("roformer", {"rotary_value": False, "hidden_act": "relu"}),
    "no mask dropout of ESM": ("esm", {"token_dropout": False, "layer_norm_eps": 0.01}),
    "another base and activation of Nomic": ("nomic_bert", {"rope_parameters": {"rope_type": "default", "rope_theta": 70.0},
                                                            "hidden_act": "gelu"}),
    # AutoModel takes it for a Ministral.
    "kinds of layers of Mistral": ("mistral", {"layer_types": ["full_attention", "sliding_attention"]}),
    "kinds of layers that Phi 3 does not read": ("phi3", {"sliding_window": 5, "layer_types": ["full_attention", "full_attention"]}),
    "kinds of layers of Ministral": ("ministral", {"layer_types": ["full_attention", "sliding_attention"]}),
    "EXAONE 4 with a window that no layer has": ("exaone4", {"layer_types": ["full_attention"] * 4, "sliding_window": 5}),
    "EXAONE 4 without a window": ("exaone4", {"layer_types": ["full_attention"] * 4, "sliding_window": None}),
    "YaRN of Llama 4 without norms": ("llama4_text", {"use_qk_norm": False, "rope_parameters": YARN}),
    "members of published configs that Qwen 3.5's class does not read": ("qwen3_5_text", {
        "attn_output_gate": True, "mamba_ssm_dtype": "float32", "mlp_only_layers": [], "mtp_num_hidden_layers": 1,
        "output_gate_type": "swish"}),
    "an epsilon of norms after YaRN's factor": ("hunyuan_v1_dense", {"rms_norm_eps": 0.01, "rope_parameters": {
        **YARN, "attention_factor": 3.0}}),
    "an epsilon of norms without weights after YaRN's factor": ("llama4_text", {"rms_norm_eps": 0.01, "rope_parameters": {
        **YARN, "attention_factor": 3.0}}),
    "both sides of DeepSeek V3.2": ("deepseek_v32", {"is_causal": False}),
    "groups without effect of DeepSeek V2 Lite": ("deepseek_v2", {"topk_method": "greedy", "n_group": 1, "topk_group": 1}),
    "null for a flag that is usually true": ("deepseek_v3", {"norm_topk_prob": None, "rope_interleave": None}),
    "null for a flag of Falcon": ("falcon_7b", {"alibi": None}),
    "rope_scaling instead of YaRN in latent attention": ("deepseek_v2", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "a pattern that OLMo 3 does not read": ("olmo3", {"layer_types": None, "sliding_window_pattern": 2}),
    "a pattern under a name that Gemma 3 does not read": ("gemma3_text", {"layer_types": None, "_sliding_window_pattern": 2}),
    "the pattern of Gemma 3": ("gemma3_text", {"layer_types": None, "sliding_window_pattern": 2}),
    "a pattern beside the kinds of layers": ("modernbert", {"global_attn_every_n_layers": 2}),
    "scaling that GPT-J does not read": ("gptj", {"rope_scaling": {"type": "linear", "factor": 4.0}}),
    "scaling that ESM does not read": ("esm", {"rope_parameters": {"rope_type": "linear", "rope_theta": 300.0, "factor": 4.0}}),
    "fewer features that rotate": ("gptj", {"rotary_dim": 2, "activation_function": "relu"}),
    "another activation of OPT": ("opt", {"activation_function": "gelu"}),
    "norms of OPT before the sums, and none at the end": ("opt_350m", {"do_layer_norm_before": True, "_remove_final_layer_norm": True}),
    "another epsilon of BLOOM": ("bloom", {"layer_norm_epsilon": 0.1}),
    "other slopes of MPT": ("mpt", {"attn_config": {"alibi_bias_max": 16, "clip_qkv": 0.5}}),
    "a scale and no clipping of MPT": ("mpt", {"attn_config": {"clip_qkv": None, "softmax_scale": 0.3}}),
    "ALiBi of Falcon 40B": ("falcon", {"alibi": True}),
    "ALiBi of Falcon 7B": ("falcon_7b", {"alibi": True, "activation": "relu"}),
    "no ALiBi of Falcon RW": ("falcon_rw", {"alibi": False, "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    "a larger share of StableLM": ("stablelm_12b", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                                                                        "partial_rotary_factor": 0.75}}),
    "no scaling of Apertus": ("apertus", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}),
    "another activation of BitNet": ("bitnet", {"hidden_act": "silu"}),
    "a smaller share of Phi": ("phi", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}}),
}


def write_configs() -> None:
    written = {}
    for name, (family, changes) in CONFIGS.items():
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(UNPACKED / family, copy, dirs_exist_ok=True)
            path = pathlib.Path(copy) / "config.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
            model = class_of(family).from_pretrained(copy, dtype=torch.float32, attn_implementation="eager").eval()
            tokens = load_file(UNPACKED / family / "expected.safetensors")["tokens"][None]
            if family in ENCODERS:
                nll = masked_nll(model, tokens[0])
            else:
                with torch.no_grad():
                    logits = as_made(model)(tokens, use_cache=False).logits[0]
                nll = torch.nn.functional.cross_entropy(logits[:-1], tokens[0, 1:], reduction="none")
            written[name] = {"family": family, "config": changes, "nll": [round(float(value), 6) for value in nll]}
    lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in written.items()]
    (HERE / "configs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    if sys.argv[1:] in (["--entries"], ["--configs"]):
        for path in (ARCHIVE, MIXTURE_ARCHIVE, LATENT_ARCHIVE, FURTHER_ARCHIVE, ENCODER_ARCHIVE):
            with tarfile.open(path) as archive:
                archive.extractall(UNPACKED, filter="data")
        return write_entries() if sys.argv[1] == "--entries" else write_configs()
    if sys.argv[1:] == ["--further"]:
        return write_models(FURTHER, FURTHER_ARCHIVE)
    write_models(COMPOSITES, COMPOSITE_ARCHIVE)
    if sys.argv[1:] == ["--composites"]:
        return None
    write_models(ENCODERS, ENCODER_ARCHIVE)
    if sys.argv[1:] == ["--encoders"]:
        return None
    write_models(LATENT, LATENT_ARCHIVE)
    if sys.argv[1:] == ["--latent"]:
        return None
    write_models(MIXTURES, MIXTURE_ARCHIVE)
    if sys.argv[1:] == ["--mixtures"]:
        return None
    write_models(DENSE, ARCHIVE)
    write_models(FURTHER, FURTHER_ARCHIVE)
    write_entries()
    write_configs()
    return None


def rename(path: pathlib.Path, name: str) -> None:
    """Writes the model type into a config."""
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "model_type": name}, indent=2) + "\n")


def transpose_experts(path: pathlib.Path) -> None:
    """To [experts, in, out], as in published files; transformers reads these, but writes the other order."""
    tensors = {name: tensor.transpose(1, 2).contiguous() if ".experts." in name else tensor for name, tensor in load_file(path).items()}
    save_file(tensors, path, {"format": "pt"})


def write_models(names: Iterable[str], archive: pathlib.Path) -> None:
    """Writes a folder, a GGUF file and the expected results of each model, and packs them."""
    with tempfile.TemporaryDirectory() as home:
        for name in names:
            folder = UNPACKED / name
            model = random_model(name)
            model.save_pretrained(folder, max_shard_size="40KB" if name == "llama" else "5GB")
            (folder / "generation_config.json").unlink(missing_ok=True)
            if name == "qwen3_vl_moe":
                transpose_experts(folder / "model.safetensors")
            save_file(expected(folder), folder / "expected.safetensors")
            if name in RENAMED:
                rename(folder / "config.json", name)
            if name in ENCODERS:
                write_tokenizer(folder)
            shutil.copytree(folder, pathlib.Path(home) / name)
            if name in MERGED:
                model.save_pretrained(pathlib.Path(home) / "merged" / name, save_original_format=False)
            if name not in WITHOUT_GGUF:
                write_gguf(folder, pathlib.Path(home) / f"{name}.gguf")
        pack(pathlib.Path(home), archive)


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(UNPACKED)
