"""Writes of servings: by the caller, and by the worker that answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from dressage.cluster_jobs import life as jobs
from dressage.cluster_jobs.clusters import send
from dressage.cluster_jobs.models import OPEN
from dressage.common.actors import Actor
from dressage.common.storable import clean
from dressage.rewards.judges.selectors import for_workers, judge_endpoints
from dressage.serving.models import Serving, ServingState, WaitingQuestion
from dressage.teams.models import Team
from trainer_core.link.serving import ServedAnswer, ServedQuestion, ServingExchange, ServingJob, ServingResult

_HANDED_OUT_BYTES = 8 << 20
"""Limit on the total length of the questions in one exchange."""


@transaction.atomic
def open_serving(team: Team, actor: Actor, asked_for: str, endpoints: Mapping[str, str]) -> Serving:
    """The caller's open serving, or a new one. The cluster is notified of a new one on commit.

    Questions left by an earlier process are deleted.

    Args:
        team: the owner.
        actor: the person on whose behalf the questions are sent.
        asked_for: id of the caller.
        endpoints: slugs of judge endpoints that the cluster serves, by the names that questions use for them.
    """
    found = Serving.objects.for_team(team).select_for_update().filter(asked_for=asked_for, state__in=OPEN).first()
    if found is not None and found.endpoints == dict(endpoints):
        found.questions.all().delete()
        touch(found.id)
        return found
    if found is not None:
        end_serving(found)
    columns = {"asked_for": asked_for, "endpoints": dict(endpoints), "asked_at": timezone.now()}
    serving = jobs.create_job(Serving, team, actor, **columns)
    send(serving)
    return serving


def touch(serving_id: str) -> None:
    """Record that the caller still needs the serving."""
    Serving.objects.filter(pk=serving_id).update(asked_at=Now())


def put(serving_id: str, questions: Mapping[str, dict[str, Any]]) -> None:
    """Queue questions: documents of ``ServedQuestion`` by their ids."""
    waiting = (WaitingQuestion(id=key, serving_id=serving_id, document=one) for key, one in questions.items())
    WaitingQuestion.objects.bulk_create(waiting)


@transaction.atomic
def fetch(serving_id: str) -> dict[str, dict[str, Any]]:
    """The answers that have arrived, by the ids of their questions. Each is returned once."""
    found = WaitingQuestion.objects.filter(serving=serving_id, answer__isnull=False)
    answers: dict[str, Any] = dict(found.values_list("id", "answer"))
    WaitingQuestion.objects.filter(pk__in=answers).delete()
    return answers


@transaction.atomic
def close_serving(serving_id: str) -> None:
    """End a serving that is no longer needed, unless it is over. Its worker stops by itself."""
    serving = Serving.objects.select_for_update().get(pk=serving_id)
    if serving.state in OPEN:
        end_serving(serving)


def end_serving(serving: Serving) -> None:
    """End a serving that is no longer needed. The caller has locked its row."""
    serving.questions.all().delete()
    jobs.end(serving, ServingState.DONE)


def job_for_worker(serving: Serving) -> ServingJob:
    """A serving in the form sent to its worker: only for the link. Raises a 422 problem if a model cannot be used."""
    found = {one.slug: one for one in judge_endpoints(serving.team).filter(slug__in=serving.endpoints.values())}
    models = {name: for_workers(found[slug]) for name, slug in serving.endpoints.items() if slug in found}
    return ServingJob(id=serving.id, models=models, lease_s=Serving.lease_s)


@transaction.atomic
def exchange(serving_id: str, given: ServingExchange) -> Sequence[ServedQuestion]:
    """Store a worker's answers and return its next questions. Raises a 409 problem if the serving is over."""
    serving = Serving.objects.select_for_update(no_key=True).get(pk=serving_id)
    jobs.require_open(serving)
    for answer in given.answers:
        _keep(serving, answer)
    if given.answers and serving.tries > 1:
        serving.tries = 1  # a worker that makes progress does not count as lost
        serving.save(update_fields=["tries"])
    waiting = serving.questions.filter(answer__isnull=True).exclude(pk__in=given.holding).order_by("created_at", "id")
    found: list[ServedQuestion] = []
    size = 0
    for key, document in waiting.values_list("id", "document")[: given.room]:
        size += len(str(document))
        if found and size > _HANDED_OUT_BYTES:
            break
        found.append(ServedQuestion.model_validate({**document, "id": key}))
    return found


def _keep(serving: Serving, answer: ServedAnswer) -> None:
    """Store an answer, without text that cannot be stored; the first one counts."""
    document = clean(answer.model_dump(mode="json", exclude={"id"}))
    serving.questions.filter(pk=answer.id, answer__isnull=True).update(answer=document)


@transaction.atomic
def take_result(serving_id: str, result: ServingResult) -> Serving:
    """Store the reason why a worker no longer serves. Raises a 409 problem if the serving is over."""
    serving = Serving.objects.select_for_update().get(pk=serving_id)
    jobs.require_open(serving)
    serving.questions.all().delete()
    return jobs.fail(serving, result.error)
