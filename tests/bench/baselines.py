"""Steps of other programs on the work of `roper-train bench baselines`, which starts this script and asks for them.

A baseline trains a causal transformer (pre-LayerNorm, ReLU) on random tokens: forward, loss, backward, clipping to norm 1,
AdamW. For each line "N" on standard input it takes N steps and answers with one JSON object a line: {"ms": [...]}; the
first line that it says, after its first step, is {"first_step_s": ..., "peak_mb": ...}, both of the whole process.

    labml    labml-nn's own attention with RoPER, RotaryValuePEMultiHeadAttention
    tight    what a careful PyTorch programmer writes: one product for q, k and v, cached cosines and sines, LibTorch's
             scaled_dot_product_attention, fused AdamW
    compile  the same under torch.compile
"""

import argparse
import json
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


def seconds_since_start():
    """Time since this process started, including imports: field 22 of /proc/self/stat counts clock ticks."""
    with open("/proc/self/stat", encoding="ascii") as stat:
        ticks = float(stat.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def peak_megabytes():
    """Peak memory of this program; getrusage would include the parent's peak before exec."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(1024e-6 * int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


class Rotation(nn.Module):
    """R(m)x or R(-m)x for x [B, H, T, d], pairing the halves of a head."""

    def __init__(self, d, length, base=10000.0):
        super().__init__()
        angles = torch.outer(torch.arange(length).float(), base ** (-torch.arange(0, d, 2).float() / d))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, x, back=False):
        cosine, sine = self.cosine.to(x.dtype), (-self.sine if back else self.sine).to(x.dtype)
        first, second = x.chunk(2, -1)
        return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class TightAttention(nn.Module):
    def __init__(self, width, heads, length, method):
        super().__init__()
        self.heads, self.rotates_values = heads, method == "roper"
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.rotation = Rotation(width // heads, length)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        if self.rotates_values:
            v = self.rotation(v)
        mixed = F.scaled_dot_product_attention(self.rotation(q), self.rotation(k), v, is_causal=True)
        if self.rotates_values:
            mixed = self.rotation(mixed, back=True)
        return self.output(mixed.transpose(1, 2).reshape(B, T, C))


class LabmlAttention(nn.Module):
    def __init__(self, width, heads, length, method):
        super().__init__()
        if method != "roper":
            raise SystemExit("of labml-nn only RoPER is measured")
        from labml_nn.transformers.rope.value_pe import RotaryValuePEMultiHeadAttention
        self.attention = RotaryValuePEMultiHeadAttention(heads, width, 1.0, 1.0, 0.0)
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool))[:, :, None])

    def forward(self, x):
        x = x.transpose(0, 1)  # the library expects tokens first
        return self.attention(query=x, key=x, value=x, mask=self.mask).transpose(0, 1)


class Block(nn.Module):
    def __init__(self, attention, width, feed_forward):
        super().__init__()
        self.attention = attention
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(F.relu(self.up(self.feed_forward_norm(x))))


class Model(nn.Module):
    def __init__(self, attention, method, vocabulary, width, layers, heads, feed_forward, length):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.Sequential(
            *(Block(attention(width, heads, length, method), width, feed_forward) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("baseline", choices=["labml", "tight", "compile"])
    for size in ("vocabulary", "width", "layers", "heads", "feed_forward", "length", "batch"):
        parser.add_argument("--" + size, type=int, required=True)
    parser.add_argument("--method", default="roper", choices=["rope", "roper"])
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model = Model(LabmlAttention if options.baseline == "labml" else TightAttention, options.method, options.vocabulary,
                  options.width, options.layers, options.heads, options.feed_forward, options.length)
    forward = torch.compile(model) if options.baseline == "compile" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=2.5e-4, fused=options.baseline != "labml")
    batches = torch.randint(0, options.vocabulary, (8, options.batch, options.length + 1))
    count = 0

    def step():
        nonlocal count
        tokens = batches[count % len(batches)]
        count += 1
        began = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bf16"):
            logits = forward(tokens[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return 1000 * (time.perf_counter() - began)

    def say(**fields):
        print(json.dumps(fields), flush=True)

    step()
    say(first_step_s=seconds_since_start(), peak_mb=peak_megabytes())
    for line in sys.stdin:
        say(ms=[step() for _ in range(int(line))])


if __name__ == "__main__":
    main()
