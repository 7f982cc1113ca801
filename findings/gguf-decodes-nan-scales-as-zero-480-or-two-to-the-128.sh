#!/usr/bin/env bash
# A block's scale that is NaN by the standards of MXFP4 and NVFP4 is a number in GGUF files: 0, 480 or 2^128.
#
# Surprising: the scale of an NVFP4 block is an E4M3 byte, in which 0x7F and 0xFF are NaN. The package gguf, like ggml in C,
# ignores the sign bit but tests for 0x7F before that: 0x7F is 0, so the block vanishes, and 0xFF is 480, a number that E4M3
# does not have. The scale of an MXFP4 block is an E8M0 byte, in which 255 is NaN; here it is 2^128, so numbers of the block
# are 0, ±2^127 or infinite. One would expect NaN, at least for both bytes alike: a NaN copied from another format becomes
# zeros or large numbers without a message, and a decoder written by the standards differs from llama.cpp.
#
# Versions: gguf 0.19.0, numpy 2.4.6, ml_dtypes 0.6.0 (PyPI), whose types are those of the standards.
# Seen: 1 decoded with a scale by gguf, and the scale by ml_dtypes:
#     NVFP4  0x38  gguf 1.0    E4M3 1.0
#     NVFP4  0xb8  gguf 1.0    E4M3 -1.0
#     NVFP4  0x7e  gguf 448.0  E4M3 448.0
#     NVFP4  0x7f  gguf 0.0    E4M3 nan
#     NVFP4  0xff  gguf 480.0  E4M3 nan
#     MXFP4  0x7f  gguf 1.0    E8M0 1.0
#     MXFP4  0xff  gguf inf    E8M0 nan
#     MXFP4  0xff  gguf decodes 0, 0.5 and 1 to 0.0, 1.7014118346046923e+38 and inf
# Source: NVFP4.ue4m3_to_fp32 and MXFP4.e8m0_to_fp32_half in gguf/quants.py; ggml_ue4m3_to_fp32 and ggml_e8m0_to_fp32_half in
# llama.cpp's ggml/src/ggml-impl.h.
# Ours: core/pretrained/element_types/four_bit_formats.cpp decodes GGUF files so; tests/core/pretrained/gguf_file_test.cpp
# (Gguf.EveryTypeIsDecodedBitForBitAsByItsPackage) has a block with each of these scales.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet gguf==0.19.0 numpy==2.4.6 ml_dtypes==0.6.0

"$folder/python/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

import ml_dtypes
import numpy
from gguf import GGMLQuantizationType
from gguf.quants import dequantize

numpy.seterr(over="ignore")
ZERO, HALF, ONE = 0x00, 0x11, 0x22  # two numbers of E2M1 in a byte


def decoded(kind, scale, numbers):
    """A block of equal numbers; four parts of a block of NVFP4 have a scale each."""
    head, body = (4, 32) if kind == "NVFP4" else (1, 16)
    block = numpy.array([[scale] * head + [numbers] * body], numpy.uint8)
    (value,) = set(dequantize(block, GGMLQuantizationType[kind]).flat)
    return float(value)


def by_standard(kind, scale):
    dtype = ml_dtypes.float8_e4m3fn if kind == "NVFP4" else ml_dtypes.float8_e8m0fnu
    return float(numpy.array([scale], numpy.uint8).view(dtype)[0])


print("gguf", version("gguf"), "ml_dtypes", version("ml_dtypes"))
cases = [("NVFP4", 0x38), ("NVFP4", 0xB8), ("NVFP4", 0x7E), ("NVFP4", 0x7F), ("NVFP4", 0xFF), ("MXFP4", 0x7F), ("MXFP4", 0xFF)]
seen = [decoded(*case, ONE) for case in cases]
for (kind, scale), value in zip(cases, seen):
    print(f"{kind}  {scale:#04x}  gguf {value:<5}  {'E4M3' if kind == 'NVFP4' else 'E8M0'} {by_standard(kind, scale)}")
last = [decoded("MXFP4", 0xFF, numbers) for numbers in (ZERO, HALF, ONE)]
print("MXFP4  0xff  gguf decodes 0, 0.5 and 1 to {}, {} and {}".format(*last))
if seen != [1, 1, 448, 0, 480, 1, float("inf")] or last != [0, 2.0**127, float("inf")]:
    sys.exit("Changed: gguf decodes such scales in another way.")
PYTHON
