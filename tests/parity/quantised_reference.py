"""Writes pretrained/quantised/NAME.safetensors, quantized matrices as folders of Hugging Face hold them, with the config's
members in the metadata, and NAME.expected.safetensors, the same matrices decoded in float32 by the packages that made them.
Run with Python packages torch (2.11), transformers (5.24), safetensors and numpy."""

import json
import pathlib
from collections.abc import Callable

import torch
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import _dequantize_fp8_weight
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

HERE = pathlib.Path(__file__).parent / "pretrained/quantised"
Tensors = dict[str, torch.Tensor]


def every_byte(kind: torch.dtype) -> torch.Tensor:
    return torch.arange(256, dtype=torch.uint8).reshape(2, 128).view(kind)


def fp8() -> tuple[dict, Tensors, Tensors]:
    """Blocks of 16 × 32; the last of some matrices are smaller."""
    stored, decoded = {}, {}
    for name, kind, shape, scale_kind in (
        ("even", torch.float8_e4m3fn, (32, 64), torch.float32),
        ("ragged", torch.float8_e4m3fn, (24, 40), torch.float32),
        ("smaller", torch.float8_e5m2, (5, 7), torch.bfloat16),
        ("experts", torch.float8_e4m3fn, (3, 20, 33), torch.float32),
        ("powers", torch.float8_e4m3fn, (17, 64), torch.float8_e8m0fnu),
    ):
        weight = torch.randn(shape).to(kind)
        grid = (*shape[:-2], -(-shape[-2] // 16), -(-shape[-1] // 32))
        scale = (torch.rand(grid) * 0.01).to(scale_kind)
        stored[f"{name}.weight"], stored[f"{name}.weight_scale_inv"] = weight, scale
        decoded[f"{name}.weight"] = _dequantize_fp8_weight(weight, scale, [16, 32], torch.float32)
    stored["even.activation_scale"] = torch.tensor(0.5)
    stored["norm.weight"] = torch.randn(8)
    decoded["norm.weight"] = stored["norm.weight"]
    members = {"quant_method": "fp8", "weight_block_size": [16, 32], "activation_scheme": "static", "fmt": "e4m3"}
    return {"quantization_config": members}, stored, decoded


def fp8_by_matrix() -> tuple[dict, Tensors, Tensors]:
    stored, decoded = {}, {}
    for name, kind, scale in (
        ("e4m3", torch.float8_e4m3fn, torch.tensor(1.0)),
        ("e5m2", torch.float8_e5m2, torch.tensor([0.7])),
    ):
        weight = every_byte(kind)
        stored[f"{name}.weight"], stored[f"{name}.weight_scale_inv"] = weight, scale
        decoded[f"{name}.weight"] = _dequantize_fp8_weight(weight, scale, None, torch.float32)
    return {"quantization_config": {"quant_method": "fp8", "weight_block_size": None}}, stored, decoded


def fp8_without_scales() -> tuple[dict, Tensors, Tensors]:
    stored = {"e4m3.weight": every_byte(torch.float8_e4m3fn), "e5m2.weight": every_byte(torch.float8_e5m2)}
    return {}, stored, {name: tensor.float() for name, tensor in stored.items()}


def mxfp4() -> tuple[dict, Tensors, Tensors]:
    stored, decoded = {}, {}
    for name, shape in (("gate_up_proj", (2, 70, 3, 16)), ("down_proj", (1, 3, 1, 16))):
        blocks = torch.randint(0, 256, shape, dtype=torch.uint8)
        scales = torch.randint(110, 130, shape[:-1], dtype=torch.uint8)
        scales[0, :3, 0] = torch.tensor([0, 254, 255])
        stored[f"experts.{name}_blocks"], stored[f"experts.{name}_scales"] = blocks, scales
        decoded[f"experts.{name}"] = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
    members = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}
    return {"quantization_config": members}, stored, decoded


SCHEMES: list[Callable[[], tuple[dict, Tensors, Tensors]]] = [fp8, fp8_by_matrix, fp8_without_scales, mxfp4]


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for scheme in SCHEMES:
        torch.manual_seed(7)
        config, stored, decoded = scheme()
        save_file(stored, HERE / f"{scheme.__name__}.safetensors", {"config": json.dumps(config)})
        decoded = {name: tensor.float().contiguous() for name, tensor in decoded.items()}
        save_file(decoded, HERE / f"{scheme.__name__}.expected.safetensors")


if __name__ == "__main__":
    main()
