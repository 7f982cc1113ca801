"""Recomputes a model from its checkpoint with numpy, following only docs/run-folder.md."""

import math
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TrainerTest, read_safetensors

try:
    import numpy
except ImportError:  # ./lab test installs it
    numpy = None


def fields(toml):
    """Parses the simple subset of TOML in run.toml into a dictionary of section.key."""
    found, section = {}, ""
    for line in toml.splitlines():
        if match := re.match(r"\[(\w+)\]", line):
            section = match[1]
        elif match := re.match(r'(\w+) = (?:"([^"]*)"|([-+.\deE]+))', line):
            found[f"{section}.{match[1]}"] = match[2] if match[2] is not None else float(match[3])
    return found


def bfloat16(x):
    """Rounds to bfloat16, ties to even."""
    bits = numpy.asarray(x, numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(numpy.uint32).view(numpy.float32).astype(numpy.float64)


class Model:
    def __init__(self, tensors, metadata):
        self.attentions = []  # by layer and head, for the last text
        self.t = {name: tensor.astype(numpy.float64) for name, tensor in tensors.items() if not name.startswith("random")}
        self.s = fields(metadata["specification"])
        self.step = int(metadata["step"])
        self.masked = self.s["training.objective"] == "masked"  # every query attends to all keys
        self.heads = int(self.s["model.heads"])
        self.d = int(self.s["model.width"]) // self.heads
        self.kv_heads = int(self.s["model.kv_heads"]) or self.heads
        self.shared = self.s["model.shared_kv"] == 1
        self.modern = self.s["model.block"] == "modern"

    def rotated(self):
        """The letters of what rotates: queries, keys, values, output."""
        position = self.s["model.position"]
        letters = self.s["model.rotates"] if position == "rotary" else {"rope": "qk", "xpos": "qk", "roper": "qkvo"}.get(position, "")
        return letters + "v" if self.shared and "k" in letters else letters

    def vectors(self, x, block):
        """Queries, keys and values [T, d] of each head, before rotation."""
        if self.s["model.latent_rank"]:
            yield from self.latent_vectors(x, block + "attention.")
            return
        qkv = numpy.split(self.linear(x, block + "attention.qkv"), self.heads + self.kv_heads * (1 if self.shared else 2), axis=1)
        for h in range(self.heads):
            k = self.heads + h * self.kv_heads // self.heads
            q, k_ = self.head_norm(qkv[h], block + "attention.query_norm"), self.head_norm(qkv[k], block + "attention.key_norm")
            yield q, k_, k_ if self.shared else qkv[k + self.kv_heads]

    def latent_vectors(self, x, layer):
        rank = int(self.s["model.latent_rank"])
        down = self.linear(x, layer + "latent")
        latent = down[:, :rank] / numpy.sqrt((down[:, :rank] ** 2).mean(-1, keepdims=True) + 1e-6) * self.t[layer + "latent_norm.weight"]
        queries = numpy.split(self.linear(x, layer + "query"), self.heads, axis=1)
        for q, up in zip(queries, numpy.split(self.linear(latent, layer + "latent_up"), self.heads, axis=1)):
            unrotated = up.shape[1] - self.d
            yield q, numpy.concatenate((up[:, :unrotated], down[:, rank:]), 1), up[:, unrotated:]

    def head_norm(self, x, name):
        """LayerNorm without bias of each row, if the model has it."""
        if not self.s["model.qk_norm"]:
            return x
        if self.modern:
            return self.norm(x, name)
        centred = x - x.mean(-1, keepdims=True)
        return centred / numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * self.t[name + ".weight"]

    def linear(self, x, name):
        return x @ self.t[name + ".weight"].T + self.t.get(name + ".bias", 0)

    def norm(self, x, name):
        if self.modern:
            return x / numpy.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * self.t[name + ".weight"]
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * self.t[name + ".weight"] + self.t[name + ".bias"]

    def rotate(self, x, fraction, trained, sign=1, strength=1):
        """x [T, d]: rotates row t by R(sign·t), all frequencies times `strength`."""
        r = int(fraction * self.d + 1e-9)
        r -= r % 2
        i = numpy.arange(r // 2)
        step = 2 if self.s["model.frequency_formula"] == "standard" else 1
        theta = self.t.get(trained, self.s["model.base"] ** (-step * i / max(r, 1)))
        angle = sign * strength * numpy.arange(len(x))[:, None] * theta
        first, second = (i, i + r // 2) if self.s["model.pairing"] == "half" else (2 * i, 2 * i + 1)
        if self.s["model.rotated_part"] == "last":
            first, second = first + self.d - r, second + self.d - r
        y = x.copy()
        y[:, first] = x[:, first] * numpy.cos(angle) - x[:, second] * numpy.sin(angle)
        y[:, second] = x[:, first] * numpy.sin(angle) + x[:, second] * numpy.cos(angle)
        return y

    def decay(self, x, fraction, sign):
        """x [T, d], xPos: multiplies pair i of row t by ζ_i^{±t/512}, ζ_i = (2i/r + 0.4)/1.4."""
        if self.s["model.position"] != "xpos":
            return x
        r = int(fraction * self.d + 1e-9)
        r -= r % 2
        i = numpy.arange(r // 2)
        factor = ((2 * i / max(r, 1) + 0.4) / 1.4) ** (sign * numpy.arange(len(x))[:, None] / 512)
        first, second = (i, i + r // 2) if self.s["model.pairing"] == "half" else (2 * i, 2 * i + 1)
        y = x.copy()
        y[:, first], y[:, second] = x[:, first] * factor, x[:, second] * factor
        return y

    def bias(self, head, T):
        """Bias by n − j, [T, T]; entries above the diagonal are not used."""
        ahead = numpy.arange(T)[:, None] < numpy.arange(T)
        delta = numpy.arange(T)[:, None] - numpy.arange(T)
        delta = abs(delta) if self.masked else numpy.maximum(delta, 0)
        if self.s["model.position"] == "alibi":
            return -(2.0 ** (-8 * (head + 1) / self.heads)) * delta
        if self.s["model.position"] != "t5":
            return numpy.zeros((T, T))
        buckets, farthest = int(self.s["model.bias_buckets"]), self.s["model.bias_distance"]
        if self.masked:
            buckets //= 2
        e = buckets // 2
        far = e + numpy.floor((buckets - e) * numpy.log(numpy.maximum(delta, e) / e) / math.log(farthest / e))
        bucket = numpy.where(delta < e, delta, numpy.minimum(far, buckets - 1)).astype(int)
        return self.t["relative_bias.weight"][bucket + (buckets * ahead if self.masked else 0), head]

    def weights(self, q, k, head, rotate, sink=-math.inf):
        """Attention weights [T, T] from q, k [T, d] before rotation."""
        seen = numpy.ones((len(q), len(q))) if self.masked else numpy.tril(numpy.ones((len(q), len(q))))
        if window := int(self.s["model.window"]):
            seen = numpy.triu(seen, 1 - window)
        kind = self.s["model.attention"]
        if kind == "softmax":
            scores = rotate(q) @ rotate(k, -1).T / math.sqrt(self.d) + self.bias(head, len(q))
            scores[seen == 0] = -numpy.inf
            largest = numpy.maximum(scores.max(1, keepdims=True), sink)
            made = numpy.exp(scores - largest)
            return made / (made.sum(1, keepdims=True) + numpy.exp(sink - largest))
        if kind == "linear_cosine":
            q, k = (x / numpy.linalg.norm(x, axis=1, keepdims=True) for x in (q, k))
            made = (1 + rotate(q) @ rotate(k, -1).T) * seen
            return made / made.sum(1, keepdims=True)
        q, k = (numpy.where(x > 0, x + 1, numpy.exp(numpy.minimum(x, 0))) for x in (q, k))
        return rotate(q) @ rotate(k, -1).T * seen / ((q @ k.T) * seen).sum(1, keepdims=True)

    def sink(self, block, head):
        return self.t[block + "attention.sinks"][head] if self.s["model.attention_sinks"] else -math.inf

    def attention(self, x, block):
        fraction, value_fraction = self.s["model.rotary_fraction"], self.s["model.value_rotary_fraction"]
        of_scores, of_values = block + "attention.query_key_frequencies", block + "attention.value_frequencies"
        rotated = self.rotated()
        every = self.s["model.no_rotation_every"]
        if every and (int(block.split(".")[1]) + 1) % every == 0:
            rotated = ""
        strength = self.s["model.value_rotation_strength"]
        if warmup := self.s["training.value_rotation_warmup"]:
            strength *= min(1, self.step / warmup)
        if self.shared:  # what is key and value at once rotates as a key
            value_fraction, of_values, strength = fraction, of_scores, 1
        heads = []
        for h, (q, k, v) in enumerate(self.vectors(x, block)):
            def rotate(y, sign=1):
                rotates = ("q" if sign > 0 else "k") in rotated
                return self.decay(self.rotate(y, fraction, of_scores), fraction, sign) if rotates else y
            weights = self.weights(q, k, h, rotate, self.sink(block, h))
            self.attentions.append(weights)
            mixed = weights @ (self.rotate(v, value_fraction, of_values, 1, strength) if "v" in rotated else v)
            heads.append(self.rotate(mixed, value_fraction, of_values, -1, strength) if "o" in rotated else mixed)
        return self.linear(numpy.concatenate(heads, 1), block + "attention.output")

    def added(self, T):
        """Absolute encodings, to be added to the embeddings: [T, C]."""
        if self.s["model.position"] == "learned":
            return self.t["positions.weight"][:T]
        C = int(self.s["model.width"])
        if self.s["model.position"] != "sinusoidal":
            return numpy.zeros((T, C))
        angle = numpy.arange(T)[:, None] * self.s["model.base"] ** (-2 * (numpy.arange(C) // 2) / C)
        return numpy.where(numpy.arange(C) % 2 == 0, numpy.sin(angle), numpy.cos(angle))

    def feed_forward(self, x, block):
        hidden = self.linear(x, block + "feed_forward.up")
        if self.modern:
            gate = self.linear(x, block + "feed_forward.gate")
            hidden *= gate / (1 + numpy.exp(-gate))
        elif self.s["model.activation"] == "gelu":
            hidden = 0.5 * hidden * (1 + numpy.vectorize(math.erf)(hidden / math.sqrt(2)))
        else:
            hidden = numpy.maximum(hidden, 0)
        return self.linear(hidden, block + "feed_forward.down")

    def logits(self, tokens):
        self.attentions = []
        x = self.t["embedding.weight"][tokens.astype(int)] + self.added(len(tokens))
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


class RoundedModel(Model):
    """The same with softmax attention and `precision = "bf16"`, rounding where docs/run-folder.md says so."""

    def __init__(self, tensors, metadata):
        super().__init__(tensors, metadata)
        self.t = {name: bfloat16(tensor) if tensor.ndim == 2 and not name.startswith(("embedding", "positions", "relative"))
                  else tensor for name, tensor in self.t.items()}

    def linear(self, x, name):
        made = super().linear(bfloat16(x), name)
        return bfloat16(made) if name.endswith(("qkv", "query", "latent", "latent_up")) else made

    def head_norm(self, x, name):
        made = super().head_norm(x, name)
        return bfloat16(made) if self.s["model.qk_norm"] else made

    def attention(self, x, block):
        T = len(x)
        scale = math.log2(math.e) / math.sqrt(self.d)
        heads = []
        for h, (q, k, v) in enumerate(self.vectors(x, block)):
            of_scores = self.s["model.rotary_fraction"]
            of_values = of_scores if self.shared else self.s["model.value_rotary_fraction"]
            rotate = lambda y, letter: self.rotate(y, of_values if letter == "v" else of_scores, None) if letter in self.rotated() else y
            scores = bfloat16(rotate(q, "q") * scale) @ bfloat16(rotate(k, "k")).T
            scores[numpy.triu(numpy.ones((T, T)), 1) == 1] = -numpy.inf
            if window := int(self.s["model.window"]):
                scores[numpy.tril(numpy.ones((T, T)), -window) == 1] = -numpy.inf
            sink = self.sink(block, h) * math.log2(math.e)
            largest = numpy.maximum(scores.max(1, keepdims=True), sink)
            p = numpy.exp2(scores - largest)
            total = p.sum(1, keepdims=True) + numpy.exp2(sink - largest)
            self.attentions.append(p / total)
            mixed = bfloat16(p) @ bfloat16(rotate(v, "v")) / total
            heads.append(self.rotate(mixed, of_values, None, -1) if "o" in self.rotated() else mixed)
        return self.linear(numpy.concatenate(heads, 1), block + "attention.output")

    def feed_forward(self, x, block):
        hidden = self.linear(x, block + "feed_forward.up")
        if self.s["model.activation"] == "gelu":
            hidden = bfloat16(hidden)
            hidden = 0.5 * hidden * (1 + numpy.vectorize(math.erf)(hidden / math.sqrt(2)))
        else:
            hidden = numpy.maximum(hidden, 0)
        return self.linear(hidden, block + "feed_forward.down")


@unittest.skipIf(numpy is None, "numpy is not installed for this Python")
class Parity(TrainerTest):
    TEXT = "?d=66+401; 6e0+1e0+0e0==7e0 and 6e1"

    def check(self, *settings):
        self.count = getattr(self, "count", 0) + 1
        self.compare(self.train(f"run-{self.count}", "--steps", 15, "--set", "precision=fp32", *settings))

    def compare(self, run):
        out = Path(self._folder.name) / "logits.safetensors"
        done = self.trainer("export", run, "--what", "logits", "--text", self.TEXT, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected, _ = read_safetensors(out)
        model = Model(*read_safetensors(sorted((run / "checkpoints").iterdir())[-1]))
        difference = numpy.abs(model.logits(expected["tokens"]) - expected["logits"]).max()
        self.assertLess(difference, 1e-4)

    def test_roper(self):
        self.check("--set", "position=roper")

    def test_xpos(self):
        self.check("--set", "position=xpos")
        self.check("--set", "position=xpos", "--set", "rotary_fraction=0.5", "--set", "pairing=interleaved")

    def test_rope_post_norm(self):
        self.check("--set", "position=rope", "--set", "norm=post", "--set", "activation=relu")

    def test_partial_interleaved_worked_example(self):
        self.check("--set", "position=roper", "--set", "pairing=interleaved", "--set", "frequency_formula=worked_example",
                   "--set", "rotary_fraction=0.5", "--set", "value_rotary_fraction=0.75")

    def test_added_to_embeddings(self):
        for position in ("none", "learned", "sinusoidal"):
            with self.subTest(position):
                self.check("--set", "position=" + position)

    def test_added_to_scores(self):
        self.check("--set", "position=alibi")
        for buckets in (7, 8):
            self.check("--set", "position=t5", "--set", f"bias_buckets={buckets}", "--set", "bias_distance=20")

    def test_keys_on_both_sides(self):
        text = Path(self._folder.name) / "text.txt"
        book = Path(__file__).resolve().parents[2] / "resources" / "texts" / "opticks.txt"
        text.write_text(book.read_text(encoding="utf-8")[20000:60000], encoding="utf-8")
        for method in (("position=t5", "bias_buckets=14", "bias_distance=20"), ("position=t5", "bias_buckets=15"),
                       ("position=alibi",), ("position=roper",)):
            with self.subTest(method):
                settings = [word for setting in method for word in ("--set", setting)]
                done = self.trainer("run", "text-quick", *TINY, "--set", f"task.text={text}", "--set", "task.vocab_size=400",
                                    "--set", "training.objective=masked", "--set", "precision=fp32", "--set", "dropout=0",
                                    "--set", "training.length=65", "--steps", 5, "--set", "warmup_steps=2", *settings,
                                    "--runs", self.runs, "--name", "-".join(method).replace("=", ""), "-q")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.compare(self.runs / "-".join(method).replace("=", ""))

    def test_trained_frequencies(self):
        self.check("--set", "position=roper", "--set", "frequencies=trained", "--set", "frequency_rate=1")

    def test_values_that_rotate_more_slowly(self):
        self.check("--set", "position=roper", "--set", "value_rotation_strength=0.3")
        for more in ((), ("--set", "frequencies=trained", "--set", "frequency_rate=1")):
            # The runs take 15 steps.
            self.check("--set", "position=roper", "--set", "value_rotation_warmup=40", *more)
            self.check("--set", "position=roper", "--set", "value_rotation_warmup=9", *more)

    def test_linear_attention(self):
        self.check("--set", "position=roper", "--set", "attention=linear_numerator")
        self.check("--set", "position=rope", "--set", "attention=linear_cosine")

    def test_any_set_of_rotated_tensors(self):
        for rotates in ("k", "vo", "qkv", "o"):
            with self.subTest(rotates):
                self.check("--set", "position=rotary", "--set", "rotates=" + rotates)
        self.check("--set", "position=rotary", "--set", "rotates=vo", "--set", "frequencies=trained", "--set", "value_rotary_fraction=0.5",
                   "--set", "frequency_rate=1")
        self.check("--set", "position=rotary", "--set", "rotates=kv", "--set", "shared_kv=1", "--set", "kv_heads=1")

    def test_key_value_heads(self):
        self.check("--set", "position=roper", "--set", "heads=4", "--set", "kv_heads=2")
        for position in ("rope", "roper", "alibi"):
            with self.subTest(position):
                self.check("--set", "position=" + position, "--set", "heads=4", "--set", "kv_heads=1", "--set", "shared_kv=1")
        self.check("--set", "position=roper", "--set", "shared_kv=true", "--set", "frequencies=trained", "--set", "rotary_fraction=0.5",
                   "--set", "frequency_rate=1")
        self.check("--set", "position=rope", "--set", "shared_kv=1", "--set", "kv_heads=1", "--set", "attention=linear_numerator")

    def test_query_key_norm(self):
        self.check("--set", "position=roper", "--set", "qk_norm=1", "--set", "kv_heads=1")
        self.check("--set", "position=rope", "--set", "qk_norm=1", "--set", "kv_heads=1", "--set", "shared_kv=1")
        self.check("--set", "position=alibi", "--set", "qk_norm=1", "--set", "norm=post")

    def test_attention_sinks(self):
        for position in ("rope", "roper", "t5"):
            self.check("--set", "position=" + position, "--set", "attention_sinks=1", "--set", "kv_heads=1", "--set", "learning_rate=0.01")

    def test_the_last_features_rotate(self):
        last = ("--set", "rotated_part=last")
        self.check("--set", "position=roper", "--set", "rotary_fraction=0.5", "--set", "value_rotary_fraction=0.25", *last)
        self.check("--set", "position=rope", "--set", "rotary_fraction=0.5", "--set", "pairing=interleaved", *last)
        self.check("--set", "position=roper", "--set", "rotary_fraction=0.5", "--set", "shared_kv=1", "--set", "kv_heads=1",
                   "--set", "qk_norm=1", "--set", "attention_sinks=1", "--set", "pairing=interleaved", *last)  # as in DeepSeek V4
        self.check("--set", "position=rotary", "--set", "rotates=o", "--set", "value_rotary_fraction=0.5", *last)

    def test_latent_attention(self):
        latent = ("--set", "latent_rank=12", "--set", "rotary_fraction=0.5", "--set", "rotated_part=last")
        self.check("--set", "position=rope", "--set", "block=modern", *latent)
        self.check("--set", "position=roper", "--set", "pairing=interleaved", "--set", "value_rotary_fraction=0.25", *latent)

    def test_sliding_window(self):
        for window in (1, 5, 100):
            self.check("--set", "position=roper", "--set", f"window={window}")
        self.check("--set", "position=t5", "--set", "window=5", "--set", "attention_sinks=1")

    def test_a_modern_block(self):
        modern = ("--set", "block=modern")
        self.check("--set", "position=roper", *modern)
        self.check("--set", "position=rope", "--set", "norm=post", "--set", "kv_heads=1", "--set", "qk_norm=1", *modern)

    def test_layers_without_rotation(self):
        for position in ("rope", "roper"):
            self.check("--set", "position=" + position, "--set", "layers=3", "--set", "no_rotation_every=2")
        self.check("--set", "position=xpos", "--set", "layers=2", "--set", "no_rotation_every=2")
        self.check("--set", "position=rotary", "--set", "rotates=vo", "--set", "layers=2", "--set", "no_rotation_every=2")

    def export(self, run, what, precision):
        out = Path(self._folder.name) / f"{what}-{precision}.safetensors"
        done = self.trainer("export", run, "--what", what, "--text", self.TEXT, "--precision", precision, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        tensors, metadata = read_safetensors(out)
        self.assertEqual(metadata["precision"], precision)
        return tensors[what], tensors["tokens"]

    def test_bfloat16_rounds_where_it_is_said(self):
        kinds = (("position=roper", "norm=pre", "activation=gelu"), ("position=rope", "norm=post", "activation=relu"),
                 ("position=roper", "kv_heads=1", "shared_kv=1"), ("position=roper", "qk_norm=1", "attention_sinks=1", "window=7"),
                 ("position=rotary", "rotates=qkvo", "rotary_fraction=0.5", "rotated_part=last", "latent_rank=12"),
                 ("position=rotary", "rotates=k"), ("position=rotary", "rotates=vo"), ("position=rotary", "rotates=qkv"))
        for number, settings in enumerate(kinds):
            run = self.train(f"rounded-{number}", "--steps", 60,
                             *[word for setting in settings for word in ("--set", setting)])
            file = read_safetensors(sorted((run / "checkpoints").iterdir())[-1])
            exact, rounded = Model(*file), RoundedModel(*file)
            for what in ("logits", "attention"):
                given, tokens = self.export(run, what, "bf16")
                made = {}
                for model in (exact, rounded):
                    logits = model.logits(tokens)
                    made[model] = logits if what == "logits" else numpy.array(model.attentions).reshape(given.shape)
                off = {model: numpy.abs(numbers - given).mean() for model, numbers in made.items()}
                with self.subTest(settings, what=what):
                    self.assertGreater(off[exact], 1e-5, "nothing was rounded")
                    self.assertLess(off[rounded], 0.2 * off[exact])  # another order of summation rounds a few numbers differently
                full, _ = self.export(run, what, "fp32")
                self.assertLess(numpy.abs(made[exact] - full).max(), 1e-4)


if __name__ == "__main__":
    unittest.main()
