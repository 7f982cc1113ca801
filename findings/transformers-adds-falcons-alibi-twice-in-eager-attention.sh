#!/usr/bin/env bash
# transformers adds Falcon's ALiBi biases twice to the scores if attention is eager, or if its weights are asked for.
#
# Surprising: the model puts the biases into the mask, from which the default implementation (sdpa) reads them. Eager attention
# adds the mask, and the biases once more, so that scores fall twice as fast with distance. The same model gives other logits
# as soon as output_attentions is set, without a message, and the weights that it returns are not those of its usual logits.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a random model of one layer, width 64 and four heads:
#     logits differ from those of sdpa by up to 0.145 with eager attention, by 0.145 with sdpa if the weights are asked for, and
#     by 0.000 with eager attention that gets the bias in the mask alone
# Source: FalconModel.forward in transformers/models/falcon/modeling_falcon.py makes the mask of "alibi / math.sqrt(…)", and
# FalconAttention.forward computes "attention_scores + alibi.view(…)" and adds the mask.
# Ours: core/pretrained/families/falcon.cpp adds them once; tests/parity/as_made.py computes its
# reference with the biases in the mask alone.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 numpy==2.4.6

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import torch
import transformers


def model_with(attention):
    """The same random model, whose attention is computed in this way."""
    torch.manual_seed(1)
    config = transformers.FalconConfig(vocab_size=64, hidden_size=64, num_hidden_layers=1, num_attention_heads=4, alibi=True,
                                       initializer_range=0.2, attn_implementation=attention)
    return transformers.FalconForCausalLM(config).eval()


def without_bias(forward):
    """The layer's attention, to which the bias is not handed but in the mask."""
    return lambda *arguments, alibi, **others: forward(*arguments, alibi=torch.zeros_like(alibi), **others)


print("transformers", transformers.__version__)
tokens = torch.randint(0, 64, (1, 20), generator=torch.Generator().manual_seed(1))
with torch.no_grad():
    eager, sdpa = model_with("eager"), model_with("sdpa")
    right = sdpa(tokens, use_cache=False).logits
    twice = eager(tokens, use_cache=False).logits
    asked = sdpa(tokens, use_cache=False, output_attentions=True).logits
    eager.transformer.h[0].self_attention.forward = without_bias(eager.transformer.h[0].self_attention.forward)
    once = eager(tokens, use_cache=False).logits
differences = [(logits - right).abs().max().item() for logits in (twice, asked, once)]
print("logits differ from those of sdpa by up to {:.3f} with eager attention, by {:.3f} with sdpa if the weights are asked for, "
      "and by {:.3f} with eager attention that gets the bias in the mask alone".format(*differences))
if differences[2] > 1e-4:
    raise SystemExit("Changed: the mask does not hold the whole bias.")
if min(differences[:2]) < 0.01:
    raise SystemExit("Changed: eager attention adds the bias once.")
PYTHON
