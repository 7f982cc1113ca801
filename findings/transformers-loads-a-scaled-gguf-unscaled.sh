#!/usr/bin/env bash
# transformers loads a GGUF model whose file specifies scaled positions, and runs it without the scaling.
#
# Surprising: base and width of the rotation are read from the file, but the keys rope.scaling.* and the tensor
# rope_freqs.weight, which contains Llama 3's scaling, are not. There is no warning, so a model made for long texts by YaRN
# gives other results than with llama.cpp. Only the code for GPT-OSS reads these keys, so they can be found in the package.
#
# Versions: transformers 5.24.0, gguf 0.19.0, torch 2.11.0 (PyPI).
# Seen, for a Llama of one layer with random weights, 40 tokens; the last row is what transformers itself computes when the
# same scaling is put into its configuration by hand:
#     plain.gguf       default logits differ from plain by 0.000
#     yarn.gguf        default logits differ from plain by 0.000
#     rope_freqs.gguf  default logits differ from plain by 0.000
#     by hand          yarn    logits differ from plain by 2.337
# Source: GGUF_CONFIG_MAPPING in transformers/integrations/ggml.py (for "llama" the rotation's keys are rope.dimension_count
# and rope.freq_base), and modeling_gguf_pytorch_utils.py, line 739, for GPT-OSS; the keys are in GGUF's specification.
# Ours: core/pretrained/gguf_rotation.cpp reads them. tests/parity/pretrained_reference.py therefore computes reference
# results with the model from which a GGUF file was written, not with one that transformers has loaded from it;
# tests/core/language_model/decoder_test.cpp (DecoderOfFamily.ReadsTheSameFromGguf) compares.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 gguf==0.19.0 numpy==2.4.6 torch==2.11.0 accelerate==1.15.0

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 "$folder/python/bin/python" - "$folder" <<'PYTHON' 2> >(grep -v "it/s\]" >&2)
import sys

import gguf
import numpy
import torch
import transformers

folder = sys.argv[1]


def write(name, scale):
    writer = gguf.GGUFWriter(f"{folder}/{name}.gguf", "llama")
    for add, value in ((writer.add_context_length, 8192), (writer.add_embedding_length, 64), (writer.add_block_count, 1),
                       (writer.add_feed_forward_length, 64), (writer.add_head_count, 2), (writer.add_head_count_kv, 2),
                       (writer.add_rope_dimension_count, 32), (writer.add_rope_freq_base, 10000.0),
                       (writer.add_layer_norm_rms_eps, 1e-5), (writer.add_vocab_size, 64)):
        add(value)
    scale(writer)
    random = numpy.random.default_rng(1)
    for part in ["token_embd", "output"] + [f"blk.0.{one}" for one in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate",
                                                                       "ffn_up", "ffn_down")]:
        writer.add_tensor(part + ".weight", random.normal(0, 0.3, (64, 64)).astype(numpy.float32))
    for part in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(part + ".weight", numpy.ones(64, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def yarn(writer):
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(4.0)
    writer.add_rope_scaling_orig_ctx_len(2048)


write("plain", lambda writer: None)
write("yarn", yarn)
write("rope_freqs", lambda writer: writer.add_tensor("rope_freqs.weight", numpy.full(16, 8, numpy.float32)))
print("transformers", transformers.__version__)
tokens, logits, types = torch.arange(40)[None], {}, {}
for name in ("plain", "yarn", "rope_freqs"):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=f"{name}.gguf", dtype=torch.float32).eval()
    logits[name + ".gguf"] = model(tokens).logits.detach()
    types[name + ".gguf"] = model.config.rope_parameters["rope_type"]
config = model.config
config.rope_parameters = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 2048}
by_hand = transformers.LlamaForCausalLM(config).eval()
by_hand.load_state_dict(model.state_dict())
logits["by hand"], types["by hand"] = by_hand(tokens).logits.detach(), "yarn"
far = {name: (one - logits["plain.gguf"]).abs().max().item() for name, one in logits.items()}
for name in logits:
    print(f"{name:16} {types[name]:7} logits differ from plain by {far[name]:.3f}")
if far["by hand"] < 0.01:
    sys.exit("Changed: this scaling no longer changes what such a model computes.")
if far["yarn.gguf"] > 0 or far["rope_freqs.gguf"] > 0 or types["yarn.gguf"] != "default":
    sys.exit("Changed: transformers now reads the scaling of a GGUF file.")
PYTHON
