"""roper-train look: published models in several files, under other names, padded, without a head, quantized."""

import csv
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gguf_files import LETTER_TOKENS, Gguf
from programs import LETTERS, PRETRAINED, TrainerTest, expected_text, read_safetensors, small_model, tokenizer_json

TEXT = "0123456789ABC"
DTYPES_NOT_READ = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
                   "F8_E8M0": 8, "U8": 8, "I8": 8, "I16": 16, "U16": 16, "I32": 32, "U32": 32, "I64": 64, "U64": 64, "C64": 64,
                   "F64": 64, "BOOL": 8}  # safetensors 0.8, bits per element


def read_tensors(path):
    """Entries of a safetensors file as (dtype, shape, bytes)."""
    content = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], content[8 + length + entry["data_offsets"][0] : 8 + length + entry["data_offsets"][1]])
            for name, entry in header.items()}


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def e4m3(byte):
    """The number that a byte of F8_E4M3 stands for."""
    exponent, mantissa = byte >> 3 & 15, byte & 7
    size = (8 + mantissa) / 8 * 2.0 ** (exponent - 7) if exponent else mantissa / 8 * 2.0**-6
    return -size if byte & 128 else size


def change_config(folder, **fields):
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not ...}))


class Published(TrainerTest):
    @property
    def home(self):
        return Path(self._folder.name)

    def look(self, model, *arguments, what="loss", text=TEXT, code=0):
        asked = () if what in ("kernels", "model") else ("--text", text)
        done = self.trainer("look", model, "--what", what, *asked, *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def draw(self, kind, model):
        if "ROPER_LAB" not in os.environ:
            return
        out = self.home / f"{kind}.svg"
        done = subprocess.run([os.environ["ROPER_LAB"], "figure", kind, "--run", str(model), "--set", f"text={TEXT}", "--out", str(out)],
                              capture_output=True, text=True, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<svg", out.read_text())

    def nll(self, model, **options):
        return json.loads(self.look(model, "--json", **options))["nll"]

    def gguf(self, family="qwen3"):
        return Gguf(PRETRAINED / f"{family}.gguf").set(LETTER_TOKENS)


class ManyFiles(Published):
    def test_any_part_of_a_split_model_opens_the_whole(self):
        whole = self.nll(self.gguf().write(self.home / "whole.gguf"))
        parts = self.gguf().write_parts(self.home, "blocks", 3)
        for part in parts:
            self.assertEqual(self.nll(part), whole)

    def test_a_missing_part_is_named(self):
        parts = self.gguf().write_parts(self.home, "blocks", 3)
        for missing in range(3):
            hidden = parts[missing].rename(self.home / "elsewhere")
            for named in parts:
                if named != parts[missing]:
                    said = self.look(named, code=4)
                    self.assertIn(f"part {missing + 1} of 3, {parts[missing]}, is missing", said)
            hidden.rename(parts[missing])

    def test_parts_that_do_not_belong_together_are_refused(self):
        parts = self.gguf().write_parts(self.home, "blocks", 2)

        def refused(part, entries, said):
            kept = parts[part].read_bytes()
            Gguf(parts[part]).set(entries).write(parts[part])
            self.assertIn(said, self.look(parts[0], code=4))
            parts[part].write_bytes(kept)

        refused(1, {"split.no": 0}, "the entry split.no does not say 1")
        refused(1, {"split.count": 3}, "the entry split.count does not say 2")
        refused(1, {"split.tensors.count": 7}, "split.tensors.count differs from that of")
        for part in range(2):
            Gguf(parts[part]).set({"split.tensors.count": 99}).write(parts[part])
        self.assertIn("is 99, but all parts together have 2", self.look(parts[0], code=4))

    def test_each_part_is_whole(self):
        parts = self.gguf().write_parts(self.home, "blocks", 2)
        parts[1].write_bytes(parts[1].read_bytes()[:-64])
        said = self.look(parts[0], code=4)
        self.assertIn(str(parts[1]), said)
        self.assertIn("beyond the end of the file", said)

    def test_a_part_under_another_name_says_what_it_is(self):
        part = self.gguf().write_parts(self.home, "blocks", 2)[0]
        said = self.look(shutil.copy(part, self.home / "sha256-ab"), code=4)
        self.assertIn("is one of 2 parts of a model", said)
        self.assertIn("NAME-00001-of-00002.gguf", said)


class Names(Published):
    def test_a_gguf_file_opens_under_any_name(self):
        whole = self.nll(self.gguf().write(self.home / "whole.gguf"))
        for name in ("sha256-0123abcd", "0123abcd", "model.bin", "MODEL.GGUF"):
            self.assertEqual(self.nll(self.gguf().write(self.home / name)), whole)
        folder = self.home / "folder"
        folder.mkdir()
        self.gguf().write(folder / "model-Q8_0.gguf")
        self.assertEqual(self.nll(folder), whole)
        (folder / "mmproj-F16.gguf").write_bytes(b"GGUF")  # an image projector for the model
        self.assertEqual(self.nll(folder), whole)
        (folder / "config.json").write_text("{}")  # as found in repositories of GGUF files
        self.assertEqual(self.nll(f"{folder}/"), whole)
        split = self.home / "split"
        split.mkdir()
        self.gguf().write_parts(split, "model", 2)
        self.assertEqual(self.nll(split), whole)

    # The layout of ollama 0.6 (manifest.go, layer.go): the model's layer names the blob by its digest.
    def manifest(self, *layers, content=None, folder="manifests/registry.ollama.ai/library/small", tag="latest"):
        path = self.home / folder / tag
        path.parent.mkdir(parents=True, exist_ok=True)
        made = {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
                "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "sha256:" + 64 * "c", "size": 485},
                "layers": [{"mediaType": f"application/vnd.ollama.image.{kind}", "digest": digest, "size": 1} for kind, digest in layers]}
        path.write_text(json.dumps(made) if content is None else content)
        return path

    def test_a_manifest_of_ollama_opens_its_model(self):
        (self.home / "blobs").mkdir()
        whole = self.nll(self.gguf().write(self.home / "blobs" / ("sha256-" + 64 * "a")))
        model, template = ("model", "sha256:" + 64 * "a"), ("template", "sha256:" + 64 * "b")
        self.assertEqual(self.nll(self.manifest(template, model)), whole)
        self.assertEqual(self.nll(self.manifest(model, folder="manifests/hf.co/owner/name", tag="Q8_0.gguf")), whole)
        named = self.trainer("rotation", self.manifest(model))
        self.assertEqual(named.returncode, 0, named.stderr)

    def test_the_help_says_what_may_be_named(self):
        words = "a run, a GGUF file (or one part of a split one), a Hugging Face folder, or an Ollama manifest"
        self.assertIn("One of: " + words, " ".join(self.trainer("look", "--help").stdout.split()))
        self.assertIn("Each one of: a config.json, " + words, " ".join(self.trainer("rotation", "--help").stdout.split()))
        self.assertIn("MODEL is " + words, " ".join((Path(__file__).resolve().parents[2] / "docs/models.md").read_text().split()))

    def test_a_wrong_manifest_says_what_to_name(self):
        blobs = self.home / "blobs"
        blobs.mkdir()
        gguf, other = ("model", "sha256:" + 64 * "a"), ("model", "sha256:" + 64 * "b")
        self.gguf().write(blobs / ("sha256-" + 64 * "a"))
        (blobs / ("sha256-" + 64 * "b")).write_bytes(b"PK" * 40)

        def refused(path, part):
            self.assertIn(part, self.look(path, code=2))

        refused(self.manifest(("model", "sha256:" + 64 * "d")), f"sha256-{64 * 'd'}, which is missing: pull the model again, or name another")
        refused(self.manifest(other), f"sha256-{64 * 'b'}, which is not a GGUF file: pull the model again, or name another")
        refused(self.manifest(gguf, ("adapter", "sha256:" + 64 * "e")), f"with an adapter, which is not supported: name {blobs}/sha256-{64 * 'a'} for")
        refused(self.manifest(gguf, other), f"is a manifest with 2 GGUF models: name another manifest, or a GGUF file in {blobs}")
        refused(self.manifest(("tensor", "sha256:" + 64 * "a")), "is a manifest without a GGUF model")
        refused(self.manifest(("model", "sha256:../../../etc/passwd")), "whose model has no SHA-256 digest: name a GGUF file in")
        for content in ("", "{", "[]", '{"layers": [1]}', '{"schemaVersion": 2}', '{"schemaVersion": 2, "layers": 7}'):
            refused(self.manifest(content=content), "cannot be read as a manifest: name another of Ollama's manifests, or a GGUF file")
        refused(self.manifest(gguf, folder="copies"), "is a manifest outside Ollama's folder \"manifests\": name the manifest in that folder")
        refused(self.manifest(content='{"layers": 1}', folder="copies"), "is not a model: it does not begin with the letters GGUF")

    def test_a_folder_with_several_models_lists_them(self):
        for name in ("a-Q4_0.gguf", "a-Q8_0.gguf"):
            self.gguf().write(self.home / name)
        said = self.look(self.home, code=2)
        self.assertIn("contains 2 models: name one of a-Q4_0.gguf, a-Q8_0.gguf", said)

    def test_an_entry_of_the_cache_opens_its_main_snapshot(self):
        entry = self.home / "models--owner--name"
        snapshots = [entry / "snapshots" / name for name in ("aaaa", "bbbb")]
        for snapshot, family in zip(snapshots, ("llama", "qwen3")):
            snapshot.parent.mkdir(parents=True, exist_ok=True)
            small_model(self.home, family).rename(snapshot)
        right = self.nll(snapshots[1])
        self.assertIn("several snapshots: name one, snapshots/aaaa, bbbb", self.look(entry, code=2))
        (entry / "refs").mkdir()
        (entry / "refs" / "main").write_text("bbbb")
        self.assertEqual(self.nll(entry), right)
        (entry / "refs" / "main").write_text("cccc")
        self.assertIn('names the snapshot "cccc", which is missing', self.look(entry, code=2))
        (entry / "refs" / "main").unlink()
        shutil.rmtree(snapshots[0])
        self.assertEqual(self.nll(entry), right)
        shutil.rmtree(snapshots[1])
        self.assertIn("without a snapshot", self.look(entry, code=2))
        self.assertIn("name one of models--owner--name", self.look(self.home, code=2))

    def test_a_cache_entry_of_gguf_files(self):
        snapshot = self.home / "models--owner--name-GGUF" / "snapshots" / "aaaa"
        blob = snapshot.parents[1] / "blobs" / "0123"
        for folder in (snapshot / "Q8_0", blob.parent):
            folder.mkdir(parents=True)
        whole = self.nll(self.gguf().write(blob))
        (snapshot / "Q8_0" / "model.gguf").symlink_to("../../../blobs/0123")
        self.assertEqual(self.nll(snapshot.parents[1]), whole)
        (snapshot / "model.gguf").symlink_to("../../blobs/0123")
        self.assertEqual(self.nll(snapshot.parents[1]), whole)

    def stored(self, **variables):
        """Models in the stores of other programs below the test's folder, by title."""
        names = ("HF_HOME", "HF_HUB_CACHE", "OLLAMA_MODELS", "LLAMA_CACHE", "XDG_CACHE_HOME")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        done = self.trainer("models", "--json", env={**environment, "HOME": str(self.home), **variables})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {(model["program"], model["title"]): model for model in map(json.loads, done.stdout.splitlines())}

    # Layouts: huggingface_hub 1.x (the revision of refs/main), LM Studio 0.4 (OWNER/NAME/FILE and settings.json),
    # ollama 0.6, and llama.cpp, whose former cache is flat.
    def test_models_of_other_programs_are_listed(self):
        self.assertEqual(self.stored(), {})
        hub = self.home / ".cache" / "huggingface" / "hub"
        for revision, family in (("aaaa", "llama"), ("bbbb", "qwen3")):
            snapshot = hub / "models--owner--small" / "snapshots" / revision
            snapshot.parent.mkdir(parents=True, exist_ok=True)
            small_model(self.home, family).rename(snapshot)
        (hub / "models--owner--small" / "refs").mkdir()
        (hub / "models--owner--small" / "refs" / "main").write_text("bbbb")
        quantized = hub / "models--owner--small-GGUF" / "snapshots" / "cccc"
        (quantized / "Q8").mkdir(parents=True)
        self.gguf("llama").write(quantized / "Q8" / "small.gguf")
        self.gguf().write_parts(quantized, "split", 2)
        (quantized / "mmproj-F16.gguf").write_bytes(b"GGUF")
        tokenizer_alone = hub / "models--owner--tokenizer" / "snapshots" / "dddd"
        tokenizer_alone.mkdir(parents=True)
        (tokenizer_alone / "tokenizer.json").write_text(tokenizer_json())
        (hub / "datasets--owner--text" / "snapshots" / "eeee").mkdir(parents=True)
        studio, chosen = self.home / ".lmstudio" / "models" / "maker" / "model", self.home / "chosen" / "maker" / "other"
        for folder in (studio, chosen):
            folder.mkdir(parents=True)
            self.gguf().write(folder / "a.gguf")
        (self.home / ".lmstudio" / "settings.json").write_text(json.dumps({"downloadsFolder": str(self.home / "chosen")}))
        ollama = self.home / ".ollama" / "models"
        (ollama / "blobs").mkdir(parents=True)
        self.gguf().write(ollama / "blobs" / ("sha256-" + 64 * "a"))
        model = ("model", "sha256:" + 64 * "a")
        self.manifest(model, folder=".ollama/models/manifests/registry.ollama.ai/library/small")
        self.manifest(model, folder=".ollama/models/manifests/hf.co/owner/small", tag="Q8_0")
        flat = self.home / ".cache" / "llama.cpp"
        flat.mkdir()
        (flat / "damaged.gguf").write_bytes(b"GGUF damaged")
        models = self.stored()
        self.assertEqual(sorted(models), [
            ("Hugging Face", "owner/small"), ("Hugging Face", "owner/small-GGUF/Q8/small.gguf"),
            ("Hugging Face", "owner/small-GGUF/split-00001-of-00002.gguf"), ("LM Studio", "maker/model"), ("LM Studio", "maker/other"),
            ("Ollama", "hf.co/owner/small:Q8_0"), ("Ollama", "small:latest"), ("llama.cpp", "damaged")])
        problems = {key for key, one in models.items() if "problem" in one}
        self.assertEqual(problems, {("llama.cpp", "damaged")})
        for key, one in models.items():
            if key not in problems:
                asked = json.loads(self.trainer("look", one["path"], "--what", "model", "--json").stdout)
                self.assertEqual((one["family"], one["parameters"]), (asked["family"], asked["parameters"]))
                self.assertEqual(one["type"], "F32")
        self.assertEqual(models["Hugging Face", "owner/small"]["family"], "qwen3")
        sizes = [(quantized / f"split-0000{part}-of-00002.gguf").stat().st_size for part in (1, 2)]
        self.assertEqual(models["Hugging Face", "owner/small-GGUF/split-00001-of-00002.gguf"]["bytes"], sum(sizes))
        elsewhere = self.stored(HF_HOME=str(self.home / "elsewhere"), LLAMA_CACHE=str(quantized / "Q8"), OLLAMA_MODELS=str(ollama))
        self.assertIn(("llama.cpp", "small"), elsewhere)
        self.assertNotIn(("Hugging Face", "owner/small"), elsewhere)
        shown = self.trainer("models", env={**os.environ, "HOME": str(self.home)}).stdout
        self.assertIn("damaged (llama.cpp)\n  cannot be opened: ", shown)
        self.assertIn("maker/model (LM Studio)\n  qwen3, ", shown)

    def families(self, *arguments):
        done = self.trainer("families", "--json", *arguments)
        return [json.loads(line) for line in done.stdout.splitlines()], done

    # Gemma 3: five windowed layers, base 10,000, then one that attends to all tokens, base 1,000,000, each of these
    # numbers as small as in the model's config.json. SmolLM 3: every fourth layer does not rotate. gpt-oss: sinks.
    def test_families_are_compared_by_kind_of_layer(self):
        names = ("gemma3_text", "smollm3", "gpt_oss")
        rows, done = self.families(*[small_model(self.home, name) for name in names], "--text", TEXT)
        self.assertEqual(done.returncode, 0, done.stderr)
        by_model = {name: [row for row in rows if row["model"] == name] for name in names}
        for name in names:
            config = json.loads((self.home / name / "config.json").read_text())
            layers = sorted(layer for row in by_model[name] for layer in row["layers"])
            self.assertEqual(layers, list(range(config["num_hidden_layers"])))
        self.assertEqual({row["window"] > 0: row["theta_min"] for row in by_model["gemma3_text"]}.keys(), {True, False})
        self.assertNotEqual(*[row["theta_min"] for row in by_model["gemma3_text"]])
        (unrotated,) = [row for row in by_model["smollm3"] if row["rotated"] == 0]
        self.assertEqual((unrotated["layers"], unrotated["theta_max"], unrotated["never_turn"]), ([3], None, 0))
        self.assertEqual(unrotated["slow_share"], 1)  # nothing rotates, so all of the scores is slow
        self.assertEqual({(name, row["sinks"]) for name in names for row in by_model[name]},
                         {("gemma3_text", False), ("smollm3", False), ("gpt_oss", True)})
        for name in names:
            heads = [json.loads(line) for line in self.look(self.home / name, "--json", what="heads").splitlines()]
            for row in by_model[name]:
                mean = [head["mean_distance"] for head in heads if head["layer"] in row["layers"]]
                self.assertAlmostEqual(row["mean_distance"], sum(mean) / len(mean), places=9)
                self.assertEqual(row["never_turn"] > 0, row["rotated"] > 0 and row["theta_min"] * row["context"] < 2 * math.pi)

    def test_families_need_no_parameters_to_compare_rotations(self):
        """A config.json alone, also of a family that is not supported, and the well-known models."""
        model = small_model(self.home, "gemma3_text")
        rows, done = self.families(model)
        alone, done = self.families(model / "config.json", "--text", TEXT)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(sorted((row["theta"], row["head_dim"], row["layers"]) for row in alone),
                         sorted((row["theta"], row["head_dim"], row["layers"]) for row in rows))
        self.assertEqual([row["window"] for row in alone], [row["window"] for row in rows])
        self.assertEqual([row.get("slow_share") for row in alone], [None, None])
        other = self.home / "other"
        other.mkdir()
        (other / "config.json").write_text(json.dumps({"model_type": "clvp_encoder", "num_hidden_layers": 2}))
        (row,), done = self.families(other / "config.json")
        self.assertEqual((row["model"], row["values_rotate"], row["values_rotate_back"]), ("other", True, False))
        known, done = self.families("--well-known", model)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(known[-len(rows):], rows)
        bert = self.home / "bert.json"
        bert.write_text(json.dumps({"model_type": "bert", "hidden_size": 16, "num_attention_heads": 2}))
        (row,), done = self.families(bert)
        self.assertEqual(done.returncode, 2)
        self.assertIn("bert: nothing in its config.json says that it rotates", row["error"])
        # No weights and no tokenizer are needed unless a text is given.
        for name in ("model.safetensors", "tokenizer.json"):
            (model / name).unlink()
        self.assertEqual(self.families(model)[0], rows)
        (llama,) = [row for row in known if row["model"] == "Llama 3.1"]
        self.assertEqual((llama["rotated"], llama["never_turn"], llama["sinks"]), (128, 25, None))
    def test_rotations_are_drawn_as_families_prints_them(self):
        def draw(*arguments, code=0):
            done = subprocess.run([os.environ["ROPER_LAB"], "figure", "model-rotations", "--out", str(out), *arguments],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        out = self.home / "rotations.csv"
        models = [small_model(self.home, name) for name in ("gemma3_text", "llama")]
        draw("--set", f"models={models[0]}; {models[1]}", f"text={TEXT}")
        drawn = list(csv.DictReader(out.open()))
        table = list(csv.DictReader(self.trainer("families", *models, "--text", TEXT).stdout.splitlines()))
        self.assertEqual(len(drawn), 3)
        for one, same in zip(drawn, table):
            for key in ("model", "family", "layers", "window", "rotated", "never_turn", "context", "sinks"):
                self.assertEqual(one[key], same[key], key)
            self.assertAlmostEqual(float(one["mean_distance"]), float(same["mean_distance"]), delta=1e-3)
            self.assertEqual(len(one["theta"].split()), int(one["rotated"]) // 2)
        self.assertIn('"base" has no effect', draw("--set", f"models={models[0]}", "base=777", code=2))
        self.assertIn("names no model", draw("--set", "models=;", code=2))
        self.assertIn("nowhere", draw("--set", "models=nowhere", code=2))
        done = subprocess.run([os.environ["ROPER_LAB"], "figure", "spectrum", "--out", str(out), "--set", "models=a"],
                              capture_output=True, text=True)
        self.assertIn('"models" is used only by model-rotations', done.stderr)

    def test_layers_without_rotation_are_compared_with_those_that_rotate(self):
        """Every fourth layer of these does not rotate; those of Cohere 2 that do have a window of 6 tokens, which alone keeps
        them from attending as far."""
        import numpy

        for name in ("smollm3", "llama4_text", "cohere2"):
            right, _ = read_safetensors(PRETRAINED / name / "expected.safetensors")
            weights = right["attention"].astype(float)
            T = weights.shape[-1]
            n, j = numpy.arange(1, T)[:, None], numpy.arange(T)
            rows, done = self.families(small_model(self.home, name), "--text", expected_text(name))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([(row["layers"], row["rotated"]) for row in rows], [([0, 1, 2], 8), ([3], 0)])
            for row in rows:
                distances = [(weights[layer, :, 1:] * abs(n - j)).sum(-1).mean() for layer in row["layers"]]
                self.assertAlmostEqual(row["mean_distance"], sum(distances) / len(distances), delta=1e-4)
                seen = (j <= n) & (n - j < (row["window"] or T))
                even = ((n - j) * seen).sum(1) / seen.sum(1)
                self.assertAlmostEqual(row["even_distance"], even.mean(), places=9)
            self.assertEqual(rows[0]["even_distance"] < rows[1]["even_distance"], name == "cohere2")
        model = small_model(self.home, "llama")
        change_config(model, is_causal=False)
        (row,), done = self.families(model, "--text", expected_text("llama"))
        self.assertAlmostEqual(row["even_distance"], numpy.mean([abs(n - numpy.arange(24)).mean() for n in range(1, 24)]), places=9)

    def test_families_go_on_after_a_model_that_cannot_be_opened(self):
        damaged = self.home / "damaged.gguf"
        damaged.write_bytes(b"GGUF damaged")
        rows, done = self.families(damaged, small_model(self.home, "llama"))
        self.assertEqual(done.returncode, 4)
        self.assertIn(str(damaged), rows[0]["error"])
        self.assertEqual((rows[1]["family"], "slow_share" in rows[1]), ("llama", False))
        table = self.trainer("families", self.home / "llama").stdout.splitlines()
        self.assertEqual(len(table), 2)
        self.assertEqual(dict(zip(table[0].split(","), table[1].split(",")))["family"], "llama")

    def test_a_part_of_a_folder_names_the_folder(self):
        model = small_model(self.home, "llama")
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            self.assertIn("is part of a model: name its folder", self.look(model / name, code=2))
        other = self.home / "other"
        other.write_text("{}")
        self.assertIn("is not a model: it does not begin with the letters GGUF", self.look(other, code=2))
        (model / "config.json").unlink()
        self.assertIn("contains .safetensors files, but no config.json", self.look(model, code=2))

    def test_a_checkpoint_names_its_run(self):
        run = self.train("run", "--steps", 2)
        (checkpoint,) = (run / "checkpoints").iterdir()
        self.assertIn(f"belongs to the run {run}: name that", self.look(checkpoint, code=2))

    def test_they_are_served_and_drawn(self):
        path = self.gguf().write(self.home / "sha256-0123abcd")
        serving = subprocess.Popen([os.environ["ROPER_TRAIN"], "serve", str(path)], stdout=subprocess.PIPE, text=True)
        try:
            self.assertTrue(serving.stdout.readline().strip().endswith("sock"))
        finally:
            serving.terminate()
            serving.wait()
            serving.stdout.close()
        self.draw("head-atlas", path)


class Vocabulary(Published):
    def test_rows_beyond_the_tokens_answer_like_all_others(self):
        model = small_model(self.home, "gpt_neox")
        known = 20  # of 64 rows
        (model / "tokenizer.json").write_text(tokenizer_json(LETTERS[:known]))
        text = "".join(LETTERS[:known])
        answer = json.loads(self.look(model, "--json", "--count", 64, what="logits", text=text))
        for row in answer["predictions"]:
            self.assertEqual(sorted(one["id"] for one in row), list(range(64)))
            for one in row:
                self.assertEqual(one["token"], LETTERS[one["id"]] if one["id"] < known else f"<unused {one['id']}>")
        drawn = json.loads(self.look(model, "--json", "--count", 40, "--temperature", 20, what="generate", text=text))
        self.assertGreater(max(drawn["generated"]), known - 1)
        self.assertEqual(len(drawn["generated"]), 40)
        self.assertIn("<unused ", drawn["text"])
        for what, *more in (["lens"], ["heads"], ["needle", "--needle", "01", "--question", "2", "--answer", "3"], ["lengths"], ["loss"],
                            ["token_map", "--layer", 0, "--head", 0], ["patch", "--other", text[::-1]], ["kernels"]):
            self.look(model, *more, what=what, text=text)

    def test_a_tokenizer_may_have_tokens_that_the_model_lacks(self):
        model = small_model(self.home, "gpt_neox")  # of 64 rows
        (model / "tokenizer.json").write_text(tokenizer_json([*LETTERS[:64], "é", "λ"]))
        self.look(model)
        said = self.look(model, text="01é2", code=2)
        self.assertIn('the text needs the token "é" (64), for which the model has no embedding; it has embeddings for tokens 0 to 63', said)

    def test_ids_between_those_of_tokens_answer_too(self):
        model = small_model(self.home, "gpt_neox")
        tokens = {"model": {"type": "BPE", "vocab": {**{letter: i for i, letter in enumerate(LETTERS[:20])}, "z": 40}, "merges": []}}
        (model / "tokenizer.json").write_text(json.dumps(tokens))
        answer = json.loads(self.look(model, "--json", "--count", 64, what="logits"))
        shown = {one["id"]: one["token"] for one in answer["predictions"][0]}
        self.assertEqual((shown[19], shown[30], shown[40], shown[63]), (LETTERS[19], "<unused 30>", "z", "<unused 63>"))

    def test_a_gguf_file_may_be_padded_too(self):
        model = self.gguf().set({"tokenizer.ggml.tokens": LETTERS[:20]}).write(self.home / "padded.gguf")
        answer = json.loads(self.look(model, "--json", "--count", 64, what="logits"))
        self.assertIn("<unused 63>", [one["token"] for one in answer["predictions"][0]])


class ModelsWithoutExperts(Published):
    def test_a_llama_4_without_experts_is_dense(self):
        """MobileLLM: Llama 4 with num_local_experts 0, which transformers 5.24 and llama.cpp compute."""
        model = small_model(self.home, "llama4_text")
        tensors = read_tensors(model / "model.safetensors")
        dense = {"model.layers.0.": "model.layers.0.", "model.layers.2.": "model.layers.1."}  # every second layer has experts
        kept = {name: one for name, one in tensors.items() if not name.startswith("model.layers.")}
        for old, new in dense.items():
            kept |= {name.replace(old, new): one for name, one in tensors.items() if name.startswith(old)}
        write_tensors(model / "model.safetensors", kept)
        change_config(model, num_hidden_layers=2, no_rope_layers=[1, 0], layer_types=None, moe_layers=[])
        right = self.nll(model)
        change_config(model, num_local_experts=0, num_experts_per_tok=0, interleave_moe_layer_step=0)
        self.assertEqual(self.nll(model), right)
        self.assertEqual(json.loads(self.look(model, "--json", what="model"))["experts"], 0)

    def test_a_quantized_gpt_2_is_refused(self):
        """Quantizers transpose the matrices of GPT-2, which are stored [in, out] otherwise; of a square one, the shape does not
        say it."""
        model = small_model(self.home, "gpt2")
        tensors = read_tensors(model / "model.safetensors")
        name = next(one for one in tensors if one.endswith("h.0.attn.c_proj.weight"))
        _, (size, _), _ = tensors[name]
        tensors[name] = ("I8", [size, size], bytes(size * size))
        tensors[name.replace("weight", "SCB")] = ("F32", [size], struct.pack(f"<{size}f", *[1] * size))
        write_tensors(model / "model.safetensors", tensors)
        change_config(model, quantization_config={"load_in_8bit": True, "quant_method": "bitsandbytes"})
        self.assertIn("is quantized, which is not supported in models of the family gpt2", self.look(model, code=4))

    def test_shared_experts_of_width_zero(self):
        """transformers 5.24 saves empty tensors if n_shared_experts is 0."""
        model = small_model(self.home, "dots1")
        tensors = read_tensors(model / "model.safetensors")
        without = {name: one for name, one in tensors.items() if ".shared_experts." not in name}
        write_tensors(model / "model.safetensors", without)
        change_config(model, n_shared_experts=0)
        right = self.nll(model)
        empty = {name: (dtype, [shape[0], 0] if "down" in name else [0, shape[1]], b"")
                 for name, (dtype, shape, _) in tensors.items() if name not in without}
        self.assertTrue(empty)
        write_tensors(model / "model.safetensors", {**without, **empty})
        self.assertEqual(self.nll(model), right)


class Heads(Published):
    def headless(self, prefix):
        model = small_model(self.home, "qwen3")
        tensors = read_tensors(model / "model.safetensors")
        tensors.pop("lm_head.weight")
        write_tensors(model / "model.safetensors", {name.removeprefix(prefix): one for name, one in tensors.items()})
        change_config(model, architectures=["Qwen3Model"])
        return model

    def test_what_needs_no_head_is_answered_without_one(self):
        questions = (["attention", "--layer", 0, "--head", 1], ["heads"], ["pairs"], ["sinks"], ["kernels"])
        with_head = [self.look(small_model(self.home, "qwen3"), *more, what=what) for what, *more in questions]
        for prefix in ("", "model."):
            shutil.rmtree(self.home / "qwen3", ignore_errors=True)
            model = self.headless(prefix)
            for (what, *more), right in zip(questions, with_head):
                self.assertEqual(self.look(model, *more, what=what), right)
            for what, *more in (["loss"], ["logits"], ["generate"], ["lens"], ["lengths"], ["subsets", "--count", 2],
                                ["token_map", "--layer", 0, "--head", 0], ["copying"], ["patch", "--other", TEXT[::-1]],
                                ["needle", "--needle", "01", "--question", "2", "--answer", "3"]):
                self.assertIn("has no output head and predicts no tokens", self.look(model, *more, what=what, code=2))
        said = json.loads(self.look(model, "--layer", 0, "--head", 1, "--json", what="walkthrough"))
        self.assertEqual((said["predictions"], said["lens"]), ([], []))
        self.assertAlmostEqual(sum(said["weights"]), 1, 5)
        for kind in ("model-head", "reach", "all-heads", "kernels"):
            self.draw(kind, model)

    def test_a_tied_head_needs_its_bias(self):
        """GPTJModel of transformers 5.24 saves no lm_head.bias, and GPTJForCausalLM would make up one."""
        model = small_model(self.home, "gptj")
        tensors = {name: one for name, one in read_tensors(model / "model.safetensors").items() if not name.startswith("lm_head.")}
        write_tensors(model / "model.safetensors", {name.removeprefix("transformer."): one for name, one in tensors.items()})
        change_config(model, architectures=["GPTJModel"], tie_word_embeddings=True)
        about = json.loads(self.look(model, "--json", what="model"))
        self.assertFalse(about["has_head"])
        self.assertIn("no head (no tensor lm_head.bias)", " ".join(about["notes"]))
        self.look(model, what="heads")

    def test_gguf_files_of_encoders_have_no_head(self):
        for family in ("nomic_bert", "modernbert", "eurobert"):
            model = self.gguf(family).write(self.home / f"{family}.gguf")
            about = json.loads(self.look(model, "--json", what="model"))
            self.assertEqual((about["has_head"], about["predicts_masked"], about["causal"]), (False, False, False))
            for what, *more in (["attention", "--layer", 0, "--head", 1], ["heads"], ["pairs"], ["sinks"], ["kernels"]):
                self.look(model, *more, what=what)
            self.assertIn("has no output head and predicts no tokens", self.look(model, code=2))
            self.assertNotIn("predicts masked ones", self.look(model, what="generate", code=2))

    def test_the_bias_of_an_untied_head_of_an_encoder(self):
        for family, prefix in (("nomic_bert", "cls.predictions."), ("roformer", "cls.predictions."), ("esm", "lm_head.")):
            model = small_model(self.home, family)
            plain = self.nll(model)
            tensors = read_tensors(model / "model.safetensors")
            embedding = next(one for name, one in tensors.items() if name.endswith("word_embeddings.weight"))
            untied = {**tensors, f"{prefix}decoder.weight": embedding}
            if family != "esm":  # transformers then reads the bias of the decoder alone
                dtype, shape, content = tensors["cls.predictions.bias"]
                untied |= {f"{prefix}decoder.bias": (dtype, shape, content), f"{prefix}bias": (dtype, shape, bytes(len(content)))}
            change_config(model, tie_word_embeddings=False)
            write_tensors(model / "model.safetensors", untied)
            self.assertEqual(self.nll(model), plain)

    def test_eurobert_has_a_bias_in_its_head_if_it_has_others(self):
        model = small_model(self.home, "eurobert")
        plain = self.nll(model)
        tensors = read_tensors(model / "model.safetensors")
        biases = {name.replace(".weight", ".bias"): ("F32", one[1][:1], bytes(4 * one[1][0])) for name, one in tensors.items()
                  if ".mlp." in name or name == "lm_head.weight"}
        change_config(model, mlp_bias=True)
        write_tensors(model / "model.safetensors", {**tensors, **biases})
        self.assertEqual(self.nll(model), plain)

    def test_a_roformer_without_a_head_keeps_its_table_of_positions(self):
        model = small_model(self.home, "roformer")
        with_head = self.look(model, what="heads")
        tensors = read_tensors(model / "model.safetensors")
        self.assertTrue(any("embed_positions" in name for name in tensors))
        write_tensors(model / "model.safetensors", {name.removeprefix("roformer."): one for name, one in tensors.items() if not name.startswith("cls.")})
        self.assertEqual(self.look(model, what="heads"), with_head)

    def test_phi_computes_a_text_again_that_grows_beyond_its_original_length(self):
        """Greedy continuations of transformers 5.24, whose Phi 3 drops its cache there."""
        for family, expected in (("phi3", "4kFoOC\\;O`"), ("phimoe", "N7cgJ`8eJ`")):
            model = small_model(self.home, family)
            rope = json.loads((model / "config.json").read_text())["rope_parameters"]
            rope |= {"original_max_position_embeddings": 20, "long_factor": [6 * factor + 2 for factor in rope["long_factor"]]}
            change_config(model, rope_parameters=rope, original_max_position_embeddings=20)
            answer = json.loads(self.look(model, "--count", 10, "--json", what="generate", text="S>_mVf@98TWnK`N@7"))
            self.assertEqual(answer["text"], expected)

    def test_layers_that_predict_further_tokens_are_left_out(self):
        """Folders of GLM 4.5 have one after the last layer; transformers reads nothing of it."""
        for family, layer, code in (("glm4_moe", 3, 0), ("glm4_moe", 2, 4), ("dots1", 3, 4)):
            shutil.rmtree(self.home / family, ignore_errors=True)
            model = small_model(self.home, family)
            plain = self.nll(model)
            tensors = read_tensors(model / "model.safetensors")
            tensors[f"model.layers.{layer}.eh_proj.weight"] = tensors["lm_head.weight"]
            write_tensors(model / "model.safetensors", tensors)
            if code == 0:
                self.assertEqual(self.nll(model), plain)
            else:
                self.assertIn(f"layers.{layer}.eh_proj.weight has no place", self.look(model, code=code))

    def test_a_tied_head_that_differs_is_used(self):
        model = small_model(self.home, "qwen2")  # its config ties the head
        plain = self.nll(model)
        tensors = read_tensors(model / "model.safetensors")
        dtype, shape, content = tensors["model.embed_tokens.weight"]
        write_tensors(model / "model.safetensors", {**tensors, "lm_head.weight": (dtype, shape, content)})
        self.assertEqual(self.nll(model), plain)
        rows = [content[row * len(content) // 64 : (row + 1) * len(content) // 64] for row in range(64)]
        write_tensors(model / "model.safetensors", {**tensors, "lm_head.weight": (dtype, shape, b"".join(rows[::-1]))})
        self.assertNotEqual(self.nll(model), plain)
        write_tensors(model / "model.safetensors", {"lm_head.weight": tensors.pop("model.embed_tokens.weight"), **tensors})
        self.assertEqual(self.nll(model), plain)


    def test_an_untied_head_of_gpt2_is_not_transposed(self):
        model = small_model(self.home, "gpt2")  # its blocks' weights are transposed
        plain = self.nll(model)
        tensors = read_tensors(model / "model.safetensors")
        write_tensors(model / "model.safetensors", {**tensors, "lm_head.weight": tensors["transformer.wte.weight"]})
        change_config(model, tie_word_embeddings=False)
        self.assertEqual(self.nll(model), plain)

    def test_gpt_neox_has_two_names_for_its_head(self):
        model = small_model(self.home, "gpt_neox")
        plain = self.nll(model)
        tensors = read_tensors(model / "model.safetensors")
        tensors["lm_head.weight"] = tensors.pop("embed_out.weight")
        write_tensors(model / "model.safetensors", tensors)
        self.assertEqual(self.nll(model), plain)


class Tensors(Published):
    def test_biases_are_those_of_the_family(self):
        model = small_model(self.home, "llama")
        shard = sorted(model.glob("model*.safetensors"))[0]
        tensors = read_tensors(shard)
        bias = "model.layers.0.self_attn.o_proj.bias"
        write_tensors(shard, {**tensors, bias: ("F32", [32], struct.pack("<32f", *[1.0] * 32))})
        self.assertIn(f"the tensor {bias} is a bias", self.look(model, code=4))
        write_tensors(shard, tensors)
        change_config(model, attention_bias=True)
        self.assertIn('has no tensor "model.layers.0.self_attn.q_proj.bias"', self.look(model, code=4))

    def test_a_bias_that_no_program_reads_is_refused(self):
        path = self.gguf().add_numbers("blk.0.ffn_up.bias", [1.0] * 48).write(self.home / "model.gguf")
        self.assertIn("the tensor blk.0.ffn_up.bias is a bias", self.look(path, code=4))

    def test_factors_that_nothing_asks_for_are_refused(self):
        path = self.home / "model.gguf"
        self.gguf().add_numbers("rope_factors_long.weight", [2.0] * 8).write(path)
        self.assertIn("rope_factors_long.weight has no place", self.look(path, code=4))
        self.gguf().add_numbers("rope_freqs.weight", [2.0] * 8).write(path)
        self.assertIn("rope_freqs.weight has no place in a model of the family qwen3", self.look(path, code=4))
        self.gguf().set({"qwen3.rope.scaling.type": "longrope"}).write(path)
        self.assertIn("the tensor rope_factors_short.weight, which contains its factors, is missing", self.look(path, code=4))

    def test_a_factor_beside_llama_3s_multiplies_them(self):
        plain, scaled, by_hand = (self.gguf("llama") for _ in range(3))
        scaled.set({"llama.rope.scaling.factor": 2.0})
        factors = struct.unpack("<4f", by_hand.tensors["rope_freqs.weight"][2][:16])
        by_hand.add_numbers("rope_freqs.weight", [2 * factor for factor in factors])
        nll = [self.nll(one.write(self.home / f"{i}.gguf")) for i, one in enumerate((plain, scaled, by_hand))]
        self.assertNotEqual(nll[0], nll[1])
        self.assertLess(max(abs(a - b) for a, b in zip(nll[1], nll[2])), 1e-4)

    def test_types_that_are_not_read_are_named(self):
        model = small_model(self.home, "qwen3")
        tensors = read_tensors(model / "model.safetensors")
        name = "model.layers.0.self_attn.q_proj.weight"
        for dtype, bits in DTYPES_NOT_READ.items():
            shape = tensors[name][1]
            write_tensors(model / "model.safetensors", {**tensors, name: (dtype, shape, b"\0" * (math.prod(shape) * bits // 8))})
            said = self.look(model, code=4)
            self.assertIn(f"the tensor {name} is stored as {dtype}, which is not supported", said)
            self.assertNotIn("valid safetensors", said)
        write_tensors(model / "model.safetensors", {**tensors, "extra": ("U8", [2], b"\0\0")})
        self.assertIn("the tensor extra is stored as U8", self.look(model, code=4))
        write_tensors(model / "model.safetensors", {**tensors, name: ("F99", [2], b"\0\0")})
        self.assertIn("unknown dtype F99", self.look(model, code=4))


class Quantized(Published):
    def test_a_quantized_folder_says_what_it_is(self):
        for config, part in (({"quantization_config": {"quant_method": "fbgemm_fp8"}}, "by FP8 (FBGEMM) (quantization_config)"),
                             ({"quantization_config": {"quant_method": "hqq", "bits": 4}}, "by HQQ in 4 bits"),
                             ({"quantization_config": {"quant_method": "compressed-tensors"}}, "by compressed-tensors"),
                             ({"quantization_config": {"quant_method": "of-2027"}}, 'by "of-2027"'),
                             ({"quantization_config": {"quant_method": "exl2", "bits": 4.25}}, "by EXL2 in 4.25 bits"),
                             ({"text_config": {"quantization_config": {"quant_method": "nvfp4"}}}, "by NVFP4")):
            model = small_model(self.home, "qwen3")
            change_config(model, **config)
            said = self.look(model, code=4)
            self.assertIn(f"{model / 'config.json'}: this model is quantized {part}", said)
            self.assertIn("use the unquantized folder", said)
            self.assertNotIn("did you mean", said)
            shutil.rmtree(model)

    def test_what_a_method_does_not_read_is_named(self):
        for config, said in (({"quant_method": "gptq", "bits": 5, "group_size": 128}, "quantized by GPTQ in 5 bits (quantization_config): bits is"),
                             ({"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemv"}, "quantized by AWQ in 4 bits (quantization_config): version is"),
                             ({"load_in_4bit": True, "bnb_4bit_quant_storage": "bfloat16"}, "by bitsandbytes in 4 bits (quantization_config): bnb_4bit_quant_storage is"),
                             ({"quant_method": "fp8", "expert_dtype": "fp4"}, "quantized by FP8 (quantization_config): expert_dtype is")):
            model = small_model(self.home, "qwen3")
            change_config(model, quantization_config=config)
            self.assertIn(said, self.look(model, code=4))
            shutil.rmtree(model)

    def test_a_folder_in_fp8_gives_the_loss_of_its_decoded_matrices(self):
        """E4M3 in blocks of 4 × 8, each with its scale."""
        quantized, plain = small_model(self.home / "quantized", "qwen3"), small_model(self.home / "plain", "qwen3")
        tensors = read_tensors(plain / "model.safetensors")
        stored, decoded, random = dict(tensors), dict(tensors), Random(7)
        for name, (_, shape, _) in tensors.items():
            if not name.endswith("_proj.weight"):
                continue
            rows, columns = shape
            across = -(-columns // 8)
            numbers = bytes(random.choice((0, 128)) | random.randrange(0x60) for _ in range(rows * columns))
            scales = [random.uniform(0.001, 0.01) for _ in range(-(-rows // 4) * across)]
            scales = struct.unpack(f"<{len(scales)}f", struct.pack(f"<{len(scales)}f", *scales))
            values = [e4m3(byte) * scales[i // columns // 4 * across + i % columns // 8] for i, byte in enumerate(numbers)]
            stored[name] = ("F8_E4M3", shape, numbers)
            stored[f"{name}_scale_inv"] = ("F32", [len(scales) // across, across], struct.pack(f"<{len(scales)}f", *scales))
            decoded[name] = ("F32", shape, struct.pack(f"<{len(values)}f", *values))
        self.assertGreater(len(stored), len(decoded))
        write_tensors(quantized / "model.safetensors", stored)
        write_tensors(plain / "model.safetensors", decoded)
        change_config(quantized, quantization_config={"quant_method": "fp8", "weight_block_size": [4, 8]})
        self.assertEqual(self.nll(quantized), self.nll(plain))

    def test_a_file_beside_says_it_too(self):
        model = small_model(self.home, "qwen3")
        (model / "quantize_config.json").write_text('{"bits": 4}')
        self.assertIn("quantized by GPTQ", self.look(model, code=4))


class NotCausal(Published):
    def test_a_model_that_sees_both_sides_reads_and_does_not_write(self):
        path = self.gguf().set({"qwen3.attention.causal": False}).write(self.home / "model.gguf")
        weights = json.loads(self.look(path, "--json", "--layer", 0, "--head", 0, what="attention"))["weights"]
        self.assertEqual([len(row) for row in weights], [len(TEXT)] * len(TEXT))
        self.assertGreater(weights[0][-1], 0)
        self.assertNotEqual(self.nll(path), self.nll(self.gguf().write(self.home / "causal.gguf")))
        self.assertIn("sees the tokens on both sides", self.look(path, what="generate", code=2))
        self.gguf("gemma3_text").set({"gemma3.attention.causal": False}).write(path)
        self.assertIn("the entry gemma3.attention.sliding_window is 6", self.look(path, code=4))


if __name__ == "__main__":
    unittest.main()
