#!/usr/bin/env bash
# bitsandbytes decodes its own NF4 and FP4 matrices wrongly on a processor with AVX-512 if a row is not a whole number of
# blocks.
#
# Surprising: quantize_4bit cuts a matrix into blocks of (usually) 64 numbers as if it were one long row, so a block may
# reach from one row into the next, and the package's generic code decodes it so. The code for AVX-512 takes ⌊columns / 64⌋
# scales for each row instead: from the second row on, numbers are multiplied by scales of other blocks. This needs rows
# that are a multiple of 16 but not of the block size, such as the 4304 inputs of a layer in SigLIP So400m; others are
# decoded correctly. There is no message, and errors that are a few times larger than usual are easily blamed on four bits.
# The same bytes decoded as a single row are right, and so, by the source, are those decoded on another processor.
#
# Versions: bitsandbytes 0.50.2, torch 2.11.0 (PyPI), on an AMD EPYC with AVX-512.
# Seen: relative error of a random matrix, whose last row is eight times as large as its first one, after quantizing and
# decoding it as it is and as a single row:
#     nf4  37 × 128    as it is 0.092   as one row 0.092
#     nf4  37 × 96     as it is 0.288   as one row 0.090
#     nf4  37 × 100    as it is 0.090   as one row 0.090
#     nf4  37 × 4304   as it is 0.245   as one row 0.092
#     (FP4 likewise: 0.297 instead of 0.120 for 37 × 96)
# Source: dequantizeBlockwise4bitCpu in csrc/cpu_ops.cpp (absmax_dim_1), called by dequantize_4bit in
# bitsandbytes/backends/cpu/ops.py, which uses the generic code only for odd numbers of columns and for blocks of 2048 or
# more with AVX-512.
# Ours: core/pretrained/quantized_bitsandbytes.cpp decodes one long row. tests/parity/quantized_reference.py therefore takes
# the reference from the package's generic code (QuantizedFolder.IsDecodedBitForBitAsByItsPackage, "bitsandbytes_4_bits").
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
grep --quiet --word-regexp avx512f /proc/cpuinfo || { echo "This behaviour needs a processor with AVX-512."; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet bitsandbytes==0.50.2 torch==2.11.0 numpy==2.4.6

"$folder/python/bin/python" - <<'PYTHON' 2> >(grep --invert-match "No module named 'kernels'" >&2)
import sys

import bitsandbytes
import torch
from bitsandbytes.functional import dequantize_4bit, quantize_4bit

print("bitsandbytes", bitsandbytes.__version__)
errors = {}
for kind in ("nf4", "fp4"):
    for columns in (128, 96, 100, 4304):
        matrix = torch.randn(37, columns, generator=torch.Generator().manual_seed(1)) * torch.linspace(1, 8, 37)[:, None]
        found = []
        for shape in ((37, columns), (1, 37 * columns)):
            stored = quantize_4bit(matrix.reshape(shape), blocksize=64, quant_type=kind)
            found.append(((dequantize_4bit(*stored).reshape(matrix.shape) - matrix).norm() / matrix.norm()).item())
        errors[kind, columns] = found
        print(f"{kind}  {f'37 × {columns}':10}  as it is {found[0]:.3f}   as one row {found[1]:.3f}")
if any(abs(error[0] - error[1]) > 0.01 for (_, columns), error in errors.items() if columns in (128, 100)):
    sys.exit("Changed: rows that are whole blocks, or no multiple of 16, are decoded in another way.")
if any(error[0] < 1.2 * error[1] for (_, columns), error in errors.items() if columns in (96, 4304)):
    sys.exit("Changed: rows that are no whole number of blocks are decoded like one long row.")
PYTHON
