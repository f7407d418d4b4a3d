"""Number types in which weights are sent from the learner to the engines."""

import re

import torch
from torch import Tensor

from trainer_core.spec.generation.rollout import Engine
from trainer_core.update.formats.precision import DTYPES

HEAD = re.compile(r"(^|\.)(lm_head|embed_tokens)\.weight$")
"""The output layer, or the embedding that it may be tied to."""
ROUTER = re.compile(r"\.(gate|router)\.")
"""Routers of experts, which are small. Engines keep them in float32 if the model says so."""


def travel_type(name: str, weight: Tensor, engine: Engine) -> torch.dtype:
    """Type in which ``weight`` is sent: the narrower of the learner's and the engine's.

    Weights that an engine may keep in a wider type than its own are not rounded: vectors, routers, and with
    ``lm_head_dtype: float32`` the output layer or the embedding that it may be tied to. Weights that an engine
    quantises itself are sent as the learner has them.
    """
    wanted = DTYPES[engine.dtype]
    wide = weight.ndim < 2 or ROUTER.search(name) is not None
    wide = wide or (engine.lm_head_dtype == "float32" and HEAD.search(name) is not None)
    if wide or engine.quantization is not None or weight.dtype.itemsize <= wanted.itemsize:
        return weight.dtype
    return wanted
