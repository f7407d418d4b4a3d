"""Rewards: what a completion is worth. Pure Python without torch, so that the web tier can try a reward out.

Its names are loaded when they are asked for, as those of ``trainer_core.spec`` are, and for the same reason.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainer_core.rewards.definition import RewardDefinition
    from trainer_core.rewards.sample import Sample, split_thinking

__all__ = ["RewardDefinition", "Sample", "split_thinking"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'definition' if name == 'RewardDefinition' else 'sample'}"), name)
