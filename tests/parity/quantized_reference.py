"""Writes pretrained/quantized.tar.xz: quantized/NAME.safetensors, quantized matrices as folders of Hugging Face hold them, with
the config's members in the metadata, and NAME.expected.safetensors, the same matrices decoded in float32 by the packages that made them.
Packages for GPTQ and AWQ decode only in float16, so their formulas are written out. Run with Python packages torch (2.11),
transformers (5.24), bitsandbytes (0.50.2), mlx (0.32.4, with mlx-cpu), safetensors and numpy."""

import json
import pathlib
import tempfile
from collections.abc import Callable

import bitsandbytes
import mlx.core
import numpy
import torch
from archive import pack
from bitsandbytes.backends.default.ops import _dequantize_4bit_compute
from safetensors.torch import save_file
from transformers.integrations.bitnet import pack_weights, unpack_weights
from transformers.integrations.finegrained_fp8 import _dequantize_fp8_weight
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

ARCHIVE = pathlib.Path(__file__).parent / "pretrained" / "quantized.tar.xz"
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


def packed(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """[.., n] whole numbers as a stream of words of 32 bits, the lowest bits first."""
    places = numpy.arange(bits, dtype=numpy.int64)
    stream = (numbers.numpy()[..., None] >> places & 1).reshape(*numbers.shape[:-1], -1).astype(numpy.uint8)
    words = numpy.packbits(stream, axis=-1, bitorder="little").view(numpy.uint32)
    return torch.from_numpy(words.view(numpy.int32))


def groups(bits: int, inputs: int, outputs: int, group: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random numbers [in, out], zeros and scales [groups, out]."""
    count = -(-inputs // group)
    numbers = torch.randint(0, 2**bits, (inputs, outputs))
    return numbers, torch.randint(0, 2**bits, (count, outputs)), (torch.rand(count, outputs) * 0.01).half()


def plus_one(zeros: torch.Tensor, bits: int) -> torch.Tensor:
    """One more than zeros [groups, out]: the largest number becomes 0 and carries into the next field of its word."""
    if bits == 3:
        return (zeros + 1) & 7
    fields = 32 // bits
    weights = 1 << (bits * torch.arange(fields))
    words = ((zeros.reshape(len(zeros), -1, fields) * weights).sum(-1) + weights.sum()) & 0xFFFFFFFF
    return ((words[..., None] // weights) & (2**bits - 1)).reshape(zeros.shape)


def gptq_of(bits: int, version: str, group: int, *, sorted_columns: bool = False) -> tuple[dict, Tensors, Tensors]:
    """As gptqmodel 5: zeros are stored less one, which is added to all fields of a word at once, except in three bits."""
    stored, decoded = {}, {}
    matrices = [("layer.a", 64, 64)] if bits in (2, 8) else [("layer.a", 320, 32), ("layer.b", 64, 32)]
    for name, inputs, outputs in matrices:
        size = inputs if group == -1 else group
        numbers, zeros, scales = groups(bits, inputs, outputs, size)
        order = torch.arange(inputs) // size
        if sorted_columns:
            order = order[torch.randperm(inputs)]
        stored[f"{name}.qweight"] = packed(numbers.T, bits).T.contiguous()
        stored[f"{name}.qzeros"], stored[f"{name}.scales"] = packed(zeros, bits), scales
        if sorted_columns or name == "layer.a":
            stored[f"{name}.g_idx"] = order.int()
        if version == "gptq":
            zeros = plus_one(zeros, bits)
        decoded[f"{name}.weight"] = ((numbers - zeros[order]).float() * scales.float()[order]).T
        stored[f"{name}.bias"] = decoded[f"{name}.bias"] = torch.randn(outputs).half()
    members = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": sorted_columns, "checkpoint_format": version}
    return {"quantization_config": members}, stored, decoded


def gptq() -> tuple[dict, Tensors, Tensors]:
    return gptq_of(4, "gptq", 64, sorted_columns=True)


def gptq_3_bits() -> tuple[dict, Tensors, Tensors]:
    return gptq_of(3, "gptq", -1)


def gptq_2_bits() -> tuple[dict, Tensors, Tensors]:
    return gptq_of(2, "gptq_v2", 32)


def gptq_8_bits() -> tuple[dict, Tensors, Tensors]:
    return gptq_of(8, "gptq", 64)


def awq() -> tuple[dict, Tensors, Tensors]:
    """As AutoAWQ 0.2.9's packing_utils.py: eight outputs in a word, in this order."""
    stored, decoded = {}, {}
    for name, inputs, outputs in (("a", 320, 32), ("b", 64, 8)):
        numbers, zeros, scales = groups(4, inputs, outputs, 64)
        order = torch.arange(outputs).reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].flatten()
        stored[f"{name}.qweight"], stored[f"{name}.qzeros"] = packed(numbers[:, order], 4), packed(zeros[:, order], 4)
        stored[f"{name}.scales"] = scales
        group = torch.arange(inputs) // 64
        decoded[f"{name}.weight"] = ((numbers - zeros[group]).float() * scales.float()[group]).T
    members = {"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemm", "zero_point": True}
    return {"quantization_config": members}, stored, decoded


def mlx_affine() -> tuple[dict, Tensors, Tensors]:
    """Every width; the second matrix has float16 scales, which are decoded in float32 here."""
    stored, decoded, members = {}, {}, {"group_size": 64, "bits": 4}
    for bits in (2, 3, 4, 5, 6, 8):
        group = 32 if bits == 5 else 64
        name = f"layers.{bits}"
        words, scales, biases = mlx.core.quantize(mlx.core.array(torch.randn(4, 192).numpy()), group, bits)
        if bits == 3:
            scales, biases = scales.astype(mlx.core.float16), biases.astype(mlx.core.float16)
        in_float32 = [part.astype(mlx.core.float32) for part in (scales, biases)]
        decoded[f"{name}.weight"] = torch.from_numpy(numpy.array(mlx.core.dequantize(words, *in_float32, group, bits)))
        stored[f"{name}.weight"] = torch.from_numpy(numpy.array(words))
        stored[f"{name}.scales"], stored[f"{name}.biases"] = (torch.from_numpy(numpy.array(part)) for part in (scales, biases))
        if (group, bits) != (64, 4):
            members[name] = {"group_size": group, "bits": bits}
    return {"quantization": members}, stored, decoded


def generic_4_bits(numbers: torch.Tensor, state: bitsandbytes.functional.QuantState) -> torch.Tensor:
    """By the package's generic function: with AVX-512, its other one is wrong for rows of 96 in blocks of 64
    (findings/bitsandbytes-scales-rows-by-other-blocks-with-avx-512.sh)."""
    scales = state.absmax
    if state.nested:
        scales = bitsandbytes.functional.dequantize_blockwise(state.absmax, state.state2) + state.offset
    return _dequantize_4bit_compute(numbers.flatten(), scales, state.code, state.blocksize, state.shape, torch.float32)


def bitsandbytes_4_bits() -> tuple[dict, Tensors, Tensors]:
    stored, decoded = {}, {}
    for name, kind, shape, nested in (
        ("nested", "nf4", (37, 128), True),
        ("plain", "nf4", (8, 64), False),
        ("odd", "fp4", (5, 13), False),
        ("ragged", "nf4", (6, 96), True),
    ):
        numbers, state = bitsandbytes.functional.quantize_4bit(
            torch.randn(shape), blocksize=64, compress_statistics=nested, quant_type=kind
        )
        stored[f"{name}.weight"] = numbers
        for part, tensor in state.as_dict(packed=True).items():
            stored[f"{name}.weight.{part}"] = tensor.contiguous()
        decoded[f"{name}.weight"] = generic_4_bits(numbers, state)
        if shape[1] % 64 == 0:
            assert decoded[f"{name}.weight"].equal(bitsandbytes.functional.dequantize_4bit(numbers, state))
    members = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
    return {"quantization_config": members}, stored, decoded


def bitsandbytes_8_bits() -> tuple[dict, Tensors, Tensors]:
    numbers, largest, _ = bitsandbytes.functional.int8_vectorwise_quant(torch.randn(6, 40).half())
    numbers[0, :2] = torch.tensor([-128, 127])
    stored = {"weight": numbers, "SCB": largest, "weight_format": torch.tensor(0, dtype=torch.uint8)}
    decoded = bitsandbytes.functional.int8_vectorwise_dequant(numbers, largest)
    members = {"load_in_8bit": True, "llm_int8_threshold": 6.0}
    stored = {f"layer.{name}": tensor for name, tensor in stored.items()}
    return {"quantization_config": members}, stored, {"layer.weight": decoded}


def bitnet_of(linear_class: str) -> tuple[dict, Tensors, Tensors]:
    """As BitNet's classes of transformers: the older one divides its result by the scale."""
    stored, decoded = {}, {}
    for name, shape in (("a", (8, 24)), ("b", (64, 5))):
        ternary, scale = torch.randint(-1, 2, shape), torch.tensor([1.7]).bfloat16()
        stored[f"layer.{name}.weight"] = pack_weights(ternary.clone())
        stored[f"layer.{name}.weight_scale"] = scale
        numbers = unpack_weights._torchdynamo_orig_callable(stored[f"layer.{name}.weight"], torch.float32)
        assert numbers.equal(ternary.float())
        decoded[f"layer.{name}.weight"] = numbers / scale.float() if linear_class == "bitlinear" else numbers * scale.float()
    return {"quantization_config": {"quant_method": "bitnet", "linear_class": linear_class}}, stored, decoded


def bitnet() -> tuple[dict, Tensors, Tensors]:
    return bitnet_of("autobitlinear")


def bitnet_older() -> tuple[dict, Tensors, Tensors]:
    return bitnet_of("bitlinear")


SCHEMES: list[Callable[[], tuple[dict, Tensors, Tensors]]] = [
    fp8, fp8_by_matrix, fp8_without_scales, mxfp4,
    gptq, gptq_2_bits, gptq_3_bits, gptq_8_bits, awq, mlx_affine,
    bitsandbytes_4_bits, bitsandbytes_8_bits, bitnet, bitnet_older,
]  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as unpacked:
        folder = pathlib.Path(unpacked) / "quantized"
        folder.mkdir()
        for scheme in SCHEMES:
            torch.manual_seed(7)
            config, stored, decoded = scheme()
            save_file(stored, folder / f"{scheme.__name__}.safetensors", {"config": json.dumps(config)})
            decoded = {name: tensor.float().contiguous() for name, tensor in decoded.items()}
            save_file(decoded, folder / f"{scheme.__name__}.expected.safetensors")
        pack(folder.parent, ARCHIVE)


if __name__ == "__main__":
    main()
