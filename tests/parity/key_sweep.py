"""Changes every member of the config.json of every small model, one at a time, and compares -ln p with transformers: it must be
equal, or the member refused. Prints members that are accepted but change the result differently, and those that transformers
itself refuses; exits with 1 if there are any. Run outside CI, with Python packages torch (2.11.0), transformers (5.24.0),
safetensors and numpy: key_sweep.py [FAMILY...], after a build."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("ROPER_TRAIN", str(TESTS.parent / "build" / "release" / "bin" / "roper-train"))
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
sys.path.insert(0, str(TESTS / "support"))

import numpy
import torch
import transformers
from as_made import as_made
from programs import PRETRAINED, TRAINER, expected_text, is_encoder, small_model
from safetensors.torch import load_file

# Sizes that the stored tensors fix, and members about training, generation and storage.
LEFT_OUT = {
    "architectures", "bos_token_id", "chunk_size_feed_forward", "dtype", "eos_token_id", "head_dim", "hidden_size", "id2label",
    "initializer_range", "intermediate_size", "is_encoder_decoder", "label2id", "model_type", "num_attention_heads",
    "num_hidden_layers", "num_key_value_heads", "output_attentions", "output_hidden_states", "pad_token_id", "problem_type",
    "return_dict", "rope_parameters", "transformers_version", "use_cache", "vocab_size",
}
TOLERANCE = 2e-4


def other_values(key: str, value) -> list:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value + 1]
    if isinstance(value, float):
        return [1.7 * value + 0.1]
    if value is None:
        return [3, True]
    if isinstance(value, str):
        return ["gelu", "relu", "tanh"] if key.startswith("hidden_act") else [value + "x"]
    if isinstance(value, list) and value:
        return [value[::-1] if isinstance(value[0], str) else [1 - x if x in (0, 1) else x for x in value]]
    if isinstance(value, dict):
        inner = [(key, other) for key, one in value.items() if key not in LEFT_OUT for other in other_values(key, one)]
        return [{**value, key: other} for key, other in inner]
    return []


MASK, SPECIAL = 2, 4  # of encoders (pretrained_reference.py): the id of the mask token, and the number of special tokens


def masked_nll_of_transformers(folder: pathlib.Path) -> numpy.ndarray:
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokens, nll = load_file(folder / "expected.safetensors")["tokens"], []
    for position in (tokens >= SPECIAL).nonzero()[:, 0].tolist():
        masked = tokens.clone()
        masked[position] = MASK
        with torch.no_grad():
            nll.append(torch.nn.functional.cross_entropy(model(masked[None]).logits[0, position], tokens[position]))
    return torch.stack(nll).numpy()


def nll_of_transformers(folder: pathlib.Path) -> numpy.ndarray:
    if is_encoder(folder.name):
        return masked_nll_of_transformers(folder)
    # No Auto class knows all of them.
    class_of = getattr(transformers, json.loads((folder / "config.json").read_text())["architectures"][0])
    model = class_of.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    tokens = load_file(folder / "expected.safetensors")["tokens"]
    with torch.no_grad():
        logits = as_made(model)(tokens[None], use_cache=False).logits[0]
    return torch.nn.functional.cross_entropy(logits[:-1], tokens[1:], reduction="none").numpy()


def verdict(folder: pathlib.Path, text: str) -> str:
    """Empty if both agree or the program refuses the model."""
    done = subprocess.run([TRAINER, "look", str(folder), "--what", "loss", "--text", text, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 2, 4):
        return f"ends with {done.returncode}: {done.stderr[-200:]}"
    if done.returncode != 0:
        return ""
    try:
        right = nll_of_transformers(folder)
    except Exception as error:  # whatever a model's class raises
        return f"accepted, but transformers raises {type(error).__name__}: {str(error).splitlines()[0][:80]}"
    difference = numpy.abs(numpy.array(json.loads(done.stdout)["nll"]) - right).max()
    return "" if difference < TOLERANCE else f"differs by {difference:.1e}"


def main() -> int:
    tried = found = 0
    families = sys.argv[1:] or sorted(path.parent.name for path in PRETRAINED.glob("*/config.json"))
    for family in families:
        written = json.loads((PRETRAINED / family / "config.json").read_text())
        try:
            members = {**transformers.AutoConfig.from_pretrained(PRETRAINED / family).to_dict(), **written}
        except ValueError:  # a model type of published code alone
            members = written
        for key, value in members.items():
            if key in LEFT_OUT or key.startswith("_"):
                continue
            for other in other_values(key, value):
                with tempfile.TemporaryDirectory() as home:
                    folder = small_model(home, family)
                    (folder / "config.json").write_text(json.dumps({**written, key: other}))
                    said = verdict(folder, expected_text(family))
                tried += 1
                found += bool(said)
                if said:
                    print(f"{family}: {key} = {other!r} instead of {value!r}: {said}", flush=True)
    print(f"{tried} configs of {len(families)} families, {found} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
