#!/usr/bin/env bash
# transformers saves the experts of Qwen 3 VL in another order than published files have, which it reads as well.
#
# Surprising: published files have mlp.experts.gate_up_proj [experts, in, out]. transformers turns it to [experts, out, in] when it
# reads the file, unless the shape is the latter already; for the same reason it does not turn it back when it saves. A model
# that was read and saved unchanged has other shapes in its file, under the same names and with the same config. llama.cpp's
# converter (0.3.36) halves the last axis of such a file, whatever it is, and writes experts of a wrong shape without a message.
# Where in and out are equal, nothing tells both orders apart.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a model of 6 experts, width 32 and experts of width 12:
#     read [6, 32, 24], saved [6, 24, 32]; logits of both files are the same
# Source: conversion_mapping.py has "Transpose(1, 2, check_dims=True)" for qwen3_vl_moe, whose reverse_op compares with the
# parameter's own shape.
# Ours: core/pretrained/feed_forward_weights.cpp reads both (Family::experts_may_be_transposed).
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 torchvision==0.26.0 numpy==2.4.6 safetensors==0.8.0 pillow==12.0.0

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

TEXT = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "intermediate_size": 48, "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 12, "initializer_range": 0.3,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}}
IMAGES = {"depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "out_hidden_size": 32,
          "num_position_embeddings": 4, "deepstack_visual_indexes": [0]}
FIRST = "model.language_model.layers.0.mlp.experts.gate_up_proj"
published, saved = (f"{sys.argv[1]}/{name}" for name in ("published", "saved"))
Model = transformers.Qwen3VLMoeForConditionalGeneration

print("transformers", transformers.__version__)
torch.manual_seed(1)
Model(transformers.Qwen3VLMoeConfig(text_config=TEXT, vision_config=IMAGES)).save_pretrained(published)
tensors = load_file(f"{published}/model.safetensors")
if tensors[FIRST].shape != (6, 32, 24):  # as in published files
    tensors = {name: value.transpose(1, 2).contiguous() if ".experts." in name else value for name, value in tensors.items()}
    save_file(tensors, f"{published}/model.safetensors", {"format": "pt"})
model = Model.from_pretrained(published).eval()
model.save_pretrained(saved)
shapes = [list(load_file(f"{path}/model.safetensors")[FIRST].shape) for path in (published, saved)]
tokens = torch.arange(20)[None]
with torch.no_grad():
    difference = (model(tokens).logits - Model.from_pretrained(saved).eval()(tokens).logits).abs().max().item()
print(f"read {shapes[0]}, saved {shapes[1]}; logits of both files are {'the same' if difference == 0 else 'different'}")
if shapes[0] == shapes[1]:
    raise SystemExit("Changed: experts are saved in the order in which they were read.")
PYTHON
