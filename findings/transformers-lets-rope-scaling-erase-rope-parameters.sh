#!/usr/bin/env bash
# For a config.json with rope_parameters and rope_scaling, transformers 5 uses the old key and discards the base given by
# the new one.
#
# Surprising: transformers 5 itself writes rope_parameters, which contains type and base (rope_theta) of the rotation, but
# model cards still recommend adding "rope_scaling": {...} for long texts. Then all of rope_parameters is silently
# discarded, including its rope_theta: a model with base 500,000 runs with 10,000, the default of the class. One would
# expect the new key to win, or the two to be merged, or a message. Yet a flat rope_theta next to rope_parameters is
# ignored.
#
# Version: transformers 5.24.0 (PyPI), LlamaConfig.
# Seen:
#     rope_parameters alone         {'rope_type': 'default', 'rope_theta': 500000.0}
#     with rope_scaling added       {'rope_type': 'linear', 'factor': 4.0, 'rope_theta': 10000.0}
#     with a flat rope_theta added  {'rope_type': 'default', 'rope_theta': 500000.0}
# Source: convert_rope_params_to_dict in transformers/modeling_rope_utils.py, lines 775 to 788; the comment in it says that
# rope_parameters come first, which holds for their members only.
# Ours: core/model_config/rotation_reading.cpp does the same and says so; RotationReading.AFlatScalingCountsBeforeParameters.
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


def read(**added):
    model = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128,
             "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}}
    with open(f"{folder}/config.json", "w") as file:
        json.dump({**model, **added}, file)
    return transformers.AutoConfig.from_pretrained(folder).rope_parameters


alone = read()
both = read(rope_scaling={"rope_type": "linear", "factor": 4.0})
flat = read(rope_theta=20000.0)
print("transformers", transformers.__version__)
print("rope_parameters alone        ", alone)
print("with rope_scaling added      ", both)
print("with a flat rope_theta added ", flat)
if both != {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}:
    sys.exit("Changed: rope_scaling no longer erases all of rope_parameters.")
if alone != {"rope_type": "default", "rope_theta": 500000.0} or flat != alone:
    sys.exit("Changed: rope_parameters without rope_scaling are read in another way.")
PYTHON
