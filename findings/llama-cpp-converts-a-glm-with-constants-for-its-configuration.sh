#!/usr/bin/env bash
# llama.cpp's converter writes constants for a GLM's base and epsilon, and its width as the context length.
#
# Surprising: the converter accepts GlmForCausalLM, transformers' own class for GLM 4, and names a model of this class as its
# example, but looks only for members of the older ChatGLM code: rope_ratio, layernorm_epsilon and seq_length. A config.json
# of transformers has rope_theta, rms_norm_eps and max_position_embeddings instead. So the GGUF file silently has base 10,000
# and epsilon 1e-5, where the default of transformers' class is 1.5625e-7, and a context of as many tokens as the model is
# wide. The file is read without complaint and computes other logits than the model. Most other families, GLM 4 of 2025
# (Glm4ForCausalLM) among them, are converted by code that reads all three.
#
# Versions: the converter in llama-cpp-python 0.3.36, transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a random GLM of one layer and width 64:
#     rope.freq_base                    config.json 5e+06       GGUF 10000
#     attention.layer_norm_rms_epsilon  config.json 1.5625e-07  GGUF 1e-05
#     context_length                    config.json 8192        GGUF 64
#     logits of 100 tokens, up to 2.88, change by up to 1.25 if base and epsilon are those of the GGUF file
# Source: ChatGLMModel.set_gguf_parameters in vendor/llama.cpp/conversion/chatglm.py, which does not call that of TextModel.
# Ours: core/pretrained/gguf_architecture.cpp reads what the file says. tests/parity/pretrained_reference.py therefore gives
# its GLM the epsilon 1e-5 and the default base, so that both of its files are the same model
# (DecoderOfFamily.ReadsTheSameFromGguf, "glm").
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6 pyyaml requests tqdm
"$folder/python/bin/pip" download --quiet --no-deps --no-binary llama-cpp-python --dest "$folder" llama-cpp-python==0.3.36
tar --extract --file "$folder"/llama_cpp_python-0.3.36.tar.gz --directory "$folder" --strip-components 3 --wildcards \
    '*/vendor/llama.cpp/conversion/*' '*/vendor/llama.cpp/gguf-py/*'

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error PYTHONPATH="$folder:$folder/gguf-py" \
    "$folder/python/bin/python" - "$folder" <<'PYTHON' 2> >(grep --invert-match "it/s\]\|byte/s\]" >&2)
import pathlib
import sys

import conversion
import gguf
import torch
import transformers

folder = pathlib.Path(sys.argv[1]) / "model"
torch.manual_seed(1)
config = transformers.GlmConfig(
    vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
    head_dim=32, max_position_embeddings=8192, initializer_range=0.1, pad_token_id=0, eos_token_id=2,
    rope_parameters={"rope_type": "default", "rope_theta": 5e6, "partial_rotary_factor": 0.5})
model = transformers.GlmForCausalLM(config).eval()
model.save_pretrained(folder)

written = conversion.ModelBase.load_hparams(folder, False)
Converter = conversion.get_model_class(conversion.get_model_architecture(written, conversion.ModelType.TEXT))
Converter.set_vocab = lambda self: None  # this model has no tokenizer
with torch.inference_mode():
    Converter(folder, gguf.LlamaFileType.ALL_F32, folder / "model.gguf", hparams=written).write()
fields = gguf.GGUFReader(folder / "model.gguf").fields
keys = {"rope.freq_base": config.rope_parameters["rope_theta"], "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "context_length": config.max_position_embeddings}
seen = {key: fields["chatglm." + key].contents() for key in keys}
print("transformers", transformers.__version__)
for key, right in keys.items():
    print(f"{key:32}  config.json {right:<10g}  GGUF {seen[key]:g}")

config.rope_parameters["rope_theta"], config.rms_norm_eps = seen["rope.freq_base"], seen["attention.layer_norm_rms_epsilon"]
other = transformers.GlmForCausalLM(config).eval()
other.load_state_dict(model.state_dict())
tokens = torch.randint(0, 64, (1, 100))
with torch.no_grad():
    logits = model(tokens).logits
    largest, change = logits.abs().max().item(), (logits - other(tokens).logits).abs().max().item()
print(f"logits of 100 tokens, up to {largest:.2f}, change by up to {change:.2f} if base and epsilon are those of the GGUF file")
if change < 0.01:
    sys.exit("Changed: the GGUF file computes the same as the model.")
if [f"{value:g}" for value in seen.values()] != ["10000", "1e-05", "64"]:
    sys.exit("Changed: the converter writes other values for a GLM.")
PYTHON
