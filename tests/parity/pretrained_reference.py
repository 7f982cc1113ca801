"""Writes small random models of every family that is read into pretrained/dense.tar.xz: FAMILY/ as a Hugging Face folder,
FAMILY.gguf, and FAMILY/expected.safetensors, the tokens, logits and attention that transformers computes. Writes -ln p of
these models under other settings, too: pretrained/gguf_entries.json with the entries of a GGUF file that ask for them
(--entries writes that alone) and pretrained/configs.json with the members of a config.json (--configs). Needs the Python
packages torch (2.11.0), transformers (5.24.0), gguf (0.19.0), safetensors and numpy."""

import contextlib
import json
import math
import pathlib
import shutil
import sys
import tarfile
import tempfile

import gguf
import numpy
import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = pathlib.Path(__file__).parent / "pretrained"
ARCHIVE = HERE / "dense.tar.xz"
UNPACKED = pathlib.Path(tempfile.mkdtemp(prefix="small-models-"))
TOKENS = 24
SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "intermediate_size": 48, "max_position_embeddings": 128, "initializer_range": 0.3}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
# Name: config class, members of its config in addition to SIZES, and storage type.
MODELS = {
    "llama": (transformers.LlamaConfig, {"rope_parameters": LLAMA3}, torch.bfloat16),
    "mistral": (transformers.MistralConfig, {"sliding_window": 7, "head_dim": 12}, torch.float16),
    "qwen2": (transformers.Qwen2Config, {"rope_parameters": YARN, "tie_word_embeddings": True}, torch.bfloat16),
    "qwen3": (transformers.Qwen3Config, {"head_dim": 16}, torch.float32),
    "gemma": (transformers.GemmaConfig, {"head_dim": 16}, torch.bfloat16),
    "gemma2": (transformers.Gemma2Config, {"head_dim": 16, "sliding_window": 6, "query_pre_attn_scalar": 16}, torch.bfloat16),
    "gemma3_text": (transformers.Gemma3TextConfig, {"head_dim": 16, "sliding_window": 6, "num_hidden_layers": 6, "query_pre_attn_scalar": 16}, torch.bfloat16),
    "gpt_neox": (transformers.GPTNeoXConfig, {"num_key_value_heads": None}, torch.bfloat16),
    "gpt2": (transformers.GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}, torch.float32),
}

# Name: family, entries (without the architecture) and tensors that its GGUF file gets, and the equivalent fields of the config.
# Without a window, the model is not causal. Each of eight pairs has its own factor.
SHORT, LONG = [1.0 + 0.1 * i for i in range(8)], [1.0 + 0.5 * i for i in range(8)]
SCALED = {"rope_theta": 10000.0, "factor": 4.0}
OF_YARN = {**SCALED, "rope_type": "yarn", "original_max_position_embeddings": 32}
YARN_ENTRIES = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32}
LONGROPE_ENTRIES = {"rope.scaling.type": "longrope", "rope.scaling.attn_factor": 1.25}
OF_LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "factor": 1.0, "attention_factor": 1.25, "short_factor": SHORT,
               "long_factor": LONG}
FACTOR_TENSORS = {"rope_factors_short.weight": SHORT, "rope_factors_long.weight": LONG}
THIRDS = ["sliding_attention", "sliding_attention", "full_attention"] * 2
ENTRIES = {
    "a factor without a type": ("qwen3", {"rope.scaling.factor": 4.0}, {}, {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "the older key": ("qwen3", {"rope.scale_linear": 4.0}, {}, {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "the newer key wins": ("qwen3", {"rope.scale_linear": 9.0, "rope.scaling.factor": 4.0}, {},
                           {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "linear": ("qwen3", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {},
               {"rope_parameters": {**SCALED, "rope_type": "linear"}}),
    "none": ("qwen3", {"rope.scaling.type": "none", "rope.scaling.factor": 4.0}, {}, {}),
    "a factor of 0": ("qwen3", {"rope.scaling.factor": 0.0}, {}, {}),
    "yarn": ("qwen3", YARN_ENTRIES, {}, {"rope_parameters": OF_YARN}),
    "yarn from the whole context": ("qwen3", {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}, {},
                                    {"rope_parameters": {**OF_YARN, "original_max_position_embeddings": 128}}),
    "betas": ("qwen3", {**YARN_ENTRIES, "rope.scaling.yarn_beta_fast": 2.0, "rope.scaling.yarn_beta_slow": 0.25}, {},
              {"rope_parameters": {**OF_YARN, "beta_fast": 2.0, "beta_slow": 0.25}}),
    "an attention factor": ("qwen3", {**YARN_ENTRIES, "rope.scaling.attn_factor": 0.75}, {},
                            {"rope_parameters": {**OF_YARN, "attention_factor": 0.75 * (0.1 * math.log(4) + 1)}}),
    "yarn that does nothing": ("qwen3", {"rope.scaling.type": "yarn", "rope.scaling.attn_factor": 1.5}, {},
                               {"rope_parameters": {**OF_YARN, "factor": 1.0, "attention_factor": 1.5}}),
    "longrope in a short text": ("qwen3", {**LONGROPE_ENTRIES, "rope.scaling.original_context_length": 32}, FACTOR_TENSORS,
                                 {"rope_parameters": {**OF_LONGROPE, "original_max_position_embeddings": 32}}),
    "longrope in a long text": ("qwen3", {**LONGROPE_ENTRIES, "rope.scaling.original_context_length": 16}, FACTOR_TENSORS,
                                {"rope_parameters": {**OF_LONGROPE, "original_max_position_embeddings": 16}}),
    "not causal": ("qwen3", {"attention.causal": False}, {}, {"is_causal": False}),
    "capped logits": ("gemma3_text", {"final_logit_softcapping": 5.0}, {}, {"final_logit_softcapping": 5.0}),
    "every third layer sees all": ("gemma3_text", {"attention.sliding_window_pattern": 3}, {}, {"layer_types": THIRDS}),
    "a flag for each layer": ("gemma3_text", {"attention.sliding_window_pattern": [kind == "sliding_attention" for kind in THIRDS]},
                              {}, {"layer_types": THIRDS}),
    "scaled layers that see all": ("gemma3_text", {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0}, {},
                                   {"rope_parameters": {"full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
                                                        "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"}}}),
}


def random_model(name: str) -> transformers.PreTrainedModel:
    kind, more, dtype = MODELS[name]
    torch.manual_seed(sum(map(ord, name)))
    sizes = {} if name == "gpt2" else dict(SIZES)
    config = kind(**{**sizes, "vocab_size": 64, "initializer_range": 0.3, **{k: v for k, v in more.items() if v is not None}})
    if name == "gpt_neox":
        del config.num_key_value_heads
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():  # parameters of all ones or zeros would hide errors
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.to(dtype)


def expected(folder: pathlib.Path) -> dict[str, torch.Tensor]:
    # Read again, because casting a model would also cast its rotary frequencies.
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokens = torch.randint(0, 64, (1, TOKENS), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        out = model(tokens, output_attentions=True, use_cache=False)
    return {"tokens": tokens[0].contiguous(), "logits": out.logits[0].float().contiguous(),
            "attention": torch.stack([layer[0] for layer in out.attentions]).float().contiguous()}


def interleaved(weight: numpy.ndarray, heads: int) -> numpy.ndarray:
    """Reorders rows of q or k so that neighbours form a pair, like the GGUF converter for Llama."""
    d = weight.shape[0] // heads
    return weight.reshape(heads, 2, d // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def as_gguf(name: str, key: str, value: numpy.ndarray, config) -> numpy.ndarray:
    if name in ("llama", "mistral") and ("q_proj" in key or "k_proj" in key):
        return interleaved(value, config.num_attention_heads if "q_proj" in key else config.num_key_value_heads)
    if name.startswith("gemma") and key.endswith("norm.weight"):
        return value + 1
    if name == "gpt_neox" and "query_key_value" in key:
        heads = config.num_attention_heads
        parts = value.reshape(heads, 3, -1, *value.shape[1:])
        return numpy.concatenate([parts[:, which].reshape(-1, *value.shape[1:]) for which in range(3)])
    if name == "gpt2" and value.ndim == 2 and any(part in key for part in ("c_attn", "c_proj", "c_fc")):
        return value.T
    return value


def write_gguf(name: str, model: transformers.PreTrainedModel) -> None:
    config = model.config
    architecture = {"gpt_neox": "gptneox", "mistral": "llama", "gemma3_text": "gemma3"}.get(name, name)
    arch = {text: number for number, text in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    writer = gguf.GGUFWriter(UNPACKED / f"{name}.gguf", architecture)
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    writer.add_block_count(layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(getattr(config, "intermediate_size", None) or 4 * config.hidden_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(getattr(config, "num_key_value_heads", heads))
    writer.add_vocab_size(64)
    if getattr(config, "head_dim", None):
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    rope = getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope)
    if name != "gpt2":
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
        writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1)))
        writer.add_rope_freq_base(rope["rope_theta"])
    if rope.get("rope_type") == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if rope.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(rope, head_dim))
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    else:
        writer.add_layer_norm_eps(getattr(config, "layer_norm_eps", None) or config.layer_norm_epsilon)
    if name == "gpt_neox":
        writer.add_parallel_residual(config.use_parallel_residual)
    if getattr(config, "sliding_window", None) and name != "qwen2":
        writer.add_sliding_window(config.sliding_window)
    if name == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    names = gguf.get_tensor_name_map(arch, layers)
    for key, tensor in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        value = as_gguf(name, key, tensor.float().numpy(), config)
        writer.add_tensor(names.get_name(key, try_suffixes=(".weight", ".bias")), numpy.ascontiguousarray(value, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def llama3_factors(rope: dict, head_dim: int) -> numpy.ndarray:
    """The factors that the converter stores instead of the parameters; each frequency is divided by its factor."""
    theta = 1 / rope["rope_theta"] ** (numpy.arange(0, head_dim, 2) / head_dim)
    length = rope["original_max_position_embeddings"]
    low, high = length / rope["low_freq_factor"], length / rope["high_freq_factor"]
    wavelength = 2 * numpy.pi / theta
    smooth = (length / wavelength - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
    blended = 1 / ((1 - smooth) / rope["factor"] + smooth)
    return numpy.where(wavelength < high, 1, numpy.where(wavelength > low, rope["factor"], blended)).astype(numpy.float32)


def nll_with(name: str, changes: dict) -> list[float]:
    """-ln p of the family's tokens with some fields of its config changed."""
    folder = UNPACKED / name
    config = transformers.AutoConfig.from_pretrained(folder)
    for key, value in changes.items():
        setattr(config, key, value)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, config=config, dtype=torch.float32, attn_implementation="eager")
    tokens = load_file(folder / "expected.safetensors")["tokens"][None]
    mask = torch.zeros(1, 1, TOKENS, TOKENS) if changes.get("is_causal") is False else None
    with torch.no_grad():
        logits = model.eval()(tokens, attention_mask=mask, use_cache=False).logits[0]
    return [round(float(nll), 6) for nll in torch.nn.functional.cross_entropy(logits[:-1], tokens[0, 1:], reduction="none")]


def write_entries() -> None:
    written = {}
    for name, (family, entries, tensors, changes) in ENTRIES.items():
        architecture = {"gemma3_text": "gemma3"}.get(family, family)
        written[name] = {"family": family, "entries": {f"{architecture}.{key}": value for key, value in entries.items()},
                         "tensors": tensors, "nll": nll_with(family, changes)}
    lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in written.items()]
    (HERE / "gguf_entries.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


# Name: family, and members of its config.json; null means None.
CONFIGS = {
    "none": ("qwen2", {}),
    "both sides": ("qwen2", {"is_causal": False}),
    "both sides, of Llama": ("llama", {"is_causal": False}),
    "both sides, with windows": ("gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 10}),
    "no scale": ("gpt2", {"scale_attn_weights": False}),
    "scale by layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    "rope_scaling beside rope_parameters": ("qwen2", {"rope_theta": 5000.0, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}),
    "a share that Qwen does not read": ("qwen3", {"partial_rotary_factor": 0.5}),
    "an odd share": ("gpt_neox", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.45}}),
    "caps that are null": ("gemma2", {"attn_logit_softcapping": None, "final_logit_softcapping": None}),
    "a cap that Gemma 3 does not read": ("gemma3_text", {"attn_logit_softcapping": 5.0}),
    "the final cap of Gemma 3": ("gemma3_text", {"final_logit_softcapping": 3.0}),
    "local layers without theta": ("gemma3_text", {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0},
                                                                      "sliding_attention": {"rope_type": "default"}}}),
    "another window": ("mistral", {"sliding_window": 3}),
    "a window that is null": ("mistral", {"sliding_window": None}),
}


def write_configs() -> None:
    written = {}
    for name, (family, changes) in CONFIGS.items():
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(UNPACKED / family, copy, dirs_exist_ok=True)
            path = pathlib.Path(copy) / "config.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
            model = transformers.AutoModelForCausalLM.from_pretrained(copy, dtype=torch.float32, attn_implementation="eager").eval()
            tokens = load_file(UNPACKED / family / "expected.safetensors")["tokens"][None]
            with torch.no_grad():
                logits = model(tokens, use_cache=False).logits[0]
            nll = torch.nn.functional.cross_entropy(logits[:-1], tokens[0, 1:], reduction="none")
            written[name] = {"family": family, "config": changes, "nll": [round(float(value), 6) for value in nll]}
    lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in written.items()]
    (HERE / "configs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def pack() -> None:
    """The same models make the same archive, byte for byte."""
    with tarfile.open(ARCHIVE, "w:xz") as archive:
        for path in sorted(UNPACKED.rglob("*")):
            entry = archive.gettarinfo(path, path.relative_to(UNPACKED))
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if path.is_dir() else 0o644
            with open(path, "rb") if path.is_file() else contextlib.nullcontext() as content:
                archive.addfile(entry, content)


def main() -> None:
    if sys.argv[1:] in (["--entries"], ["--configs"]):
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(UNPACKED, filter="data")
        return write_entries() if sys.argv[1] == "--entries" else write_configs()
    for name in MODELS:
        folder = UNPACKED / name
        model = random_model(name)
        model.save_pretrained(folder, max_shard_size="40KB" if name == "llama" else "5GB")
        (folder / "generation_config.json").unlink(missing_ok=True)
        save_file(expected(folder), folder / "expected.safetensors")
        if name != "mistral":
            write_gguf(name, model)
    pack()
    write_entries()
    write_configs()


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(UNPACKED)
