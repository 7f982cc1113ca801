#!/usr/bin/env bash
# With a sliding window of one token, generation with a cache attends to all earlier tokens.
#
# Surprising: in a model with sliding_window 1 each token sees only itself, and a forward pass over a whole text computes that.
# With the cache, which generate() uses by default, tokens after the first call see every earlier token, so the same text has
# other logits, without a warning. Windows of 2 and more agree with and without the cache. The cache keeps the last
# sliding_window − 1 keys as keys[-sliding_window + 1:], and for a window of one that is keys[0:], all of them; the mask then
# counts from a wrong first key.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a random Mistral of two layers, ten tokens, the last four one at a time:
#     window 1: logits with and without the cache differ by up to 7.8; the cache holds 10 keys
#     window 2: logits with and without the cache differ by up to 3e-06; the cache holds 1 keys
#     window 3: logits with and without the cache differ by up to 3.9e-06; the cache holds 2 keys
# Source: DynamicSlidingWindowLayer.update in cache_utils.py.
# Ours: the same with and without a cache, as in the forward pass.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" -W ignore - <<'PYTHON'
import sys

import torch
import transformers

print("transformers", transformers.__version__)
differences = {}
for window in (1, 2, 3):
    torch.manual_seed(1)
    config = transformers.MistralConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        sliding_window=window, initializer_range=0.3)
    model = transformers.MistralForCausalLM(config).eval()
    text = torch.randint(0, 64, (1, 10))
    with torch.inference_mode():
        whole = model(text, use_cache=False).logits
        first = model(text[:, :6], use_cache=True)
        cache, parts = first.past_key_values, [first.logits]
        for at in range(6, 10):
            parts.append(model(text[:, at:at + 1], past_key_values=cache, use_cache=True).logits)
    differences[window] = (torch.cat(parts, 1) - whole).abs().max().item()
    print(f"window {window}: logits with and without the cache differ by up to {differences[window]:.2g}; "
          f"the cache holds {cache.layers[0].keys.shape[2]} keys")
if differences[1] < 1 or max(differences[2], differences[3]) > 1e-4:
    sys.exit("The behaviour has changed.")
PYTHON
