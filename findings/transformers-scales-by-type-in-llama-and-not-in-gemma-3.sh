#!/usr/bin/env bash
# The older key "type" in rope_scaling scales a Llama in transformers 5 but is ignored in a Gemma 3.
#
# Surprising: {"type": "linear", "factor": 8.0} is found in model cards and folders from before 2024; transformers 5 says
# that it still supports it, and for most models it does. If a class has parameters by kind of layer (Gemma 3 and 3n, OLMo
# 3, ModernBERT, T5Gemma 2), these start as {"rope_type": "default"} and are then updated by rope_scaling: because rope_type
# already exists, type is ignored. The model runs unscaled while the factor is kept in its config; a warning says that
# "factor" is not recognized for rope_type default, without mentioning type. With rope_type instead, it is scaled.
#
# Version: transformers 5.24.0 (PyPI), LlamaConfig and Gemma3TextConfig.
# Seen (rope_type that the class arrives at):
#     llama        {"type": "linear"}       linear
#     gemma3_text  {"type": "linear"}       default
#     gemma3_text  {"rope_type": "linear"}  linear
# Source: convert_rope_params_to_dict in transformers/models/gemma3/configuration_gemma3.py (default_rope_params, then
# update), against the same in transformers/modeling_rope_utils.py.
# Ours: core/model_config/rotation_reading.cpp does the same and says "type is ignored because there is a rope_type"
# (ParsedRotation.LocalLayersHaveABaseOfTheirOwn).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0

HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=warning "$folder/python/bin/python" - "$folder" <<'PYTHON'
import json
import sys

import transformers

folder = sys.argv[1]


def arrives_at(model_type, key):
    with open(f"{folder}/config.json", "w") as file:
        json.dump({"model_type": model_type, "rope_scaling": {key: "linear", "factor": 8.0}}, file)
    parameters = transformers.AutoConfig.from_pretrained(folder).rope_parameters
    return parameters.get("full_attention", parameters)["rope_type"]


found = [(model, key, arrives_at(model, key)) for model, key in (("llama", "type"), ("gemma3_text", "type"), ("gemma3_text", "rope_type"))]
print("transformers", transformers.__version__)
for model, key, kind in found:
    print(f"{model:12} {{\"{key}\": \"linear\"}}  {kind}")
assert [kind for _, _, kind in found] == ["linear", "default", "linear"], "this has changed"
PYTHON
