#!/usr/bin/env bash
# transformers computes every MPT with ALiBi slopes down to 2^-8, whatever its alibi_bias_max says.
#
# Surprising: attn_config.alibi_bias_max is documented as "the maximum value of the alibi bias", and the function that makes
# the biases takes it as a parameter, but the model's forward pass never passes it on. MPT 7B StoryWriter was trained with 16,
# so that half of its heads look twice as far as those that transformers computes, without a message. MosaicML's own class
# and llama.cpp (attention.max_alibi_bias) read the number.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a random model of one layer, width 64 and four heads:
#     alibi_bias_max 16 instead of 8 changes logits by 0.000, and if the class obeyed it by 0.409
# Source: MptModel.forward in transformers/models/mpt/modeling_mpt.py calls build_mpt_alibi_tensor without alibi_bias_max.
# Ours: core/pretrained/families/mpt.cpp obeys it, and says so in a note; tests/parity/pretrained_reference.py computes its
# reference by handing the number to that function ("other slopes of MPT").
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import torch
import transformers
from transformers.models.mpt import modeling_mpt


def logits(largest, obeyed=False):
    """Logits of the same random model, with the default slopes or, obeyed, with those of the config."""
    torch.manual_seed(1)
    attention = {"alibi": True, "alibi_bias_max": largest}
    config = transformers.MptConfig(vocab_size=64, d_model=64, n_heads=4, n_layers=1, max_seq_len=128, attn_config=attention)
    model = transformers.MptForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.2)
    if obeyed:
        model.transformer.build_mpt_alibi_tensor = lambda heads, length, alibi_bias_max=8, device=None: (
            modeling_mpt.build_mpt_alibi_tensor(heads, length, config.attn_config.alibi_bias_max, device))
    tokens = torch.randint(0, 64, (1, 100), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        return model(tokens).logits


print("transformers", transformers.__version__)
usual = logits(8)
ignored, obeyed = ((logits(16, by).sub(usual).abs().max().item()) for by in (False, True))
print(f"alibi_bias_max 16 instead of 8 changes logits by {ignored:.3f}, and if the class obeyed it by {obeyed:.3f}")
if ignored != 0:
    raise SystemExit("Changed: MPT's class reads alibi_bias_max.")
if obeyed < 0.01:
    raise SystemExit("Changed: the slopes of ALiBi do not matter here.")
PYTHON
