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

    def text_config(self, family):
        return json.loads((PRETRAINED / family / "config.json").read_text())["text_config"]

    def look(self, family, config):
        return self.trainer("look", self.model(family, config), "--what", "loss", "--json", "--text", expected_text(family))

    def test_what_a_config_says_is_computed(self):
        for name, one in json.loads((REFERENCES / "configs.json").read_text()).items():
            with self.subTest(name):
                done = self.look(one["family"], one["config"])
                self.assertEqual(done.returncode, 0, done.stderr)
                numpy.testing.assert_allclose(json.loads(done.stdout)["nll"], one["nll"], atol=5e-4)

    def test_a_missing_member_has_the_default_of_its_class(self):
        """K-EXAONE chooses experts like GLM 4.5, but ExaoneMoeConfig (transformers 5.24) scales their weights by 2.5."""
        folder = self.model("exaone_moe", {})
        ask = ("look", folder, "--what", "loss", "--json", "--text", expected_text("exaone_moe"))
        written = json.loads((folder / "config.json").read_text())
        self.assertEqual(written.pop("routed_scaling_factor"), 2.5)
        plain = self.trainer(*ask)
        (folder / "config.json").write_text(json.dumps(written))
        self.assertEqual(self.trainer(*ask).stdout, plain.stdout)

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
                                     ("qwen2_moe", {"layer_types": ["full_attention", "sliding_attention"], "use_sliding_window": False},
                                      "layer_types lists sliding_attention, but use_sliding_window is false"),
                                     ("granite", {"attention_multiplier": 0}, "attention_multiplier must be above 0"),
                                     ("granite", {"logits_scaling": 0}, "logits_scaling is 0"),
                                     ("gpt_oss", {"rope_parameters": {}}, "rope_parameters is empty"),
                                     ("qwen3_5_text", {"attn_output_gate": False}, "attn_output_gate must be true"),
                                     ("qwen3_next", {"output_gate_type": "gelu"}, "output_gate_type must be swish, not \"gelu\""),
                                     ("llama4_text", {"num_local_experts": 0}, "moe_layers must be an empty list in a model without"),
                                     ("llama", {"pruned_heads": {"0": [1]}}, "pruned_heads is not supported"),
                                     ("bloom", {"is_causal": False}, "is_causal is false"),
                                     ("modernbert", {"classifier_activation": "xielu"}, "classifier_activation \"xielu\""),
                                     ("gemma3", {"text_config": {**self.text_config("gemma3"), "final_logit_softcapping": 3.0}},
                                      "final_logit_softcapping is not read in gemma3"),
                                     ("llama", {"head_dim": 8, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2}},
                                      "partial_rotary_factor is 0.5")):
            with self.subTest(config):
                done = self.look(family, config)
                self.assert_fails(done, 4, "config.json", part)

    def test_members_of_published_configs_that_no_class_reads_pass(self):
        """Each stands in a config.json that is published for a model of the family; modeling_*.py of transformers 5.24 does not
        read it."""
        for family, config in (("llama", {"is_llama_config": True, "transformers.js_config": {"dtype": "q4"}, "max_sequence_length": 2048,
                                          "num_beams": 1, "pruned_heads": {}, "attn_implementation": "eager", "norm_eps": 0.5}),
                               ("gpt2", {"n_special": 0, "predict_special_tokens": True, "output_past": True}),
                               ("gemma2", {"sliding_window_size": 4096}),
                               ("phi3", {"full_attn_mod": 1, "interpolate_factor": 1}),
                               ("starcoder2", {"attention_softmax_in_fp32": True, "scale_attn_weights": True, "layer_norm_epsilon": 0.5}),
                               ("apertus", {"qk_norm": True}),
                               ("qwen3_moe", {"shared_expert_intermediate_size": 0, "use_qk_norm": True}),
                               ("exaone_moe", {"scoring_func": "sigmoid", "topk_method": "noaux_tc"}),
                               ("llama4_text", {"nope_layer_interval": 4})):
            with self.subTest(family):
                plain, done = self.look(family, {}), self.look(family, config)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, plain.stdout)

    def test_an_epsilon_by_another_name_is_refused(self):
        """LlamaForCausalLM of transformers 5.24 would use its default, 1e-6, instead."""
        folder = self.model("llama", {"norm_eps": 0.5})
        config = json.loads((folder / "config.json").read_text())
        config.pop("rms_norm_eps")
        (folder / "config.json").write_text(json.dumps(config))
        done = self.trainer("look", folder, "--what", "loss", "--text", expected_text("llama"))
        self.assert_fails(done, 4, "norm_eps is not read by models of this type, which have rms_norm_eps")

    def test_what_changes_nothing_passes(self):
        config = {"torch_dtype": "bfloat16", "use_cache": False, "attention_dropout": 0.5, "pad_token_id": 3, "pretraining_tp": 2,
                  "_attn_implementation_autoset": True, "architectures": ["Any"], "new_thing": None, "other_thing": False}
        self.assertEqual(self.look("llama", config).stdout, self.look("llama", {}).stdout)


if __name__ == "__main__":
    unittest.main()
