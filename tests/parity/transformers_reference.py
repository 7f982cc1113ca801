"""Writes transformers_reference.json for the tests: how transformers interprets config.json files, with frequencies in float64.

Run manually after adding models or scaling methods:

    python3 -m venv /tmp/transformers && /tmp/transformers/bin/pip install transformers==5.23.0 numpy
    /tmp/transformers/bin/python tests/parity/transformers_reference.py

Each config is read by the config class of its model type. The frequencies come from the functions of transformers'
modeling_rope_utils, which normally compute in float32, executed here in float64 with numpy in place of torch. PyTorch is not
needed. Whether a model pairs neighbouring features is read from the source of its rotation.
"""

import ast
import importlib
import inspect
import json
import math
import os
import pathlib
import re
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import transformers  # noqa: E402
from transformers import CONFIG_MAPPING  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

# Factors from the config.json of Phi-3-vision-128k.
LONG = [1.0299999713897705, 1.0499999523162842, 1.0499999523162842, 1.0799999237060547, 1.2299998998641968,
        1.2299998998641968, 1.2999999523162842, 1.4499999284744263, 1.5999999046325684, 1.6499998569488525,
        1.8999998569488525, 2.859999895095825, 3.68999981880188, 5.419999599456787, 5.489999771118164,
        5.489999771118164, 9.09000015258789, 11.579999923706055, 15.65999984741211, 15.769999504089355,
        15.789999961853027, 18.360000610351562, 21.989999771118164, 23.079999923706055, 30.009998321533203,
        32.35000228881836, 32.590003967285156, 35.56000518798828, 39.95000457763672, 53.840003967285156,
        56.20000457763672, 57.95000457763672, 59.29000473022461, 59.77000427246094, 59.920005798339844,
        61.190006256103516, 61.96000671386719, 62.50000762939453, 63.3700065612793, 63.48000717163086,
        63.48000717163086, 63.66000747680664, 63.850006103515625, 64.08000946044922, 64.760009765625,
        64.80001068115234, 64.81001281738281, 64.81001281738281]
SHORT = ([1.05] * 3 + [1.1] * 3 + [1.25] * 2 + [1.4, 1.45, 1.55, 1.85, 1.9] + [2.0] * 19 + [2.1] * 2 + [2.2]
         + [2.35] * 4 + [2.4] * 2 + [2.65, 2.7, 2.9, 2.95] + [3.05] * 3)

# (name, length of the text or None, config.json)
CASES = [
    ("Llama 2 7B", None, {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
                          "max_position_embeddings": 4096}),
    ("Llama 3.1 8B", None, {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
                            "max_position_embeddings": 131072, "rope_theta": 500000.0,
                            "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                             "original_max_position_embeddings": 8192, "rope_type": "llama3"}}),
    ("Llama 4 Scout", None, {"model_type": "llama4_text", "head_dim": 128, "rope_theta": 500000.0,
                             "max_position_embeddings": 10485760,
                             "rope_scaling": {"factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.5,
                                              "original_max_position_embeddings": 8192, "rope_type": "llama3"}}),
    ("linear", None, {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32,
                      "rope_scaling": {"type": "linear", "factor": 2.5}}),
    ("dynamic, short text", 1000, {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 2048,
                                   "rope_scaling": {"type": "dynamic", "factor": 2.0}}),
    ("dynamic, long text", 8192, {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 2048,
                                  "rope_scaling": {"type": "dynamic", "factor": 2.0}}),
    ("Hunyuan", None, {"model_type": "hunyuan_v1_dense", "head_dim": 128, "max_position_embeddings": 32768,
                       "rope_theta": 10000.0, "rope_scaling": {"alpha": 1000.0, "beta_fast": 32, "beta_slow": 1,
                                                               "factor": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                                                               "type": "dynamic"}}),
    ("Qwen 2.5 with YaRN", None, {"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28,
                                  "max_position_embeddings": 131072, "rope_theta": 1000000.0,
                                  "rope_scaling": {"factor": 4.0, "type": "yarn",
                                                   "original_max_position_embeddings": 32768}}),
    ("YaRN, factor from lengths", None, {"model_type": "qwen2", "head_dim": 64, "max_position_embeddings": 16384,
                                         "rope_scaling": {"rope_type": "yarn", "factor": None,
                                                          "original_max_position_embeddings": 4096}}),
    ("YaRN with its own attention factor", None,
     {"model_type": "qwen2", "head_dim": 64, "max_position_embeddings": 16384,
      "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "attention_factor": 0.75, "beta_fast": 20,
                       "beta_slow": 2.5, "original_max_position_embeddings": 4096}}),
    ("gpt-oss 20B", None, {"model_type": "gpt_oss", "head_dim": 64, "max_position_embeddings": 131072,
                           "rope_theta": 150000, "rope_scaling": {"rope_type": "yarn", "factor": 32.0,
                                                                  "beta_fast": 32.0, "beta_slow": 1.0,
                                                                  "truncate": False,
                                                                  "original_max_position_embeddings": 4096}}),
    ("DeepSeek V2", None, {"model_type": "deepseek_v2", "qk_rope_head_dim": 64, "hidden_size": 5120,
                           "num_attention_heads": 128, "max_position_embeddings": 163840, "rope_theta": 10000,
                           "rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1,
                                            "mscale": 0.707, "mscale_all_dim": 0.707,
                                            "original_max_position_embeddings": 4096}}),
    ("DeepSeek V3", None, {"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "hidden_size": 7168,
                           "num_attention_heads": 128, "max_position_embeddings": 163840, "rope_theta": 10000,
                           "rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1,
                                            "mscale": 1.0, "mscale_all_dim": 1.0,
                                            "original_max_position_embeddings": 4096}}),
    ("DeepSeek V3, not interleaved", None, {"model_type": "deepseek_v3", "qk_rope_head_dim": 64,
                                            "rope_interleave": False, "rope_theta": 10000}),
    ("YaRN, two scales", None, {"model_type": "qwen2", "head_dim": 64, "max_position_embeddings": 163840,
                                "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.2,
                                                 "mscale_all_dim": 0.5,
                                                 "original_max_position_embeddings": 4096}}),
    ("Phi-3 vision 128k, short text", 4096,
     {"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32, "max_position_embeddings": 131072,
      "original_max_position_embeddings": 4096, "rope_theta": 10000.0,
      "rope_scaling": {"long_factor": LONG, "short_factor": SHORT, "type": "longrope"}}),
    ("Phi-3 vision 128k, long text", 131072,
     {"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32, "max_position_embeddings": 131072,
      "original_max_position_embeddings": 4096, "rope_theta": 10000.0,
      "rope_scaling": {"long_factor": LONG, "short_factor": SHORT, "type": "longrope"}}),
    ("LongRoPE with factor", 9000,
     {"model_type": "llama", "head_dim": 8, "max_position_embeddings": 16384,
      "rope_parameters": {"rope_type": "longrope", "rope_theta": 10000.0, "factor": 3.0,
                          "long_factor": [1, 2, 4, 8], "short_factor": [1, 1.5, 2, 3],
                          "original_max_position_embeddings": 8192}}),
    ("LongRoPE with its own attention factor", 16384,
     {"model_type": "llama", "head_dim": 8, "max_position_embeddings": 16384,
      "rope_parameters": {"rope_type": "longrope", "rope_theta": 10000.0, "attention_factor": 1.25,
                          "long_factor": [1, 2, 4, 8], "short_factor": [1, 1.5, 2, 3],
                          "original_max_position_embeddings": 8192}}),
    ("Gemma 2 9B", None, {"model_type": "gemma2", "head_dim": 256, "hidden_size": 3584, "num_attention_heads": 16,
                          "rope_theta": 10000.0}),
    ("Gemma 3 1B", None, {"model_type": "gemma3_text", "head_dim": 256, "hidden_size": 1152,
                          "num_attention_heads": 4, "max_position_embeddings": 32768,
                          "rope_local_base_freq": 10000, "rope_scaling": None, "rope_theta": 1000000}),
    ("Gemma 3 4B", None, {"model_type": "gemma3", "text_config": {
        "hidden_size": 2560, "model_type": "gemma3_text", "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}}),
    ("Gemma 3n", None, {"model_type": "gemma3n_text", "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0}),
    ("LFM 3", None,
     {"model_type": "lfm3", "head_dim": 128, "max_position_embeddings": 131072, "rope_parameters": {
         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
         "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0}}}),
    ("ModernBERT base", None, {"model_type": "modernbert", "hidden_size": 768, "num_attention_heads": 12,
                               "global_rope_theta": 160000.0, "local_rope_theta": 10000.0,
                               "max_position_embeddings": 8192}),
    ("Olmo 3", None, {"model_type": "olmo3", "hidden_size": 4096, "num_attention_heads": 32,
                      "max_position_embeddings": 65536, "rope_theta": 500000,
                      "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "attention_factor": 1.2079441541679836,
                                       "beta_fast": 32, "beta_slow": 1,
                                       "original_max_position_embeddings": 8192}}),
    ("p-RoPE 0.3", None, {"model_type": "llama", "head_dim": 128, "rope_parameters": {
        "rope_type": "proportional", "partial_rotary_factor": 0.3, "rope_theta": 10000.0}}),
    ("p-RoPE 0.7 with a factor", None, {"model_type": "llama", "head_dim": 128, "rope_parameters": {
        "rope_type": "proportional", "partial_rotary_factor": 0.7, "rope_theta": 500000.0, "factor": 8.0}}),
    ("Command R", None, {"model_type": "cohere", "hidden_size": 8192, "num_attention_heads": 64,
                         "rope_theta": 8000000.0, "max_position_embeddings": 8192}),
    ("Command R7B", None, {"model_type": "cohere2", "hidden_size": 4096, "num_attention_heads": 32,
                           "head_dim": 128, "rope_theta": 50000}),
    ("GLM 4 9B", None, {"model_type": "glm", "head_dim": 128, "hidden_size": 4096, "num_attention_heads": 32,
                        "rope_theta": 10000.0}),
    ("GLM 4 0414", None, {"model_type": "glm4", "head_dim": 128, "partial_rotary_factor": 0.5,
                          "rope_theta": 10000.0}),
    ("GLM 4.5", None, {"model_type": "glm4_moe", "head_dim": 128, "partial_rotary_factor": 0.5,
                       "rope_theta": 1000000}),
    ("Ernie 4.5 0.3B", None, {"model_type": "ernie4_5", "head_dim": 128, "hidden_size": 1024,
                              "num_attention_heads": 16, "rope_theta": 500000}),
    ("Helium", None, {"model_type": "helium", "head_dim": 128, "rope_theta": 100000.0}),
    ("Moonshine tiny", None, {"model_type": "moonshine", "hidden_size": 288, "decoder_num_attention_heads": 8,
                              "encoder_num_attention_heads": 8, "num_attention_heads": 8,
                              "partial_rotary_factor": 0.9, "rope_theta": 10000.0}),
    ("GPT-J", None, {"model_type": "gptj", "n_embd": 4096, "n_head": 16, "rotary_dim": 64, "n_positions": 2048}),
    ("Pythia", None, {"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8, "rotary_pct": 0.25,
                      "rotary_emb_base": 10000, "max_position_embeddings": 2048}),
    ("Phi 2", None, {"model_type": "phi", "hidden_size": 2560, "num_attention_heads": 32,
                     "partial_rotary_factor": 0.4, "rope_theta": 10000.0}),
    ("StableLM 2", None, {"model_type": "stablelm", "hidden_size": 2048, "num_attention_heads": 32,
                          "partial_rotary_factor": 0.25, "rope_theta": 10000}),
    ("Nemotron", None, {"model_type": "nemotron", "head_dim": 128, "rope_theta": 10000.0}),
    ("Qwen 3 Next", None, {"model_type": "qwen3_next", "head_dim": 256, "partial_rotary_factor": 0.25,
                           "rope_theta": 10000000}),
    ("Mistral 7B", None, {"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32,
                          "rope_theta": 1000000.0}),
    ("SmolLM3", None, {"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16,
                       "rope_theta": 5000000.0}),
    ("Ministral 3", None, {"model_type": "ministral3", "head_dim": 128, "max_position_embeddings": 262144,
                           "rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0,
                                               "original_max_position_embeddings": 16384, "beta_fast": 32.0,
                                               "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                                               "llama_4_scaling_beta": 0.1}}),
]


class Array(np.ndarray):
    """The methods of tensors that transformers' functions use, in float64."""

    def to(self, *args, **kwargs):
        return self

    def float(self):
        return self.astype(np.float64)


def array(values):
    return np.asarray(values, dtype=np.float64).view(Array)


class Torch:
    float = float32 = int64 = np.float64
    Tensor = Array

    @staticmethod
    def arange(*span, **_):
        return array(np.arange(*span))

    @staticmethod
    def tensor(values, **_):
        return array(values)

    @staticmethod
    def zeros(count, **_):
        return array(np.zeros(count))

    @staticmethod
    def cat(parts, dim):
        return array(np.concatenate(parts, axis=dim))

    @staticmethod
    def where(condition, a, b):
        return array(np.where(condition, a, b))

    @staticmethod
    def clamp(values, low, high):
        return array(np.clip(values, low, high))


def source_of(module_name):
    spec = importlib.util.find_spec(module_name)
    return pathlib.Path(spec.origin).read_text()


def functions_of(source, names=None):
    """The functions of a source file, without its imports, using numpy in place of torch."""
    tree = ast.parse(source)
    wanted = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
              and (node.name.startswith("_compute") if names is None else node.name in names)]
    for node in wanted:
        node.decorator_list = []
        node.returns = None
        for argument in node.args.args + node.args.kwonlyargs:
            argument.annotation = None
    space = {"torch": Torch, "math": math}
    exec(compile(ast.Module(wanted, []), "transformers", "exec"), space)
    return space


ROPE = functions_of(inspect.getsource(importlib.import_module("transformers.modeling_rope_utils")))
FUNCTIONS = {"linear": ROPE["_compute_linear_scaling_rope_parameters"], "dynamic": ROPE["_compute_dynamic_ntk_parameters"],
             "yarn": ROPE["_compute_yarn_parameters"], "longrope": ROPE["_compute_longrope_parameters"],
             "llama3": ROPE["_compute_llama3_parameters"], "proportional": ROPE["_compute_proportional_rope_parameters"]}


def default_frequencies(config, parameters):
    """Like the models' own compute_default_rope_parameters."""
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    dim = int(head_dim * parameters.get("partial_rotary_factor", 1.0))
    return 1.0 / parameters["rope_theta"] ** (np.arange(0, dim, 2) / dim), 1.0


def frequencies(config, parameters, length, layer_type):
    kind = parameters["rope_type"]
    if kind == "default":
        return default_frequencies(config, parameters)
    if kind == "dynamic" and parameters.get("alpha"):
        own = functions_of(source_of("transformers.models.hunyuan_v1_dense.modeling_hunyuan_v1_dense"),
                           {"compute_ntk_alpha_rope_parameters"})
        return own["compute_ntk_alpha_rope_parameters"](config)
    return FUNCTIONS[kind](config, None, seq_len=length, layer_type=layer_type)


def gptj_frequencies(config):
    return [("", 1.0 / 10000 ** (np.arange(0, config.rotary_dim, 2) / config.rotary_dim), 1.0)]


def kinds_of(config, length):
    """(kind of layer, θ by pair, factor on cos and sin); a single kind has an empty name."""
    if config.model_type == "gptj":
        return gptj_frequencies(config)
    config.standardize_rope_params()
    parameters = config.rope_parameters
    nested = config.nested_rope_parameter_keys(parameters)
    if not nested:
        return [("", *frequencies(config, parameters, length, None))]
    return [(name, *frequencies(config, parameters[name], length, name)) for name in sorted(nested)]


def is_interleaved(model_type, config):
    if model_type == "gptj":
        return True
    name = type(config).__module__.rsplit(".", 1)[0].rsplit(".", 1)[1]
    source = source_of(f"transformers.models.{name}.modeling_{name}")
    half = re.search(r"def rotate_half\(x\):(.*?)\n\n", source, re.S)
    if "rope_interleave" in source:
        return bool(config.rope_interleave)
    return "apply_rotary_pos_emb_interleave(" in source or "torch.polar" in source or bool(half and "::2]" in half.group(1))


def read(json_config):
    inner = json_config.get("text_config", json_config)
    return CONFIG_MAPPING[inner["model_type"]].from_dict(json.loads(json.dumps(inner)))


def main():
    cases = []
    for name, length, config_json in CASES:
        config = read(config_json)
        cases.append({
            "name": name, "length": length, "config": config_json,
            "interleaved": is_interleaved(config.model_type, config),
            "kinds": [{"name": kind, "theta": [float(value) for value in theta], "attention_factor": float(factor)}
                      for kind, theta, factor in kinds_of(config, length)]})
    lines = ",\n".join(json.dumps(case) for case in cases)
    out = HERE / "transformers_reference.json"
    out.write_text(f'{{"transformers": "{transformers.__version__}", "cases": [\n{lines}\n]}}\n')
    print(f"{len(cases)} configs → {out}")


if __name__ == "__main__":
    main()
