"""Writes core/model_config/model_types.inc: how each model type of transformers reads its rotation from config.json, determined
by trial. Run manually with transformers 5.24.0 and torch 2.11.0:

    python3 -m venv /tmp/transformers && /tmp/transformers/bin/pip install transformers==5.24.0 torch==2.11.0
    /tmp/transformers/bin/python tests/parity/model_types.py

A row is a model type and a JSON object ("member" means a member of config.json):
  "interleaved"  neighbouring features form a pair; "interleave_key": member with this flag
  "width"        members with the width of a head; the first that exists counts; the default is "wider" (1) times
                 hidden_size / num_attention_heads
  "kinds"        kinds of layers: "theta": default; "keys": members with θ if rope_parameters lack it; "given_keys": replaces
                 "keys" if the config has rope_parameters; "scaled": whether a flat rope_scaling applies to this kind;
                 "share": default of the rotating fraction; "less": [[member, default], …], whose difference is the width
                 of a head if no member of "width" exists
  "nested"       rope_parameters are nested by kind of layer; "bare": these need not contain rope_theta; "flat": whether flat
                 parameters are accepted, too
  "partial"      where the rotating fraction is read: "inside" rope_parameters, or from members of the config; "share":
                 its default
  "rope"         default of rope_parameters if the config has neither these nor rope_scaling; "theta_first", "share_first":
                 members with θ or the rotating fraction take precedence over rope_parameters
  "sizes"        defaults of missing members; "names": other names of members
  "layers"       kinds of the layers as a repeating pattern, "N": no rotation; "ends": the kind of the last layer, overriding
                 the pattern; "forces": it overrides layer_types, too
  "by_layer"     members that per_layer_config may set for the layers of a kind
  "beside"       [member, default]: number of features of a head next to the rotating ones; the rotating fraction refers to
                 both together
  "copies"       flat parameters apply to every kind, and rope_scaling is another name of rope_parameters; the rotating fraction
                 is the class's own
  "fixed"        true if neither rope_parameters nor rope_scaling is read; "pattern": true if sliding_window_pattern is read
  "rotating"     which layers rotate: only "sliding" ones, "sliding_or_dense", "sliding_if_window", or those marked 1 in no_rope_layers
  "refuses"      the class cannot read rope_scaling
  "values"       values rotate; "values_key": the flag that enables it; "shared": one vector is key and value for all heads
  "needs"        a member and the value that it must have for any rotation; "null_theta": no rotation if rope_theta is null
  "features"     number of rotating features, a number or a member; "last": the last features rotate, not the first
  "even"         the class cannot compute an odd number of rotating features, but takes a single one without an error
  "ratio"        member that multiplies the base; "yarn_factor": default of YaRN's factor on cos and sin unless parameters are nested;
                 "flat_scales": flat rope_parameters are read as rope_scaling, without θ and the rotating fraction
  "text"         the model type of the language part
"""

import json
import pathlib

from rotation_oracle import CONFIG_MAPPING, is_interleaved, rotation
from transformers import __version__
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

OUT = pathlib.Path(__file__).resolve().parents[2] / "core/model_config/model_types.inc"
THETA_KEYS = ("rope_theta", "rotary_emb_base", "rope_local_base_freq", "local_rope_theta", "global_rope_theta")
SIZES = ("hidden_size", "num_attention_heads", "head_dim", "qk_rope_head_dim", "max_position_embeddings", "rotary_dim",
         "num_hidden_layers", "original_max_position_embeddings")
# Sizes without effect on the rotation; some classes compute them from others if the class's default is None.
CLASS_SIZES = ("vocab_size", "intermediate_size", "num_key_value_heads")
LETTERS = {"full_attention": "F", "sliding_attention": "S"}

# Model types without rope_parameters, or whose code is not part of transformers; each with its source.
OTHERS = {
    # modeling_gptj.py, modeling_codegen.py: create_sinusoidal_positions(max_position_embeddings, rotary_dim)
    "gptj": {"fixed": True, "even": True, "interleaved": True, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "features": "rotary_dim",
             "sizes": {"hidden_size": 4096, "num_attention_heads": 16, "rotary_dim": 64, "max_position_embeddings": 2048},
             "names": {"hidden_size": "n_embd", "num_attention_heads": "n_head", "max_position_embeddings": "n_positions"}},
    "codegen": {"fixed": True, "even": True, "interleaved": True, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "features": "rotary_dim",
                "sizes": {"hidden_size": 4096, "num_attention_heads": 16, "rotary_dim": 64, "max_position_embeddings": 2048},
                "names": {"hidden_size": "n_embd", "num_attention_heads": "n_head", "max_position_embeddings": "n_positions"}},
    # modeling_roformer.py: values rotate if rotary_value is set, and outputs are never rotated back
    "roformer": {"fixed": True, "interleaved": True, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "values_key": "rotary_value",
                 "sizes": {"hidden_size": 768, "num_attention_heads": 12, "max_position_embeddings": 1536}},
    # modeling_esm.py: rotates only with position_embedding_type "rotary"
    "esm": {"fixed": True, "interleaved": False, "width": [], "kinds": {"": {"theta": 10000.0, "keys": ["rope_theta"]}}, "needs": ["position_embedding_type", "rotary"],
            "sizes": {"hidden_size": 768, "num_attention_heads": 12, "max_position_embeddings": 1026}},
    # modeling_clvp.py: max(projection_dim / (2·heads), 32) features rotate, also of values
    "clvp_encoder": {"fixed": True, "interleaved": False, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "features": 32, "values": True,
                     "needs": ["use_rotary_embedding", True],
                     "sizes": {"hidden_size": 768, "num_attention_heads": 12, "max_position_embeddings": 0, "use_rotary_embedding": True}},
    # moonshotai's modeling_deepseek.py for Kimi K2: like DeepSeek V3; for Kimi Linear: no layer rotates
    "kimi_k2": {"interleaved": True, "width": ["qk_rope_head_dim"], "kinds": {"": {"theta": 10000.0, "keys": ["rope_theta"], "scaled": True}},
                "sizes": {"hidden_size": 4096, "num_attention_heads": 32, "qk_rope_head_dim": 64, "max_position_embeddings": 4096}},
    "kimi_linear": {"interleaved": False, "width": ["head_dim"], "kinds": {"": {"theta": 10000.0, "keys": ["rope_theta"]}}, "layers": "N",
                    "sizes": {"hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 4096}},
    # modeling_*.py: tables of positions, or ALiBi
    "gpt2": {"interleaved": False, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "layers": "N",
             "sizes": {"hidden_size": 768, "num_attention_heads": 12, "max_position_embeddings": 1024},
             "names": {"hidden_size": "n_embd", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer", "max_position_embeddings": "n_positions"}},
    "opt": {"interleaved": False, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "layers": "N",
            "sizes": {"hidden_size": 768, "num_attention_heads": 12, "max_position_embeddings": 2048}},
    "bloom": {"interleaved": False, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "layers": "N",
              "sizes": {"hidden_size": 64, "num_attention_heads": 8, "max_position_embeddings": 2048},
              "names": {"hidden_size": "n_embed", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer", "max_position_embeddings": "seq_length"}},
    "mpt": {"interleaved": False, "width": [], "kinds": {"": {"theta": 10000.0, "keys": []}}, "layers": "N",
            "sizes": {"hidden_size": 2048, "num_attention_heads": 16, "max_position_embeddings": 2048},
            "names": {"hidden_size": "d_model", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers", "max_position_embeddings": "max_seq_len"}},
    # zai-org's modeling_chatglm.py: the first half of kv_channels rotates, base 10000·rope_ratio
    "chatglm": {"interleaved": True, "width": ["kv_channels"], "kinds": {"": {"theta": 10000.0, "keys": []}}, "ratio": "rope_ratio",
                "partial": {"share": 0.5}, "sizes": {"hidden_size": 4096, "num_attention_heads": 32, "kv_channels": 128, "max_position_embeddings": 2048},
                "names": {"max_position_embeddings": "seq_length"}},
}
# What trials cannot determine: compute_longrope_parameters of Phi-3.5 MoE, convert_rope_params_to_dict of Phi-3, Hunyuan's
# alpha.
MORE = {
    "phimoe": {"mscales": True}, "phi3": {"yarn_is_longrope": True}, "phi4_multimodal": {"yarn_is_longrope": True},
    # deepseek_v4: the last qk_rope_head_dim features of a head rotate; keys are also the values; outputs are rotated back
    "deepseek_v4": {"width": ["head_dim"], "features": "qk_rope_head_dim", "last": True, "values": "rotated_back", "shared": True,
                    "partial": {"inside": True, "keys": ["partial_rotary_factor"], "share": 0.125}, "yarn_factor": 1.0, "flat_scales": True,
                    "kinds": {"compress": {"keys": ["compress_rope_theta"], "theta": 160000.0}}},
    "hy_v4_vl_text": {"width": ["qk_rope_head_dim"]},
    # configuration_dots3_note.py: members named swa_… are for sliding layers; rope_scaling, flat or not, means rope_parameters
    "dots3_note_text": {"width": ["qk_rope_head_dim"], "partial": {"inside": False}, "copies": True, "by_layer": ["qk_rope_head_dim", "head_dim"],
                        "kinds": {"sliding_attention": {"keys": ["swa_rope_theta"], "given_keys": ["rope_theta"], "width": ["swa_qk_rope_head_dim"],
                                                        "less": [["swa_head_dim", 256], ["swa_qk_nope_head_dim", 192]]}}},
    # configuration_neomme.py: default_partial_rotary_factor
    "neomme": {"kinds": {"full_attention": {"share": 0.25}, "sliding_attention": {"share": 1.0}}},
    # configuration_mistral4.py: the default fraction is qk_rope_head_dim / (qk_nope_head_dim + qk_rope_head_dim)
    "mistral4": {"width": ["qk_rope_head_dim"], "beside": ["qk_nope_head_dim", 64]},
    # modeling_gemma4.py and its derivatives: "inv_freq depends on the head dim, which varies by layer type"
    **{model_type: {"by_layer": ["head_dim"], "sizes": {"head_dim": 256}}
       for model_type in ("gemma4_text", "gemma4_unified_text", "diffusion_gemma_text", "embedding_gemma2_text")},
    # modeling_falcon.py, modeling_granitemoehybrid.py, modeling_zamba2.py, modeling_olmo_hybrid.py: conditions for any rotation
    "falcon": {"needs": ["alibi", False], "sizes": {"alibi": False}}, "granitemoehybrid": {"needs": ["position_embedding_type", "rope"]},
    "zamba2": {"needs": ["use_mem_rope", True]}, "olmo_hybrid": {"null_theta": True},
    # configuration_*.py: sliding_window_pattern
    **{model_type: {"pattern": True} for model_type in ("cohere2", "cohere2_moe", "embedding_gemma2_text", "exaone4", "exaone_moe", "gemma3_text",
                                                       "t5gemma2_text", "t5gemma2_decoder")},
    # modeling_*.py: rotary_ndims features of a head meet tables of an even width
    **{model_type: {"even": True} for model_type in ("gpt_neox_japanese", "persimmon", "phi", "stablelm")},
    "hunyuan_v1_dense": {"alpha": True}, "hunyuan_v1_moe": {"alpha": True}, "hunyuan_vl_text": {"alpha": True},
}
# Layers without rotation, which the frequencies do not show; from modeling_*.py of each.
LAYERS = {
    "afmoe": "sliding", "cohere2": "sliding", "cohere2_moe": "sliding_or_dense", "flint": "sliding",
    "exaone4": "sliding_if_window", "exaone_moe": "sliding_if_window", "kolibri1": "sliding_if_window",
    "llama4_text": "no_rope_layers", "smollm3": "no_rope_layers", "mistral_large4_text": "no_rope_layers",
}


def base_of(theta):
    """The base b of frequencies b^(−i/n)."""
    return theta[1] ** -len(theta) if len(theta) > 1 and theta[1] > 0 else None


class Trial:
    """The result of adding members to an empty config of a model type."""

    def __init__(self, model_type):
        self.model_type = model_type
        self.default = rotation({"model_type": model_type})

    def __call__(self, **members):
        try:
            return rotation({"model_type": self.model_type, **members})
        except Exception:  # refused
            return None

    def differs(self, tried, kind, by="theta"):
        if tried is None or kind not in tried:
            return False
        now, before = tried[kind][0], self.default[kind][0]
        if by == "count":
            return len(now) != len(before)
        return len(now) != len(before) or any(abs(a - b) > 1e-6 * b for a, b in zip(now, before))


def as_given(rope, kinds):
    """rope_parameters with one scaling method, nested if there are several kinds of layers."""
    return {"": rope}[""] if "" in kinds else {kind: dict(rope) for kind in kinds}


def row_of(model_type):
    config = CONFIG_MAPPING[model_type]()
    parameters = json.loads(json.dumps(config.rope_parameters or {}))
    if not parameters or parameters.get("rope_type") == "axial":
        return None
    trial = Trial(model_type)
    kinds = sorted(trial.default)  # transformers returns a set, in any order
    if not kinds:
        return None
    row = {"interleaved": is_interleaved(model_type)}
    try:
        row["interleaved"] = is_interleaved(model_type, rope_interleave=True)
        if row["interleaved"] != is_interleaved(model_type, rope_interleave=False):
            row["interleave_key"] = "rope_interleave"
            row["interleaved"] = is_interleaved(model_type)
    except Exception:  # has no such member
        pass

    sizes = {}
    for key in SIZES:
        try:
            value = getattr(config, key, None)
        except Exception:  # differs between layers
            value = None
        if isinstance(value, (int, float)):
            sizes[key] = value
    for key in CLASS_SIZES:
        value = getattr(type(config), key, None)
        if isinstance(value, int) and key not in sizes:
            sizes[key] = value
    row["sizes"] = sizes
    row["names"] = {member: other for member, other in getattr(config, "attribute_map", {}).items() if member in SIZES}

    features = 2 * len(trial.default[kinds[0]][0])
    wide = 6 * features  # unlike any default width or fraction of one
    width = [key for key in ("head_dim", "qk_rope_head_dim") if any(trial.differs(trial(**{key: wide}), kind, "count") for kind in kinds)]
    if "head_dim" in sizes and not width and trial(head_dim=wide) is None:
        width = ["head_dim"]  # other widths contradict other members
    if len(width) == 2:
        both = trial(head_dim=wide, qk_rope_head_dim=2 * wide)
        counted = len(both[kinds[0]][0]) if both else 0
        width = width if counted == len(trial(head_dim=wide)[kinds[0]][0]) else width[::-1]
    row["width"] = width
    hidden = sizes.get("hidden_size")
    wider_heads = trial(hidden_size=2 * hidden) or trial(num_attention_heads=max(1, sizes["num_attention_heads"] // 2)) if hidden else None
    derived = trial.differs(wider_heads, kinds[0], "count")
    if derived:
        wider = sizes.pop("head_dim", 0) * sizes["num_attention_heads"] // hidden
        if wider > 1:
            row["wider"] = wider

    plain = {"rope_type": "default"}
    bare = trial(rope_scaling=plain) if "" in kinds else trial(rope_parameters=as_given({"rope_type": "default"}, kinds))
    row["kinds"] = {}
    for kind in kinds:
        found = {"keys": []}
        for key in THETA_KEYS:
            tried = trial(**{key: 54321.0}, **({"rope_scaling": plain} if "" in kinds else {}))
            before = bare if "" in kinds else trial.default
            if tried and before and kind in tried and tried[kind][0] != before[kind][0]:
                found["keys"].append(key)
        counted = bare[kind][0] if bare and kind in bare else trial.default[kind][0]
        found["theta"] = theta_of(config, kind, counted)
        scaled = trial(rope_scaling={"rope_type": "linear", "factor": 2.0})
        found["scaled"] = scaled is None or kind in scaled and abs(scaled[kind][0][0] - 0.5) < 1e-6
        if kind and "head_dim" not in sizes and not derived:
            of_kind = parameters.get(kind) or {}
            share = of_kind.get("partial_rotary_factor") or 1
            found["features"] = round(2 * len(trial.default[kind][0]) / (1 if of_kind.get("rope_type") == "proportional" else share))
            found["width"] = [key for key in ("global_head_dim", "head_dim", "qk_rope_head_dim") if trial.differs(trial(**{key: wide}), kind, "count")]
        row["kinds"][kind] = found
    if "" not in kinds:
        row["nested"] = True
        row["bare"] = bare is not None
        flat = trial(rope_parameters={"rope_type": "default", "rope_theta": 2222.0})
        row["flat"] = flat is not None
    row["refuses"] = [key for key in ("rope_scaling",) if trial(rope_scaling={"rope_type": "linear", "factor": 2.0}) is None]

    partial = {}
    by_kind = [parameters.get(kind) or {} if kind else parameters for kind in kinds]
    shares = [one.get("partial_rotary_factor") for one in by_kind if one.get("rope_type") == "default"]
    shares = [share for share in shares if share not in (None, 1)]
    other = 0.25 if shares == [0.5] else 0.5
    inside = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": other}
    partial["inside"] = any(trial.differs(trial(rope_parameters=as_given(inside, kinds)), kind, "count") for kind in kinds)
    for key, value in (("partial_rotary_factor", other), ("rotary_pct", other), ("rotary_dim", max(2, features // 4))):
        tried = trial(**{key: value}, **({"rope_scaling": plain} if "" in kinds else {}))
        if any(trial.differs(tried, kind, "count") for kind in kinds):
            partial.setdefault("keys", []).append(key)
    given = trial(rope_scaling=plain) if "" in kinds else bare
    if shares and given and not any(trial.differs(given, kind, "count") for kind in kinds):
        partial["share"] = shares[0]  # otherwise it is only in "rope"
    row["partial"] = partial

    said_outside = any(trial.differs(trial(**{key: 54321.0}), kind) for key in THETA_KEYS for kind in kinds)
    shared_outside = any(trial.differs(trial(**{key: value}), kind, "count") for kind in kinds
                         for key, value in (("partial_rotary_factor", other), ("rotary_pct", other), ("rotary_dim", max(2, features // 4))))
    if {one.get("rope_type") for one in by_kind} != {"default"} or "" not in kinds or not said_outside or shares and not shared_outside:
        row["rope"] = parameters
        row["theta_first"], row["share_first"] = said_outside, shared_outside
    listed = getattr(config, "layer_types", None)
    if listed:
        row["layer_types"] = sorted(set(listed))
        row["layers"] = pattern_of(model_type, listed)
        row |= end_of(model_type, row["layers"])
    more = dict(MORE.get(model_type, {}))
    row["sizes"] |= more.pop("sizes", {})
    for kind, of_kind in more.pop("kinds", {}).items():
        row["kinds"][kind] |= of_kind
    row |= more
    if model_type in LAYERS:
        row["rotating"] = LAYERS[model_type]
    return row


def theta_of(config, kind, theta):
    """rope_theta as defined by the class, rather than one recovered from rounded frequencies."""
    default = getattr(type(config), "default_theta", 10000.0)
    guess = base_of(theta)
    choices = [default] if not isinstance(default, dict) else list(default.values())
    choices += [10000.0]
    parameters = config.rope_parameters or {}
    choices.append((parameters.get(kind) or {} if kind else parameters).get("rope_theta"))
    choices = [one for one in choices if isinstance(one, (int, float))]
    if guess is None:
        return choices[0]
    nearest = min(choices, key=lambda one: abs(one / guess - 1))
    return float(nearest)


def pattern_of(model_type, listed):
    """The shortest pattern of kinds that repeats over 48 layers, or nothing if there is none."""
    try:
        listed = CONFIG_MAPPING[model_type].from_dict({"model_type": model_type, "num_hidden_layers": 48}).layer_types
    except Exception:  # other numbers of layers are refused
        return []
    for period in range(1, 13):
        if all(listed[i] == listed[i % period] for i in range(len(listed))):
            return listed[:period]
    return []


def end_of(model_type, pattern):
    """The kind of the last layer if it differs from the pattern, and whether it overrides layer_types."""
    def layers(count, **members):
        return CONFIG_MAPPING[model_type].from_dict({"model_type": model_type, "num_hidden_layers": count, **members}).layer_types

    try:
        ends = {layers(count)[-1] for count in range(48, 60)}
        if not pattern or all(layers(count)[-1] == pattern[(count - 1) % len(pattern)] for count in range(48, 60)) or len(ends) > 1:
            return {}
        other = next(kind for kind in pattern if kind not in ends)
        try:
            forced = layers(12, layer_types=[other] * 12)[-1] in ends
        except Exception:  # refused
            forced = False
        return {"ends": ends.pop()} | ({"forces": True} if forced else {})
    except Exception:  # other numbers of layers are refused
        return {}


def main():
    rows, left_out = dict(OTHERS), []
    for model_type in sorted(CONFIG_MAPPING_NAMES):
        try:
            row = row_of(model_type)
        except Exception as error:
            if getattr(CONFIG_MAPPING[model_type], "rope_parameters", False) is not False:
                left_out.append(f"{model_type} ({type(error).__name__}: {str(error)[:60]})")
            elif part := inner_type(model_type):
                rows[model_type] = {"text": part}
            continue
        if row:
            rows[model_type] = row
        else:
            part = inner_type(model_type)
            if part:
                rows[model_type] = {"text": part}
    lines = [f'{{"{name}", R"({json.dumps(rows[name], separators=(",", ":"), sort_keys=True)})"}},' for name in sorted(rows)]
    OUT.write_text(f"// From transformers {__version__} by tests/parity/model_types.py, which says what each member means.\n"
                   + "\n".join(lines) + "\n")
    print(f"{len(rows)} model types → {OUT}; left out: {', '.join(left_out)}")


def inner_type(composite):
    """The model type of the language part of a composite model."""
    parts = getattr(CONFIG_MAPPING[composite], "sub_configs", None) or {}
    for key in ("text_config", "llm_config", "thinker_config"):
        part = parts.get(key)
        if part is None:
            continue
        model_type = getattr(part, "model_type", "")  # AutoConfig has none: any model type is accepted, one is the default
        if not model_type:
            try:
                model_type = getattr(CONFIG_MAPPING[composite](), key).model_type
            except Exception:  # has no default
                continue
        return model_type
    return None


if __name__ == "__main__":
    main()
