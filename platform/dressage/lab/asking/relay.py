"""Relays requests of a job's process to models that the cluster serves, and returns the answers."""

from collections.abc import Mapping
from typing import Any

from dressage.cluster_jobs.models import OPEN
from dressage.common.actors import Actor
from dressage.common.ids import new_id
from dressage.jobs.models import JobState
from dressage.lab.models import LabJob
from dressage.serving import services
from dressage.serving.models import Serving, WaitingQuestion
from trainer_core.link.serving import ServedAnswer

EVERY_S = 0.2
"""Interval at which answers are polled, in seconds."""


class ServedRelay:
    """The serving of one job, while one of its processes runs."""

    def __init__(self, job: LabJob, endpoints: Mapping[str, str]) -> None:
        """``endpoints``: slugs of the judge endpoints served, by the names that requests use."""
        self._serving = services.open_serving(job.team, Actor(**job.actor), job.pk, endpoints)
        self._keys: dict[str, str] = {}
        """Keys of the process, by the ids of its requests."""
        self._has_answered = False

    @property
    def stage(self) -> str | None:
        """Stage of the job before the first answer; None after it."""
        if self._has_answered:
            return None
        return (
            "Waiting for the cluster"
            if self._serving.state == JobState.QUEUED
            else ("The cluster is starting the model")
        )

    def ask(self, asked: list[dict[str, Any]]) -> None:
        """Forward the requests of the process."""
        if not asked:
            return
        ids = {new_id(WaitingQuestion.id_prefix): one for one in asked}
        self._keys |= {question_id: one["key"] for question_id, one in ids.items()}
        services.put(self._serving.pk, {question_id: one["question"] for question_id, one in ids.items()})

    def answers(self) -> dict[str, dict[str, Any]]:
        """The answers received, by the process's own keys. Once nothing serves any more, all pending ones."""
        services.touch(self._serving.pk)
        self._serving = Serving.objects.get(pk=self._serving.pk)
        found = services.fetch(self._serving.pk)
        self._has_answered = self._has_answered or bool(found)
        if self._serving.state not in OPEN:
            reason = self._serving.error or "it was considered unused."
            lost = ServedAnswer(id="", error=f"The cluster does not serve the model: {reason}"[:2000])
            document = lost.model_dump(mode="json", exclude={"id"})
            found = {**dict.fromkeys(self._keys, document), **found}
        return {self._keys.pop(one): answer for one, answer in found.items() if one in self._keys}

    def close(self) -> None:
        """End the serving."""
        services.close_serving(self._serving.pk)
