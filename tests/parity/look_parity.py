"""Compares roper-train look with PyTorch: logit lens and activation patching of SmolLM2, and runs exported as Hugging Face
folders.

    look_parity.py ROPER_TRAIN MODEL.gguf [RUN...]

Needs torch, transformers, gguf, accelerate and safetensors; run manually. Prints the largest differences, and fails if they
exceed bounds a little above those in docs/models.md.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.numpy import load_file
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

TRAINER, MODEL, *RUNS = sys.argv[1:]
TEXT = "The keeper wrote in his book that the sea was calm. The capital of France is"
OTHER = TEXT.replace("France", "Italy")
HEADS = [(23, 4), (29, 1), (23, 7), (10, 6), (0, 0), (23, 3)]


def look(*arguments):
    done = subprocess.run([TRAINER, "look", MODEL, "--json", *map(str, arguments)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def require(name, difference, bound):
    print(f"{name}: {difference:.2g}")
    assert difference <= bound, name


def nll_of(logits, ids):
    log_p = torch.log_softmax(logits.double(), -1)
    return -log_p[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]


def check_lens(model, ids):
    states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    layers = look("--what", "lens", "--text", TEXT)
    assert len(layers) == len(states)
    worst = 0
    for k, state in enumerate(states):  # the last state is already normalized
        normed = state if k + 1 == len(states) else model.model.norm(state)
        right = nll_of(model.lm_head(normed)[0], ids)
        worst = max(worst, (right - torch.tensor(layers[k]["nll"])).abs().max().item())
    require("logit lens, -ln p", worst, 1e-3)


def check_patching(model, ids, other):
    kept = {}

    def keep(layer):
        return lambda module, inputs: kept.__setitem__(layer, inputs[0].clone())

    hooks = [block.self_attn.o_proj.register_forward_pre_hook(keep(i)) for i, block in enumerate(model.model.layers)]
    of_text = model(torch.tensor([ids])).logits[0, -1]
    for hook in hooks:
        hook.remove()
    of_other = model(torch.tensor([other])).logits[0, -1]
    right, wrong = of_text.argmax(), of_other.argmax()

    def difference(logits):
        return (logits[right] - logits[wrong]).item()

    (answer,) = look("--what", "patch", "--text", TEXT, "--other", OTHER)
    worst = 0
    for layer, head in HEADS:
        features = slice(64 * head, 64 * head + 64)

        def patch(module, inputs):
            patched = inputs[0].clone()
            patched[..., features] = kept[layer][..., features]
            return (patched,)

        hook = model.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(patch)
        patched = model(torch.tensor([other])).logits[0, -1]
        hook.remove()
        share = (difference(patched) - difference(of_other)) / (difference(of_text) - difference(of_other))
        worst = max(worst, abs(share - answer["restored"][layer][head]))
    require("activation patching, share restored", worst, 1e-5)


def check_export(run):
    with tempfile.TemporaryDirectory() as folder:
        exported, logits = Path(folder) / "exported", Path(folder) / "logits.safetensors"
        subprocess.run([TRAINER, "export", run, "--what", "huggingface", "--out", exported], check=True, capture_output=True)
        model = AutoModelForCausalLM.from_pretrained(exported, attn_implementation="eager", dtype=torch.float32).eval()
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(exported / "tokenizer.json"))
        samples = [json.loads(line) for line in (Path(run) / "samples.jsonl").read_text().splitlines()]
        text = samples[-1]["prompt"] + samples[-1]["expected"]
        ids = tokenizer(text)["input_ids"]
        assert tokenizer.decode(ids) == text
        subprocess.run([TRAINER, "export", run, "--what", "logits", "--text", text, "--precision", "fp32", "--out", logits],
                       check=True, capture_output=True)
        ours = torch.tensor(load_file(logits)["logits"])
        require(f"export of {Path(run).name}, logits", (model(torch.tensor([ids])).logits[0] - ours).abs().max().item(), 1e-3)


def main():
    path = Path(MODEL)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, attn_implementation="eager",
                                                 dtype=torch.float32).eval()
    with torch.no_grad():
        ids, other = (look("--what", "loss", "--text", text)[0]["ids"] for text in (TEXT, OTHER))
        check_lens(model, ids)
        check_patching(model, ids, other)
        for run in RUNS:
            check_export(run)


if __name__ == "__main__":
    main()
