"""Writes pretrained/element_types.gguf, a tensor of every supported type, and pretrained/element_types.safetensors, the same
tensors decoded by the package gguf. Run with Python packages gguf (0.19.0), numpy and safetensors."""

import pathlib

import gguf
import numpy
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent / "pretrained"
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
# Byte offsets of the float16 scales in blocks of each type; all other bytes may be random.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
ROWS, COLUMNS = 2, 256


def random_tensor(name: str, rng: numpy.random.Generator) -> numpy.ndarray:
    """The bytes of a random tensor [ROWS, COLUMNS], by rows."""
    kind = gguf.GGMLQuantizationType[name]
    if name in ("F32", "F16", "BF16"):
        return gguf.quants.quantize(rng.normal(size=(ROWS, COLUMNS)).astype(numpy.float32), kind)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, size=(ROWS, COLUMNS // elements, size), dtype=numpy.uint8)
    for place in SCALES[name]:
        scales = rng.normal(scale=0.02, size=blocks.shape[:2]).astype(numpy.float16)
        scales[0, 0] = 3e-6  # subnormal
        blocks[:, :, place : place + 2] = scales[..., None].view(numpy.uint8)
    return blocks.reshape(ROWS, -1)


def main() -> None:
    rng = numpy.random.default_rng(7)
    writer = gguf.GGUFWriter(HERE / "element_types.gguf", "llama")
    writer.add_string("text", "Ωmega")
    writer.add_array("whole numbers", [1, -2, 3])
    writer.add_array("texts", ["a", "", "ß"])
    writer.add_float32("number", 0.5)
    writer.add_bool("flag", True)
    decoded = {}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        data = random_tensor(name, rng)
        writer.add_tensor(name, data, raw_dtype=kind)
        decoded[name] = gguf.quants.dequantize(data, kind).astype(numpy.float32)
        assert decoded[name].shape == (ROWS, COLUMNS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    save_file(decoded, HERE / "element_types.safetensors")


if __name__ == "__main__":
    main()
