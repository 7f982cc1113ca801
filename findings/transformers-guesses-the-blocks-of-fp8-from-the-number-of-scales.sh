#!/usr/bin/env bash
# transformers reads weight_block_size of an FP8 folder, but without a suitable GPU scales its matrices in other blocks.
#
# Surprising: 192 rows in blocks of 128 are a block of 128 and one of 64, so the folder has two scales for them. If a matrix
# is dequantized while it is loaded (asked for by dequantize, and always without a GPU for FP8), the rows are divided by the
# number of scales: two blocks of 96. Rows 96 to 127 get the wrong scale, without a message. If the division has a
# remainder, as for the 576 rows of DeepSeek V3's kv_a_proj_with_mqa, valid folders are refused. The same file has a
# function for the backward pass that uses weight_block_size, and is right.
#
# Versions: transformers 5.24.0, torch 2.11.0, accelerate 1.15.0 (PyPI).
# Seen: a Llama is loaded in which all stored numbers of gate_proj are 1 and the scales of its blocks of 128 rows are 1, 2,
# …; then the rows at which the scale changes, and those at which it should:
#     256 rows  changes at [128]  should at [128]
#     192 rows  changes at [96]   should at [128]
#     384 rows  changes at [128, 256]  should at [128, 256]
#     400 rows  changes at [100, 200, 300]  should at [128, 256, 384]
#     576 rows  RuntimeError  should at [128, 256, 384, 512]
# Source: Fp8Dequantize._dequantize_one in transformers/integrations/finegrained_fp8.py, against _dequantize_fp8_weight there.
# Ours: core/pretrained/quantized_fp8.cpp uses weight_block_size. tests/parity/quantized_reference.py therefore takes the
# reference from the second function (QuantizedFolder.IsDecodedBitForBitAsByItsPackage, "fp8" with its matrix "ragged").
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 accelerate==1.15.0 numpy==2.4.6

CUDA_VISIBLE_DEVICES="" HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=critical \
    "$folder/python/bin/python" - "$folder" <<'PYTHON'
import json
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import _dequantize_fp8_weight

folder, name = sys.argv[1], "model.layers.0.mlp.gate_proj.weight"


def changes(matrix):
    return (matrix[1:, 0] != matrix[:-1, 0]).nonzero().flatten().add(1).tolist()


def loaded(rows):
    """Where the scale changes in gate_proj as it is loaded, and by the function for the backward pass."""
    config = transformers.LlamaConfig(vocab_size=8, hidden_size=128, intermediate_size=rows, num_hidden_layers=1,
                                      num_attention_heads=4, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    tensors = transformers.LlamaForCausalLM(config).state_dict()
    for key in [key for key in tensors if "_proj" in key]:
        height, width = (-(-size // 128) for size in tensors[key].shape)
        tensors[key] = torch.ones(tensors[key].shape).to(torch.float8_e4m3fn)
        tensors[key + "_scale_inv"] = torch.arange(1.0, height + 1)[:, None].repeat(1, width)
    save_file(tensors, f"{folder}/model.safetensors", metadata={"format": "pt"})
    quantized = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic",
                 "modules_to_not_convert": ["lm_head"]}
    with open(f"{folder}/config.json", "w") as file:
        json.dump({**config.to_dict(), "architectures": ["LlamaForCausalLM"], "quantization_config": quantized}, file)
    right = changes(_dequantize_fp8_weight(tensors[name], tensors[name + "_scale_inv"], [128, 128], torch.float32))
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    except RuntimeError as error:
        return type(error).__name__, right
    return changes(model.state_dict()[name]), right


print("transformers", transformers.__version__)
found = {rows: loaded(rows) for rows in (256, 192, 384, 400, 576)}
for rows, (seen, right) in found.items():
    print(f"{rows} rows", seen if isinstance(seen, str) else f"changes at {seen}", f"should at {right}", sep="  ")
if found[256] != ([128], [128]) or found[192][1] != [128]:
    sys.exit("Changed: whole blocks, or weights of the backward pass, are scaled in another way.")
if found[192][0] != [96] or found[400][0] != [100, 200, 300]:
    sys.exit("Changed: rows that are no whole number of blocks are scaled in another way while they are loaded.")
PYTHON
