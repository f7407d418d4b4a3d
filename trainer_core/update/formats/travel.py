"""Number types in which weights travel from the learner to the engines."""

import re

import torch
from torch import Tensor

from trainer_core.spec.generation.rollout import Engine
from trainer_core.update.formats.precision import DTYPES

HEAD = re.compile(r"(^|\.)(lm_head|embed_tokens)\.weight$")
"""The output layer, or the embedding that it may be tied to."""
ROUTER = re.compile(r"\.(gate|router)\.")
"""Routers of experts, which engines keep in float32 where the model says so; small."""


def travel_type(name: str, weight: Tensor, engine: Engine) -> torch.dtype:
    """Type in which ``weight`` travels: the narrower of the learner's and the engine's.

    Of what an engine may keep wider than its own type nothing is rounded away: vectors, routers, and with
    ``lm_head_dtype: float32`` the output layer or the embedding that it may be tied to. What an engine quantises by
    itself it gets as the learner has it.
    """
    wanted = DTYPES[engine.dtype]
    wide = weight.ndim < 2 or ROUTER.search(name) is not None
    wide = wide or (engine.lm_head_dtype == "float32" and HEAD.search(name) is not None)
    if wide or engine.quantization is not None or weight.dtype.itemsize <= wanted.itemsize:
        return weight.dtype
    return wanted
