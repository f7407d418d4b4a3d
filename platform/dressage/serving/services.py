"""Writes of servings: by the caller, and by the worker that answers."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from dressage.cluster_jobs import life as jobs
from dressage.cluster_jobs.clusters import send
from dressage.cluster_jobs.models import OPEN
from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid
from dressage.common.secrets import secret_hash
from dressage.common.storable import clean
from dressage.jobs.room import require_room
from dressage.policies.contents import policy_contents
from dressage.policies.models import Policy
from dressage.policies.selectors import policy_by_name
from dressage.rewards.judges.selectors import for_workers, judge_endpoints
from dressage.runs.life.services import require_cluster
from dressage.serving import selectors
from dressage.serving.models import Serving, ServingState, WaitingQuestion
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.serving import (
    ServedAnswer,
    ServedQuestion,
    ServingExchange,
    ServingGateway,
    ServingJob,
    ServingResult,
)

MOST_POLICIES = 4
"""Policies that one team may serve at the same time."""
IDLE_S = 3600.0
"""Seconds without a request after which a served policy is stopped."""
MOST_TOGETHER = 64
"""Completions of a served policy that are generated at the same time; more wait."""
_HANDED_OUT_BYTES = 8 << 20
"""Limit on the total length of the questions in one exchange."""


@transaction.atomic
def serve_policy(team: Team, actor: Actor, *, policy: str, cluster: str | None = None) -> tuple[Serving, str]:
    """Start to serve a policy over HTTP. The cluster is notified on commit.

    Args:
        team: the owner.
        actor: who requests it.
        policy: slug of the policy.
        cluster: name of the cluster that should serve it; None leaves it to the platform.

    Returns:
        The serving, and the key for its clients, which is shown only this once.

    Raises:
        Problem: 422 for a policy or cluster that does not exist, or a policy without a chat template; 409 if it is
            served already; 429 if the team serves too many.
    """
    require_cluster(cluster)
    found = _servable(team, policy)
    open_ones = selectors.servings(team).filter(state__in=OPEN)
    require_room(open_ones, team, MOST_POLICIES, plural=Serving.plural, code="too_many_servings", retry_s=60)
    if open_ones.filter(policy=found).exists():
        raise conflict(
            f"The policy {policy!r} is served already: use its key, or stop it first.", code="served_already"
        )
    key = f"dgw_{secrets.token_urlsafe(32)}"
    columns = {"asked_for": found.id, "endpoints": {}, "asked_at": timezone.now(), "cluster": cluster or ""}
    serving = jobs.create_job(Serving, team, actor, policy=found, key_sha256=secret_hash(key), **columns)
    record_audit(team, actor, "serving.start", "serving", serving.id, after={"policy": policy})
    send(serving)
    return serving, key


def _servable(team: Team, slug: str) -> Policy:
    """The policy of that slug, if it has a chat. Raises a 422 problem."""
    try:
        found = policy_by_name(team, slug)
    except LookupError as error:
        raise invalid("/policy", str(error), code="unknown_reference") from error
    contents, fault = policy_contents(found)
    if contents is None:
        raise invalid("/policy", fault)
    if contents["chat_template"] is None:
        raise invalid("/policy", f"The policy {slug!r} has no chat template: clients could send it no messages.")
    return found


@transaction.atomic
def stop_serving(team: Team, actor: Actor, serving_id: str) -> Serving:
    """Stop to serve a policy; its worker ends by itself within seconds. If it is over already, nothing changes.

    Raises:
        Problem: 404 if it does not exist.
    """
    selectors.serving(team, serving_id)
    serving = Serving.objects.select_for_update(of=("self",)).select_related("policy").get(pk=serving_id)
    if serving.state in OPEN:
        jobs.end(serving, ServingState.DONE)
        record_audit(team, actor, "serving.stop", "serving", serving.id)
    return serving


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
    if serving.policy is not None:
        try:
            folder = Path(policy_by_name(serving.team, serving.policy.slug).path)
        except LookupError as error:
            raise Problem(422, "Invalid request", str(error), code="unknown_reference") from error
        model = JudgeEndpoint(model=serving.policy.slug, model_dir=folder, max_in_flight=MOST_TOGETHER)
        gateway = ServingGateway(key_sha256=serving.key_sha256, idle_s=IDLE_S)
        return ServingJob(id=serving.id, models={model.model: model}, lease_s=Serving.lease_s, gateway=gateway)
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
    """End a serving that its worker has ended, with the reason if it failed. Raises a 409 problem if it is over."""
    serving = Serving.objects.select_for_update().get(pk=serving_id)
    jobs.require_open(serving)
    serving.questions.all().delete()
    return jobs.end(serving, ServingState.DONE) if result.error is None else jobs.fail(serving, result.error)
