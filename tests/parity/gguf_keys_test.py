"""Entries of GGUF files have their effect: -ln p equals that of transformers with the same setting (pretrained_reference.py)."""

import json
import math
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gguf_files import LETTER_TOKENS, Gguf
from programs import PRETRAINED, REFERENCES, TrainerTest, expected_text

try:
    import numpy
except ImportError:  # ./lab test installs it
    numpy = None


@unittest.skipIf(numpy is None, "numpy is not installed for this Python")
class Entries(TrainerTest):
    def look(self, path, family):
        return self.trainer("look", path, "--what", "loss", "--json", "--text", expected_text(family))

    def test_what_is_asked_for_is_computed(self):
        for name, one in json.loads((REFERENCES / "gguf_entries.json").read_text()).items():
            with self.subTest(name):
                model = Gguf(PRETRAINED / f"{one['family']}.gguf").set(LETTER_TOKENS).set(one["entries"])
                for tensor, numbers in one["tensors"].items():
                    model.add_numbers(tensor, numbers)
                done = self.look(model.write(Path(self._folder.name) / "model.gguf"), one["family"])
                self.assertEqual(done.returncode, 0, done.stderr)
                numpy.testing.assert_allclose(json.loads(done.stdout)["nll"], one["nll"], atol=5e-4)

    def test_latent_attention_of_older_files(self):
        """Before April 2025, keys and values of all heads were in attn_kv_b, and key_length was the head's."""
        sizes = {"attention.head_count_kv": 4, "attention.key_length": 16, "attention.value_length": 7}
        for family in ("deepseek_v2", "deepseek_v3"):
            model = Gguf(PRETRAINED / f"{family}.gguf").set(LETTER_TOKENS)
            newer = self.look(model.write(Path(self._folder.name) / "newer.gguf"), family)
            model.set({f"deepseek2.{key}": value for key, value in sizes.items()})
            for key in ("key_length_mla", "value_length_mla"):
                del model.entries[f"deepseek2.attention.{key}"]
            for name in [name for name in model.tensors if name.endswith("attn_k_b.weight")]:
                keys, values = (numpy.frombuffer(content, numpy.float32, math.prod(shape)).reshape(shape[::-1])
                                for shape, _, content in (model.tensors.pop(name), model.tensors.pop(name.replace("_k_", "_v_"))))
                both = numpy.concatenate([keys.transpose(0, 2, 1), values], 1)  # [heads, n + v, rank]
                model.tensors[name.replace("_k_", "_kv_")] = ((both.shape[2], both.shape[0] * both.shape[1]), 0, both.tobytes())
            older = self.look(model.write(Path(self._folder.name) / "older.gguf"), family)
            self.assertEqual((newer.returncode, older.returncode), (0, 0), newer.stderr + older.stderr)
            numpy.testing.assert_allclose(json.loads(older.stdout)["nll"], json.loads(newer.stdout)["nll"], atol=1e-5)

    def test_a_list_by_layer_of_equal_numbers_is_that_number(self):
        """-ln p equals that of transformers with a single number; llama.cpp's converters write lists for some families."""
        every = json.loads((REFERENCES / "gguf_entries.json").read_text())
        lists = {"qwen3.attention.head_count": [4, 4], "qwen3.attention.head_count_kv": [2, 2],
                 "qwen3.feed_forward_length": [48, 48], "qwen3.rope.dimension_count": [16, 16]}
        for name, entries in (("none", lists), ("linear", {**lists, "qwen3.rope.scaling.factor": [4.0, 4.0]})):
            model = Gguf(PRETRAINED / "qwen3.gguf").set(LETTER_TOKENS).set(entries)
            done = self.look(model.write(Path(self._folder.name) / "model.gguf"), "qwen3")
            self.assertEqual(done.returncode, 0, done.stderr)
            numpy.testing.assert_allclose(json.loads(done.stdout)["nll"], every[name]["nll"], atol=5e-4)

    def test_numbers_that_differ_are_refused_by_name(self):
        for key, numbers in (("attention.head_count_kv", [2, 1]), ("feed_forward_length", [48, 32]), ("rope.dimension_count", [16, 8])):
            model = Gguf(PRETRAINED / "qwen3.gguf").set(LETTER_TOKENS).set({f"qwen3.{key}": numbers})
            done = self.look(model.write(Path(self._folder.name) / "model.gguf"), "qwen3")
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(f"the entry qwen3.{key} is {numbers[0]} in layer 0 and {numbers[1]} in layer 1; layers that differ in it are not supported",
                          done.stderr)

    def test_every_setting_is_another(self):
        """Otherwise a setting that is ignored would pass unnoticed."""
        every = json.loads((REFERENCES / "gguf_entries.json").read_text())
        plain = every["none"]["nll"]
        for name, one in every.items():
            if one["family"] == "qwen3" and name not in ("none", "a factor of 0"):
                self.assertGreater(numpy.abs(numpy.subtract(one["nll"], plain)).max(), 0.01, name)


if __name__ == "__main__":
    unittest.main()
