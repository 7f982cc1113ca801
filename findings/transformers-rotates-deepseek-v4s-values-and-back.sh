#!/usr/bin/env bash
# DeepSeek V4 rotates its values, and attention's output back by the position of the query, as RoPER does.
#
# Surprising: rotary embeddings are known to rotate queries and keys only. In DeepSeek V4 the same vector is key and value, so
# that its last 64 of 512 features are rotated as values, too. What remains is a function of distance only because the output
# is rotated by the opposite angle, in a line behind the attention kernel. An implementation that copies the usual attention
# block lacks this line: it runs, writes plausible text near the beginning, and depends on absolute positions (two ports were
# published without it: AMD-AGI/Primus, pull request 928, and Avarok-Cybersecurity/atlas, pull request 186).
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI), DeepseekV4ForCausalLM with a layer of sliding attention, random weights.
# Seen, for 24 tokens: how much the logits (up to 5.1) change when all positions are moved by 100:
#     as it is:                         less than 1e-4
#     without the rotation of outputs:  5.85
# Source: the line behind attention_interface in DeepseekV4Attention.forward, modeling_deepseek_v4.py (apply_rotary_pos_emb
# with -sin); merged into transformers on 2026-04-28 (pull request 45643).
# Ours: model_types.inc has "rotated_back" for deepseek_v4; docs/value-rotation.md.
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
from transformers.models.deepseek_v4 import modeling_deepseek_v4 as module

config = transformers.DeepseekV4Config(
    vocab_size=64, hidden_size=64, moe_intermediate_size=32, num_hidden_layers=1, num_attention_heads=4, head_dim=64,
    q_lora_rank=32, o_groups=2, o_lora_rank=32, n_routed_experts=4, num_experts_per_tok=2, layer_types=["sliding_attention"],
    mlp_layer_types=["moe"], partial_rotary_factor=0.25, sliding_window=16, initializer_range=0.2, bos_token_id=1,
    eos_token_id=2, pad_token_id=0)
torch.manual_seed(1)
model = transformers.DeepseekV4ForCausalLM(config).eval()
tokens = torch.randint(3, 64, (1, 24), generator=torch.Generator().manual_seed(3))
rotate, calls = module.apply_rotary_pos_emb, []


def rotate_queries_and_keys_only(x, cos, sin, **options):
    """The layer rotates queries, the shared keys and values, and then the output: the last one is left out."""
    calls.append(x)
    return x if len(calls) % 3 == 0 else rotate(x, cos, sin, **options)


def change_by_a_shift():
    with torch.no_grad():
        here, there = (model(tokens, position_ids=torch.arange(24)[None] + shift, use_cache=False).logits
                       for shift in (0, 100))
    return (here - there).abs().max().item()


print("transformers", transformers.__version__)
intact = change_by_a_shift()
module.apply_rotary_pos_emb = rotate_queries_and_keys_only
forgotten = change_by_a_shift()
print("as it is:                        ", "less than 1e-4" if intact < 1e-4 else f"{intact:.2f}")
print(f"without the rotation of outputs:  {forgotten:.2f}")
if len(calls) != 6:
    sys.exit(f"Changed: a layer rotates {len(calls) / 2:g} times.")
if intact >= 1e-4:
    sys.exit("Changed: the logits depend on absolute positions.")
if forgotten < 0.01:
    sys.exit("Changed: the rotation of outputs has no effect.")
PYTHON
