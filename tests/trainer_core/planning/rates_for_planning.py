"""Rates of a machine whose steps can be worked out by hand."""

from typing import Any

from trainer_core.planning.rates import Rates
from trainer_core.planning.workload import Workload

BY_HAND: dict[str, Any] = {
    "source": "made up for a test",
    # Up to eight sequences: a token of each every 0.1 s.
    "engine": {"decode": [{"running": 8, "tokens_per_s": 80}], "prefill_tokens_per_s": 40},
    "learner": {"tokens_per_s": 440, "seconds_per_update": 0.5},
    "sync": {"publish_seconds": 0.25, "load_seconds": 0.5},
    "reward_seconds": 1.0,
    "loop_seconds": 0.75,
    "prompt_tokens": 10,
    "lengths": {"type": "empirical", "tokens": [100]},
}


def rates(**changes: Any) -> Rates:
    """``BY_HAND``; ``changes`` replace members, and are merged into those that are tables themselves."""
    merged = {
        name: {**value, **changes.get(name, {})}
        if isinstance(value, dict) and name != "lengths"
        else changes.get(name, value)
        for name, value in BY_HAND.items()
    }
    return Rates.model_validate({**merged, **{name: changes[name] for name in changes if name not in merged}})


def work(**changes: Any) -> Workload:
    """Two groups of four, 100 tokens each: 8 sequences that generate for 10 s behind a prefill of 2 s."""
    given = {"prompts": 2, "group_size": 4, "max_tokens": 200, "max_running": 8, "updates": 1, "rates": rates()}
    return Workload(**{**given, **changes})
