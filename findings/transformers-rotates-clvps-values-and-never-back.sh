#!/usr/bin/env bash
# CLVP's encoders in transformers rotate values and never back, so that padding on the left changes what they compute.
#
# Surprising: the class refers to RoFormer's rotary embeddings, which act on queries and keys. CLVP (the model of TorToiSe that
# ranks speech against a text) also rotates the first 32 features of each value by its own position, and the sum of values
# stays rotated. There is no option against it, and must not be: the weights were trained this way, with a copy of
# x-transformers as of 2021, whose author later called the rotation of values a leftover of an experiment
# (lucidrains/x-transformers, issue 182). A model with rotary embeddings does not notice how many masked tokens precede a
# text; this one does.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI), ClvpEncoder of one layer, random weights.
# Seen, for 10 tokens: how much their states (up to 3.5) change behind 7 tokens that are masked out:
#     as it is:                     4.23
#     without rotation of values:   less than 1e-4
# Source: apply_rotary_pos_emb and ClvpSelfAttention.forward in transformers/models/clvp/modeling_clvp.py; in tortoise-tts
# 3.0.0 Attention.forward in tortoise/models/xtransformers.py, line 628.
# Ours: model_types.inc has "values":true for clvp_encoder, and roper-train rotation prints it; docs/value-rotation.md.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import sys

import torch
import transformers
from transformers.models.clvp import modeling_clvp as module

config = transformers.ClvpEncoderConfig(hidden_size=64, intermediate_size=64, projection_dim=64, num_hidden_layers=1,
                                        num_attention_heads=2, vocab_size=64, bos_token_id=1, eos_token_id=2)
torch.manual_seed(1)
encoder = module.ClvpEncoder(config).eval()
for parameter in encoder.parameters():
    if parameter.dim() > 1:
        torch.nn.init.normal_(parameter, std=0.2)
text = torch.randint(3, 64, (1, 10))


def states(padding):
    tokens = torch.cat([torch.full((1, padding), 5), text], dim=1)
    mask = torch.cat([torch.zeros(1, padding), torch.ones(1, 10)], dim=1).long()
    with torch.no_grad():
        return encoder(input_ids=tokens, attention_mask=mask).last_hidden_state[:, padding:]


def change_by_padding():
    return (states(7) - states(0)).abs().max().item()


print("transformers", transformers.__version__)
rotated, rotate = change_by_padding(), module.apply_rotary_pos_emb
module.apply_rotary_pos_emb = lambda q, k, v, *rest: (*rotate(q, k, v, *rest)[:2], v)
left_out = change_by_padding()
print(f"as it is:                     {rotated:.2f}")
print("without rotation of values:  ", "less than 1e-4" if left_out < 1e-4 else f"{left_out:.2g}")
if left_out >= 1e-4:
    sys.exit("Changed: masked tokens change the states even without rotated values.")
if rotated < 0.01:
    sys.exit("Changed: values are not rotated, or are rotated back.")
PYTHON
