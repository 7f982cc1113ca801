#!/usr/bin/env bash
# transformers rounds the ALiBi biases of Falcon to bfloat16, also in float32, so that many neighbouring keys have the same.
#
# Surprising: the function casts the slopes to bfloat16 and multiplies them by whole numbers, the positions; PyTorch computes
# such a product in bfloat16, whose numbers from 256 on are 2 apart, from 512 on 4 apart. It is cast to float32 only then.
# BLOOM's function, which is otherwise alike, multiplies in float32. Falcon RW is the published model with ALiBi.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for the heads of Falcon RW 1B (32 of 64 features) and 1,024 tokens:
#     head 0 of 32: the bias rises from key to key by [0.0, 2.0, 4.0] from key 512 on; exactly by 0.841
#     511 to 577 of 1023 neighbouring keys have the same bias, by head
#     weights of a query whose scores are equal but for the bias differ by up to 0.16 of their total of 1
# Source: build_alibi_tensor in transformers/models/falcon/modeling_falcon.py ("slopes[..., None].bfloat16() * arange_tensor").
# Ours: core/pretrained/families/falcon.cpp rounds alike (Decoder.ComputesVariantsOfAFamilyAsTransformersDoes, "falcon_rw").
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import torch
import transformers
from transformers.models.falcon.modeling_falcon import build_alibi_tensor

HEADS, WIDTH, LENGTH = 32, 64, 1024  # heads of Falcon RW 1B

print("transformers", transformers.__version__)
given = build_alibi_tensor(torch.ones(1, LENGTH, dtype=torch.long), HEADS, torch.float32)[:, 0].double()
slopes = torch.tensor([2 ** (-8 * (head + 1) / HEADS) for head in range(HEADS)], dtype=torch.float64)
exact = slopes[:, None] * torch.arange(LENGTH)
steps = given[0].diff()
print("head 0 of 32: the bias rises from key to key by", sorted({round(step, 3) for step in steps[512:].tolist()}),
      f"from key 512 on; exactly by {slopes[0]:.3f}")
equal = [(row[1:] == row[:-1]).sum().item() for row in given]
print(f"{min(equal)} to {max(equal)} of {LENGTH - 1} neighbouring keys have the same bias, by head")
weights, right = ((bias / WIDTH**0.5).softmax(-1) for bias in (given, exact))
difference = (weights - right).abs().sum(-1).max().item()
print(f"weights of a query whose scores are equal but for the bias differ by up to {difference:.2f} of their total of 1")
if min(equal) == 0:
    raise SystemExit("Changed: Falcon's biases are not rounded to bfloat16.")
if difference < 0.1:
    raise SystemExit("Changed: the rounding hardly matters.")
PYTHON
