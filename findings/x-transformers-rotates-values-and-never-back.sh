#!/usr/bin/env bash
# rotary_embed_values of x-transformers leaves values rotated, so that the output for a text depends on its absolute
# position.
#
# Surprising: one expects an option of rotary embeddings to preserve their main property, that only distances matter.
# Rotating values does preserve it if the sum is rotated back by the query's position (RoPER). This code rotates queries,
# keys and values alike, but not the output. Two texts that differ only in their offset give different outputs, which only a
# test with shifted positions reveals: training works as usual.
#
# Versions: x-transformers 1.44.8, torch 2.11.0 (PyPI).
# Seen, one layer of width 64, two heads, ten random tokens, all positions moved by 7 (outputs are up to 3.0):
#     rotary_embed_values off: outputs change by less than 1e-5
#     rotary_embed_values on:  outputs change by 0.14
# Source: Attention.forward in x_transformers/x_transformers.py, line 1527: v is rotated there, the output nowhere.
# Ours: tests/core/reading/run_model_test.cpp (RunModel.ValuesAndTheInverseRotationCanBeLeftOut): RoPER is invariant to a
# shift by 500; without its inverse rotation it is not.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet x-transformers==1.44.8 einops==0.8.2 einx==0.3.0 torch==2.11.0 numpy==2.4.6

"$folder/python/bin/python" - <<'PYTHON' 2> >(grep --invert-match "rotary embedding dimension" >&2)
import sys
from importlib.metadata import version

import torch
from x_transformers import Encoder

print("x-transformers", version("x-transformers"))
moved = {}
for rotated in (False, True):
    torch.manual_seed(1)
    model = Encoder(dim=64, depth=1, heads=2, attn_dim_head=32, rotary_pos_emb=True, attn_rotary_embed_values=rotated).eval()
    tokens, positions = torch.randn(1, 10, 64), torch.arange(10)[None]
    with torch.no_grad():
        moved[rotated] = (model(tokens, pos=positions) - model(tokens, pos=positions + 7)).abs().max().item()
print("rotary_embed_values off: outputs change by", "less than 1e-5" if moved[False] < 1e-5 else f"{moved[False]:.2g}")
print(f"rotary_embed_values on:  outputs change by {moved[True]:.2f}")
if moved[False] >= 1e-5:
    sys.exit("Changed: even without the option a shift changes the output.")
if moved[True] < 0.01:
    sys.exit("Changed: values are rotated back.")
PYTHON
