#!/usr/bin/env python3
"""roper-train look beside transformers: time and memory of the same work on a model, such as SmolLM2-135M-Instruct, in turn.

    look_bench.py ROPER_TRAIN MODEL [--threads 2] [--repeats 5]

MODEL is a GGUF file or a Hugging Face folder. Instead, "mixture" makes up a random Qwen3-MoE of 920 MB: 12 layers, each with
32 experts, of which a token takes four.

Needs torch, transformers, gguf and accelerate. Each side runs in a process of its own; ratios are medians of ours over theirs.
Generation is also compared with llama.cpp, if llama_cpp (llama-cpp-python) is installed and MODEL is a GGUF file.
"""

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEXT = Path(__file__).resolve().parents[2] / "resources" / "texts" / "opticks.txt"


def make_mixture(folder):
    """Writes a random mixture of experts in bfloat16, with tokens learned from the text."""
    import tokenizers
    import torch
    from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

    torch.manual_seed(1)
    config = Qwen3MoeConfig(vocab_size=49152, hidden_size=1024, num_hidden_layers=12, num_attention_heads=16,
                            num_key_value_heads=4, head_dim=64, num_experts=32, num_experts_per_tok=4, moe_intermediate_size=320,
                            tie_word_embeddings=True)
    Qwen3MoeForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train([str(TEXT)], vocab_size=8000, show_progress=False)
    tokenizer.save(f"{folder}/tokenizer.json")


def words(tokens):
    """A part of the text with at least this many tokens."""
    return TEXT.read_text()[5000 : 5000 + 6 * tokens]


def run_and_measure(command):
    """Time and peak memory of a process, in seconds and bytes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    assert os.waitstatus_to_exitcode(status) == 0, command
    return time.monotonic() - begin, usage.ru_maxrss * 1024, output


class Served:
    """A running roper-train serve, queried through its socket."""

    def __init__(self, trainer, model):
        import socket

        self.process = subprocess.Popen([trainer, "serve", model, "--json", "--with-parent"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        hello = json.loads(self.process.stdout.readline())
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(hello["socket"])
        self.stream = self.socket.makefile("rb")

    def ask(self, **question):
        begin = time.monotonic()
        self.socket.sendall((json.dumps({"command": "look", "id": "1", "question": question}) + "\n").encode())
        reply = json.loads(self.stream.readline())
        payload = self.stream.read(reply.get("payload", 0))
        assert reply["ok"], reply
        return time.monotonic() - begin, payload

    def peak(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024

    def close(self):
        self.stream.close()
        self.socket.close()
        self.process.stdin.close()
        self.process.wait()


def transformers_side(model, ids, threads, repeats):
    """Measures transformers in its own process: seconds of each forward pass with all attention maps, and peak memory."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(threads)
    path = Path(model)
    place = {"pretrained_model_name_or_path": path} if path.is_dir() else {"pretrained_model_name_or_path": path.parent,
                                                                           "gguf_file": path.name}
    begin = time.monotonic()
    network = AutoModelForCausalLM.from_pretrained(**place, attn_implementation="eager", dtype=torch.float32).eval()
    config = network.config
    loaded = time.monotonic() - begin
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tokens = torch.tensor([ids])
    seconds, plain = [], []
    with torch.no_grad():
        for _ in range(repeats + 1):
            begin = time.monotonic()
            maps = network(tokens, output_attentions=True).attentions
            assert len(maps) == config.num_hidden_layers
            assert maps[0].shape[1:] == (config.num_attention_heads, len(ids), len(ids))
            seconds.append(time.monotonic() - begin)
            begin = time.monotonic()
            network(tokens)
            plain.append(time.monotonic() - begin)
    print(json.dumps({"seconds": seconds[1:], "plain": plain[1:], "loaded": loaded, "held": held,
                      "heads": config.num_hidden_layers * config.num_attention_heads,
                      "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


PROMPT = "Once upon a time, in a small village by the sea, there lived"
GENERATED = 128


def transformers_generator(model, threads):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(threads)
    path = Path(model)
    place = {"pretrained_model_name_or_path": path} if path.is_dir() else {"pretrained_model_name_or_path": path.parent,
                                                                           "gguf_file": path.name}
    network = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32).eval()
    ids = AutoTokenizer.from_pretrained(**place)(PROMPT, return_tensors="pt").input_ids

    def generate():
        with torch.no_grad():
            first = network(ids, use_cache=True)
            cache, token = first.past_key_values, first.logits[:, -1:].argmax(-1)
            begin = time.monotonic()
            for _ in range(GENERATED):
                step = network(token, past_key_values=cache, use_cache=True)
                cache, token = step.past_key_values, step.logits[:, -1:].argmax(-1)
            return time.monotonic() - begin

    return generate


def llama_generator(model, threads):
    from llama_cpp import Llama

    network = Llama(model, n_ctx=1024, n_threads=threads, n_threads_batch=threads, verbose=False)
    ids = network.tokenize(PROMPT.encode())

    def generate():
        network.reset()
        network.eval(ids)
        begin = time.monotonic()
        for _ in range(GENERATED):
            network.eval([network.sample(temp=0)])
        return time.monotonic() - begin

    return generate


GENERATORS = {"transformers": transformers_generator, "llama.cpp": llama_generator}


class Generator:
    """Another program that generates tokens in a process of its own, each time it receives a line."""

    def __init__(self, options, name):
        self.process = subprocess.Popen([sys.executable, __file__, options.trainer, options.model, "--threads", str(options.threads),
                                         "--generator", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.works = self.process.stdout.readline() == "ready\n"

    def seconds(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve_generator(options):
    generate = GENERATORS[options.generator](options.model, options.threads)
    generate()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(generate(), flush=True)


def compare_generation(options):
    """Tokens per second after a short prompt, greedily, of each program in turn."""
    served = Served(options.trainer, options.model)
    others = {name: generator for name in GENERATORS if (generator := Generator(options, name)).works}

    def own_seconds():
        first, _ = served.ask(what="generate", text=PROMPT, count="1")
        whole, answer = served.ask(what="generate", text=PROMPT, count=str(GENERATED + 1))
        assert len(json.loads(answer)["generated"]) == GENERATED + 1, "the model ended its text early"
        return whole - first

    own_seconds()
    ours, theirs = [], {name: [] for name in others}
    for _ in range(options.repeats):
        ours.append(own_seconds())
        for name, generator in others.items():
            theirs[name].append(generator.seconds())
    served.close()
    rate = GENERATED / statistics.median(ours)
    print(f"generated tokens per second: {rate:.0f}")
    for name, generator in others.items():
        generator.close()
        rates = GENERATED / statistics.median(theirs[name])
        print(f"    {name:24} {rates:9.0f}     ratio {rate / rates:5.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trainer")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ids", help=argparse.SUPPRESS)
    parser.add_argument("--generator", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ids:
        return transformers_side(options.model, json.loads(options.ids), options.threads, options.repeats)
    if options.generator:
        return serve_generator(options)
    if options.model != "mixture":
        compare(options)
        return compare_generation(options)
    with tempfile.TemporaryDirectory() as options.model:
        # In a process of its own, because measured processes inherit the peak memory of the one that starts them.
        making = multiprocessing.get_context("spawn").Process(target=make_mixture, args=[options.model])
        making.start()
        making.join()
        compare(options)
        compare_generation(options)


def compare(options):
    served = Served(options.trainer, options.model)
    text = words(512)
    ids = json.loads(served.ask(what="loss", text=text)[1])["ids"]
    text = "".join(json.loads(served.ask(what="loss", text=text)[1])["tokens"][:512])
    ids = json.loads(served.ask(what="loss", text=text)[1])["ids"]
    _, _, output = run_and_measure([sys.executable, __file__, options.trainer, options.model, "--threads", str(options.threads),
                                    "--repeats", str(options.repeats), "--ids", json.dumps(ids)])
    theirs = json.loads(output.splitlines()[-1])
    ours, plain = [], []
    for _ in range(options.repeats):
        ours.append(served.ask(what="thumbnails", text=text)[0])
        plain.append(served.ask(what="loss", text=text)[0])
    print(f"{len(ids)} tokens, {options.threads} threads, float32; medians of {options.repeats}")

    def row(name, a, b, unit):
        print(f"{name:58} {a:9.3f} {b:9.3f} {unit:3} ratio {a / b:5.2f}")

    mean = statistics.median
    row(f"attention of all {theirs['heads']} heads, one pass, model open", mean(ours), mean(theirs["seconds"]), "s")
    row("loss of the text, one pass, model open", mean(plain), mean(theirs["plain"]), "s")
    row("peak memory of that process", served.peak() / 1e9, theirs["peak"] / 1e9, "GB")
    served.close()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        seconds, peak, _ = run_and_measure([options.trainer, "look", options.model, "--what", "attention", "--text", text, "--out",
                                            f"{folder}/maps.safetensors", "--threads", str(options.threads)])
    row("all of it: open, read, all maps into a file", seconds, theirs["loaded"] + mean(theirs["seconds"]), "s")
    row("peak memory of that", peak / 1e9, theirs["peak"] / 1e9, "GB")

    long = words(4300)
    seconds, peak, output = run_and_measure([options.trainer, "look", options.model, "--what", "loss", "--text", long, "--json",
                                             "--threads", str(options.threads)])
    count = len(json.loads(output)["ids"])
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        seconds, peak, _ = run_and_measure([options.trainer, "look", options.model, "--what", "attention", "--layer", "10", "--head",
                                            "3", "--text", long, "--out", f"{folder}/map.safetensors", "--threads",
                                            str(options.threads)])
    print(f"one head of {count} tokens into a file: {seconds:.1f} s, {peak / 1e9:.2f} GB at its peak")

    served = Served(options.trainer, options.model)
    short = text[: len(text) // 2]
    served.ask(what="loss", text=short)
    one = mean([served.ask(what="loss", text=short)[0] for _ in range(options.repeats)])
    ablated = mean([served.ask(what="loss", text=short, ablate=f"3.{i}:24-31")[0] for i in range(options.repeats)])
    row("a band of one head ablated, to the new loss, against a pass", ablated, one, "s")
    served.close()


if __name__ == "__main__":
    main()
