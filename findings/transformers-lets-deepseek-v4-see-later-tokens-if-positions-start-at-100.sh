#!/usr/bin/env bash
# With position_ids that do not start at 0, a compressed layer of DeepSeek V4 in transformers sees later tokens.
#
# Surprising: position_ids may be given to every model, and with rotary embeddings a constant added to all of them should
# change nothing. The compressed layers of DeepSeek V4 pool blocks of tokens into one key each. Blocks are counted from the
# beginning of the text, whatever position_ids say, and a token sees all blocks whose number is below its own position divided
# by their size: at position 100, blocks of later tokens, too. Logits are then not causal, and there is no warning. Layers of
# sliding attention are not affected.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI), DeepseekV4ForCausalLM with one layer, blocks of 8 tokens, random weights.
# Seen, for 24 tokens: how much the logits of the first token (up to 5.5) change when the last token is replaced:
#     sliding_attention             positions from   0: 0.00
#     sliding_attention             positions from 100: 0.00
#     heavily_compressed_attention  positions from   0: 0.00
#     heavily_compressed_attention  positions from 100: 1.15
# Source: DeepseekV4HCACompressor.forward in modeling_deepseek_v4.py, lines 431 to 455 (positions, causal_threshold).
# Ours: none yet; before RoPER Lab runs this model, look --shift has to move the blocks of keys as well.
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


def new_model(layer):
    config = transformers.DeepseekV4Config(
        vocab_size=64, hidden_size=64, moe_intermediate_size=32, num_hidden_layers=1, num_attention_heads=4, head_dim=64,
        q_lora_rank=32, o_groups=2, o_lora_rank=32, n_routed_experts=4, num_experts_per_tok=2, layer_types=[layer],
        mlp_layer_types=["moe"], partial_rotary_factor=0.25, sliding_window=16, initializer_range=0.2, bos_token_id=1,
        eos_token_id=2, pad_token_id=0, compress_rates={"compressed_sparse_attention": 4, "heavily_compressed_attention": 8})
    torch.manual_seed(1)
    return transformers.DeepseekV4ForCausalLM(config).eval()


tokens = torch.randint(3, 64, (1, 24), generator=torch.Generator().manual_seed(3))
replaced = tokens.clone()
replaced[0, -1] = (tokens[0, -1] + 1) % 64
print("transformers", transformers.__version__)
seen = {}
for layer in ("sliding_attention", "heavily_compressed_attention"):
    model = new_model(layer)
    for start in (0, 100):
        with torch.no_grad():
            first = [model(text, position_ids=torch.arange(24)[None] + start, use_cache=False).logits[0, 0]
                     for text in (tokens, replaced)]
        seen[layer, start] = (first[0] - first[1]).abs().max().item()
        print(f"{layer:29} positions from {start:3}: {seen[layer, start]:.2f}")
if max(change for case, change in seen.items() if case != ("heavily_compressed_attention", 100)) > 1e-5:
    sys.exit("Changed: another layer sees later tokens, or one whose positions start at 0.")
if seen["heavily_compressed_attention", 100] < 0.01:
    sys.exit("Changed: blocks of later tokens are hidden.")
PYTHON
