"""Models of transformers with the biases that they were made with."""

import functools
from collections.abc import Callable

import torch
import transformers
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor


def as_made(model: transformers.PreTrainedModel) -> transformers.PreTrainedModel:
    """MPT's slopes as its config says, and the biases of Falcon added once, which are in the mask already
    (findings/transformers-computes-every-mpt-with-the-slopes-of-alibi-bias-max-8.sh,
    findings/transformers-adds-falcons-alibi-twice-in-eager-attention.sh)."""
    if model.config.model_type == "mpt":
        largest = model.config.attn_config.alibi_bias_max
        model.transformer.build_mpt_alibi_tensor = functools.partial(build_mpt_alibi_tensor, alibi_bias_max=largest)
    if model.config.model_type == "falcon" and model.config.alibi:
        for block in model.transformer.h:
            block.self_attention.forward = without_bias(block.self_attention.forward)
    return model.eval()


def without_bias(forward: Callable) -> Callable:
    return lambda *arguments, alibi, **others: forward(*arguments, alibi=torch.zeros_like(alibi), **others)
