"""The learner's side of a measurement. The functions run one after another in one process, which keeps the learner."""

from __future__ import annotations

import pickle  # nosec B403
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainer_core.episodes import Group
from trainer_core.spec import RunSpec

if TYPE_CHECKING:
    from trainer_core.update.learner import Learner


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """Work that the learner did. Seconds are wall time."""

    updates: list[tuple[float, float]]
    """(prompt and completion tokens, seconds) of updates of two sizes."""
    update_seconds: float
    """Seconds of the update of a whole batch."""
    publish_seconds: float


@dataclass(slots=True)
class _MeasuredLearner:
    learner: Learner
    spec: RunSpec
    groups: list[Group]
    step: int = 0


_kept: _MeasuredLearner | None = None
"""Learner of the measuring process, and None in any other."""

_REPEATS = 3


def start(spec: RunSpec, policy: str) -> None:
    """Load the policy as one rank would."""
    global _kept
    import torch

    from trainer_core.update.learner import Learner

    torch.set_num_threads(1)
    cut = spec.parallelism
    single = {
        "learner_ranks": 1,
        "context_parallel_size": 1,
        "max_tokens_per_microbatch": cut.max_tokens_per_microbatch * cut.context_parallel_size,
    }
    alone = spec.model_copy(update={"parallelism": cut.model_copy(update=single)})
    # Only the platform knows the teacher. One of the policy's own size costs the same.
    _kept = _MeasuredLearner(Learner(policy, alone, teacher=policy), alone, [])


def measure(groups: list[Group]) -> LearnedFrom:
    """Time updates on the whole batch and on half of it, then publish the weights."""
    kept = _live()
    kept.groups = groups
    half = groups[: max(kept.spec.schedule.updates_per_step, len(groups) // 2)]
    _update(kept, groups)
    _update(kept, half)
    whole = [(_tokens(groups), _update(kept, groups)) for _ in range(_REPEATS)]
    part = [(_tokens(half), _update(kept, half)) for _ in range(_REPEATS)]
    started = time.perf_counter()
    for layer in kept.learner.layers():
        _ = [tensor.clone() for tensor in layer.values()]  # as the store copies it
    kept.learner.score([[token % 16 for token in range(16)]] * 4)
    publish = time.perf_counter() - started
    schedule = kept.spec.schedule
    # The fixed cost is wanted per update; each update passes over its share of the tokens once.
    readings = [(tokens / schedule.updates_per_step, seconds / schedule.updates) for tokens, seconds in whole + part]
    return LearnedFrom(readings, sum(seconds for _, seconds in whole) / _REPEATS, publish)


def repeat(seconds: float) -> float:
    """Learn for about ``seconds``. Returns the mean wall time of an update on the whole batch."""
    kept = _live()
    started = time.perf_counter()
    count = 0
    while count == 0 or time.perf_counter() - started < seconds:
        _update(kept, kept.groups)
        count += 1
    return (time.perf_counter() - started) / count


def _live() -> _MeasuredLearner:
    if _kept is None:
        raise RuntimeError("the learner was not started")
    return _kept


def _update(kept: _MeasuredLearner, groups: list[Group]) -> float:
    """Run one update, including the transfer of the groups from the loop's process. Returns its wall time."""
    kept.step += 1
    started = time.perf_counter()
    arrived: list[Group] = pickle.loads(pickle.dumps(groups, protocol=5))  # nosec B301
    kept.learner.update(arrived, kept.spec, kept.step)
    return time.perf_counter() - started


def _tokens(groups: list[Group]) -> float:
    return float(sum(len(t.prompt_ids) + t.length for group in groups for t in group.trajectories))
