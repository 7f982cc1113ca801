"""A model recomputed from its checkpoint by numpy, following docs/run-folder.md and nothing else."""

import math
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TrainerTest, read_safetensors

try:
    import numpy
except ImportError:  # ./lab test installs it
    numpy = None


def fields(toml):
    """The few kinds of line that run.toml has, as a dictionary of section.key."""
    found, section = {}, ""
    for line in toml.splitlines():
        if match := re.match(r"\[(\w+)\]", line):
            section = match[1]
        elif match := re.match(r'(\w+) = (?:"([^"]*)"|([-+.\deE]+))', line):
            found[f"{section}.{match[1]}"] = match[2] if match[2] is not None else float(match[3])
    return found


class Model:
    def __init__(self, tensors, metadata):
        self.t = {name: tensor.astype(numpy.float64) for name, tensor in tensors.items() if not name.startswith("random")}
        self.s = fields(metadata["specification"])
        self.vocabulary = metadata["vocabulary"]
        self.heads = int(self.s["model.heads"])
        self.d = int(self.s["model.width"]) // self.heads

    def linear(self, x, name):
        return x @ self.t[name + ".weight"].T + self.t[name + ".bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * self.t[name + ".weight"] + self.t[name + ".bias"]

    def rotate(self, x, fraction, sign=1):
        """x [T, d]: row t turned by R(sign·t)."""
        r = int(fraction * self.d + 1e-9)
        r -= r % 2
        i = numpy.arange(r // 2)
        step = 2 if self.s["model.schedule"] == "standard" else 1
        theta = self.s["model.base"] ** (-step * i / max(r, 1))
        angle = sign * numpy.arange(len(x))[:, None] * theta
        first, second = (i, i + r // 2) if self.s["model.pairing"] == "half" else (2 * i, 2 * i + 1)
        y = x.copy()
        y[:, first] = x[:, first] * numpy.cos(angle) - x[:, second] * numpy.sin(angle)
        y[:, second] = x[:, first] * numpy.sin(angle) + x[:, second] * numpy.cos(angle)
        return y

    def attention(self, x, block):
        q, k, v = numpy.split(self.linear(x, block + "attention.qkv"), 3, axis=1)
        fraction, value_fraction = self.s["model.rotary_fraction"], self.s["model.value_rotary_fraction"]
        roper = self.s["model.position"] == "roper"
        heads = []
        for h in range(self.heads):
            columns = slice(h * self.d, (h + 1) * self.d)
            qh, kh = self.rotate(q[:, columns], fraction), self.rotate(k[:, columns], fraction)
            vh = self.rotate(v[:, columns], value_fraction) if roper else v[:, columns]
            scores = qh @ kh.T / math.sqrt(self.d)
            scores[numpy.triu_indices(len(x), 1)] = -numpy.inf
            weights = numpy.exp(scores - scores.max(1, keepdims=True))
            mixed = weights / weights.sum(1, keepdims=True) @ vh
            heads.append(self.rotate(mixed, value_fraction, -1) if roper else mixed)
        return self.linear(numpy.concatenate(heads, 1), block + "attention.output")

    def feed_forward(self, x, block):
        hidden = self.linear(x, block + "feed_forward.up")
        if self.s["model.activation"] == "gelu":
            hidden = 0.5 * hidden * (1 + numpy.vectorize(math.erf)(hidden / math.sqrt(2)))
        else:
            hidden = numpy.maximum(hidden, 0)
        return self.linear(hidden, block + "feed_forward.down")

    def logits(self, text):
        x = self.t["embedding.weight"][[self.vocabulary.index(c) for c in text]]
        for layer in range(int(self.s["model.layers"])):
            block = f"blocks.{layer}."
            if self.s["model.norm"] == "pre":
                x = x + self.attention(self.norm(x, block + "attention_norm"), block)
                x = x + self.feed_forward(self.norm(x, block + "feed_forward_norm"), block)
            else:
                x = self.norm(x + self.attention(x, block), block + "attention_norm")
                x = self.norm(x + self.feed_forward(x, block), block + "feed_forward_norm")
        if self.s["model.norm"] == "pre":
            x = self.norm(x, "final_norm")
        return self.linear(x, "head")


@unittest.skipIf(numpy is None, "numpy is not installed for this Python")
class Parity(TrainerTest):
    TEXT = "?d=66+401; 6e0+1e0+0e0==7e0 and 6e1"

    def check(self, *settings):
        run = self.train("a", "--steps", 15, *settings)
        out = Path(self._folder.name) / "logits.safetensors"
        done = self.trainer("export", run, "--what", "logits", "--text", self.TEXT, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected, _ = read_safetensors(out)
        model = Model(*read_safetensors(sorted((run / "checkpoints").iterdir())[-1]))
        difference = numpy.abs(model.logits(self.TEXT) - expected["logits"]).max()
        self.assertLess(difference, 1e-4)

    def test_roper(self):
        self.check("--set", "position=roper")

    def test_rope_post_norm(self):
        self.check("--set", "position=rope", "--set", "norm=post", "--set", "activation=relu")

    def test_partial_interleaved_intro(self):
        self.check("--set", "position=roper", "--set", "pairing=interleaved", "--set", "schedule=intro",
                   "--set", "rotary_fraction=0.5", "--set", "value_rotary_fraction=0.75")


if __name__ == "__main__":
    unittest.main()
