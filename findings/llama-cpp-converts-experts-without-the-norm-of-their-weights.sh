#!/usr/bin/env bash
# llama.cpp's converter leaves out whether the weights of a token's experts are divided by their sum, and OLMoE's clipping.
#
# Surprising: GGUF has keys for both (expert_weights_norm, attention.clamp_kqv), and the converter writes them for GLM 4.5 and
# OLMo. For Qwen 2 and 3 with experts and for OLMoE they are left out without a message. llama.cpp's programs always divide for
# Qwen 3, and never for Qwen 2 and OLMoE, although transformers' classes have the same default, false, for all three: a model
# with the other setting, such as a Qwen3MoeConfig with its defaults, is converted to a file that computes other logits.
#
# Versions: the converter in llama-cpp-python 0.3.36, transformers 5.24.0, torch 2.11.0 (PyPI).
# Seen, for random models of one layer and width 64, whether the GGUF file differs if the config does, and by how much
# transformers' logits change:
#     glm4_moe   norm_topk_prob  the file differs            logits change by 2.73
#     qwen2_moe  norm_topk_prob  the file is the same        logits change by 2.10
#     qwen3_moe  norm_topk_prob  the file is the same        logits change by 2.14
#     olmoe      norm_topk_prob  the file is the same        logits change by 1.65
#     olmoe      clip_qkv        the file is the same        logits change by 12.84
# Source: Qwen2MoeModel in vendor/llama.cpp/conversion/qwen.py and OlmoeModel in conversion/olmo.py; Glm4MoeModel in
# conversion/glm.py writes the key. The programs: build_moe_ffn in src/models/qwen2moe.cpp, qwen3moe.cpp and olmoe.cpp.
# Ours: core/pretrained/families (`describe` of these families) uses llama.cpp's constants unless a file has the key, as
# docs/models.md says; tests/parity/pretrained_reference.py gives its small models the settings of the published ones
# (DecoderOfFamily.ReadsTheSameFromGguf), and sets the keys itself in ENTRIES.
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
import copy
import pathlib
import sys

import conversion
import gguf
import torch
import transformers

folder = pathlib.Path(sys.argv[1])
tokens = torch.randint(0, 64, (1, 100), generator=torch.Generator().manual_seed(1))
SIZES = {"vocab_size": 64, "hidden_size": 64, "intermediate_size": 64, "moe_intermediate_size": 64, "num_hidden_layers": 1,
         "num_attention_heads": 2, "num_key_value_heads": 2, "num_experts": 8, "num_experts_per_tok": 2, "head_dim": 32,
         "initializer_range": 0.3, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
OF_GLM = {"num_experts": None, "n_routed_experts": 8, "first_k_dense_replace": 0}


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


def seen(family, key, values, more=None):
    """Whether the file differs between two values of a member of the config, and by how much logits change."""
    torch.manual_seed(1)
    sizes = {name: size for name, size in {**SIZES, **(more or {}), key: values[0]}.items() if size is not None}
    config = transformers.AutoConfig.for_model(family, **sizes)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    config = copy.deepcopy(config)  # the model reads its own in each forward pass
    setattr(config, key, values[1])
    other = transformers.AutoModelForCausalLM.from_config(config).eval()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        change = (model(tokens).logits - other(tokens).logits).abs().max().item()
    return metadata(model, f"{family}-{key}-a") != metadata(other, f"{family}-{key}-b"), change


print("transformers", transformers.__version__)
cases = {("glm4_moe", "norm_topk_prob"): seen("glm4_moe", "norm_topk_prob", (True, False), OF_GLM),
         ("qwen2_moe", "norm_topk_prob"): seen("qwen2_moe", "norm_topk_prob", (True, False)),
         ("qwen3_moe", "norm_topk_prob"): seen("qwen3_moe", "norm_topk_prob", (True, False)),
         ("olmoe", "norm_topk_prob"): seen("olmoe", "norm_topk_prob", (True, False)),
         ("olmoe", "clip_qkv"): seen("olmoe", "clip_qkv", (0.5, None))}
for (family, key), (differs, change) in cases.items():
    print(f"{family:9}  {key:14}  the file {'differs' if differs else 'is the same':18}  logits change by {change:.2f}")
if [differs for differs, _ in cases.values()] != [True, False, False, False, False]:
    sys.exit("Changed: the converter writes other keys.")
if any(change < 0.01 for _, change in cases.values()):
    sys.exit("Changed: the settings do not matter.")
PYTHON
