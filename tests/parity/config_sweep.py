"""Compares how `roper-train rotation` and transformers read config.json files: for each model type with rotation, its default
config and variants with one member of the rotation changed. Each result must be equal, refused, or noted by name; none may
differ silently. Run manually with the Python of tests/parity/model_types.py:

    /tmp/transformers/bin/python tests/parity/config_sweep.py build/release/bin/roper-train
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from rotation_oracle import CONFIG_MAPPING, is_interleaved, rotation
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

TRAINER = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/roper-train"
CLOSE = 2e-5  # transformers computes in float32
# Members without which a model type does not rotate, even if its module has frequencies.
ROTATING = {"granitemoehybrid": {"position_embedding_type": "rope"}, "zamba2": {"use_mem_rope": True}}


def variants(model_type, config, kinds):
    """Names of configs, with the members that each adds to an empty config."""
    length = getattr(config, "max_position_embeddings", None) or 4096
    try:
        hidden, heads = getattr(config, "hidden_size", None), getattr(config, "num_attention_heads", None)
    except Exception:  # differs between layers
        hidden = heads = None
    yield "default", {}
    yield "rope_theta", {"rope_theta": 12345.0}
    yield "linear", {"rope_scaling": {"type": "linear", "factor": 2.0}}
    yield "yarn", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": max(16, length // 4)}}
    yield "yarn, more", {"rope_theta": 5e5, "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 16, "beta_slow": 2, "truncate": False,
                         "mscale": 0.7, "mscale_all_dim": 0.5, "original_max_position_embeddings": max(16, length // 8)}}
    yield "llama3", {"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                      "original_max_position_embeddings": 1024}}
    yield "dynamic", {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}
    yield "rope_parameters", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0}}
    yield "both", {"rope_theta": 7777.0, "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0},
                   "rope_scaling": {"rope_type": "linear", "factor": 4.0}}
    yield "by kind", {"rope_parameters": {kind: {"rope_type": "linear", "factor": 2.0} for kind in kinds if kind} or
                      {"full_attention": {"rope_type": "linear", "factor": 2.0}}}
    yield "by kind, theta", {"rope_parameters": {kind: {"rope_type": "yarn", "factor": 2.0, "rope_theta": 3000.0, "truncate": False} for kind in kinds if kind} or
                             {"full_attention": {"rope_type": "default", "rope_theta": 3000.0}}}
    yield "partial", {"partial_rotary_factor": 0.75}
    yield "partial inside", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}}
    yield "partial, linear", {"partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    yield "proportional", {"rope_parameters": {"rope_type": "proportional", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}}
    yield "older names", {"rotary_pct": 0.5, "rotary_emb_base": 20000}
    yield "rotary_dim", {"rotary_dim": 16}
    yield "local base", {"rope_local_base_freq": 2000.0}
    yield "local base, older", {"local_rope_theta": 2000.0, "global_rope_theta": 80000.0}
    yield "head_dim", {"head_dim": 48}
    yield "qk_rope_head_dim", {"qk_rope_head_dim": 48}
    yield "rope_interleave", {"rope_interleave": False}
    yield "trained length", {"original_max_position_embeddings": 512, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}
    layer_types = getattr(config, "layer_types", None) or ["full_attention"] * 4
    yield "by layer", {"head_dim": 80, "layer_types": layer_types, "per_layer_config": {
        f"{layer:02}": {"head_dim": 96} for layer, kind in enumerate(layer_types) if kind == layer_types[-1]}}
    yield "by layer, latent", {"layer_types": layer_types, "per_layer_config": {
        layer: {"head_dim": 96, "qk_nope_head_dim": 56, "qk_rope_head_dim": 40, "num_attention_heads": 8, "num_key_value_heads": 8}
        for layer, kind in enumerate(layer_types) if kind == layer_types[-1]}}
    if hasattr(type(config), "qk_nope_head_dim"):
        yield "latent", {"qk_nope_head_dim": 40, "qk_rope_head_dim": 24, "swa_head_dim": 96, "swa_qk_nope_head_dim": 56, "swa_rope_theta": 3000.0}
    yield "by layer, sliding", {"per_layer_config": {
        layer: {"head_dim": 96} for layer, kind in enumerate(layer_types) if kind == "sliding_attention"}}
    yield "by layer, some", {"layer_types": layer_types, "per_layer_config": {0: {"head_dim": 48, "intermediate_size": 64}}}
    yield "by layer, width alone", {"per_layer_config": {1: {"intermediate_size": 64, "num_key_value_heads": 1}}}
    yield "by layer, theta", {"per_layer_config": {0: {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}}}
    yield "by layer, none", {"per_layer_config": {}}
    if isinstance(hidden, int) and isinstance(heads, int):
        yield "wider", {"hidden_size": 2 * hidden}
        yield "fewer heads", {"num_attention_heads": max(1, heads // 2), "num_key_value_heads": 1}


def ours(configs):
    """Our result for each config, or an object with an error."""
    read = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"{number}.json" for number in range(len(configs))]
        for path, config in zip(paths, configs):
            path.write_text(json.dumps(config))
        for begin in range(0, len(paths), 500):
            done = subprocess.run([TRAINER, "rotation", *paths[begin : begin + 500], "--json"], capture_output=True, text=True)
            if done.returncode not in (0, 2):
                raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")
            read += map(json.loads, done.stdout.splitlines())
    return read


def difference(read, expected, interleaved):
    """Describes the difference, or returns nothing. Layers that do not rotate do not count as different frequencies."""
    layers = [one for one in read["layers"] if one["rotated_width"] > 0] or read["layers"]
    if len(layers) == 1 and len(expected) > 1 and len({str(one) for one in expected.values()}) > 1:
        return f"one kind of layer for {list(expected)}"
    for kind, (theta, factor) in expected.items():
        same = [one for one in layers if one["kind"] == kind] or (layers if len(layers) == 1 or not kind else [])
        if not same:
            continue  # the config has no layer of this kind
        found = same[0]
        if len(found["theta"]) != len(theta):
            return f"{kind}: {len(found['theta'])} pairs, not {len(theta)}"
        if any(abs(a - b) > CLOSE * max(abs(b), 1e-12) for a, b in zip(found["theta"], theta)):
            return f"{kind}: θ {found['theta'][1]:.6g} …, not {theta[1]:.6g} …"
        if abs(found["factor"] - factor) > 1e-5:
            return f"{kind}: factor {found['factor']:.6g}, not {factor:.6g}"
        if interleaved is not None and (found["pairing"] == "interleaved") != interleaved:
            return f"{kind}: {found['pairing']}"
    return ""


def judged(job, read):
    model_type, name, members = job
    config = {"model_type": model_type, **members}
    try:
        expected = rotation(config)
        interleaved = is_interleaved(model_type, **members) if name in ("default", "rope_interleave") else None
    except Exception as error:
        expected, interleaved = None, None
        problem = f"{type(error).__name__}: {str(error)[:80]}"
    refusal = read.get("error")
    read = None if refusal else read
    if expected is None:
        return ("both refuse" if read is None else "transformers alone refuses"), problem
    if read is None:
        return ("refused" if name != "default" else "default refused"), refusal
    differs = difference(read, expected, interleaved)
    if not differs:
        return "equal", ""
    named = any(re.search(rf"\b{re.escape(key)}\b", note) for note in read["notes"] for key in keys_of(members)) or any(
        note.startswith(("models of type ", "the model type ")) for note in read["notes"])
    return ("noted" if named else "SILENT"), differs + " | " + " / ".join(read["notes"])


def write_reference(jobs, answers):
    """Writes transformers' results for some configs of each model type, for the tests: the number of pairs, the second and the
    last θ and the factor of each kind of layer."""
    kept = ("default", "rope_theta", "linear", "yarn, more", "both", "by kind, theta", "partial", "older names", "head_dim", "rope_interleave",
            "latent", "by layer", "by layer, latent")
    lines = []
    for job, read in zip(jobs, answers):
        if job[1] not in kept or judged(job, read)[0] != "equal":
            continue
        config = {"model_type": job[0], **job[2]}
        kinds = {kind: [len(theta), *(float(f"{value:.7g}") for value in (theta[min(1, len(theta) - 1)], theta[-1], factor))] for kind, (theta, factor) in rotation(config).items()}
        try:
            interleaved = is_interleaved(job[0], **job[2])
        except Exception:  # cannot be determined by trial
            interleaved = None
        lines.append(json.dumps({"config": config, "interleaved": interleaved, "kinds": kinds}, separators=(",", ":")))
    out = pathlib.Path(__file__).parent / "rotation_reference.jsonl"
    out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} configs → {out}")


def keys_of(members):
    keys = set(members)
    for value in members.values():
        if isinstance(value, dict):
            keys |= keys_of(value)
    return keys


def main():
    jobs = []
    for model_type in sorted(CONFIG_MAPPING_NAMES):
        try:
            config = CONFIG_MAPPING[model_type]()
            parameters = getattr(config, "rope_parameters", None) or {}
            if not parameters or parameters.get("rope_type") == "axial":
                continue
            kinds = list(rotation({"model_type": model_type}))
        except Exception:  # no rotation, or a rotation for images
            continue
        jobs += [(model_type, what, ROTATING.get(model_type, {}) | members) for what, members in variants(model_type, config, kinds)]
    answers = ours([{"model_type": model_type, **members} for model_type, _, members in jobs])
    counts, told = collections.Counter(), collections.defaultdict(list)
    for job, read in zip(jobs, answers):
        verdict, text = judged(job, read)
        counts[verdict] += 1
        told[verdict].append(f"{job[0]}, {job[1]}: {text}")
    if "--write" in sys.argv:
        write_reference(jobs, answers)
    for verdict in sorted(told, key=lambda one: (one.isupper(), one)):
        if verdict in ("SILENT", "default refused") or "--all" in sys.argv:
            print(*(f"{verdict}: {line}" for line in told[verdict]), sep="\n")
    print(f"{len({job[0] for job in jobs})} model types, {len(jobs)} configs:", ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    return 1 if counts["SILENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
