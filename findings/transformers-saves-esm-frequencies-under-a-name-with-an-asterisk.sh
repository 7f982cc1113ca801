#!/usr/bin/env bash
# transformers 5 saves a new ESM model's rotary frequencies as "esm.encoder.layer.*.attention.self.rotary_embeddings.inv_freq".
#
# Surprising: the asterisk is no abbreviation here but a letter of the tensor's name in model.safetensors. It is the pattern by
# which the library recognizes the names of old files (one tensor for each layer), written back as it is. The names of norms
# are also those of TensorFlow's first BERT, LayerNorm.gamma and LayerNorm.beta, although the model has weight and bias.
# One would expect the names that the class has, as for all other tensors, or those of published ESM-2 files. The library reads
# its own files; a program that looks for tensors by the names of layers finds neither frequencies nor norms.
#
# Version: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen:
#     inv_freq of the class: ['esm.rotary_embeddings.inv_freq']
#     inv_freq in the file:  ['esm.encoder.layer.*.attention.self.rotary_embeddings.inv_freq']
#     norms in the file:     ['esm.encoder.layer.0.LayerNorm.beta', 'esm.encoder.layer.0.LayerNorm.gamma']
# Source: the entry "esm" in transformers/conversion_mapping.py, line 1287, whose first pattern is used as a name when saving.
# Ours: core/pretrained/model_weights.cpp reads both names; the small model esm of the tests has those above.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 safetensors

HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys

import transformers
from safetensors import safe_open

folder = sys.argv[1] + "/model"
config = transformers.EsmConfig(vocab_size=8, hidden_size=8, num_attention_heads=2, num_hidden_layers=1, intermediate_size=8,
                                position_embedding_type="rotary", pad_token_id=0, mask_token_id=1)
model = transformers.EsmForMaskedLM(config)
model.save_pretrained(folder)
names = list(safe_open(folder + "/model.safetensors", "pt").keys())
own = [name for name in model.state_dict() if name.endswith("inv_freq")]
stored = [name for name in names if name.endswith("inv_freq")]
norms = sorted(name for name in names if name.startswith("esm.encoder.layer.0.LayerNorm."))
print("inv_freq of the class:", own)
print("inv_freq in the file: ", stored)
print("norms in the file:    ", norms)
is_as_seen = (stored == ["esm.encoder.layer.*.attention.self.rotary_embeddings.inv_freq"]
              and norms == [f"esm.encoder.layer.0.LayerNorm.{part}" for part in ("beta", "gamma")])
sys.exit(0 if is_as_seen else "Changed: the names are no longer those.")
PYTHON
