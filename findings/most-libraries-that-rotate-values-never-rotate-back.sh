#!/usr/bin/env bash
# Of the Python libraries that rotate values, most leave the output rotated by the absolute positions of the values.
#
# Surprising: if values are rotated, outputs stay relative only if they are rotated back by the position of the query
# (R(j - n), as in RoPER); otherwise they depend on where a text begins. Yet "values are rotated" means R(j) in
# x-transformers, DALLE-pytorch, RoFormer and CLVP, R(j - n) in labml-nn, DeepSeek V4 and torch_brain, and R(2j - n) in
# labml-nn until 2024; pairs of features and the part that rotates differ as well. Weights trained with one of them give
# other results in another.
#
# Versions: labml-nn 0.4.136 and 0.4.137, x-transformers 1.19.0 and 1.30.1, dalle-pytorch 1.6.6, torch_brain 0.2.1,
# transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for equal weights and the identity as projections: what a value of width 64 (DeepSeek V4: 512) at j becomes at n:
#     labml-nn 0.4.136            halves      features   0 to  31  R(2j - n)
#     labml-nn 0.4.137            halves      features   0 to  31  R(j - n)
#     x-transformers 1.19.0       halves      features   0 to  31  R(j)
#     x-transformers 1.30.1       neighbours  features   0 to  31  R(j)
#     DALLE-pytorch 1.6.6         neighbours  features   0 to  19  R(j)
#     transformers RoFormer       neighbours  features   0 to  63  R(j)
#     transformers CLVP           halves      features   0 to  31  R(j)
#     transformers DeepSeek V4    neighbours  features 448 to 511  R(j - n)
#     torch_brain 0.2.1           neighbours  features   0 to  31  R(j - n)
# Source: rotary_pos_emb in x_transformers/x_transformers.py, apply_pos_emb in dalle_pytorch/attention.py, rotary_value in
# modeling_roformer.py, rotate_value in torch_brain/nn/rotary_attention.py; for the others see their own scripts.
# Ours: the rows of docs/value-rotation.md and resources/value_rotation.toml that name this script.
# Takes about 3 GB of disk for a few minutes: the package torch. Other dependencies of these libraries are not used here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6 einops==0.8.2
add() {
    "$folder/python/bin/pip" install --quiet --no-deps --target "$folder/$1" "${@:2}"
}
add labml-nn-0.4.136 labml-nn==0.4.136 labml==0.5.3 labml-helpers==0.4.89
add labml-nn-0.4.137 labml-nn==0.4.137 labml==0.5.3 labml-helpers==0.4.89
add x-transformers-1.19.0 x-transformers==1.19.0
add x-transformers-1.30.1 x-transformers==1.30.1
add dalle-pytorch-1.6.6 dalle-pytorch==1.6.6 rotary-embedding-torch==0.9.1
add torch_brain-0.2.1 torch_brain==0.2.1

cat >"$folder/measure.py" <<'PYTHON'
"""Prints which rotation the attention of a library applies to values: measure.py LIBRARY EXPECTED"""
import importlib.util
import math
import sys
from pathlib import Path

import torch

TOKENS, WIDTH = 8, 64
torch.set_grad_enabled(False)


def with_identity(module, *projections):
    """Equal scores, because all other parameters are zero; values and outputs pass unchanged."""
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    for weight in projections:
        torch.nn.init.eye_(weight)
    return module.eval()


def labml():
    from labml_nn.transformers.rope.value_pe import RotaryValuePEMultiHeadAttention
    attention = RotaryValuePEMultiHeadAttention(heads=1, d_model=WIDTH)
    with_identity(attention, attention.value.linear.weight, attention.output.weight)

    def forward(x):
        x = x.transpose(0, 1)
        return attention(query=x, key=x, value=x).transpose(0, 1)
    return forward


def x_transformers():
    from x_transformers.x_transformers import Attention, RotaryEmbedding
    options = {"rotary_embed_values": True} if "1.30.1" in sys.argv[1] else {}
    attention = Attention(WIDTH, dim_head=WIDTH, heads=1, **options)
    with_identity(attention, attention.to_v.weight, attention.to_out.weight)
    rotary = RotaryEmbedding(max(WIDTH // 2, 32))
    frequencies = rotary.forward_from_seq_len(TOKENS) if options else rotary(TOKENS, "cpu")

    def forward(x):
        output = attention(x, rotary_pos_emb=frequencies)
        return output[0] if isinstance(output, tuple) else output
    return forward


def dalle():
    from rotary_embedding_torch import RotaryEmbedding
    file = next(Path(folder) / "dalle_pytorch" / "attention.py" for folder in sys.path
                if (Path(folder) / "dalle_pytorch" / "attention.py").exists())
    specification = importlib.util.spec_from_file_location("dalle_attention", file)  # the package itself imports torchvision
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    attention = module.Attention(WIDTH, TOKENS, causal=False, heads=1, dim_head=WIDTH)
    with_identity(attention, attention.to_qkv.weight[2 * WIDTH:], attention.to_out[0].weight)
    angles = RotaryEmbedding(dim=WIDTH // 3)(torch.arange(TOKENS))[None]  # those of a text; an image has two more parts
    return lambda x: attention(x, rotary_pos_emb=angles)


def roformer():
    from transformers.models.roformer import modeling_roformer as module
    config = module.RoFormerConfig(hidden_size=WIDTH, num_attention_heads=1, rotary_value=True)
    attention = module.RoFormerSelfAttention(config)
    with_identity(attention, attention.value.weight)
    angles = torch.arange(TOKENS)[:, None] / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    return lambda x: attention(x, sinusoidal_pos=torch.cat([angles.sin(), angles.cos()], dim=-1)[None, None])[0]


def clvp():
    from transformers.models.clvp import modeling_clvp as module
    config = module.ClvpEncoderConfig(hidden_size=WIDTH, projection_dim=WIDTH, num_attention_heads=1)
    attention, rotary = module.ClvpSelfAttention(config), module.ClvpRotaryPositionalEmbedding(config)
    with_identity(attention, attention.v_proj.weight, attention.out_proj.weight)
    return lambda x: attention(x, rotary_pos_emb=rotary(x), position_ids=torch.arange(TOKENS)[None])[0]


def deepseek():
    global WIDTH
    WIDTH = 512
    from transformers.models.deepseek_v4 import modeling_deepseek_v4 as module
    config = module.DeepseekV4Config(
        hidden_size=WIDTH, head_dim=WIDTH, num_attention_heads=1, q_lora_rank=8, o_groups=1, o_lora_rank=WIDTH,
        num_hidden_layers=1, layer_types=["sliding_attention"], attn_implementation="eager", rms_norm_eps=1e-12)
    attention, rotary = module.DeepseekV4Attention(config, 0), module.DeepseekV4RotaryEmbedding(config)
    with_identity(attention, attention.kv_proj.weight, attention.o_a_proj.weight, attention.o_b_proj.weight)
    torch.nn.init.constant_(attention.sinks, -1e9)
    torch.nn.init.constant_(attention.kv_norm.weight, WIDTH ** -0.5)  # the norm makes the length of a value sqrt(512)
    positions = torch.arange(TOKENS)[None]
    return lambda x: attention(x, {"main": rotary(x, positions, layer_type="main")}, positions, None)[0]


def torch_brain():
    from torch_brain.nn import RotarySelfAttention, RotaryTimeEmbedding
    attention = RotarySelfAttention(dim=WIDTH, heads=1, dim_head=WIDTH, rotate_value=True)
    with_identity(attention, attention.to_qkv.weight[2 * WIDTH:], attention.to_out.weight)
    attention.norm = torch.nn.Identity()
    rotary = RotaryTimeEmbedding(head_dim=WIDTH, rotate_dim=WIDTH // 2, t_min=2 * math.pi, t_max=1000.0)
    return lambda x: attention(x, rotary(torch.arange(TOKENS).float())[None].expand(len(x), -1, -1))


forward = {"labml-nn": labml, "x-transformers": x_transformers, "DALLE-pytorch": dalle, "RoFormer": roformer, "CLVP": clvp,
           "DeepSeek": deepseek, "torch_brain": torch_brain}[
               sys.argv[1].removeprefix("transformers ").split()[0]]()


def matrix(j, n):
    """What a value at j becomes in the output at n: column i is the image of feature i."""
    texts = torch.zeros(WIDTH, TOKENS, WIDTH)
    texts[:, j] = torch.eye(WIDTH)
    return forward(texts)[:, n].T * TOKENS


points = [(2, 5), (4, 7), (3, 3), (6, 1)]
matrices = [matrix(j, n) for j, n in points]
rotating = [i for i in range(WIDTH) if any((one[i].abs() > 1e-6).sum() > 1 for one in matrices)]
first, last = rotating[0], rotating[-1]
partner = next(i for i in rotating[1:] if matrices[0][first, i].abs() > 1e-3)
angles = [math.atan2(one[partner, first], one[first, first]) for one in matrices]
names = {"R(j)": lambda j, n: j, "R(j - n)": lambda j, n: j - n, "R(2j - n)": lambda j, n: 2 * j - n,
         "R(n - j)": lambda j, n: n - j}
applied = [name for name, angle in names.items()
           if all(abs(math.remainder(angle(*point) - seen, 2 * math.pi)) < 1e-3 for point, seen in zip(points, angles))]
pairs = {first + 1: "neighbours", first + len(rotating) // 2: "halves"}.get(partner, f"{first} and {partner}")
line = f"{pairs:10}  features {first:3} to {last:3}  {' or '.join(applied) or 'no known rotation'}"
print(f"{sys.argv[1]:26}  {line}")
if line.split() != sys.argv[2].split():
    sys.exit(f"Changed: this was {sys.argv[2]}.")
PYTHON
measure() {
    PYTHONPATH="$folder/$1" HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error \
        "$folder/python/bin/python" -W ignore "$folder/measure.py" "$2" "$3"
}
measure labml-nn-0.4.136 "labml-nn 0.4.136" "halves features 0 to 31 R(2j - n)"
measure labml-nn-0.4.137 "labml-nn 0.4.137" "halves features 0 to 31 R(j - n)"
measure x-transformers-1.19.0 "x-transformers 1.19.0" "halves features 0 to 31 R(j)"
measure x-transformers-1.30.1 "x-transformers 1.30.1" "neighbours features 0 to 31 R(j)"
measure dalle-pytorch-1.6.6 "DALLE-pytorch 1.6.6" "neighbours features 0 to 19 R(j)"
measure . "transformers RoFormer" "neighbours features 0 to 63 R(j)"
measure . "transformers CLVP" "halves features 0 to 31 R(j)"
measure . "transformers DeepSeek V4" "neighbours features 448 to 511 R(j - n)"
measure torch_brain-0.2.1 "torch_brain 0.2.1" "neighbours features 0 to 31 R(j - n)"
