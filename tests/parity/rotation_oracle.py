"""How transformers interprets a config.json: θ and the factor on cos and sin for each kind of layer, from the module with which
its models compute rotations, in float64 unless rounded before; and which features form a pair, determined by trial."""

import copy
import importlib
import inspect
import logging
import os
import re
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import CONFIG_MAPPING  # noqa: E402
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES  # noqa: E402

# For config classes whose annotation does not show which rotation is the language part's.
CLASSES = {"qwen2_5_omni_text": "Qwen2_5OmniRotaryEmbedding", "qwen2_5_omni_talker": "Qwen2_5OmniRotaryEmbedding"}
# Whether neighbours form a pair, for modules with several rotations or several kinds of positions; from their sources.
PAIRINGS = {"axk2": True, "deepseek_v32": True, "dots3_note_text": True, "glm4v_text": True, "glm4v_moe_text": False,
            "glm_image_text": False, "hunyuan_vl_text": False}
# The order of frequencies in inv_freq differs from the order of pairs: it groups the frequencies by axis.
RECOMPOSED = {"ernie4_5_vl_moe_text", "neomme"}


def modeling_of(model_type):
    """The module of a model type, or the one whose classes it uses (for InternLM 3, Llama's)."""
    configuration = CONFIG_MAPPING[model_type].__module__
    try:
        return importlib.import_module(configuration.replace("configuration_", "modeling_"))
    except ModuleNotFoundError:
        model = getattr(transformers, MODEL_MAPPING_NAMES.get(model_type, ""), None)
        return importlib.import_module(model.__module__) if model else None


def rotary_class(model_type):
    """The class of the language part's rotation, or None. If a module has several, the annotation of its config decides."""
    config, module = CONFIG_MAPPING[model_type], modeling_of(model_type)
    if model_type in CLASSES:
        return getattr(module, CLASSES[model_type])
    found = []
    for name, value in vars(module).items() if module else ():
        if not inspect.isclass(value) or value.__module__ != module.__name__:
            continue
        if not re.search("Rotary|RoPE|Rope", name) or "Attention" in name:
            continue
        parameter = inspect.signature(value.__init__).parameters.get("config")
        if parameter is not None:
            annotation = parameter.annotation
            found.append((name, value, annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")))
    found = [one for one in found if not re.search("Vision|Audio|SaProt", one[0])] or found
    for matches in (lambda one: one[2] == config.__name__, lambda one: one[2] in ("_empty", "PreTrainedConfig", "PretrainedConfig")):
        if chosen := [one for one in found if matches(one)]:
            return chosen[0][1]
    own = [one for one in found if one[2].removesuffix("Config") in config.__name__ or config.__module__.split(".")[2] != module.__name__.split(".")[2]]
    if len({one[1] for one in own or found}) == 1:
        return (own or found)[0][1]
    part = next((part for part in ("Talker", "Text") if part in config.__name__), None)
    chosen = [one for one in found if part and part in one[0]]
    return chosen[0][1] if len(chosen) == 1 else None


def read(config):
    return CONFIG_MAPPING[config["model_type"]].from_dict(copy.deepcopy(config))


def module_of(config):
    return rotary_class(config["model_type"])(config=read(config))


def kinds_of(module):
    """Kinds of layers with different frequencies; a single kind has an empty name."""
    names = [name for name, _ in module.named_buffers() if name.endswith("inv_freq") and "original" not in name and "long_inv" not in name]
    return [name[: -len("inv_freq")].rstrip("_") for name in names]


def rotation(config):
    """Returns {kind: (θ of each pair, factor)}. Raises where transformers does."""
    module = module_of(config)
    rotations = {}
    for kind in kinds_of(module):
        prefix = kind + "_" if kind else ""
        theta = getattr(module, prefix + "inv_freq").double()
        if config["model_type"] in RECOMPOSED:
            theta = recomposed(module, kind, theta)
        rotations[kind] = (theta.tolist(), float(getattr(module, prefix + "attention_scaling", 1.0)))
    return rotations


def recomposed(module, kind, theta):
    """θ of the pairs in the order of rotation, from the angles of a text's second token."""
    more = {"layer_type": kind} if kind else {}
    cos, sin = module(torch.zeros(1, 1, 8), torch.ones(1, 1, 1, dtype=torch.long), **more)
    angles = torch.atan2(sin.double(), cos.double()).flatten()
    return angles[::2] if torch.equal(angles[::2], angles[1::2]) else angles[: len(theta)]


def cos_sin(module):
    """The module's output at position 3, which is passed to the function that rotates."""
    kinds = kinds_of(module)
    more = {"layer_type": kinds[0]} if kinds[0] else {}
    problem = None
    for positions in (torch.tensor([[3]]), torch.tensor([[[3]]]).expand(3, 1, 1), torch.tensor([[[3]]]).expand(4, 1, 1)):
        try:
            return module(torch.zeros(1, 1, 8), positions, **more)
        except Exception as error:  # another signature
            problem = error
    raise problem


def is_interleaved(model_type, **changed):
    """Whether features 0 and 1 form a pair rather than 0 and half the rotated width; features of a pair affect the same
    outputs."""
    if model_type in PAIRINGS:
        return PAIRINGS[model_type]
    config = {"model_type": model_type, **changed}
    by, module = cos_sin(module_of(config)), modeling_of(model_type)
    names = [name for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__
             and re.match("apply_.*(rot|rope)", name) and not re.search("vision|2d|audio|multidimensional", name)]
    flag = getattr(read(config), "rope_interleave", None)
    if flag is not None and "apply_rotary_pos_emb_interleave" in names:
        names = ["apply_rotary_pos_emb_interleave" if flag else "apply_rotary_pos_emb"]
    answers = {answer for name in names if (answer := pairs_neighbours(getattr(module, name), by)) is not None}
    if len(answers) != 1:
        raise ValueError(f"{model_type}: pairs cannot be told ({answers})")
    return answers.pop()


def pairs_neighbours(rotate, by):
    width = by[0].shape[-1] if isinstance(by, tuple) else 2 * by.shape[-1]

    def reached(feature, features):
        x = torch.zeros(1, 1, 1, features)
        x[..., feature] = 1
        by_parts = by if isinstance(by, tuple) else (by,)
        for arguments in ((x, x, *by_parts), (x, *by_parts), (x.transpose(1, 2), x.transpose(1, 2), *by_parts)):
            try:
                out = rotate(*arguments)
            except Exception:  # another signature
                continue
            out = out[0] if isinstance(out, tuple) else out
            return [i for i, value in enumerate(out.flatten().tolist()) if abs(value) > 1e-9]
        return None

    for features in (width, 2 * width):
        first = reached(0, features)
        if first is None:
            continue
        partners = [j for j in range(1, features) if reached(j, features) == first]
        if len(partners) == 1 and partners[0] in (1, width // 2, features // 2):
            return partners[0] == 1
    return None
