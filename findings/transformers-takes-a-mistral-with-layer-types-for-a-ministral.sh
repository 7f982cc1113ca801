#!/usr/bin/env bash
# One folder of a Mistral model computes different logits through AutoModelForCausalLM and through MistralForCausalLM.
#
# Surprising: a Mistral's config.json may list layer_types. MistralForCausalLM applies sliding_window in all layers whatever the
# list says, and a warning only suggests another class. AutoModelForCausalLM changes the model type to "ministral" before it
# chooses the class, and the list then counts: layers of full attention see the whole text. Saved by one class and loaded by the
# other, the same weights and the same config.json give other logits. Only mistral has this rule; the other families whose class
# ignores layer_types (phi3, phimoe, mixtral, starcoder2) keep their class.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a random model of two layers, sliding_window 4 and layer_types full_attention, sliding_attention:
#     AutoModelForCausalLM makes a MinistralForCausalLM
#     logits of MistralForCausalLM before and after saving differ by 0
#     logits of AutoModelForCausalLM and MistralForCausalLM differ by 6.9
# Source: AutoConfig.from_pretrained in models/auto/configuration_auto.py ("treating as ministral"); MistralModel.forward in
# models/mistral/modeling_mistral.py, which never reads layer_types.
# Ours: like AutoModel (WindowedLayers::all_unless_listed in core/pretrained/family.h); tests/parity/configs_test.py, "kinds of
# layers of Mistral".
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - "$folder" <<'PYTHON'
import pathlib
import sys

import torch
import transformers

folder = pathlib.Path(sys.argv[1]) / "model"
torch.manual_seed(1)
config = transformers.MistralConfig(
    vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    sliding_window=4, initializer_range=0.3, layer_types=["full_attention", "sliding_attention"])
original = transformers.MistralForCausalLM(config).eval()
original.save_pretrained(folder)
same = transformers.MistralForCausalLM.from_pretrained(folder).eval()
automatic = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
text = torch.arange(24)[None]
with torch.inference_mode():
    logits = {model: model(text).logits for model in (original, same, automatic)}
kept = (logits[original] - logits[same]).abs().max().item()
changed = (logits[automatic] - logits[same]).abs().max().item()
print("transformers", transformers.__version__)
print("AutoModelForCausalLM makes a", type(automatic).__name__)
print(f"logits of MistralForCausalLM before and after saving differ by {kept:.2g}")
print(f"logits of AutoModelForCausalLM and MistralForCausalLM differ by {changed:.2g}")
if type(automatic).__name__ != "MinistralForCausalLM" or kept > 1e-5 or changed < 1:
    sys.exit("The behaviour has changed.")
PYTHON
