"""roper-train look: published models give the same answers as transformers, and other files give a clear message."""

import json
import math
import os
import shutil
import struct
import subprocess
import sys
import unittest
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import LETTERS, PRETRAINED, TINY, TRAINER, Peer, TrainerTest, expected_text, read_safetensors, run_trainer, small_model, tensors_of, tokenizer_json

EXAMPLE = Path(os.environ.get("ROPER_EXAMPLE_MODEL", ""))

def look(*arguments, expected=0):
    done = run_trainer("look", *arguments)
    assert done.returncode == expected, f"exit code {done.returncode}: {done.stderr}"
    return done.stdout if expected == 0 else done.stderr


class SmallModels(TrainerTest):
    def model(self, family="qwen3"):
        return small_model(self._folder.name, family)

    def text(self, family="qwen3"):
        return expected_text(family)

    def expected(self, family="qwen3"):
        tensors, _ = read_safetensors(PRETRAINED / family / "expected.safetensors")
        return [int(token) for token in tensors["tokens"]], tensors["logits"].astype(float)

    def test_the_loss_is_that_of_transformers(self):
        import numpy

        for family in ("qwen3", "llama", "gpt2", "gemma2"):
            tokens, logits = self.expected(family)
            output = look(self.model(family), "--what", "loss", "--text", self.text(family), "--json")
            self.assertEqual(output.count("\n"), 1)
            answer = json.loads(output)
            self.assertEqual(list(answer), ["ids", "nll", "loss"])
            self.assertEqual(answer["ids"], tokens)
            log_sum = numpy.log(numpy.exp(logits - logits.max(1, keepdims=True)).sum(1)) + logits.max(1)
            right = log_sum[:-1] - logits[numpy.arange(len(tokens) - 1), tokens[1:]]
            numpy.testing.assert_allclose(answer["nll"], right, atol=5e-4)
            self.assertAlmostEqual(answer["loss"], sum(answer["nll"]) / len(answer["nll"]), places=12)

    ENCODERS = ("modernbert", "eurobert", "roformer", "esm", "nomic_bert")

    def test_encoders_mask_each_token_in_turn(self):
        import numpy

        for family in self.ENCODERS:
            right, _ = read_safetensors(PRETRAINED / family / "expected.safetensors")
            tokens = [int(token) for token in right["tokens"]]
            arguments = [self.model(family), "--text", self.text(family)]
            answer = json.loads(look(*arguments, "--what", "loss", "--json"))
            self.assertEqual(answer["ids"], tokens, family)
            self.assertEqual(answer["positions"], [i for i, token in enumerate(tokens) if token > 3], family)
            numpy.testing.assert_allclose(answer["nll"], right["nll"], atol=5e-4, err_msg=family)
            self.assertAlmostEqual(answer["loss"], sum(answer["nll"]) / len(answer["nll"]), places=12)
            rows = look(*arguments, "--what", "loss", "--csv").splitlines()[1:]
            self.assertEqual(len(rows), len(tokens))
            self.assertEqual([i for i, row in enumerate(rows) if not row.endswith(",")], answer["positions"])
            self.assertIn("21 tokens, each masked in turn, pseudo-perplexity", look(*arguments, "--what", "loss"))
            candidates = json.loads(look(*arguments, "--what", "logits", "--count", 64, "--json"))
            self.assertEqual(candidates["positions"], answer["positions"])
            for position, nll, listed in zip(answer["positions"], answer["nll"], candidates["predictions"]):
                own = next(one for one in listed if one["id"] == tokens[position])
                self.assertAlmostEqual(-math.log(own["probability"]), nll, 4)
            self.assertEqual(min(json.loads(line)["loss"] for line in look(
                *arguments, "--what", "subsets", "--count", 1, "--json").splitlines() if json.loads(line)["kept_pairs"]), answer["loss"])

    def test_an_encoder_is_looked_at_on_both_sides(self):
        import numpy

        for family in self.ENCODERS:
            right, _ = read_safetensors(PRETRAINED / family / "expected.safetensors")
            arguments = [self.model(family), "--text", self.text(family), "--json"]
            rows = json.loads(look(*arguments, "--what", "attention", "--layer", 1, "--head", 2))["weights"]
            numpy.testing.assert_allclose(rows, right["attention"][1, 2], atol=1e-5, err_msg=family)
            tokens, T = right["tokens"], len(right["tokens"])
            distance = numpy.arange(T)[:, None] - numpy.arange(T)
            same = (tokens[:, None] == tokens) & (distance != 0)
            for head in map(json.loads, look(*arguments, "--what", "heads").splitlines()):
                weights = right["attention"][head["layer"], head["head"]]
                self.assertAlmostEqual(head["mean_distance"], (weights * abs(distance)).sum(1).mean(), 4)
                self.assertAlmostEqual(head["first"], weights[:, 0].mean(), 4)
                self.assertAlmostEqual(head["previous"], numpy.trace(weights, -1) / T, 4)
                self.assertAlmostEqual(head["local"], weights[abs(distance) < 8].sum() / T, 4)
                self.assertAlmostEqual(head["same"], weights[same].sum() / same.any(1).sum(), 4)
            pairs = look(*arguments, "--what", "pairs")
            self.assertEqual(look(*arguments, "--what", "bands"), pairs, "the former name")
            for pair in map(json.loads, pairs.splitlines()):
                self.assertAlmostEqual(sum(pair["score_share"]) + pair["unrotated_share"], 1, 9)
            alone = json.loads(look(*arguments, "--what", "attention", "--layer", 1, "--head", 2, "--ablate", "0"))["weights"]
            self.assertGreater(numpy.abs(numpy.subtract(alone, rows)).max(), 1e-3, family)

    def test_an_encoder_is_not_asked_for_the_next_token(self):
        for family in self.ENCODERS:
            for what in ("generate", "induction", "needle", "lens", "patch"):
                text = [] if what == "induction" else ["--text", self.text(family)]
                said = look(self.model(family), "--what", what, *text, expected=2)
                self.assertIn(f"{what} is available only for models that predict each token from those before it", said)
        self.assertIn("another layer with an activation", look(self.model("esm"), "--what", "copying", "--text", "ABC", expected=2))
        look(self.model("eurobert"), "--what", "token_map", "--text", "ABC", "--layer", 1, "--head", 0)
        for what in ("kernels", "ov_by_distance"):
            said = look(self.model("roformer"), "--what", what, "--layer", 0, "--head", 0, expected=2)
            self.assertIn("outputs are not rotated back", said)
        self.assertIn("rotates no outputs", look(self.model("roformer"), "--what", "loss", "--text", "ABC", "--no-inverse", expected=2))
        done = self.trainer("rotation", self.model("roformer"))
        self.assertIn("outputs are not rotated back", done.stdout)
        (self.model("esm") / "tokenizer_config.json").write_text("{}")
        (self.model("esm") / "tokenizer.json").write_text(tokenizer_json())
        self.assertIn("mask_token in tokenizer_config.json is missing",
                      look(self.model("esm"), "--what", "loss", "--text", "ABC", expected=2))

    def test_deepseek_v4_depends_on_distance_because_it_rotates_back(self):
        def losses(*options):
            return json.loads(look(self.model("deepseek_v4"), "--what", "loss", "--text", self.text("deepseek_v4"), "--json", *options))["nll"]

        def difference(a, b):
            return max(abs(x - y) for x, y in zip(a, b))

        self.assertLess(difference(losses(), losses("--shift", 500)), 1e-4)
        self.assertGreater(difference(losses("--no-inverse"), losses("--no-inverse", "--shift", 500)), 0.05)
        walk = json.loads(look(self.model("deepseek_v4"), "--what", "walkthrough", "--text", self.text("deepseek_v4"), "--layer", 1,
                               "--head", 2, "--token", 9, "--json"))
        self.assertEqual(walk["pairs"], [[10, 11], [12, 13], [14, 15]])
        self.assertEqual(walk["keys"], walk["values"])
        said = look(self.model("deepseek_v4"), "--what", "copying", "--text", "ABC", expected=2)
        self.assertIn("values of this model are its keys, which are normalized", said)

    def test_deepseek_v4_is_read_by_the_names_of_published_files(self):
        model = self.model("deepseek_v4")
        ask = ("--what", "loss", "--text", self.text("deepseek_v4"), "--json")
        right = json.loads(look(model, *ask))["loss"]
        path = model / "model.safetensors"
        whole = path.read_bytes()
        (length,) = struct.unpack("<Q", whole[:8])
        published = {"model.embed_tokens.weight": "embed.weight", **{f"model.hc_head.hc_{part}": f"hc_head_{part}" for part in
                                                                     ("fn", "base", "scale")}}
        header = {published.get(name, name.removeprefix("model.")): entry for name, entry in json.loads(whole[8 : 8 + length]).items()}
        end = len(whole) - 8 - length  # a tensor of a layer that predicts several tokens
        header["mtp.0.norm.weight"] = {"dtype": "BF16", "shape": [32], "data_offsets": [end, end + 64]}
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :] + bytes(64))
        self.assertEqual(json.loads(look(model, *ask))["loss"], right)

    def test_what_of_deepseek_v4_is_not_read_is_refused_by_name(self):
        model = self.model("deepseek_v4")
        ask = ("--what", "loss", "--text", self.text("deepseek_v4"))
        config = json.loads((model / "config.json").read_text())
        compressed = ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"]
        amplified = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32,
                     "partial_rotary_factor": 0.375}
        for change, part in (({"layer_types": compressed}, "layer_types has layers that attend to compressed keys"),
                             ({"layer_types": None}, "layer_types is missing, which means layers that attend to compressed keys"),
                             ({"layer_types": None, "compress_ratios": [0, 4, 128, 0]}, "compress_ratios has layers that attend"),
                             ({"layer_types": ["sliding_attention"] * 2}, "layer_types"),
                             ({"layer_types": ["full_attention"] * 3}, "full_attention"),
                             ({"num_key_value_heads": 2}, "num_key_value_heads must be 1"), ({"o_groups": 3}, "must divide"),
                             ({"scoring_func": "tanh"}, "must be sqrtsoftplus, sigmoid or softmax"),
                             ({"rope_parameters": {**config["rope_parameters"], "main": amplified}}, "has an attention factor"),
                             ({"rope_parameters": {"main": config["rope_parameters"]["main"]}}, "must be an object for each of compress, main"),
                             ({"rope_scaling": amplified}, "without rope_scaling beside it")):
            (model / "config.json").write_text(json.dumps({**config, **change}))
            self.assertIn(part, look(model, *ask, expected=4))
        (model / "config.json").write_text(json.dumps(config))
        right = look(model, *ask)
        for change in ({"layer_types": None, "compress_ratios": [0, 0, 0, 4]}, {"compress_ratios": [4, 4, 4]},
                       {"layer_types": ["sliding_attention"] * 4, "mlp_layer_types": ["hash_moe", "moe", "moe", "hash_moe"]},
                       {"moe_intermediate_size": None, "intermediate_size": 12}):
            (model / "config.json").write_text(json.dumps({**config, **change}))
            self.assertEqual(look(model, *ask), right)
        path = model / "model.safetensors"
        whole = path.read_bytes()
        (length,) = struct.unpack("<Q", whole[:8])
        (begin, _) = json.loads(whole[8 : 8 + length])["model.layers.0.ffn.gate.tid2eid"]["data_offsets"]
        path.write_bytes(whole[: 8 + length + begin] + struct.pack("<q", 8) * 192 + whole[8 + length + begin + 8 * 192 :])
        self.assertIn("tid2eid names experts other than 0 to 7", look(model, *ask, expected=4))
        path.write_bytes(whole.replace(b'"I64"', b'"F64"', 1))
        self.assertIn("whole numbers (I64 or I32)", look(model, *ask, expected=4))

    def test_heads_and_pairs_are_ablated_whichever_are_shown(self):
        def loss(*options):
            return json.loads(look(self.model(), "--what", "loss", "--text", self.text(), "--json", *options))["loss"]

        self.assertEqual(loss("--ablate", "all:0-3"), loss("--mute", "0-3"))
        self.assertEqual(loss("--ablate", "1:0-3"), loss("--mute", "0-3", "--layer", 1))
        self.assertEqual(loss("--ablate", "1.2:0-3"), loss("--mute", "0-3", "--layer", 1, "--head", 2))
        self.assertEqual(loss("--ablate", "1.2"), loss("--mute-heads", "--layer", 1, "--head", 2))
        both = loss("--ablate", "1.2", "--ablate", "0.1")
        first = look("--ablate", "1.2", self.model(), "--what", "loss", "--text", self.text(), "--json")
        self.assertEqual(json.loads(first)["loss"], loss("--ablate", "1.2"))
        self.assertEqual(len({both, loss("--ablate", "1.2"), loss("--ablate", "0.1"), loss()}), 4)
        shown = ["--what", "attention", "--text", self.text(), "--layer", 1, "--head", 0]
        weights = [json.loads(look(self.model(), *shown, *change))["weights"] for change in ((), ("--ablate", "0.1"), ("--ablate", "1.0"))]
        self.assertNotEqual(weights[0], weights[1])
        self.assertEqual(weights[0], weights[2], "a head's own output comes after its weights")
        for wrong, part in (("2.x", "an ablation is written 2.1"), ("1.2:x", "pairs are written"), ("9", "layers 0 to 1, not 9"),
                            ("-1", "an ablation"), ("1.2:8", "pairs 0 to 7, not 8")):
            self.assertIn(part, look(self.model(), "--what", "loss", "--text", self.text(), f"--ablate={wrong}", expected=2))

    def test_options_that_would_change_nothing_are_refused_by_name(self):
        for what, option, why in (("loss", ["--temperature", 1], "is not used by --what loss; only by generate"),
                                  ("logits", ["--distance", 2], "only by token_map"), ("heads", ["--count", 3], "is not used by --what heads"),
                                  ("kernels", ["--mute", "3"], "it uses the unmodified parameters"),
                                  ("loss", ["--factor", 2], "only by lengths"), ("lens", ["--out", "a.csv"], "only by attention")):
            said = look(self.model(), "--what", what, "--text", self.text(), *option, expected=2)
            self.assertIn(option[0], said)
            self.assertIn(why, said)
        look(self.model(), "--what", "loss", "--text", self.text(), "--scaling", "yarn", "--factor", 2)

    def test_the_likeliest_tokens_come_first(self):
        tokens, logits = self.expected()
        answer = json.loads(look(self.model(), "--what", "logits", "--text", self.text(), "--count", 7, "--json"))
        self.assertEqual(len(answer["predictions"]), len(tokens))
        for given, right in zip(answer["predictions"], logits):
            order = sorted(range(64), key=lambda i: -right[i])[:7]
            self.assertEqual([candidate["id"] for candidate in given], order)
            self.assertAlmostEqual(given[0]["logit"], right[order[0]], delta=5e-4)
            share = math.exp(right[order[0]]) / sum(map(math.exp, right))
            self.assertAlmostEqual(given[0]["probability"], share, delta=1e-4)
        self.assertIn(answer["predictions"][-1][0]["token"], look(self.model(), "--what", "logits", "--text", self.text()))

    def test_attention_goes_to_standard_output_or_a_file(self):
        import numpy

        tokens, _ = self.expected()
        right, _ = read_safetensors(PRETRAINED / "qwen3" / "expected.safetensors")
        ask = (self.model(), "--what", "attention", "--text", self.text())
        one = json.loads(look(*ask, "--layer", 1, "--head", 2, "--json"))
        for n, row in enumerate(one["weights"]):
            numpy.testing.assert_allclose(row, right["attention"][1, 2, n, : n + 1], atol=1e-5)
        out = Path(self._folder.name) / "all.safetensors"
        look(*ask, "--out", out)
        tensors, metadata = read_safetensors(out)
        numpy.testing.assert_allclose(tensors["attention"], right["attention"], atol=1e-5)
        self.assertEqual(tensors["tokens"].tolist(), tokens)
        self.assertEqual(metadata["model"], "qwen3")
        look(*ask, "--layer", 0, "--head", 3, "--out", out)
        numpy.testing.assert_allclose(read_safetensors(out)[0]["attention"], right["attention"][0, 3], atol=1e-5)
        table = Path(self._folder.name) / "layer.csv"
        look(*ask, "--layer", 1, "--out", table)
        lines = table.read_text().splitlines()
        self.assertEqual(len(lines), 1 + 4 * 24 * 25 // 2)
        layer, head, query, key, weight = lines[-1].split(",")
        self.assertEqual((layer, head, query, key), ("1", "3", "23", "23"))
        self.assertAlmostEqual(float(weight), float(right["attention"][1, 3, 23, 23]), delta=1e-5)
        self.assertIn("is written to a file", look(*ask, expected=2))
        self.assertIn("not as", look(*ask, "--out", Path(self._folder.name) / "x.png", expected=2))

    def test_a_text_that_is_too_long_is_refused_with_its_numbers(self):
        text = Path(self._folder.name) / "long.txt"
        for letters, part in ((1_000_001, "more than 1000000 tokens"), (17 << 20, "long.txt")):
            text.write_text(LETTERS[0] * letters)
            self.assertIn(part, look(self.model(), "--what", "loss", "--text-file", text, expected=6 if letters > 2e6 else 2))

    def test_heads_and_bands_are_those_of_the_weights(self):
        right, _ = read_safetensors(PRETRAINED / "qwen3" / "expected.safetensors")
        ask = (self.model(), "--text", self.text(), "--json")
        heads = [json.loads(line) for line in look(*ask, "--what", "heads").splitlines()]
        self.assertEqual([(head["layer"], head["head"]) for head in heads], [(l, h) for l in range(2) for h in range(4)])
        for head in heads:
            weights = right["attention"][head["layer"], head["head"]].astype(float)
            self.assertAlmostEqual(head["previous"], sum(weights[n, n - 1] for n in range(1, 24)) / 23, delta=1e-5)
            self.assertAlmostEqual(head["first"], weights[1:, 0].mean(), delta=1e-5)
        bands = [json.loads(line) for line in look(*ask, "--what", "pairs", "--layer", 1).splitlines()]
        self.assertEqual(len(bands), 4)
        for head in bands:
            self.assertEqual(len(head["theta"]), 8)
            self.assertAlmostEqual(sum(head["score_share"]) + head["unrotated_share"], 1, places=9)

    def test_what_a_model_writes_is_the_likeliest_again_and_again(self):
        ask = ("--what", "generate", "--text", self.text(), "--json")
        written = json.loads(look(self.model(), *ask, "--count", 5))
        text = self.text()
        for token in written["generated"]:
            answer = json.loads(look(self.model(), "--what", "logits", "--text", text, "--count", 1, "--json"))
            self.assertEqual(answer["predictions"][-1][0]["id"], token)
            text += LETTERS[token]
        self.assertEqual(written["text"], text[24:])
        drawn = [look(self.model(), *ask, "--temperature", 3, "--seed", seed) for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_what_is_done_to_a_model_changes_what_it_should(self):
        def loss(*change):
            return json.loads(look(self.model(), "--what", "loss", "--text", self.text(), "--json", *change))["loss"]

        whole = loss()
        self.assertAlmostEqual(loss("--shift", 1000), whole, delta=2e-5)  # scores depend only on distance
        self.assertAlmostEqual(loss("--base", 10000), whole, delta=1e-9)
        changed = [loss("--mute", "0-3"), loss("--mute", "4-7"), loss("--mute", "0-3", "--layer", 1),
                   loss("--mute", "0-3", "--layer", 1, "--head", 2), loss("--base", 20), loss("--scaling", "linear")]
        for value in changed:
            self.assertGreater(abs(value - whole), 1e-4)
        self.assertEqual(len(set(changed)), len(changed))

    def test_what_cannot_be_answered_is_said(self):
        ask = ("--what", "loss", "--text", "0123")
        for change, part in ((("--mute", "8"), "pairs 0 to 7, not 8"), (("--mute", "x"), "pairs are written"),
                             (("--mute", "0", "--layer", "9"), "layers 0 to 1, not 9"),
                             (("--mute", "0", "--head", "4"), "heads 0 to 3, not 4"), (("--text-file", "none"), "none")):
            arguments = ask[:2] if change[0] == "--text-file" else ask
            self.assertIn(part, look(self.model(), *arguments, *change, expected=2))
        self.assertIn("at least two tokens", look(self.model(), "--what", "loss", "--text", "0", expected=2))
        self.assertIn("is empty", look(self.model(), "--what", "loss", "--text", "", expected=2))
        self.assertIn("64 positions", look(self.model("gpt2"), "--what", "loss", "--text", "01" * 40, expected=2))

    def test_heads_that_are_not_there_are_refused_whatever_is_asked(self):
        for what, *more in (["heads"], ["pairs"], ["attention"], ["kernels"], ["token_map"], ["copying"], ["sinks"], ["patch", "--other", "4567"], ["loss", "--mute-heads"]):
            text = () if what == "kernels" else ("--text", "0123")
            with self.subTest(what):
                self.assertIn("layers 0 to 1, not 9", look(self.model(), "--what", what, *text, *more, "--layer", 9, "--head", 0, expected=2))
        self.assertIn("heads 0 to 3, not 4", look(self.model(), "--what", "heads", "--text", "0123", "--layer", 0, "--head", 4, expected=2))

    def test_what_is_no_number_is_refused_by_name(self):
        """Every comparison with nan is false, including those with bounds."""
        for option, value in (("--base", "nan"), ("--factor", "-nan"), ("--original-length", "inf"), ("--temperature", "1e999"), ("--base", "x")):
            with self.subTest(option, value=value):
                said = look(self.model(), "--what", "loss", "--text", "0123", f"{option}={value}", expected=2)
                self.assertIn(f"{option}: must be a number", said)
                self.assertIn(f'not "{value}"', said)
        for option, value, part in (("--mute", "4294967296", "heads have pairs 0 to 7, not 4294967296"),
                                    ("--mute", "9223372036854775807", "not 9223372036854775807"), ("--mute", "0-4294967296", "pairs are written"),
                                    ("--shift", "100000001", "must be a whole number from -100000000 to 100000000"), ("--shift", "-100000001", "must be a whole number"),
                                    ("--seed", "-1", "must be a whole number"), ("--count", "99999999999999999999", "must be a whole number")):
            with self.subTest(option, value=value):
                said = look(self.model(), "--what", "loss", "--text", "0123", f"{option}={value}", expected=2)
                self.assertIn(part, said)
        self.assertIn("longrope needs a factor for each pair",
                      look(self.model(), "--what", "loss", "--text", "0123", "--scaling", "longrope", expected=2))

    def test_parameters_that_are_no_numbers_are_named(self):
        ask = ("--what", "loss", "--text", "0123")
        for name in ("model.layers.1.mlp.up_proj.weight", "model.embed_tokens.weight", "model.norm.weight"):
            folder = self.model()
            path = folder / "model.safetensors"
            content = bytearray(path.read_bytes())
            (length,) = struct.unpack("<Q", content[:8])
            entry = json.loads(content[8 : 8 + length])[name]
            begin, end = (8 + length + place for place in entry["data_offsets"])
            content[begin:end] = b"\xff" * (end - begin)  # nan in every format
            path.write_bytes(content)
            said = look(folder, *ask, expected=4)
            self.assertIn(str(path), said)
            self.assertIn(name, said)
            self.assertIn("NaN or infinity", said)
            shutil.rmtree(folder)

    def test_factors_of_frequencies_that_cannot_be_are_refused_with_their_file(self):
        path = Path(self._folder.name) / "llama.gguf"
        whole = (PRETRAINED / "llama.gguf").read_bytes()
        name = whole.index(b"rope_freqs.weight") + len("rope_freqs.weight")
        self.assertEqual(struct.unpack_from("<IQIQ", whole, name), (1, 4, 0, 0))  # four float32 values, at the start of the data
        (tensors,) = struct.unpack_from("<Q", whole, 8)
        place = name - len("rope_freqs.weight") - 8  # start of the tensor descriptions
        for _ in range(tensors):
            place += 8 + struct.unpack_from("<Q", whole, place)[0]
            place += 4 + 8 * struct.unpack_from("<I", whole, place)[0] + 4 + 8
        first = (place + 31) // 32 * 32

        def refused(content, part):
            path.write_bytes(content)
            said = look(path, "--what", "loss", "--text", "0123", expected=4)
            self.assertIn(f"{path}: the tensor rope_freqs.weight", said)
            self.assertIn(part, said)

        for value in (0.0, -1.0, float("nan"), float("inf")):
            refused(whole[:first] + struct.pack("<f", value) + whole[first + 4 :], "must be above 0")
        refused(whole[: name + 4] + struct.pack("<Q", 3) + whole[name + 12 :], "has 3 factors for 4 pairs")

    def test_a_damaged_model_is_named(self):
        ask = ("--what", "loss", "--text", "0123")
        folder = self.model()
        (folder / "tokenizer.json").write_text(tokenizer_json([chr(ord("0") + i) for i in range(80)]))
        self.assertIn("do not belong together", look(folder, *ask, expected=4))
        (folder / "tokenizer.json").unlink()
        self.assertIn("tokenizer.json", look(folder, *ask, expected=6))
        (folder / "tokenizer.json").write_text(tokenizer_json())
        whole = (folder / "model.safetensors").read_bytes()
        for damaged, part in ((whole[:-5], "beyond the end"), (whole[:100], "ends inside its header"), (b"", "shorter than 8 bytes")):
            (folder / "model.safetensors").write_bytes(damaged)
            self.assertIn(part, look(folder, *ask, expected=4))
        (folder / "model.safetensors").unlink()
        self.assertIn("contains neither model.safetensors nor", look(folder, *ask, expected=4))
        (folder / "model.safetensors").write_bytes(whole)
        config = json.loads((folder / "config.json").read_text())
        for change, part in (({"hidden_size": 48}, "a model of these sizes has"), ({"model_type": "qwen33"}, 'did you mean "qwen3"'),
                             ({"num_hidden_layers": 3}, 'has no tensor "model.layers.2'),
                             ({"num_hidden_layers": 1}, "has no place in a model of the family qwen3"),
                             ({"num_key_value_heads": 3}, "must divide"), ({"vocab_size": None}, "vocab_size is missing")):
            (folder / "config.json").write_text(json.dumps({**config, **change}))
            self.assertIn(part, look(folder, *ask, expected=4))
        self.assertIn("No such file", look(folder / "nothing.gguf", *ask, expected=6))

    def test_a_huge_file_of_nothing_takes_no_memory(self):
        path = Path(self._folder.name) / "sparse.gguf"
        shutil.copy(PRETRAINED / "llama.gguf", path)
        with open(path, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("<Q", 1 << 40))  # tensors
            file.truncate(100 << 30)
        done = subprocess.run(["bash", "-c", f"ulimit -v 4000000; exec {TRAINER} look {path} --what loss --text abc"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("more than any model has", done.stderr)


    def ask(self, family, *arguments):
        output = look(self.model(family), "--json", *arguments).splitlines()
        return [json.loads(line) for line in output]

    # Queries and keys of 6 rotated and 10 other features, values of 7.
    def test_heads_of_latent_attention(self):
        for family, layers in (("deepseek_v2", 2), ("deepseek_v3", 3)):
            text = ("--text", self.text(family))
            heads = self.ask(family, "--what", "heads", *text)
            self.assertEqual([(head["layer"], head["head"]) for head in heads], [(layer, head) for layer in range(layers) for head in range(4)])
            for head in self.ask(family, "--what", "pairs", *text):
                self.assertEqual(len(head["score_share"]), 3)
                self.assertAlmostEqual(sum(head["score_share"]) + head["unrotated_share"], 1, places=5)
                self.assertEqual(head["value_norm"][4:], [0] * 4)  # pairs of features that values lack
                self.assertTrue(all(norm > 0 for norm in head["value_norm"][:4]))
            self.assertEqual(len(self.ask(family, "--what", "subsets", "--count", 2, *text)), 4)
            self.assertIn("latent attention", look(self.model(family), "--what", "kernels", expected=2))
            self.assertIn("latent attention", look(self.model(family), "--what", "copying", *text, expected=2))

    def test_bands_of_layers_whose_heads_have_other_numbers_of_pairs(self):
        """In Gemma 4, heads of layers 0 and 2 have 6 pairs, and those of layers 1 and 3 have 8."""
        text = ("--text", self.text("gemma4_text"))
        losses = {tuple(one["kept_pairs"]): one["loss"] for one in self.ask("gemma4_text", "--what", "subsets", "--count", 2, *text)}
        self.assertEqual(set(losses), {(), ("0-2|0-3",), ("3-5|4-7",), ("0-2|0-3", "3-5|4-7")})
        for kept, ablated in (((), "0:0-5;1:0-7;2:0-5;3:0-7"), (("0-2|0-3",), "0:3-5;1:4-7;2:3-5;3:4-7")):
            self.assertEqual(losses[kept], self.ask("gemma4_text", "--what", "loss", "--ablate", ablated, *text)[0]["loss"])
        self.assertIn("1 to 6 bands, not 7", look(self.model("gemma4_text"), "--what", "subsets", "--count", 7, *text, expected=2))

    def test_scores_are_split_into_rotated_and_unrotated_parts(self):
        """As computed by numpy of the first layer of DeepSeek V3, whose input is the embeddings."""
        import numpy

        w = {name: tensor.astype(float) for name, tensor in read_safetensors(PRETRAINED / "deepseek_v3" / "model.safetensors")[0].items()}
        attention = "model.layers.0.self_attn."

        def normed(x, name):
            return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w[f"{name}.weight"]

        def linear(x, name):
            return x @ w[f"{attention}{name}.weight"].T + w.get(f"{attention}{name}.bias", 0)

        tokens, _ = self.expected("deepseek_v3")
        x = normed(w["model.embed_tokens.weight"][tokens], "model.layers.0.input_layernorm")
        q = linear(normed(linear(x, "q_a_proj"), attention + "q_a_layernorm"), "q_b_proj").reshape(24, 4, 16)
        latent = linear(x, "kv_a_proj_with_mqa")
        k = linear(normed(latent[:, :12], attention + "kv_a_layernorm"), "kv_b_proj").reshape(24, 4, 17)[:, :, :10]

        def turned(y):  # neighboring features are a complex number
            return (y[..., ::2] + 1j * y[..., 1::2]) * numpy.exp(1j * numpy.arange(24)[:, None] / 10000 ** (numpy.arange(3) / 3))

        said = self.ask("deepseek_v3", "--what", "score_parts", "--text", self.text("deepseek_v3"))
        self.assertEqual([(row["layer"], row["head"]) for row in said], [(layer, head) for layer in range(3) for head in range(4)])
        for head in range(4):
            a = (turned(q[:, head, 10:]) @ turned(latent[:, 12:]).conj().T).real / 4
            b = q[:, head, :10] @ k[:, head].T / 4
            rows = [(a[n, : n + 1], b[n, : n + 1]) for n in range(1, 24)]
            variances = numpy.mean([numpy.cov(a, b, bias=True) for a, b in rows], 0)
            right = {"rotated_mean": numpy.mean([abs(a).mean() for a, _ in rows]), "unrotated_mean": numpy.mean([abs(b).mean() for _, b in rows]),
                     "rotated_deviation": variances[0, 0] ** 0.5, "unrotated_deviation": variances[1, 1] ** 0.5,
                     "rotated_share": variances[0].sum() / variances.sum(),
                     "correlation": variances[0, 1] / (variances[0, 0] * variances[1, 1]) ** 0.5,
                     "rotated_decides": numpy.mean([(a + b).argmax() == a.argmax() for a, b in rows]),
                     "unrotated_decides": numpy.mean([(a + b).argmax() == b.argmax() for a, b in rows])}
            for name, number in right.items():
                self.assertAlmostEqual(said[head][name], number, places=5, msg=name)

    def test_score_parts_agree_with_bands_and_are_refused_without_two_parts(self):
        for family in ("deepseek_v2", "deepseek_v4", "glm4_moe", "gpt_neox", "stablelm"):
            text = ("--text", self.text(family))
            bands = self.ask(family, "--what", "pairs", *text)
            for parts, head in zip(self.ask(family, "--what", "score_parts", *text), bands, strict=True):
                self.assertAlmostEqual(parts["rotated_share"], 1 - head["unrotated_share"], places=6)
        text = ("--text", self.text())
        self.assertIn("every feature of this model's heads rotates", look(self.model(), "--what", "score_parts", *text, expected=2))
        self.assertIn("all features of the heads rotate or none does", look(self.model("smollm3"), "--what", "score_parts", *text, expected=2))
        self.assertIn("no feature of this model's heads rotates", look(self.model("gpt2"), "--what", "score_parts", *text, expected=2))
        self.assertEqual(len(look(self.model("gpt_neox"), "--what", "score_parts", *text, "--layer", 1, "--csv").splitlines()), 5)

    def test_a_walkthrough_is_what_numpy_computes_in_the_first_layer(self):
        """Of every head of llama's small model, whose first layer reads the embeddings."""
        import numpy

        model = self.model("llama")
        w = {name: tensor.astype(float) for name, tensor in read_safetensors(model / "model.safetensors")[0].items()}
        config = json.loads((model / "config.json").read_text())
        tokens, _ = self.expected("llama")
        T, H, K = len(tokens), config["num_attention_heads"], config["num_key_value_heads"]
        block = "model.layers.0."
        x = w["model.embed_tokens.weight"][tokens]
        normed = x / numpy.sqrt((x * x).mean(1, keepdims=True) + config["rms_norm_eps"]) * w[block + "input_layernorm.weight"]
        q, k, v = ((normed @ w[f"{block}self_attn.{name}_proj.weight"].T).reshape(T, n, -1) for name, n in (("q", H), ("k", K), ("v", K)))
        d = q.shape[2]
        theta = self.ask("llama", "--what", "pairs", "--text", self.text("llama"))[0]["theta"]
        angle = numpy.arange(T)[:, None] * theta

        def rotated(y):
            both = (y[:, : d // 2] + 1j * y[:, d // 2 :]) * numpy.exp(1j * angle)
            return numpy.concatenate([both.real, both.imag], 1)

        def close(name, right):
            numpy.testing.assert_allclose(said[name], right, atol=1e-5, err_msg=name)

        n = T - 3
        for head in range(H):
            text = ("--text", self.text("llama"), "--layer", 0, "--head", head, "--token", n)
            (said,) = self.ask("llama", "--what", "walkthrough", *text, "--count", 64)
            keys, values = k[:, head * K // H], v[:, head * K // H]
            scores = rotated(q[:, head])[n] @ rotated(keys).T / d**0.5
            weights = numpy.exp(scores) * (numpy.arange(T) <= n)
            weights /= weights.sum()
            out = w[block + "self_attn.o_proj.weight"].reshape(-1, H, d)
            self.assertEqual((said["layer"], said["head"], said["token"], said["rotated"], said["value_pairs"]), (0, head, n, "qk", []))
            self.assertEqual(said["pairs"], [[i, d // 2 + i] for i in range(d // 2)])
            for name, right in {"query": q[n, head], "rotated_query": rotated(q[:, head])[n], "keys": keys, "rotated_keys": rotated(keys),
                                "values": values, "rotated_values": values, "weights": weights,
                                "sum": weights @ values, "output": weights @ values}.items():
                close(name, right)
            numpy.testing.assert_allclose(said["scores"][: n + 1], scores[: n + 1], atol=1e-5)
            self.assertEqual(said["scores"][n + 1 :], [None, None], "the query does not see later keys")
            self.assertAlmostEqual(said["residual"][0], numpy.linalg.norm(x[n]), 5)
            self.assertAlmostEqual(said["added"][head], numpy.linalg.norm(out[:, head] @ (weights @ values)), 5)
            # Predictions are those of other questions.
            for name, change in (("predictions", ()), ("without_head", ("--ablate", f"0.{head}"))):
                (logits,) = self.ask("llama", "--what", "logits", "--text", self.text("llama"), "--count", 64, *change)
                right = {one["id"]: one["probability"] for one in logits["predictions"][n]}
                self.assertEqual([one["id"] for one in said[name]], list(right), name)
                numpy.testing.assert_allclose([one["probability"] for one in said[name]], list(right.values()), atol=1e-6)
            lens = self.ask("llama", "--what", "lens", "--text", self.text("llama"))
            self.assertEqual([one["token"] for one in said["lens"]], [layer["likeliest"][n] for layer in lens])

    def test_a_walkthrough_is_one_of_every_kind_of_attention(self):
        import numpy

        kinds = {"gemma2": "is capped", "gpt_oss": "has a sink", "falcon_rw": "bias by position", "deepseek_v3": "Latent attention",
                 "qwen3_next": "a gate", "mistral": "sees only the last", "roformer": None, "modernbert": None, "gpt2": None}
        for family, note in kinds.items():
            head = ("--text", self.text(family), "--layer", 1, "--head", 1)
            (said,) = self.ask(family, "--what", "walkthrough", *head)
            (attention,) = self.ask(family, "--what", "attention", *head)
            numpy.testing.assert_allclose(said["weights"], attention["weights"][-1], atol=1e-7, err_msg=family)
            numpy.testing.assert_allclose(said["sum"], numpy.array(said["weights"]) @ said["rotated_values"], atol=1e-5, err_msg=family)
            scores = said["scale"] * numpy.array(said["rotated_keys"]) @ said["rotated_query"]
            numpy.testing.assert_allclose(numpy.array(said["scores"], float), numpy.where(numpy.array(said["weights"]) == 0, numpy.nan, scores),
                                          atol=1e-5, err_msg=family)
            self.assertEqual(bool(said["predictions"]), family not in self.ENCODERS, family)
            self.assertIn(note or "", " ".join(one["text"] for one in said["notes"]), family)
            rows = look(self.model(family), "--what", "walkthrough", *head, "--csv").splitlines()
            self.assertEqual(len(rows), len(said["tokens"]) + 1, family)
        said = look(self.model("qwen3_next"), "--what", "walkthrough", "--text", "ABC", "--layer", 0, "--head", 1, expected=2)
        self.assertIn("layer 0 of this model has no attention", said)

    def test_longer_texts_are_read_with_scaled_frequencies(self):
        text = self.text("llama")
        (answer,) = self.ask("llama", "--what", "lengths", "--text", text, "--factor", 2)
        self.assertEqual(answer["factor"], 2)
        self.assertEqual(list(answer["nll"]), ["none", "linear", "ntk", "yarn"])
        for scaling, nll in answer["nll"].items():
            (loss,) = self.ask("llama", "--what", "loss", "--text", text, "--scaling", scaling, "--factor", 2)
            self.assertEqual(nll, loss["nll"])
        self.assertEqual(len({str(nll) for nll in answer["nll"].values()}), 4)

    def test_a_needle_is_put_where_it_is_said_to_be(self):
        text = self.text("llama") * 3
        needle = ["--needle", "ABC", "--question", "XY", "--answer", "C"]
        rows = self.ask("llama", "--what", "needle", "--text", text, "--count", 3, *needle)
        self.assertEqual(len(rows), 4 * 3)
        for row in rows:
            hay = row["length"] - 6
            place = round(row["depth"] * hay)
            whole = text[:place] + "ABC" + text[place:hay] + "XY" + "C"
            (loss,) = self.ask("llama", "--what", "loss", "--text", whole)
            self.assertAlmostEqual(row["nll"], loss["nll"][-1], places=6)
            (logits,) = self.ask("llama", "--what", "logits", "--text", whole, "--count", 1)
            self.assertEqual(row["found"], logits["predictions"][-2][0]["token"] == "C")
        self.assertEqual(max(row["length"] for row in rows), len(text) + 6)
        self.assertIn("this needle needs a text of at least", look(self.model("llama"), "--what", "needle", "--text", "5>E", *needle, expected=2))

    def circuit(self, letters, layer, head):
        """For llama's small model: the change of each logit [from, to] if a head attends with weight 1 to each letter."""
        import numpy

        tensors, _ = read_safetensors(self.model("llama") / "model.safetensors")
        weight = {name: tensor.astype(float) for name, tensor in tensors.items()}
        ids = [LETTERS.index(letter) for letter in letters]
        config = json.loads((self.model("llama") / "config.json").read_text())
        heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
        block = f"model.layers.{layer}."
        d = weight[block + "self_attn.o_proj.weight"].shape[1] // heads
        x = weight["model.embed_tokens.weight"][ids]
        x = x / numpy.sqrt((x * x).mean(1, keepdims=True) + config["rms_norm_eps"]) * weight[block + "input_layernorm.weight"]
        group = head * groups // heads
        value = weight[block + "self_attn.v_proj.weight"][group * d : (group + 1) * d]
        output = weight[block + "self_attn.o_proj.weight"][:, head * d : (head + 1) * d]
        unembed = weight.get("lm_head.weight", weight["model.embed_tokens.weight"])[ids] * weight["model.norm.weight"]
        return x @ (output @ value).T @ unembed.T

    def test_a_token_map_is_the_product_of_its_matrices(self):
        import numpy

        text = self.text("llama")
        (answer,) = self.ask("llama", "--what", "token_map", "--text", text, "--layer", 1, "--head", 2, "--distance", 3)
        distinct = list(dict.fromkeys(text))
        self.assertEqual(answer["tokens"], distinct)
        numpy.testing.assert_allclose(answer["logits"], self.circuit(distinct, 1, 2), rtol=1e-4, atol=1e-6)
        self.assertIn("needs one head", look(self.model("llama"), "--what", "token_map", "--text", text, expected=2))

    def test_copying_scores_are_those_of_numpys_eigenvalues(self):
        """Elhage et al. 2021: Re Σ λ / Σ |λ| of the OV circuit from the text's tokens to their logits."""
        import numpy

        def score(circuit):
            eigenvalues = numpy.linalg.eigvals(numpy.array(circuit))
            return eigenvalues.sum().real / numpy.abs(eigenvalues).sum()

        every = [(layer, head) for layer in range(2) for head in range(4)]
        for text in ("0120", "".join(LETTERS[:40])):  # fewer tokens than a head has features, and more
            distinct = list(dict.fromkeys(text))
            rows = self.ask("llama", "--what", "copying", "--text", text)
            self.assertEqual([(row["layer"], row["head"], row["tokens"]) for row in rows], [(*head, distinct) for head in every])
            right = [score(self.circuit(distinct, *head)) for head in every]
            numpy.testing.assert_allclose([row["copying"] for row in rows], right, atol=1e-5)
            self.assertTrue(min(right) < -0.1 and max(right) > 0.1, "both signs are seen")
        for family in ("gpt2", "gemma2"):  # for other norms and heads, from the model's own token map
            one = ("--text", self.text(family), "--layer", 1, "--head", 2)
            (row,), (map_,) = (self.ask(family, "--what", what, *one) for what in ("copying", "token_map"))
            self.assertEqual((row["layer"], row["head"], row["tokens"]), (1, 2, map_["tokens"]))
            self.assertAlmostEqual(row["copying"], score(map_["logits"]), 5)
        for row in self.ask("llama", "--what", "copying", "--text", "000"):  # a single token has one eigenvalue, whose sign is the score
            self.assertEqual(abs(row["copying"]), 1)
        table = look(self.model("llama"), "--what", "copying", "--text", text, "--layer", 1, "--head", 2)
        self.assertEqual(table, look(self.model("llama"), "--what", "copying", "--text", text, "--layer", 1, "--head", 2, "--csv"))
        names, shown = table.splitlines()
        self.assertEqual((names, shown[:4]), ("layer,head,copying", "1,2,"))
        self.assertAlmostEqual(float(shown[4:]), right[every.index((1, 2))], 3)
        self.assertIn("is not used by", look(self.model("llama"), "--what", "copying", "--text", text, "--ablate", "0", expected=2))

    def test_prefix_matching_is_the_weight_on_what_followed_before(self):
        """Olsson et al. 2022 (arXiv 2209.11895): from the attention to the same random tokens, repeated four times."""
        for family in ("llama", "gpt2"):
            rows = look(self.model(family), "--what", "induction", "--count", 6, "--seed", 3, "--json").splitlines()
            rows = [json.loads(row) for row in rows]
            self.assertEqual([(row["layer"], row["head"]) for row in rows], [(layer, head) for layer in range(2) for head in range(4)])
            tokens, times = rows[0]["tokens"], rows[0]["repetitions"]
            self.assertEqual((len(set(tokens)), times), (6, 4))
            for row in rows:
                (attention,) = self.ask(family, "--what", "attention", "--text", "".join(tokens * times), "--layer", row["layer"], "--head", row["head"])
                sums = [sum(attention["weights"][n][n - 6 * k + 1] for k in range(1, n // 6 + 1)) for n in range(6, 24)]
                self.assertAlmostEqual(row["prefix_matching"], sum(sums) / len(sums), 5)
        other = look(self.model(), "--what", "induction", "--count", 6, "--seed", 4, "--json").splitlines()
        self.assertNotEqual(json.loads(other[0])["tokens"], tokens, "another seed draws others")
        ablated = look(self.model(), "--what", "induction", "--count", 6, "--ablate", "0", "--json").splitlines()
        plain = look(self.model(), "--what", "induction", "--count", 6, "--json").splitlines()
        self.assertEqual(json.loads(ablated[0]), json.loads(plain[0]), "a head's weights come before its own output")
        self.assertNotEqual(json.loads(ablated[-1]), json.loads(plain[-1]))
        self.assertIn("tokens of this model can be drawn, not 99", look(self.model(), "--what", "induction", "--count", 99, expected=2))

    def test_singular_values_of_a_circuit_are_numpys(self):
        import numpy

        tensors, _ = read_safetensors(self.model("llama") / "model.safetensors")
        config = json.loads((self.model("llama") / "config.json").read_text())
        heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
        output = tensors["model.layers.1.self_attn.o_proj.weight"].astype(float)
        d = output.shape[1] // heads
        group = 3 * groups // heads
        value = tensors["model.layers.1.self_attn.v_proj.weight"].astype(float)[group * d : (group + 1) * d]
        right = numpy.linalg.svd(output[:, 3 * d : 4 * d] @ value, compute_uv=False)[:d]
        rows = [json.loads(row) for row in look(self.model("llama"), "--what", "ov_by_distance", "--layer", 1, "--head", 3, "--count", 3, "--json").splitlines()]
        self.assertEqual([row["distance"] for row in rows], [0, 1, 2])
        for row in rows:  # values that do not rotate have the same singular values at every distance
            numpy.testing.assert_allclose(row["singular_values"], right, rtol=1e-6, atol=1e-9)
            shares = numpy.cumsum(right**2) / (right**2).sum()
            self.assertEqual(row["rank_90"], int((shares < 0.9).sum()) + 1)
        self.assertIn("needs one head", look(self.model(), "--what", "ov_by_distance", expected=2))

    def test_the_last_layer_predicts_what_the_model_does(self):
        import numpy

        for family in ("llama", "gpt2", "gemma2"):
            text = self.text(family)
            layers = self.ask(family, "--what", "lens", "--text", text)
            self.assertEqual([layer["layer"] for layer in layers], [-1, 0, 1])
            (loss,) = self.ask(family, "--what", "loss", "--text", text)
            numpy.testing.assert_allclose(layers[-1]["nll"], loss["nll"], atol=1e-5)
            (logits,) = self.ask(family, "--what", "logits", "--text", text, "--count", 1)
            self.assertEqual(layers[-1]["likeliest"], [row[0]["token"] for row in logits["predictions"]])
            self.assertGreater(numpy.abs(numpy.subtract(layers[0]["nll"], loss["nll"])).max(), 1e-3)

    def test_a_router_chooses_the_experts_with_the_largest_scores(self):
        import numpy

        text = self.text("mixtral")
        layers = self.ask("mixtral", "--what", "experts", "--text", text)
        self.assertEqual([layer["layer"] for layer in layers], [0, 1])
        # The first token attends to itself alone, so the router's input in layer 0 needs no softmax.
        stored, _ = read_safetensors(self.model("mixtral") / "model.safetensors")
        tensors = {name: tensor.astype(float) for name, tensor in stored.items()}
        part = lambda name: tensors[f"model.layers.0.{name}.weight"]
        normed = lambda x, name: x / numpy.sqrt((x**2).mean() + 1e-5) * part(name)
        x = tensors["model.embed_tokens.weight"][LETTERS.index(text[0])]
        value = (part("self_attn.v_proj") @ normed(x, "input_layernorm")).reshape(2, 8)
        x = x + part("self_attn.o_proj") @ numpy.repeat(value, 2, axis=0).flatten()
        scores = numpy.exp(part("block_sparse_moe.gate") @ normed(x, "post_attention_layernorm"))
        chosen = numpy.argsort(-scores)[:2]
        self.assertEqual(layers[0]["experts"][0], chosen.tolist())
        numpy.testing.assert_allclose(layers[0]["weights"][0], scores[chosen] / scores[chosen].sum(), atol=1e-5)
        for layer in layers:
            flat = [expert for token in layer["experts"] for expert in token]
            self.assertEqual(layer["counts"], [flat.count(expert) for expert in range(5)])
            self.assertEqual(len(layer["experts"]), len(text))
        rows = look(self.model("mixtral"), "--what", "experts", "--text", text, "--csv").splitlines()
        self.assertEqual((rows[0], len(rows)), ("layer,position,token,expert,weight", 1 + 2 * 2 * len(text)))
        self.assertEqual(rows[1].split(",")[:4], ["0", "0", text[0], str(chosen[0])])
        table = look(self.model("mixtral"), "--what", "experts", "--text", text).splitlines()
        self.assertEqual(table[1], f"0,0,{layers[0]['counts'][0]}")
        self.assertIn("has no mixtures of experts", look(self.model(), "--what", "experts", "--text", self.text(), expected=2))
        (summary,) = self.ask("gemma2", "--what", "model")
        self.assertEqual(summary["windows"], [6, 0])
        (summary,) = self.ask("mixtral", "--what", "model")
        self.assertEqual((summary["experts"], summary["experts_per_token"]), (5, 2))
        self.assertEqual(summary["parameters"] - summary["parameters_per_token"], 2 * 3 * 3 * 24 * 32)
        self.assertEqual(summary["file_bytes"], (self.model("mixtral") / "model.safetensors").stat().st_size)
        self.assertGreater(summary["memory_bytes"], 500 * 24 * 4 * 10)  # a dozen rows of the width for each of 500 tokens

    def test_sinks_take_what_transformers_weights_leave(self):
        """transformers drops the sink's column after the softmax, so that a row of weights lacks its share to 1."""
        for family, columns in (("gpt_oss", "layer,head,sink,first_token"), ("llama", "layer,head,first_token"), ("gemma2", "layer,head,first_token")):
            right, _ = read_safetensors(PRETRAINED / family / "expected.safetensors")
            weights = right["attention"].astype(float)[:, :, 1:]  # of query 0, all that is no sink's is on token 0
            heads = self.ask(family, "--what", "sinks", "--text", self.text(family))
            self.assertEqual([(head["layer"], head["head"]) for head in heads], [(l, h) for l in range(2) for h in range(4)])
            for head in heads:
                of = weights[head["layer"], head["head"]]
                self.assertAlmostEqual(head["first_token"], of[:, 0].mean(), delta=1e-5)
                if family == "gpt_oss":
                    self.assertAlmostEqual(head["sink"], 1 - of.sum(1).mean(), delta=1e-5)
                    self.assertGreater(head["sink"], 0.001, "a sink that takes nothing shows nothing")
                else:
                    self.assertNotIn("sink", head, "a model without a learned sink has no number for it")
            rows = look(self.model(family), "--what", "sinks", "--text", self.text(family), "--layer", 1, "--head", 2, "--csv").splitlines()
            self.assertEqual((rows[0], len(rows), rows[1][:4]), (columns, 2, "1,2,"))
            self.assertAlmostEqual(float(rows[1].split(",")[-1]), heads[6]["first_token"], delta=1e-4)
        long = self.text("llama") * 30  # queries are computed in blocks, and only the first block's first query is left out
        first = [head["first"] for head in self.ask("llama", "--what", "heads", "--text", long)]
        sinks = [head["first_token"] for head in self.ask("llama", "--what", "sinks", "--text", long)]
        for one, other in zip(first, sinks):
            self.assertAlmostEqual(one, other, delta=1e-6)
        changed = self.ask("gpt_oss", "--what", "sinks", "--text", self.text("gpt_oss"), "--no-rotation")
        unchanged = self.ask("gpt_oss", "--what", "sinks", "--text", self.text("gpt_oss"))
        self.assertNotEqual(changed[0]["sink"], unchanged[0]["sink"])
        self.assertIn("at least two tokens", look(self.model("llama"), "--what", "sinks", "--text", "0", expected=2))

    def test_patching_restores_what_the_patched_heads_carry(self):
        text = self.text("llama")
        other = "A" + text[1:-1] + "Z"
        (heads,) = self.ask("llama", "--what", "patch", "--text", text, "--other", other)
        self.assertEqual((len(heads["restored"]), {len(row) for row in heads["restored"]}), (2, {4}))
        likeliest = [self.ask("llama", "--what", "logits", "--text", one, "--count", 64)[0]["predictions"][-1] for one in (text, other)]
        self.assertEqual([row[0]["token"] for row in likeliest], [heads["answer"], heads["other_answer"]])
        for row, difference in zip(likeliest, (heads["difference"], heads["other_difference"])):
            logit = {one["token"]: one["logit"] for one in row}
            self.assertAlmostEqual(logit[heads["answer"]] - logit[heads["other_answer"]], difference, places=4)
        # In the last layer only the last position affects the answer.
        (positions,) = self.ask("llama", "--what", "patch", "--text", text, "--other", other, "--layer", 1, "--head", 2)
        restored = positions["restored"][0]
        self.assertEqual(len(restored), len(text))
        self.assertLess(max(abs(share) for share in restored[:-1]), 1e-5)
        self.assertAlmostEqual(restored[-1], heads["restored"][1][2], places=5)
        for arguments, part in ((["--other", other[1:]], "same number of tokens"), (["--other", text], "same answer"), ([], "--other"),
                                (["--other", other, "--layer", 1], "--layer and --head")):
            self.assertIn(part, look(self.model("llama"), "--what", "patch", "--text", text, *arguments, expected=2))


class Runs(TrainerTest):
    TEXT = "?d=66+27; 6e0+7e0+0e0==13e0"

    def ask(self, run, *arguments):
        return json.loads(look(run, "--runs", self.runs, "--text", self.TEXT, "--json", *arguments))

    def test_a_run_answers_as_its_own_export(self):
        import numpy

        for position, attention in (("roper", "softmax"), ("t5", "softmax"), ("rope", "linear_cosine"), ("roper", "linear_numerator")):
            name = f"{position}-{attention}"
            run = self.train(name, "--set", f"position={position}", "--set", f"model.attention={attention}", "--steps", 20,
                             "--set", "checkpoints.every=10")
            out = Path(self._folder.name) / "logits.safetensors"
            done = self.trainer("export", run, "--what", "logits", "--text", self.TEXT, "--step", 10, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            logits = read_safetensors(out)[0]["logits"].astype(float)
            answer = self.ask(name, "--what", "logits", "--step", 10, "--count", logits.shape[1])
            self.assertEqual("".join(answer["tokens"]), self.TEXT)
            for row, right in zip(answer["predictions"], logits):
                given = {candidate["id"]: candidate["logit"] for candidate in row}
                numpy.testing.assert_allclose([given[i] for i in range(len(right))], right, atol=2e-5)
            newest = self.ask(name, "--what", "loss")["loss"]
            self.assertNotEqual(newest, self.ask(name, "--what", "loss", "--step", 10)["loss"])
            # Reading token by token gives the same as reading at once.
            written = self.ask(name, "--what", "generate", "--count", 5)
            text = self.TEXT
            for token in written["generated"]:
                (likeliest,) = json.loads(look(name, "--runs", self.runs, "--what", "logits", "--text", text, "--count", 1, "--json"))["predictions"][-1]
                self.assertEqual(likeliest["id"], token)
                text += likeliest["token"]

    def test_weights_of_linear_attention_are_its_formula(self):
        """φ(q)·φ(k) over Σ φ(q)·φ(k) with φ(x) = elu(x) + 1 (Katharopoulos et al. 2020), rotated only in the numerator (Su et
        al. 2021)."""
        import numpy

        self.train("linear", "--set", "position=none", "--set", "model.attention=linear_numerator", "--steps", 5)
        self.train("cosine", "--set", "position=none", "--set", "model.attention=linear_cosine", "--steps", 5)
        for name, map_ in (("linear", lambda x: numpy.where(x > 0, x + 1, numpy.exp(numpy.minimum(x, 0)))),
                           ("cosine", lambda x: x / numpy.linalg.norm(x, axis=1, keepdims=True))):
            process = subprocess.Popen([TRAINER, "serve", name, "--runs", str(self.runs), "--json", "--with-parent"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            with process, closing(Peer(json.loads(process.stdout.readline())["socket"])) as peer:
                tensors, facts = tensors_of(peer.ask(command="head", layer=0, head=1, text=self.TEXT)[1])
                process.stdin.close()
            self.assertEqual(facts["attention"], "linear_numerator" if name == "linear" else "linear_cosine")
            similarity = numpy.tril(map_(tensors["q"].astype(float)) @ map_(tensors["k"].astype(float)).T + (name == "cosine"))
            right = similarity / similarity.sum(1, keepdims=True)
            given = json.loads(look(name, "--runs", self.runs, "--what", "attention", "--text", self.TEXT, "--layer", 0, "--head", 1, "--json"))
            for n, row in enumerate(given["weights"]):
                numpy.testing.assert_allclose(row, right[n, : n + 1], atol=1e-5)
            entropy = json.loads(look(name, "--runs", self.runs, "--what", "heads", "--text", self.TEXT, "--layer", 0, "--head", 1, "--json"))["entropy"]
            if name == "linear":
                self.assertIsNone(entropy, "weights that may be negative are no probabilities")
            else:
                self.assertAlmostEqual(entropy, -(right[1:] * numpy.log(right[1:], where=right[1:] > 0, out=numpy.zeros_like(right[1:]))).sum(1).mean(), 4)

    def test_a_masked_run_masks_each_token_in_turn(self):
        done = self.trainer("run", "roformer-quick", "--steps", 2, *TINY, "--runs", self.runs, "--name", "masked", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        arguments = ["masked", "--runs", self.runs, "--text", "the light of the sun"]
        answer = json.loads(look(*arguments, "--what", "loss", "--json"))
        self.assertEqual(answer["positions"], list(range(len(answer["ids"]))))
        self.assertEqual(len(json.loads(look(*arguments, "--what", "logits", "--json"))["predictions"]), len(answer["ids"]))
        self.assertIn("predicts masked", look(*arguments, "--what", "generate", expected=2))
        heads = look("masked", "--runs", self.runs, "--what", "heads", "--text", "the light of the sun", "--json").splitlines()
        for head in map(json.loads, heads):
            self.assertGreaterEqual(head["mean_distance"], 0)

    def test_problems_are_solved_as_the_evaluation_does(self):
        done = self.trainer("run", "copy-quick", "--set", "position=roper", "--steps", 220, "--set", "evaluation.every=0", "--runs",
                            self.runs, "--name", "copy", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.trainer("eval", self.runs / "copy", "--problems", 20, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        right = json.loads(done.stdout)["correct"]
        self.assertGreater(right, 0, "a model that solves nothing shows nothing")
        answer = json.loads(look("copy", "--runs", self.runs, "--what", "solve", "--count", 20, "--no-inverse", "--json"))
        self.assertEqual((len(answer["prompts"]), sum(answer["solved"])), (20, right))
        plain = look("copy", "--runs", self.runs, "--what", "solve", "--count", 20)
        self.assertIn(f"as trained: {right} of 20 (95 % interval", plain)
        self.assertNotIn("with the change", plain)
        changed = look("copy", "--runs", self.runs, "--what", "solve", "--count", 20, "--no-inverse")
        self.assertIn(f"with the change: {sum(answer['changed'])} of 20", changed)
        lost = sum(a and not b for a, b in zip(answer["solved"], answer["changed"]))
        self.assertIn(f"{lost} lost, {lost + sum(answer['changed']) - right} gained", changed)

    def test_a_run_becomes_a_folder_that_gives_the_same_logits(self):
        import numpy

        for name, settings in (("half", []), ("interleaved", ["model.pairing=interleaved", "model.rotary_fraction=0.5"]),
                               ("none", ["model.position=none"]), ("relu", ["model.activation=relu", "model.base=500"])):
            arguments = [part for setting in settings for part in ("--set", setting)]
            run = self.train(name, "--set", "position=rope", "--steps", 20, *arguments)
            folder = Path(self._folder.name) / f"folder-{name}"
            done = self.trainer("export", run, "--what", "huggingface", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("output layer's bias", done.stderr)
            right = self.ask(name, "--what", "logits", "--count", 20)
            given = json.loads(look(folder, "--text", self.TEXT, "--what", "logits", "--count", 20, "--json"))
            self.assertEqual(given["ids"], right["ids"])
            self.assertEqual("".join(given["tokens"]), self.TEXT)
            for one, other in zip(given["predictions"], right["predictions"]):
                a, b = ({candidate["id"]: candidate["logit"] for candidate in row} for row in (one, other))
                numpy.testing.assert_allclose([a[i] for i in sorted(a)], [b[i] for i in sorted(b)], atol=2e-4)
            self.assert_fails(self.trainer("export", run, "--what", "huggingface", "--out", folder), 2, "already exists; choose another folder")

    def test_what_no_folder_can_hold_is_refused(self):
        for position, part in (("roper", "rotation of values"), ("xpos", "decay"), ("alibi", "bias of scores"), ("learned", "embeddings")):
            run = self.train(position, "--set", f"position={position}", "--steps", 2)
            folder = Path(self._folder.name) / position
            self.assert_fails(self.trainer("export", run, "--what", "huggingface", "--out", folder), 2, part)
            self.assertFalse(folder.exists())

    def test_a_walkthrough_of_a_run_rotates_values_and_outputs_back(self):
        import numpy

        run = self.train("a", "--set", "model.position=roper", "--steps", 5)
        head = ("--what", "walkthrough", "--layer", 0, "--head", 1)
        said = self.ask(run, *head, "--token", 6)
        self.assertEqual(said["rotated"], "qkvo")
        width = len(said["sum"])
        theta = 10000.0 ** (-2 * numpy.arange(width // 2) / width)

        def turned(vector, position):
            result = numpy.array(vector)
            for (a, b), angle in zip(said["value_pairs"], position * theta, strict=True):
                result[a], result[b] = (vector[a] * math.cos(angle) - vector[b] * math.sin(angle),
                                        vector[a] * math.sin(angle) + vector[b] * math.cos(angle))
            return result

        for j, (value, rotated) in enumerate(zip(said["values"], said["rotated_values"], strict=True)):
            numpy.testing.assert_allclose(rotated, turned(value, j), atol=1e-5)
        numpy.testing.assert_allclose(said["output"], turned(said["sum"], -6), atol=1e-5)
        self.assertIn("output after the rotation back", look(run, *head, "--text", self.TEXT))
        plain = self.ask(run, *head, "--token", 6, "--no-inverse")
        numpy.testing.assert_allclose(plain["output"], plain["sum"], atol=1e-6)
        self.assertEqual(plain["rotated"], "qkv")
        changed = self.ask(run, *head, "--token", 6, "--ablate", "0.1:0-1", "--shift", 9, "--no-rotation", "--no-value-rotation")
        self.assertEqual((changed["rotated"], changed["pairs"], changed["value_pairs"]), ("", [], []))
        self.assertEqual([one["text"] for one in changed["notes"] if one["stage"] == "rotation"],
                         ["Changed: 9 is added to every position.", "Changed: these pairs are ablated from the scores: 0, 1."])
        self.assertIn("token is 27, but the text has tokens 0 to 26", look(run, *head, "--text", self.TEXT, "--token", 27, expected=2))
        self.assertIn("reads at most 512", look(run, *head, "--text", "1" * 513, expected=2))

    def test_the_rotation_of_values_can_be_left_out(self):
        self.train("roper", "--set", "position=roper", "--steps", 30)
        self.train("rope", "--set", "position=rope", "--steps", 5)
        losses = [self.ask("roper", "--what", "loss", *change)["loss"] for change in
                  ((), ("--shift", 300), ("--no-inverse",), ("--no-value-rotation",), ("--no-inverse", "--shift", 300))]
        self.assertAlmostEqual(losses[0], losses[1], delta=1e-4)
        self.assertEqual(len({round(loss, 4) for loss in losses[1:]}), 4)
        self.assertIn("rotates no values", look("rope", "--runs", self.runs, "--what", "loss", "--text", self.TEXT, "--no-inverse",
                                                expected=2))

    def test_a_run_says_which_tensors_it_rotates_and_moves_as_they_say(self):
        """Su, kexue.fm/archives/10862: without both of a pair, q and k or v and o, a shift of all positions shows."""
        for rotates in ("qk", "vo", "qkvo", "k", "qkv", "qko", "o"):
            self.train(rotates, "--set", "position=rotary", "--set", "rotates=" + rotates, "--steps", 20)
            said = json.loads(look(rotates, "--runs", self.runs, "--what", "model", "--json"))
            self.assertEqual((said["rotated"], said["rotates_values"]), (rotates, "v" in rotates))
            shift = abs(self.ask(rotates, "--what", "loss", "--shift", 500)["loss"] - self.ask(rotates, "--what", "loss")["loss"])
            (self.assertLess if rotates in ("qk", "vo", "qkvo") else self.assertGreater)(shift, 1e-4, rotates)
            done = self.trainer("rotation", rotates, "--runs", self.runs)
            self.assertEqual("rotated tensors: " + rotates in done.stderr, rotates not in ("qk", "qkvo", "qkv"), done.stderr)
            self.assertEqual("values also rotate" in done.stdout, "v" in rotates)
        plain = ("--runs", self.runs, "--text", self.TEXT, "--what")
        for rotates, change, why in (("k", "--no-inverse", "rotates no values"), ("qko", "--no-value-rotation", "rotates no values"),
                                     ("qkv", "--no-inverse", "rotates no outputs")):
            self.assertIn(why, look(rotates, *plain, "loss", change, expected=2))
        for rotates in ("vo", "o"):
            self.assertNotEqual(self.ask(rotates, "--what", "loss", "--no-inverse")["loss"], self.ask(rotates, "--what", "loss")["loss"])
        for rotates, why in (("qkv", "the position of the token"), ("qko", "the position of the query")):
            self.assertIn(why, look(rotates, "--runs", self.runs, "--what", "kernels", "--count", 2, expected=2))
        for rotates, why in (("k", "only queries or only keys"), ("qko", "rotation of outputs"), ("vo", "rotation of values")):
            folder = Path(self._folder.name) / ("folder-" + rotates)
            self.assert_fails(self.trainer("export", self.runs / rotates, "--what", "huggingface", "--out", folder), 2, why)
        self.assertEqual(self.trainer("export", self.runs / "qk", "--what", "huggingface", "--out", Path(self._folder.name) / "qk-folder").returncode, 0)

    def test_the_scores_of_rotated_keys_alone_are_those_of_numpy(self):
        import numpy

        self.train("k", "--set", "position=rotary", "--set", "rotates=k", "--set", "rotary_fraction=0.5", "--steps", 20)
        process = subprocess.Popen([TRAINER, "serve", "k", "--runs", str(self.runs), "--json", "--with-parent"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        with process, closing(Peer(json.loads(process.stdout.readline())["socket"])) as peer:
            tensors, facts = tensors_of(peer.ask(command="head", layer=0, head=1, text=self.TEXT)[1])
            process.stdin.close()
        self.assertEqual((facts["position"], facts["rotates"]), ("rotary", "k"))
        q, k = (tensors[name].astype(float) for name in "qk")
        T, d = q.shape
        r = d // 2
        angles = numpy.arange(T)[:, None] / 10000 ** (2 * numpy.arange(r // 2) / r)
        a, b = k[:, : r // 2], k[:, r // 2 : r]
        rotated = numpy.concatenate([a * numpy.cos(angles) - b * numpy.sin(angles), a * numpy.sin(angles) + b * numpy.cos(angles)], 1)
        parts = q[:, :r] @ rotated.T / d**0.5, q[:, r:] @ k[:, r:].T / d**0.5
        scores = numpy.where(numpy.tri(T) > 0, sum(parts), -numpy.inf)
        right = numpy.exp(scores - scores.max(1, keepdims=True))
        right /= right.sum(1, keepdims=True)
        given = self.ask("k", "--what", "attention", "--layer", 0, "--head", 1)
        for n, row in enumerate(given["weights"]):
            numpy.testing.assert_allclose(row, right[n, : n + 1], atol=1e-5)
        said = self.ask("k", "--what", "score_parts", "--layer", 0, "--head", 1)
        for name, part in zip(("rotated_mean", "unrotated_mean"), parts):
            self.assertAlmostEqual(said[name], numpy.mean([abs(part[n, : n + 1]).mean() for n in range(1, T)]), places=5)

    def test_the_kernel_of_values_depends_on_distance_with_roper_alone(self):
        for position in ("rope", "roper"):
            self.train(position, "--set", f"position={position}", "--steps", 5)
            lines = look(position, "--runs", self.runs, "--what", "kernels", "--count", 4, "--json").splitlines()
            kernels = [json.loads(line) for line in lines]
            self.assertEqual([(kernel["layer"], kernel["head"]) for kernel in kernels], [(0, 0), (0, 1)])
            for kernel in kernels:
                self.assertEqual((len(kernel["norm"]), kernel["cosine"][0]), (4, 1))
                same = max(abs(cosine - 1) for cosine in kernel["cosine"]) < 1e-9
                self.assertEqual(same, position == "rope")

    def test_singular_values_turn_with_the_distance_in_roper(self):
        """Singular values of W_O R(−δ) W_V from the run's own parameters; their squares sum to ‖K(δ)‖² of --what kernels."""
        import numpy

        run = self.train("roper", "--set", "position=roper", "--steps", 5)
        tensors, _ = read_safetensors(max((run / "checkpoints").glob("*.safetensors")))
        qkv, output = (tensors[f"blocks.0.attention.{name}.weight"].astype(float) for name in ("qkv", "output"))
        C, d = qkv.shape[1], qkv.shape[1] // 2
        value, out = qkv[2 * C + d : 2 * C + 2 * d], output[:, d : 2 * d]
        theta = 10000.0 ** (-2 * numpy.arange(d // 2) / d)
        rows = look("roper", "--runs", self.runs, "--what", "ov_by_distance", "--layer", 0, "--head", 1, "--count", 4, "--json").splitlines()
        norms = json.loads(look("roper", "--runs", self.runs, "--what", "kernels", "--layer", 0, "--head", 1, "--count", 4, "--json"))["norm"]
        for row, norm in zip(map(json.loads, rows), norms):
            cos, sin = numpy.diag(numpy.cos(row["distance"] * theta)), numpy.diag(numpy.sin(row["distance"] * theta))
            back = numpy.block([[cos, sin], [-sin, cos]])
            numpy.testing.assert_allclose(row["singular_values"], numpy.linalg.svd(out @ back @ value, compute_uv=False)[:d], rtol=1e-5, atol=1e-7)
            self.assertAlmostEqual(numpy.linalg.norm(row["singular_values"]), norm, 5)
        self.assertNotEqual(json.loads(rows[0])["singular_values"], json.loads(rows[3])["singular_values"])

    def test_what_a_run_cannot_answer_is_said(self):
        ask = ("--runs", self.runs, "--what", "loss", "--text")
        self.train("rope", "--set", "position=rope", "--steps", 2)
        self.assertIn("character 'Z' at position 3", look("rope", *ask, "12Z", expected=2))
        self.assertIn("nothing", look("nothing", *ask, self.TEXT, expected=2))
        self.assertIn("checkpoint", look("rope", *ask, self.TEXT, "--step", 77, expected=4))


@unittest.skipUnless(EXAMPLE.is_file(), "./lab setup --model fetches the model for this")
class Example(unittest.TestCase):
    def test_paris_is_the_capital_of_france(self):
        answer = json.loads(look(EXAMPLE, "--what", "logits", "--text", "The capital of France is", "--json"))
        self.assertEqual(answer["ids"], [504, 3575, 282, 4649, 314])
        best = answer["predictions"][-1]
        self.assertEqual([candidate["token"] for candidate in best[:3]], [" Paris", " the", " London"])
        for candidate, logit in zip(best, (17.371, 14.889, 13.245)):
            self.assertAlmostEqual(candidate["logit"], logit, delta=1e-3)

    def test_the_numbers_of_its_tour(self):
        """Those that resources/tour/inside-a-model.toml tells its readers."""

        def ask(*arguments):
            return [json.loads(line) for line in look(EXAMPLE, "--json", *map(str, arguments)).splitlines()]

        text = ("--text", "The capital of France is Paris. The capital of Italy is")
        (loss,) = ask("--what", "loss", *text)
        self.assertEqual([round(loss["nll"][i], 1) for i in (0, 2, 9)], [11.5, 2.4, 2.5])
        labels = [head["label"] for head in ask("--what", "heads", *text)]
        self.assertAlmostEqual(labels.count("first token") / 270, 0.73, 2)
        induction = {(one["layer"], one["head"]): one["prefix_matching"] for one in ask("--what", "induction")}
        self.assertEqual(max(induction, key=induction.get), (18, 6))
        self.assertAlmostEqual(induction[18, 6], 0.94, 2)
        sea = ("--text", "On Monday he wrote: the sea is calm, the wind comes from the west, and the keeper is well. "
                         "On Tuesday he wrote: the sea is rough, the wind comes from the north, and the keeper is tired.")
        (wind,) = ask("--what", "walkthrough", *sea, "--layer", 18, "--head", 6, "--token", 34)
        self.assertEqual((wind["tokens"][34], wind["tokens"][wind["weights"].index(max(wind["weights"]))]), (" wind", " comes"))
        slow, near = (ask("--what", "pairs", *sea, "--layer", layer, "--head", head)[0]["score_share"] for layer, head in ((18, 6), (3, 2)))
        self.assertGreater(sum(slow[24:]), 0.9)
        self.assertAlmostEqual(sum(near[:8]), 0.32, 2)
        (rome,) = ask("--what", "walkthrough", *text, "--layer", 23, "--head", 4, "--count", 50)
        self.assertEqual(rome["tokens"][rome["weights"].index(max(rome["weights"]))], " Italy")
        self.assertAlmostEqual(max(rome["weights"]), 0.85, 2)
        self.assertEqual(max(rome["added"]), rome["added"][4])
        found = [{one["token"]: one["probability"] for one in rome[name]}[" Rome"] for name in ("predictions", "without_head")]
        self.assertEqual([round(p, 2) for p in found], [0.65, 0.04])
        (patch,) = ask("--what", "patch", *text, "--other", "The capital of Italy is Rome. The capital of France is")
        restored = sorted(((share, layer, head) for layer, heads in enumerate(patch["restored"]) for head, share in enumerate(heads)), reverse=True)
        self.assertEqual([(round(share, 2), layer, head) for share, layer, head in restored[:3]], [(0.68, 23, 4), (0.23, 29, 1), (0.14, 23, 3)])
        self.assertLess(restored[3][0], 0.1)



class Tokens(TrainerTest):
    """roper-train tokens: tokenizes texts without loading the weights of the model."""

    def tokens(self, *arguments, code=0):
        done = self.trainer("tokens", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def file(self, content, name="tokenizer.json"):
        path = Path(self._folder.name) / name
        path.write_text(content)
        return path

    def test_are_those_that_look_reads(self):
        folder = small_model(self._folder.name, "qwen3")
        text = expected_text("qwen3")
        expected = json.loads(look(folder, "--what", "loss", "--text", text, "--json"))["ids"]
        for model in (folder, folder / "tokenizer.json"):
            answer = json.loads(self.tokens(model, text, "--json"))
            self.assertEqual(answer["ids"], expected)
            self.assertEqual("".join(answer["tokens"]), text)

    def test_need_no_more_than_the_tokenizer(self):
        path = self.file(json.dumps({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<x>": 3}, "merges": ["a b"]},
                                     "added_tokens": [{"id": 3, "content": "<x>", "special": True}]}))
        self.assertEqual(self.tokens(path.parent, "abba<x>"), "2\t⟨ab⟩\n1\t⟨b⟩\n0\t⟨a⟩\n3\t⟨<x>⟩\tspecial\n4 tokens\n")

    def test_of_a_run_are_its_vocabulary(self):
        self.train("mine")
        answer = json.loads(self.tokens("mine", "--runs", self.runs, "0", "--json"))
        self.assertEqual(answer["tokens"], ["0"])

    def test_a_character_that_a_run_lacks_ends_no_other_text(self):
        self.train("mine")
        output = self.tokens("mine", "--runs", self.runs, "0", "~", "0", "--json", code=2)
        self.assertEqual(["error" in json.loads(line) for line in output.splitlines()], [False, True, False])
        self.assertIn("character '~'", self.tokens("mine", "--runs", self.runs, "~", code=2))

    def test_of_imported_metrics_are_not_known(self):
        metrics = self.file("step,loss\n1,2\n", "metrics.csv")
        self.trainer("import", metrics, "--name", "theirs", "--runs", self.runs)
        self.assertIn("its task and vocabulary are unknown", self.tokens("theirs", "--runs", self.runs, "1", code=2))
        self.assert_fails(self.trainer("rotation", "theirs", "--runs", self.runs), 4, "contains imported metrics")
        again = self.trainer("import", metrics, "--name", "theirs", "--runs", self.runs)
        self.assert_fails(again, 2, "choose another name")
        self.assertNotIn("resume", again.stderr)

    def test_of_one_text_have_an_error_in_json_too(self):
        texts = self.file(json.dumps("a" * (17 << 20)) + "\n", "texts.jsonl")
        answer = self.trainer("tokens", self.file(tokenizer_json()), "--texts", texts, "--json")
        self.assertEqual((answer.returncode, answer.stderr), (2, ""))
        self.assertIn("bytes", json.loads(answer.stdout)["error"])

    def test_of_many_texts_stand_in_their_lines(self):
        path = self.file(tokenizer_json())
        texts = self.file('"a b"\n""\n"two\\nlines"\n', "texts.jsonl")
        lines = self.tokens(path, "--texts", texts, "--json").splitlines()
        self.assertEqual(["".join(json.loads(line)["tokens"]) for line in lines][:2], ["ab" if " " not in LETTERS else "a b", ""])
        self.assertEqual(len(lines), 3)
        self.assertIn("line 2 is not a JSON string", self.tokens(path, "--texts", self.file('"a"\n7\n', "texts.jsonl"), code=2))
        self.assertIn("line 1: ", self.tokens(path, "--texts", self.file("a\n", "texts.jsonl"), code=2))

    def test_say_what_is_wrong(self):
        path = self.file(tokenizer_json())
        self.assertIn("--texts", self.tokens(path, code=2))
        output = self.tokens(path, "a" * 10, "a" * (17 << 10), "--json")
        self.assertEqual(len(output.splitlines()), 2)
        self.assertIn("run not found", self.tokens(self._folder.name + "/none", "a", code=2))
        broken = json.loads(tokenizer_json()) | {"pre_tokenizer": {"type": "Syllables"}}
        self.assertIn('the pre_tokenizer "Syllables" is not supported', self.tokens(self.file(json.dumps(broken)), "a", code=4))


if __name__ == "__main__":
    unittest.main(verbosity=2)
