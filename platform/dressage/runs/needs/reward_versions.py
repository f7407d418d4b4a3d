"""The reward versions of a run: the one it is trained on, those that only watch, and their requirements."""

from collections.abc import Iterable, Iterator
from typing import Any

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.rewards import needs
from dressage.rewards.models import RewardVersion
from dressage.rewards.selectors import version_by_ref
from dressage.teams.models import Team
from trainer_core.link.reward import RewardVersion as LinkRewardVersion
from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec

TARGETS = ("reward.definition", "reward.shadow")
"""Controls whose value names reward versions."""


def errors(team: Team, spec: RunSpec) -> list[FieldError]:
    """Faults in the rewards that ``spec`` names: missing shadow versions, judges, and reward models.

    The caller checks whether the version that is trained on exists.
    """
    found: list[FieldError] = []
    for pointer, ref in _refs(spec):
        try:
            definition = _definition(version_by_ref(team, ref))
        except LookupError as error:
            if pointer != "/spec/reward/definition":
                found.append(FieldError(pointer=pointer, detail=str(error)))
            continue
        found += [
            FieldError(pointer=pointer, detail=f"{ref}: {fault['detail']}") for fault in needs.missing(team, definition)
        ]
    evolve = spec.reward.evolve
    if evolve is not None:
        faults = needs.judge_faults(team, [evolve.endpoint]).values()
        found += [FieldError(pointer="/spec/reward/evolve/endpoint", detail=detail) for detail in faults]
    return found


def bundle_parts(team: Team, spec: RunSpec, trained: RewardVersion) -> dict[str, Any]:
    """``{judges, reward_models, shadow}`` of a bundle, with the keys of judges: only for the link.

    ``judges`` and ``reward_models`` are the union over all versions, plus the judge that proposes rubric items.
    ``shadow`` holds versions by reference. Raises a 422 problem for a version that is gone.
    """
    shadow = for_workers(team, spec.reward.shadow)
    evolve = spec.reward.evolve
    own = needs.for_workers(team, [_definition(trained)], [evolve.endpoint] if evolve is not None else [])
    judges, reward_models = dict(own.judges), dict(own.reward_models)
    for version in shadow.values():
        judges |= version.judges
        reward_models |= version.reward_models
    return {"judges": judges, "reward_models": reward_models, "shadow": shadow}


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
        needed = needs.for_workers(team, [definition])
        found[ref] = LinkRewardVersion(definition=definition, judges=needed.judges, reward_models=needed.reward_models)
    return found


def named_by(target: str, value: Any) -> list[str]:
    """The reward versions named by a control's value."""
    if target not in TARGETS:
        return []
    return [value] if isinstance(value, str) else list(value)


def _refs(spec: RunSpec) -> Iterator[tuple[str, str]]:
    yield "/spec/reward/definition", spec.reward.definition
    for index, ref in enumerate(spec.reward.shadow):
        yield f"/spec/reward/shadow/{index}", ref


def _definition(version: RewardVersion) -> RewardDefinition:
    return RewardDefinition.model_validate(version.definition)
