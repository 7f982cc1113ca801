#!/usr/bin/env bash
# After a long text, a model with dynamic scaling in transformers computes other logits for shorter texts than before.
#
# Surprising: dynamic scaling chooses the frequencies of the rotation by the length of the text, so the same text should
# give the same logits. transformers recomputes them only for a text longer than all before it: shorter ones are rotated by
# the frequencies of the longest text since the last reset, so results depend on the order in which texts are evaluated. The
# reset needs a text shorter than the trained length: one of exactly this length, often used for measuring perplexities,
# should not be scaled at all, yet keeps the frequencies of the longer text. LongRoPE, whose frequencies also depend on the
# length, has no such memory.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI), LlamaForCausalLM with rope_type "dynamic" and factor 4.
# Seen, for a model of one layer with random weights and 128 trained positions: how much the last token's logits differ from
# those of a new model for the same text, for texts read one after another:
#     128 tokens  0.000
#     200 tokens  0.000
#     600 tokens  0.000
#     200 tokens  2.839
#     128 tokens  0.885
#     127 tokens  0.000
#     128 tokens  0.000
# Source: dynamic_frequency_update in transformers/modeling_rope_utils.py, lines 83 to 119 ("growth" and "reset").
# Ours: core/rotary/scaling.cpp depends on the length of the text alone
# (Scaling.DynamicNtkDoesNothingUpToTheOriginalLengthAndSlowsBeyond). tests/parity/transformers_reference.py therefore calls
# transformers' formula with a length, never a model that has read another text.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import sys

import torch
import transformers

config = transformers.LlamaConfig(
    vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
    max_position_embeddings=128, initializer_range=0.2, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0})
tokens = torch.randint(0, 64, (1, 600), generator=torch.Generator().manual_seed(3))


def new_model():
    torch.manual_seed(1)
    return transformers.LlamaForCausalLM(config).eval()


def last_logits(model, length):
    with torch.no_grad():
        return model(tokens[:, :length]).logits[0, -1]


print("transformers", transformers.__version__)
model, seen = new_model(), []
for length in (128, 200, 600, 200, 128, 127, 128):
    difference = (last_logits(model, length) - last_logits(new_model(), length)).abs().max().item()
    seen.append(difference > 0.01)
    print(f"{length} tokens  {difference:.3f}")
if seen != [False, False, False, True, True, False, False]:
    sys.exit("Changed: a longer text no longer changes the logits of a shorter one, or another one does.")
PYTHON
