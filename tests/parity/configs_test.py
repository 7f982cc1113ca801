"""Members of a config.json have their effect: -ln p equals that of transformers with the same members
(pretrained_reference.py)."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import PRETRAINED, REFERENCES, TrainerTest, expected_text, small_model

try:
    import numpy
except ImportError:  # ./lab test installs it
    numpy = None


@unittest.skipIf(numpy is None, "numpy is not installed for this Python")
class Configs(TrainerTest):
    def model(self, family, config):
        """The folder of a family's model whose config.json has these members."""
        folder = small_model(self._folder.name, family)
        plain = json.loads((PRETRAINED / family / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**plain, **config}))
        return folder

    def look(self, family, config):
        return self.trainer("look", self.model(family, config), "--what", "loss", "--json", "--text", expected_text(family))

    def test_what_a_config_says_is_computed(self):
        for name, one in json.loads((REFERENCES / "configs.json").read_text()).items():
            with self.subTest(name):
                done = self.look(one["family"], one["config"])
                self.assertEqual(done.returncode, 0, done.stderr)
                numpy.testing.assert_allclose(json.loads(done.stdout)["nll"], one["nll"], atol=5e-4)

    def test_a_token_uses_at_most_all_parameters(self):
        """A token of LongCat Flash may choose more experts than have parameters, as some only return their inputs."""
        done = self.trainer("look", self.model("longcat_flash", {"moe_topk": 7}), "--what", "model", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["experts"], summary["experts_per_token"]), (6, 7))
        self.assertEqual(summary["parameters_per_token"], summary["parameters"])

    def test_what_may_change_the_computation_is_refused_by_name(self):
        for family, config, part in (("llama", {"residual_multiplier": 0.5}, "residual_multiplier = 0.5"),
                                     ("qwen3", {"logits_scaling": 8}, "logits_scaling = 8"),
                                     ("llama", {"num_local_experts": 8}, "num_local_experts = 8"),
                                     ("mixtral", {"num_experts_per_tok": 6}, "num_experts_per_tok is 6, but there are 5 experts"),
                                     ("mixtral", {"n_shared_experts": 1}, "n_shared_experts = 1"),
                                     ("phimoe", {"num_experts_per_tok": 3}, "num_experts_per_tok is 3; this family's router always chooses two"),
                                     ("glm4_moe", {"n_group": 3}, "n_group is 3: 8 experts do not form groups"),
                                     ("llama", {"head_dim": 8, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2}},
                                      "partial_rotary_factor is 0.5")):
            with self.subTest(config):
                done = self.look(family, config)
                self.assert_fails(done, 4, "config.json", part)

    def test_what_changes_nothing_passes(self):
        config = {"torch_dtype": "bfloat16", "use_cache": False, "attention_dropout": 0.5, "pad_token_id": 3, "pretraining_tp": 2,
                  "_attn_implementation_autoset": True, "architectures": ["Any"], "new_thing": None, "other_thing": False}
        self.assertEqual(self.look("llama", config).stdout, self.look("llama", {}).stdout)


if __name__ == "__main__":
    unittest.main()
