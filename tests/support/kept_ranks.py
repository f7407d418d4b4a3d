"""Learner ranks that outlive their group: each is a process that imports for eight seconds."""

from __future__ import annotations

from typing import Any

import ray

from worker.learner.ranks import LearnerWorker

SETTLED_S = 60.0
"""Seconds that a rank may take to end what a test has left it with."""


class KeptRanks:
    """``ray`` as the learner's module sees it: each rank's actor is made once, and is not killed.

    An actor that is lent again begins as a new one does, but for the process group that it is in.
    """

    def __init__(self, **options: Any) -> None:
        """``options`` are those of the actors, whatever a group asks for."""
        self._options = options
        self._actors: dict[tuple[int, int], Any] = {}
        """By rank and number of ranks."""

    def bring_up(self, *worlds: int) -> None:
        """Make the ranks of groups of these sizes, and have them import all that they need."""
        places = [(rank, world) for world in worlds for rank in range(world)]
        ray.get([self.remote(*place, 1, None).__ray_call__.remote(_import_learner) for place in places])

    def remote(self, *arguments: Any) -> Any:
        """First the class, then the rank, the number of ranks and of threads, and its place among the cores."""
        if arguments[0] is LearnerWorker:
            return self
        place = arguments[:2]
        if place in self._actors:
            self._actors[place].__ray_call__.remote(LearnerWorker.__init__, *arguments)
        else:
            self._actors[place] = ray.remote(LearnerWorker).options(**self._options).remote(*arguments)
        return self._actors[place]

    def options(self, **_: Any) -> KeptRanks:
        return self

    def kill(self, actor: Any) -> None:
        """The actor serves the next group."""

    def settle(self) -> None:
        """End ranks of which one still waits for another, or has died: the next group of their size gets new ones."""
        for world in {world for _, world in self._actors}:
            ready = [actor.__ray_ready__.remote() for (_, size), actor in self._actors.items() if size == world]
            try:
                ray.get(ready, timeout=SETTLED_S)
            except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
                self._end(world)

    def end(self) -> None:
        """End all ranks."""
        for world in {world for _, world in self._actors}:
            self._end(world)

    def _end(self, world: int) -> None:
        for place in [place for place in self._actors if place[1] == world]:
            ray.kill(self._actors.pop(place))

    def __getattr__(self, name: str) -> Any:
        return getattr(ray, name)


def _import_learner(_: LearnerWorker) -> None:
    from trainer_core.update import learner  # noqa: F401
