#!/usr/bin/env bash
# transformers saves the language models of Kimi K2.5 and Qianfan-OCR under names that belong to their image encoders.
#
# Surprising: published files of both models name the layers of the language model language_model.model.layers.0…, and
# transformers reads these. When it saves the model, it undoes the renaming of the image encoder ("blocks" or "encoder.layers"
# there) in the language model, too, whose layers become language_model.model.blocks.0… and
# language_model.model.encoder.layers.0…. transformers reads such a file again, other programs find no layer in it.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for small random models:
#     kimi_k25: language_model.model.blocks.0.input_layernorm.weight
#     qianfan_ocr: language_model.model.encoder.layers.0.input_layernorm.weight
# Source: conversion_mapping.py renames r"encoder\.layers\." to r"layers\." wherever it occurs; the reverse mapping does the same.
# Ours: core/pretrained/tensor_locator.cpp reads the published names.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 torchvision==0.26.0 numpy==2.4.6 safetensors==0.8.0 pillow==12.0.0

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys

import transformers
from safetensors import safe_open

SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4,
         "intermediate_size": 48, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
LATENT = {"model_type": "deepseek_v3", "kv_lora_rank": 12, "q_lora_rank": 10, "qk_rope_head_dim": 6, "qk_nope_head_dim": 10,
          "v_head_dim": 7, "n_routed_experts": 8, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 3, "moe_intermediate_size": 12}
IMAGES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16, "patch_size": 8}

print("transformers", transformers.__version__)
for name, kind, of_text, part in (("kimi_k25", "Kimi_K25", LATENT, "blocks.0."),
                                  ("qianfan_ocr", "QianfanOCR", {"model_type": "qwen3", "head_dim": 8}, "encoder.layers.0.")):
    config = transformers.AutoConfig.for_model(name, text_config={**SIZES, **of_text}, vision_config=IMAGES)
    model = getattr(transformers, kind + "ForConditionalGeneration")._from_config(config)
    model.save_pretrained(f"{sys.argv[1]}/{name}")
    with safe_open(f"{sys.argv[1]}/{name}/model.safetensors", "pt") as file:
        norm = next(key for key in file.keys() if key.startswith("language_model.") and key.endswith("0.input_layernorm.weight"))
    print(f"{name}: {norm}")
    if not norm.startswith("language_model.model." + part):
        raise SystemExit(f"Changed: {name} is saved under other names.")
PYTHON
