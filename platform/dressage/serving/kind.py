"""Servings as a kind of job."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.models import OPEN
from dressage.cluster_jobs.sweep import ago, for_each
from dressage.common.api.problems import validated
from dressage.serving.models import Serving
from dressage.serving.services import end_serving, exchange, job_for_worker, take_result
from trainer_core.link.base import Message
from trainer_core.link.jobs import SERVING, JobKind
from trainer_core.link.serving import (
    ServingExchange,
    ServingJob,
    ServingProgress,
    ServingQuestions,
    ServingResult,
)

UNWANTED_S = 60
"""Seconds after which a serving that its caller, a job, no longer uses is over. A policy's own server stops it."""
KEPT_S = 86_400
"""Seconds for which finished servings are stored."""


class ServingKind(ClusterKind[Serving]):
    """Models that the cluster serves. Fails after three lost workers in a row without an answer to the platform."""

    model = Serving
    names: ClassVar[JobKind] = SERVING
    progress = ServingProgress
    claimed = "the model"
    lost_while = "served the model: the cluster may lack the memory for it."

    def message(self, job: Serving) -> ServingJob:
        return job_for_worker(job)

    def take_result(self, job_id: str, answer: Any) -> Serving:
        return take_result(job_id, validated(ServingResult, answer))

    def requests(self) -> Mapping[str, Callable[[str, Any], Message]]:
        return {"exchange": _exchange}

    def sweep(self) -> None:
        """End servings that are no longer wanted, and delete old ones."""
        unwanted = Serving.objects.filter(state__in=OPEN, policy=None, asked_at__lt=ago(UNWANTED_S))
        for_each(unwanted, end_serving)
        Serving.objects.exclude(state__in=OPEN).filter(finished_at__lt=ago(KEPT_S)).delete()


def _exchange(job_id: str, body: Any) -> ServingQuestions:
    return ServingQuestions(questions=tuple(exchange(job_id, validated(ServingExchange, body))))
