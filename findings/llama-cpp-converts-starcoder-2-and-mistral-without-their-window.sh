#!/usr/bin/env bash
# llama.cpp's converter leaves out the sliding window of StarCoder 2 and Mistral, so their GGUF files are other models.
#
# Surprising: GGUF has a key for the window (attention.sliding_window), and the converter writes it for Phi 3, OLMo 3, Gemma 3
# and others. For these two families it is left out without a message, so no program that reads the file can know it. Texts
# up to the length of the window give the same logits, which makes the error easy to miss; StarCoder 2 and Mistral 7B 0.1
# have windows of 4096 and were made for longer texts.
#
# Versions: the converter in llama-cpp-python 0.3.36, transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for random models of one layer, width 64 and a window of 16: the window's key in the GGUF file, and by how much
# transformers' logits change in the first 16 tokens of a text, and after them, if the model has no window:
#     phi3        phi3.attention.sliding_window = 16   logits change by 0.000 within, 3.699 after
#     starcoder2  no key                               logits change by 0.000 within, 2.518 after
#     mistral     no key                               logits change by 0.000 within, 3.282 after
# Source: StarCoder2Model in vendor/llama.cpp/conversion/starcoder.py and LlamaModel in conversion/llama.py, which leave all
# to TextModel.set_gguf_parameters in conversion/base.py; Phi3MiniModel in conversion/phi.py writes the key.
# Ours: core/pretrained/gguf_architecture.cpp (readGgufWindow) uses the key if a file has it, as docs/models.md says;
# tests/parity/pretrained_reference.py therefore gives its StarCoder 2 no window (DecoderOfFamily.ReadsTheSameFromGguf).
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
    "$folder/python/bin/python" - "$folder" <<'PYTHON' 2> >(grep --invert-match "it/s\]\|byte/s\]\|Unknown RoPE type: default" >&2)
import copy
import pathlib
import sys

import conversion
import gguf
import torch
import transformers

folder = pathlib.Path(sys.argv[1])
tokens = torch.randint(0, 64, (1, 100), generator=torch.Generator().manual_seed(1))


def seen(family):
    """Keys of the window in the family's GGUF file; changes of logits without it in the first 16 tokens and after them."""
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(
        family, vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=8192, initializer_range=0.1, sliding_window=16, pad_token_id=0,
        bos_token_id=1, eos_token_id=2)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    model.save_pretrained(folder / family)
    written = conversion.ModelBase.load_hparams(folder / family, False)
    Converter = conversion.get_model_class(conversion.get_model_architecture(written, conversion.ModelType.TEXT))
    Converter.set_vocab = lambda self: None  # these models have no tokenizer
    path = folder / f"{family}.gguf"
    with torch.inference_mode():
        Converter(folder / family, gguf.LlamaFileType.ALL_F32, path, hparams=written).write()
    keys = [f"{key} = {field.contents()}" for key, field in gguf.GGUFReader(path).fields.items() if "window" in key]
    config = copy.deepcopy(config)  # the model reads its own in each forward pass
    config.sliding_window = None
    without = transformers.AutoModelForCausalLM.from_config(config).eval()
    without.load_state_dict(model.state_dict())
    with torch.no_grad():
        change = (model(tokens).logits - without(tokens).logits).abs()[0].amax(1)
    return keys, change[:16].max().item(), change[16:].max().item()


print("transformers", transformers.__version__)
found = {family: seen(family) for family in ("phi3", "starcoder2", "mistral")}
for family, (keys, within, after) in found.items():
    print(f"{family:10}  {', '.join(keys) or 'no key':35}  logits change by {within:.3f} within, {after:.3f} after")
if found["phi3"][0] != ["phi3.attention.sliding_window = 16"]:
    sys.exit("Changed: the converter no longer writes the window of Phi 3.")
if any(keys or within > 1e-4 or after < 0.01 for family, (keys, within, after) in found.items() if family != "phi3"):
    sys.exit("Changed: the converter writes the windows of StarCoder 2 or Mistral, or they do not matter.")
PYTHON
