#!/usr/bin/env bash
# Youtu loses the embedding of its padding token whenever it is loaded.
#
# Surprising: from_pretrained initializes only parameters that a checkpoint lacks, and marks the loaded ones so that the class's
# initialization skips them. Youtu's class initializes a slice of the loaded table, the row of pad_token_id, which carries no
# mark: the row is zero after loading, although the file has other numbers, and no message says so. Texts that contain this
# token, for example because it also ends a text, are read differently from what was saved. Other classes leave the row alone.
#
# Versions: transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for a model whose embeddings are all 0.5, the largest number in row 5 after saving and loading:
#     youtu        pad_token_id None  0.5
#     youtu        pad_token_id 5     0
#     deepseek_v3  pad_token_id 5     0.5
# Source: YoutuPreTrainedModel._init_weights in models/youtu/modeling_youtu.py.
# Ours: rows are used as stored (core/language_model/decoder.cpp, embedTokens); the small Youtu of
# tests/parity/pretrained_reference.py has no padding token.
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

SIZES = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4,
         "num_key_value_heads": 4, "kv_lora_rank": 8, "q_lora_rank": 12, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
         "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {"n_routed_experts": 4, "n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 16}


def row_after_loading(name: str, of_config: type, of_model: type, padding: int | None, **more: int) -> float:
    model = of_model(of_config(**SIZES, **more, pad_token_id=padding))
    torch.nn.init.constant_(model.model.embed_tokens.weight, 0.5)
    folder = pathlib.Path(sys.argv[1]) / f"{name}-{padding}"
    model.save_pretrained(folder)
    largest = of_model.from_pretrained(folder).model.embed_tokens.weight[5].max().item()
    print(f"{name:12} pad_token_id {str(padding):5} {largest:g}")
    return largest


print("transformers", transformers.__version__)
youtu = transformers.YoutuConfig, transformers.YoutuForCausalLM
kept = row_after_loading("youtu", *youtu, None)
cleared = row_after_loading("youtu", *youtu, 5)
other = row_after_loading("deepseek_v3", transformers.DeepseekV3Config, transformers.DeepseekV3ForCausalLM, 5, **EXPERTS)
if (kept, cleared, other) != (0.5, 0, 0.5):
    sys.exit("The behaviour has changed.")
PYTHON
