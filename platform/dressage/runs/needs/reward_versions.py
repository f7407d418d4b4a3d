"""The reward versions of a run: the one it is trained on, those that only watch, and their requirements."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.rewards import needs
from dressage.rewards.judges import records
from dressage.rewards.models import RewardVersion
from dressage.rewards.selectors import version_by_ref
from dressage.teams.models import Team
from trainer_core.link.bundle import RewardRef
from trainer_core.link.reward import RewardVersion as LinkRewardVersion
from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec

TARGETS = ("reward.definition", "reward.shadow")
"""Controls whose value names reward versions."""


def errors(team: Team, spec: RunSpec, *, begun: bool = False) -> list[FieldError]:
    """Faults in the rewards that ``spec`` names: missing shadow versions, judges, and reward models.

    The caller checks whether the version that is trained on exists.

    Args:
        team: the owner of the versions.
        spec: the spec that names them.
        begun: the run has begun with them, and keeps their judges, whatever the endpoints are now.
    """
    found: list[FieldError] = []
    for pointer, ref in _refs(spec):
        try:
            version = version_by_ref(team, ref)
        except LookupError as error:
            if pointer != "/spec/reward/definition":
                found.append(FieldError(pointer=pointer, detail=str(error)))
            continue
        faults = [fault["detail"] for fault in needs.missing(team, _definition(version))]
        faults += () if begun else records.faults(team, version)
        found += [FieldError(pointer=pointer, detail=f"{ref}: {fault}") for fault in faults]
    evolve = None if spec.examples is not None else spec.reward.evolve
    if evolve is not None:
        faults = list(needs.judge_faults(team, [evolve.endpoint]).values())
        found += [FieldError(pointer="/spec/reward/evolve/endpoint", detail=detail) for detail in faults]
    return found


def errors_of_change(team: Team, before: RunSpec, changed: RunSpec) -> list[FieldError]:
    """Faults in the judges of versions that a control brings into a run. Missing versions have none here.

    A run has one judge of each slug, so versions that record different ones do not go together.
    """
    known = {ref for _, ref in _refs(before)}
    versions: dict[str, RewardVersion] = {}
    for _, ref in (*_refs(before), *_refs(changed)):
        with suppress(LookupError):
            versions[ref] = version_by_ref(team, ref)
    found = [
        FieldError(pointer=pointer, detail=f"{ref}: {fault}")
        for pointer, ref in _refs(changed)
        if ref in versions and ref not in known
        for fault in records.faults(team, versions[ref])
    ]
    pointers = {ref: pointer for pointer, ref in _refs(changed)}
    for ref, detail in records.conflicts(versions):
        if ref in pointers:
            found.append(FieldError(pointer=pointers[ref], detail=detail))
    return found


def bundle_parts(team: Team, spec: RunSpec, trained: RewardVersion | None) -> dict[str, Any]:
    """``{reward, judges, reward_models, shadow}`` of a bundle, with the keys of judges: only for the link.

    Empty for a run that learns from rows. ``judges`` and ``reward_models`` are the union over all versions, plus the
    judge that proposes rubric items. ``shadow`` holds versions by reference. Raises a 422 problem for a version that is
    gone.
    """
    if spec.examples is not None:
        return {}
    assert trained is not None
    shadow = for_workers(team, spec.reward.shadow)
    evolve = spec.reward.evolve
    proposers = [evolve.endpoint] if evolve is not None else []
    own = needs.for_workers(team, [_definition(trained)], proposers, records.recorded(team, trained))
    judges, reward_models = dict(own.judges), dict(own.reward_models)
    for version in shadow.values():
        judges |= version.judges
        reward_models |= version.reward_models
    reward = RewardRef(ref=trained.ref, definition=_definition(trained))
    return {"reward": reward, "judges": judges, "reward_models": reward_models, "shadow": shadow}


def for_workers(team: Team, refs: Iterable[str]) -> dict[str, LinkRewardVersion]:
    """Versions by reference, with the keys of judges: only for the link.

    Raises:
        Problem: 422 for a version that is gone.
    """
    found = {}
    for ref in refs:
        try:
            version = version_by_ref(team, ref)
        except LookupError as error:
            raise Problem(422, "Invalid request", str(error), code="unknown_reference") from error
        definition = _definition(version)
        needed = needs.for_workers(team, [definition], records=records.recorded(team, version))
        found[ref] = LinkRewardVersion(definition=definition, judges=needed.judges, reward_models=needed.reward_models)
    return found


def record_judges(team: Team, spec: RunSpec) -> None:
    """Record what the judges of the named versions are, if earlier releases have not: a run is about to use them."""
    for _, ref in _refs(spec):
        with suppress(LookupError):
            records.recorded(team, version_by_ref(team, ref))


def named_by(target: str, value: Any) -> list[str]:
    """The reward versions named by a control's value."""
    if target not in TARGETS:
        return []
    return [value] if isinstance(value, str) else list(value)


def reward_of(document: Mapping[str, Any]) -> str:
    """The reward version that a stored spec trains on; empty for a run that learns from rows."""
    return str((document.get("reward") or {}).get("definition", ""))


def _refs(spec: RunSpec) -> Iterator[tuple[str, str]]:
    if spec.examples is not None:
        return
    yield "/spec/reward/definition", spec.reward.definition
    for index, ref in enumerate(spec.reward.shadow):
        yield f"/spec/reward/shadow/{index}", ref


def _definition(version: RewardVersion) -> RewardDefinition:
    return RewardDefinition.model_validate(version.definition)
