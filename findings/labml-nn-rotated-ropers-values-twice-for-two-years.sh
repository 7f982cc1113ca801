#!/usr/bin/env bash
# RotaryValuePEMultiHeadAttention of labml-nn, RoPER by its own authors, rotated values twice until version 0.4.137.
#
# Surprising: the class is the reference from which RoPER is copied, and its documentation derives that a value at position j
# reaches the query at n rotated by j - n. From the first release that had it, 0.4.123 of 2022-05-30, forward() rotated values
# by j in one line and again in the next, so that they arrive rotated by 2j - n: the output depends on absolute positions, and
# training works as usual. 0.4.137 of 2024-08-24 removed one of them (issue 251 of its repository), without a note for those
# who trained with the others; the weights of such a model give other results since then.
#
# Versions: labml-nn 0.4.136 and 0.4.137, labml 0.5.3, torch 2.11.0 (PyPI).
# Seen, for equal weights, the angle between a value at j and its contribution to the output at n, in the fastest pair:
#     0.4.136  j=2, n=5: -1    j=4, n=7:  1
#     0.4.137  j=2, n=5: -3    j=4, n=7: -3
# Source: RotaryValuePEMultiHeadAttention.forward in labml_nn/transformers/rope/value_pe/__init__.py, lines 230 and 234.
# Ours: "values rotated twice" is one of the mistakes that can be switched on (core/rotary/attention_form.cpp);
# tests/core/reading/run_model_test.cpp (RunModel.ValuesAndTheInverseRotationCanBeLeftOut).
# Takes about 3 GB of disk for a few minutes: the package torch. The other dependencies of labml-nn are not used here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet torch==2.11.0 numpy==2.4.6 einops==0.8.2 pyyaml==6.0.3
for version in 0.4.136 0.4.137; do
    "$folder/python/bin/pip" install --quiet --no-deps --target "$folder/$version" labml-nn==$version labml==0.5.3 labml-helpers==0.4.89
done

cat >"$folder/angles.py" <<'PYTHON'
import math
import sys
from importlib.metadata import version

import torch
from labml_nn.transformers.rope.value_pe import RotaryValuePEMultiHeadAttention

TOKENS, WIDTH = 8, 4
attention = RotaryValuePEMultiHeadAttention(heads=1, d_model=WIDTH, rope_value_percentage=1.0).eval()
for parameter in attention.parameters():
    torch.nn.init.zeros_(parameter)  # no queries and keys: equal weights
for projection in (attention.value.linear, attention.output):
    torch.nn.init.eye_(projection.weight)


def angle(j, n):
    text = torch.zeros(TOKENS, 1, WIDTH)
    text[j, 0, 0] = 1
    with torch.no_grad():
        output = attention(query=text, key=text, value=text)[n, 0] * TOKENS
    return round(math.atan2(output[WIDTH // 2].item(), output[0].item()))


angles = [angle(2, 5), angle(4, 7)]
print(f"{version('labml-nn')}  j=2, n=5: {angles[0]:2}    j=4, n=7: {angles[1]:2}")
expected = {"0.4.136": [-1, 1], "0.4.137": [-3, -3]}[version("labml-nn")]
if angles != expected:
    sys.exit(f"Changed: the angles were {expected}.")
PYTHON
for version in 0.4.136 0.4.137; do
    PYTHONPATH="$folder/$version" "$folder/python/bin/python" "$folder/angles.py"
done
