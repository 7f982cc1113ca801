#!/usr/bin/env bash
# YaRN amplifies the values of DeepSeek V4 in transformers by 1.63 if its parameters are given for each kind of layer.
#
# Surprising: YaRN multiplies cos and sin by m = 0.1 ln(factor) + 1, meant for queries and keys, whose scores grow by m².
# DeepSeek V4 also rotates values by them and the output back. Rotating back by the transposed matrix does not undo m, it
# applies m a second time: the rotated features of attention's output are m² as large. The model was trained without m, and
# transformers therefore sets attention_factor to 1, but only if the parameters are given flat, as in the rope_scaling of the
# published config.json. The same parameters under "compress", as the library itself stores them, are used with m.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI), DeepseekV4Attention with YaRN's factor 16 and 64 of 512 features rotated.
# Seen, for equal weights and the identity as projections, the length of an output whose value has length 1:
#     flat parameters:    not rotated 1.00, rotated 1.00
#     nested parameters:  not rotated 1.00, rotated 1.63
# Source: the end of DeepseekV4Config.__post_init__ in configuration_deepseek_v4.py, and DeepseekV4Attention.forward.
# llama.cpp multiplies by 1/m where it rotates (dsv4_rope_attn_factor in src/models/deepseek4.cpp).
# Ours: YaRN's factor applies to queries and keys only, so that R(-n) undoes R(n) (docs/models.md).
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import math
import sys

import torch
import transformers
from transformers.models.deepseek_v4.modeling_deepseek_v4 import DeepseekV4Attention, DeepseekV4RotaryEmbedding

TOKENS, WIDTH = 4, 512


def lengths(rope_parameters):
    """Lengths of the last token's output for each feature of the first token's value."""
    config = transformers.DeepseekV4Config(
        hidden_size=WIDTH, head_dim=WIDTH, num_attention_heads=1, q_lora_rank=8, o_groups=1, o_lora_rank=WIDTH,
        num_hidden_layers=1, layer_types=["heavily_compressed_attention"], rope_parameters=rope_parameters,
        attn_implementation="eager")
    attention, rotary = DeepseekV4Attention(config, 0).eval(), DeepseekV4RotaryEmbedding(config)
    attention.compressor = None  # no text here is long enough to fill a block
    for name, parameter in attention.named_parameters():
        torch.nn.init.constant_(parameter, 1 if "norm" in name else 0)  # no query: equal scores
    torch.nn.init.constant_(attention.sinks, -1e9)
    for projection in (attention.kv_proj, attention.o_a_proj, attention.o_b_proj):
        torch.nn.init.eye_(projection.weight)
    texts = torch.zeros(WIDTH, TOKENS, WIDTH)  # text i has feature i in its first token
    texts[:, 0] = torch.eye(WIDTH) / math.sqrt(WIDTH) * 10
    positions = torch.arange(TOKENS)[None]
    angles = {kind: rotary(texts, positions, layer_type=kind) for kind in rotary.layer_types}
    with torch.no_grad():
        output = attention(texts, angles, positions, None)[0][:, -1]
    return output.norm(dim=-1) * TOKENS / math.sqrt(WIDTH)  # the norm of a text gives its value the length sqrt(512)


yarn = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 65536, "beta_fast": 32.0, "beta_slow": 1.0}
flat = lengths(dict(yarn))
nested = lengths({"main": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.125},
                  "compress": {**yarn, "rope_theta": 160000.0, "partial_rotary_factor": 0.125}})
print("transformers", transformers.__version__)
for name, output in (("flat", flat), ("nested", nested)):
    print(f"{name + ' parameters:':18}  not rotated {output[0]:.2f}, rotated {output[-1]:.2f}")
squared = (0.1 * math.log(16) + 1) ** 2
if abs(flat[-1] - 1) > 0.01:
    sys.exit("Changed: flat parameters amplify values, too.")
if abs(nested[-1] - squared) > 0.01:
    sys.exit(f"Changed: nested parameters amplify values by {nested[-1]:.3f} instead of {squared:.3f}.")
PYTHON
