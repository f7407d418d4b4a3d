"""Queries for judge endpoints."""

from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet
from pydantic import SecretStr

from dressage.common.api.problems import Problem, not_found
from dressage.policies.selectors import policy_by_name
from dressage.rewards.judges.addresses import refusal
from dressage.rewards.judges.secrets import UnsealError, unseal
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from trainer_core.link.judge import JudgeEndpoint as LinkJudgeEndpoint


def judge_endpoints(team: Team) -> QuerySet[JudgeEndpoint]:
    """The team's judges."""
    return JudgeEndpoint.objects.for_team(team)


def judge_endpoint(team: Team, endpoint_id: str) -> JudgeEndpoint:
    """One judge. Raises a 404 problem."""
    found = judge_endpoints(team).filter(id=endpoint_id).first()
    if found is None:
        raise not_found("judge endpoint")
    return found


def unfit(endpoint: JudgeEndpoint) -> str | None:
    """Reason why the judge cannot be called: its address is not allowed, its key is unreadable, or its policy gone."""
    reason = refusal(endpoint.base_url) if endpoint.base_url else None
    if reason:
        return f"The judge endpoint {endpoint.slug!r} cannot be called: {reason}"
    try:
        _api_key(endpoint)
        if endpoint.policy:
            policy_by_name(endpoint.team, endpoint.policy)
    except UnsealError:
        return f"The key of the judge endpoint {endpoint.slug!r} can no longer be read: enter it again."
    except LookupError as error:
        return f"The judge endpoint {endpoint.slug!r} serves a policy that cannot be used: {error}"
    return None


def for_workers(endpoint: JudgeEndpoint) -> LinkJudgeEndpoint:
    """The judge in the form for workers, with its key. Only for the link; never for the API, logs, events or the audit
    log.

    Raises:
        Problem: 422 if it is not fit for use; see ``unfit``.
    """
    reason = unfit(endpoint)
    if reason:
        raise Problem(422, "Invalid request", reason, code="unfit_judge")
    api_key = _api_key(endpoint)
    model_dir = policy_by_name(endpoint.team, endpoint.policy).path if endpoint.policy else None
    return LinkJudgeEndpoint(
        base_url=endpoint.base_url or None,
        model=endpoint.model,
        api_key=None if api_key is None else SecretStr(api_key),
        model_dir=None if model_dir is None else Path(model_dir),
        networks=tuple(settings.JUDGE_NETWORKS),
        max_in_flight=endpoint.max_in_flight,
        timeout_s=endpoint.timeout_s,
        retries=endpoint.retries,
        price_prompt=endpoint.price_prompt,
        price_completion=endpoint.price_completion,
    )


def _api_key(endpoint: JudgeEndpoint) -> str | None:
    """The decrypted key; None if there is none. Raises UnsealError.

    A rotation may have re-encrypted it since the row was read, and dropped the old key. The row is then read again.
    """
    sealed = endpoint.api_key_sealed
    try:
        return unseal(sealed) if sealed else None
    except UnsealError:
        now = JudgeEndpoint.objects.filter(pk=endpoint.pk).values_list("api_key_sealed", flat=True).first()
        if now is None or now == sealed:
            raise
        return unseal(now) if now else None
