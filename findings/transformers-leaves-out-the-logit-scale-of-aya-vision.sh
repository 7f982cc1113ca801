#!/usr/bin/env bash
# transformers computes the logits of Aya Vision, Command A Vision and Granite Speech without their language model's scale.
#
# Surprising: Cohere's models multiply logits by logit_scale (1/16 by default), Granite's divide them by logits_scaling. The
# classes that add an image or sound encoder have a head of their own, which does neither, although text_config has the member.
# The most likely token stays the same, but probabilities are far too sharp: sampling hardly varies, and losses are wrong.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for random models whose language models have the same weights in both classes:
#     aya_vision: logits are 16.00 times those of cohere2, its mean -ln p of a text is 5.4 and not 4.2
#     cohere2_vision: logits are 16.00 times those of cohere2, its mean -ln p of a text is 5.4 and not 4.2
#     granite_speech: logits are 8.00 times those of granite, its mean -ln p of a text is 5.3 and not 4.2
# Source: AyaVisionForConditionalGeneration.forward and its like call "self.lm_head(hidden_states)" alone;
# Cohere2ForCausalLM.forward goes on with "logits * self.logit_scale".
# Ours: core/pretrained/composite.cpp; the language model's scale counts, and a note says so.
# Takes about 3 GB of disk for a few minutes: the package torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 torch==2.11.0 torchvision==0.26.0 numpy==2.4.6 pillow==12.0.0

HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" - <<'PYTHON'
import torch
import transformers
from torch.nn.functional import cross_entropy

SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "intermediate_size": 48, "initializer_range": 0.3, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
IMAGES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16,
          "patch_size": 8}
SOUNDS = {"input_dim": 8, "num_layers": 1, "hidden_dim": 16, "feedforward_mult": 1, "num_heads": 2, "dim_head": 8,
          "output_dim": 8}
QUERIES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24, "encoder_hidden_size": 16}
MODELS = {
    "aya_vision": ("AyaVision", "cohere2", {}, {"vision_config": IMAGES}),
    "cohere2_vision": ("Cohere2Vision", "cohere2", {}, {"vision_config": IMAGES, "alignment_intermediate_size": 32}),
    "granite_speech": ("GraniteSpeech", "granite", {"logits_scaling": 8.0}, {
        "encoder_config": SOUNDS, "projector_config": {"model_type": "blip_2_qformer", **QUERIES}}),
}

print("transformers", transformers.__version__)
tokens = torch.randint(1, 60, (1, 32), generator=torch.Generator().manual_seed(1))
for name, (kind, text_type, scaled, others) in MODELS.items():
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(name, text_config={"model_type": text_type, **SIZES, **scaled}, **others)
    whole = getattr(transformers, kind + "ForConditionalGeneration")._from_config(config).eval()
    alone = transformers.AutoModelForCausalLM.from_config(config.text_config).eval()
    alone.model.load_state_dict(whole.model.language_model.state_dict() if hasattr(whole.model, "language_model")
                                else whole.language_model.state_dict())
    alone.lm_head.weight = whole.lm_head.weight
    with torch.no_grad():
        got, right = whole(input_ids=tokens).logits[0], alone(input_ids=tokens).logits[0]
    ratio = (got / right).nanmedian().item()
    nll = [cross_entropy(logits[:-1], tokens[0, 1:]).item() for logits in (got, right)]
    print(f"{name}: logits are {ratio:.2f} times those of {text_type}, its mean -ln p of a text is {nll[0]:.1f} and not {nll[1]:.1f}")
    if abs(ratio - 1) < 0.01:
        raise SystemExit(f"Changed: {name} scales its logits.")
PYTHON
