"""Refusals of policies that transformers or vLLM cannot load, given before anything starts and fails with their
messages."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from trainer_core.support.architectures import ARCHITECTURES
from trainer_core.support.families import FIXED_ATTENTION, RECURRENT
from trainer_core.support.known_classes import ENGINE_ONLY, IN_BOTH, LEARNER_ONLY, LIBRARIES, MODEL_TYPES

_SIMILAR = 0.75
"""Similarity of two family names, 0 to 1, from which one may be a misspelling of the other."""


def of_libraries(name: str, config: Mapping[str, Any]) -> str | None:
    """Sentences about a policy that one of the libraries does not load, or None; the caller suggests an alternative.

    Args:
        name: class of the policy.
        config: its ``config.json``.
    """
    learner, engine = LIBRARIES
    if name not in IN_BOTH:
        lacking = engine if name in LEARNER_ONLY else learner if name in ENGINE_ONLY else f"both {learner} and {engine}"
        return f"{name} is unknown to {lacking}, and code shipped with a model is never run.{_conversion(name)}"
    kind = config.get("model_type")
    if kind is not None and kind not in MODEL_TYPES:
        return (
            f"config.json has the model_type {str(kind)[:80]!r}, which {learner} does not know as a language model's:"
            f" write the one of other {name} policies."
        )
    return None


def _conversion(name: str) -> str:
    near = nearest_class(name)
    if near is None:
        return ""
    return f" The closest that learner and engine know is {near}: if its weights are the same, write that name instead."


def nearest_class(name: str) -> str | None:
    """The class with the most similar name that loads and is not refused; tested classes come first."""
    others = sorted(one for one in IN_BOTH if _family(one) not in RECURRENT | FIXED_ATTENTION)
    for classes in (ARCHITECTURES, others):
        by_family = {_family(one).lower(): one for one in classes}
        if found := get_close_matches(_family(name).lower(), by_family, n=1, cutoff=_SIMILAR):
            return by_family[found[0]]
    return None


def _family(name: str) -> str:
    return name.removesuffix("ForCausalLM").removesuffix("LMHeadModel")
