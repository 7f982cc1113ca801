"""Writes pretrained/element_types.gguf, a tensor of every supported type, and pretrained/element_types.safetensors, the same
tensors decoded by the package gguf. Run with Python packages gguf (0.19.0), numpy and safetensors."""

import pathlib
from collections.abc import Iterator

import gguf
import numpy
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent / "pretrained"
NUMBERS = ["F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64"]
# Byte offsets of the float16 scales in blocks of each type; all other bytes may be random.
SCALES = {
    "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
    "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0], "IQ1_M": [],
    "TQ1_0": [52], "TQ2_0": [64], "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [], "NVFP4": [],
}  # fmt: skip
# Scales of first blocks: subnormal, negative zero, infinite, the smallest and the largest.
EDGES = numpy.array([3e-6, -0.0, numpy.inf, -6e-8, 65504], numpy.float16)


def random_numbers(name: str, rng: numpy.random.Generator) -> tuple[numpy.ndarray, numpy.ndarray]:
    """A random tensor of a type without blocks, and the same as float32."""
    if name.startswith("I"):
        kind = numpy.dtype(name.lower().replace("i", "int"))
        least, most = numpy.iinfo(kind).min, numpy.iinfo(kind).max
        data = rng.integers(least, most, size=(2, 64), dtype=kind, endpoint=True)
        data[0, :3] = least, most, -1
        return data, data.astype(numpy.float32)
    data = rng.normal(size=(2, 64))
    data[0, :6] = 0.0, -0.0, 1e-42, 3e-6, numpy.inf, -numpy.inf
    if name == "F64":
        return data, data.astype(numpy.float32)
    kind = gguf.GGMLQuantizationType[name]
    stored = gguf.quants.quantize(data.astype(numpy.float32), kind)
    return stored, gguf.quants.dequantize(stored, kind)


def random_blocks(name: str, rng: numpy.random.Generator) -> numpy.ndarray:
    """The bytes of a random tensor, by rows: some blocks with the scales `EDGES`, others with usual ones."""
    elements, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    rows, blocks_per_row = (3, 1) if elements == 256 else (2, 256 // elements)
    blocks = rng.integers(0, 256, size=(rows * blocks_per_row, size), dtype=numpy.uint8)
    for i, place in enumerate(SCALES[name]):
        scales = rng.normal(scale=0.02, size=len(blocks)).astype(numpy.float16)
        edges = numpy.roll(EDGES, i)[: len(blocks) - 1]
        scales[: len(edges)] = edges
        blocks[:, place : place + 2] = scales[:, None].view(numpy.uint8)
    if name == "MXFP4":
        blocks[:8, 0] = 0, 1, 2, 3, 127, 253, 254, 255
    if name == "NVFP4":
        blocks[:2, :4] = (0, 1, 7, 8), (0x7E, 0x7F, 0x80, 0xFF)
    return blocks.reshape(rows, -1)


def tensors() -> Iterator[tuple[str, str, numpy.ndarray, numpy.ndarray]]:
    """Name, type, data as stored and as float32 of each tensor."""
    rng = numpy.random.default_rng(7)
    for name in NUMBERS:
        yield name, name, *random_numbers(name, rng)
    for name in SCALES:
        kind = gguf.GGMLQuantizationType[name]
        data = random_blocks(name, rng)
        yield name, name, data, gguf.quants.dequantize(data, kind)
        try:
            data = gguf.quants.quantize(rng.normal(scale=0.1, size=(1, 256)).astype(numpy.float32), kind)
        except NotImplementedError:
            continue
        yield f"{name} of normal numbers", name, data, gguf.quants.dequantize(data, kind)


def main() -> None:
    writer = gguf.GGUFWriter(HERE / "element_types.gguf", "llama")
    writer.add_string("text", "Ωmega")
    writer.add_array("whole numbers", [1, -2, 3])
    writer.add_array("texts", ["a", "", "ß"])
    writer.add_float32("number", 0.5)
    writer.add_bool("flag", True)
    decoded = {}
    numpy.seterr(all="ignore")
    for name, kind, data, numbers in tensors():
        writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType[kind])
        decoded[name] = numpy.ascontiguousarray(numbers)
        assert numbers.dtype == numpy.float32
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    save_file(decoded, HERE / "element_types.safetensors")


if __name__ == "__main__":
    main()
