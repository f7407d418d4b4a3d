"""Experience replay (DOTS, arXiv 2506.05316): recent groups with a signal return, with the versions that sampled them.

Groups are added after their advantages are known, and keep them. Rewards are not shaped twice, and a group of another
step does not affect the statistics of this one.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from trainer_core.episodes import Group
from trainer_core.spec.run import RunSpec
from trainer_core.steering.saved_groups import pack_group, unpack_group


@dataclass(slots=True)
class _ReplayEntry:
    group: Group
    version: int
    """Version of the weights that sampled the oldest token."""
    uses: int = 0


class ReplayBuffer:
    """A first-in, first-out buffer of groups. Seed and step determine which groups return, so a resumed run draws the
    same ones.

    Example:
        >>> old = replay.take(step, version=step - 1)  # before the update
        >>> learner.update(batch.groups + old, spec, step)
        >>> replay.offer(batch.groups)  # after it
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec, self._seed = spec, spec.schedule.seed
        self._kept: deque[_ReplayEntry] = deque()

    def __len__(self) -> int:
        return len(self._kept)

    def offer(self, groups: Iterable[Group]) -> int:
        """Keep the groups that have a signal and sampled tokens; the oldest make room. Returns how many were added."""
        replay = self._spec.batching.replay
        if replay is None:
            return 0
        held = {kept.group.group_id for kept in self._kept}
        taken = 0
        for group in groups:
            version = _oldest_version(group)
            if version is None or group.group_id in held or not has_signal(group):
                continue
            self._kept.append(_ReplayEntry(group, version))
            taken += 1
        while len(self._kept) > replay.capacity:
            self._kept.popleft()
        return taken

    def take(self, step: int, version: int) -> list[Group]:
        """Groups that join the batch of ``step``, which ``version`` learns; groups too old by then are dropped.

        The learner's fields in their trajectories are cleared; advantages, rewards and versions stay.
        """
        replay = self._spec.batching.replay
        if replay is None:
            return []
        self._kept = deque(kept for kept in self._kept if version - kept.version <= replay.max_age)
        rng = Random(f"{self._seed}:replay:{step}")
        chosen = rng.sample(list(self._kept), min(replay.per_step, len(self._kept)))
        for kept in chosen:
            kept.uses += 1
            for trajectory in kept.group.trajectories:
                trajectory.learner_logprobs = trajectory.entropy = None
        self._kept = deque(kept for kept in self._kept if kept.uses < replay.uses)
        return [kept.group for kept in chosen]

    def update_spec(self, spec: RunSpec) -> None:
        """Continue under other limits."""
        self._spec = spec

    def state(self) -> dict[str, Any]:
        """State for the checkpoint: the stored groups themselves, as JSON."""
        return {"groups": [[pack_group(kept.group), kept.version, kept.uses] for kept in self._kept]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._kept = deque(_ReplayEntry(unpack_group(group), version, uses) for group, version, uses in state["groups"])


def _oldest_version(group: Group) -> int | None:
    versions = [int(t.versions[t.sampled].min()) for t in group.trajectories if t.sampled.any()]
    return min(versions, default=None)


def has_signal(group: Group) -> bool:
    """Whether the computed rewards differ within the group."""
    return len({t.reward for t in group.trajectories if t.reward is not None and t.verdict.error is None}) > 1
