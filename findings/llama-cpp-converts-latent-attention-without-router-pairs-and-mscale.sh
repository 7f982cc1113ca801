#!/usr/bin/env bash
# llama.cpp's converter leaves out four settings of DeepSeek V3 and its relatives as transformers saves them.
#
# Surprising: a DeepseekV3Config of transformers has no scoring_func, because its class always takes the sigmoid, so that the
# converted file has no expert_gating_func; llama.cpp's programs then take the softmax. A Glm4MoeLiteConfig lists dense layers in
# mlp_layer_types, and the file says that there are none. Of YaRN's two numbers, mscale and mscale_all_dim, the file has the
# second alone, and whether neighbouring features form pairs (rope_interleave) is not in it. Nothing is said about any of these.
#
# Versions: the converter in llama-cpp-python 0.3.36, transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for random models of two layers and width 64:
#     deepseek_v3    expert_gating_func         missing
#     glm4_moe_lite  leading_dense_block_count  0, of layers ['dense', 'sparse']
#     deepseek_v3    rope_interleave            the file is the same         logits change by 14.79
#     deepseek_v3    mscale                     the file is the same         logits change by 7.05
# Source: DeepseekV2Model in vendor/llama.cpp/conversion/deepseek.py; load_arch_hparams in src/models/deepseek2.cpp.
# Ours: core/pretrained/families/deepseek.cpp reads all of them from a config.json, and a GGUF file as llama.cpp does;
# tests/parity/pretrained_reference.py gives its small models the members of published configs (write_gguf).
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
    "$folder/python/bin/python" - "$folder" <<'PYTHON' 2> >(grep --invert-match "it/s\]\|byte/s\]\|Unknown RoPE type: default\|Duplicated key name" >&2)
import pathlib
import sys

import conversion
import gguf
import torch
import transformers

folder = pathlib.Path(sys.argv[1])
tokens = torch.randint(0, 64, (1, 100), generator=torch.Generator().manual_seed(1))
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32, "mscale_all_dim": 0.7}
SIZES = {"vocab_size": 64, "hidden_size": 64, "intermediate_size": 64, "moe_intermediate_size": 64, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 2, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 1,
         "topk_group": 1, "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 16,
         "max_position_embeddings": 128, "initializer_range": 0.3, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def model_of(family, **more):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, **{**SIZES, **more})
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def metadata(model, name):
    """The entries of the model's GGUF file."""
    model.save_pretrained(folder / name)
    written = conversion.ModelBase.load_hparams(folder / name, False)
    Converter = conversion.get_model_class(conversion.get_model_architecture(written, conversion.ModelType.TEXT))
    Converter.set_vocab = lambda self: None  # these models have no tokenizer
    path = folder / f"{name}.gguf"
    with torch.inference_mode():
        Converter(folder / name, gguf.LlamaFileType.ALL_F32, path, hparams=written, model_name="model").write()
    return {key: field.contents() for key, field in gguf.GGUFReader(path).fields.items()}


def seen(key, values):
    """Whether the files of two values of a member differ, and by how much logits change."""
    models = [model_of("deepseek_v3", **value) for value in values]
    models[1].load_state_dict(models[0].state_dict())
    with torch.no_grad():
        change = (models[0](tokens).logits - models[1](tokens).logits).abs().max().item()
    files = [metadata(model, f"{key}-{name}") for model, name in zip(models, "ab")]
    return files[0] != files[1], change


print("transformers", transformers.__version__)
gating = metadata(model_of("deepseek_v3", first_k_dense_replace=1), "router").get("deepseek2.expert_gating_func", "missing")
print("deepseek_v3    expert_gating_func        ", gating)
layers = ["dense", "sparse"]
dense = metadata(model_of("glm4_moe_lite", mlp_layer_types=layers), "dense").get("deepseek2.leading_dense_block_count")
print(f"glm4_moe_lite  leading_dense_block_count  {dense}, of layers {layers}")
cases = {"rope_interleave": seen("rope_interleave", [{"rope_interleave": True}, {"rope_interleave": False}]),
         "mscale": seen("mscale", [{"rope_parameters": {**YARN, "mscale": mscale}} for mscale in (0.7, 1.4)])}
for key, (differs, change) in cases.items():
    print(f"deepseek_v3    {key:25}  the file {'differs' if differs else 'is the same':18}  logits change by {change:.2f}")
if gating != "missing" or dense != 0 or any(differs for differs, _ in cases.values()):
    sys.exit("Changed: the converter writes other keys.")
if any(change < 0.01 for _, change in cases.values()):
    sys.exit("Changed: the settings do not matter.")
PYTHON
