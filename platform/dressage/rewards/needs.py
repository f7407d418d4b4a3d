"""Dependencies of a definition: judges that it calls and reward models that it loads."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.policies.selectors import policy_by_name
from dressage.rewards.judges.records import Records, as_recorded
from dressage.rewards.judges.selectors import for_workers as judge_for_workers
from dressage.rewards.judges.selectors import judge_endpoints, unfit
from dressage.teams.models import Team
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.spec.base import SpecModel
from trainer_core.spec.faults import join

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Needs:
    """Judges and models that workers need in addition to definitions."""

    judges: dict[str, JudgeEndpoint]
    """Endpoints by slug, with keys."""
    reward_models: dict[str, Path]
    """Folders by the policy's slug."""


def named_endpoints(definition: SpecModel) -> Iterator[tuple[Place, str]]:
    """(path, slug) of every judge in a definition or grader."""
    for place, grader in _graders(definition, ()):
        if grader.tool == "judges":
            yield (*place, "endpoint"), str(getattr(grader, "endpoint", ""))


def named_reward_models(definition: SpecModel) -> Iterator[tuple[Place, str]]:
    """(path, policy's slug) of every reward model in a definition or grader."""
    for place, grader in _graders(definition, ()):
        if grader.tool == "models":
            yield (*place, "policy"), str(getattr(grader, "policy", ""))


def missing(team: Team, definition: SpecModel, *path: str | int) -> list[FieldError]:
    """Faults for dependencies of a definition or grader that the team lacks. Pointers start at ``path``."""
    named = list(named_endpoints(definition))
    faults = judge_faults(team, {slug for _, slug in named})
    errors = [FieldError(pointer=join(*path, *place), detail=faults[slug]) for place, slug in named if slug in faults]
    for place, name in named_reward_models(definition):
        try:
            policy_by_name(team, name)
        except LookupError as error:
            errors.append(FieldError(pointer=join(*path, *place), detail=str(error)))
    return errors


def judge_faults(team: Team, slugs: Collection[str]) -> dict[str, str]:
    """Reasons why judges cannot be called, by slug: the team has none of that name, or it is not fit for use."""
    judges = {judge.slug: judge for judge in judge_endpoints(team).filter(slug__in=slugs).select_related("team")}
    faults = {
        slug: unfit(judges[slug]) if slug in judges else f"There is no judge endpoint {slug!r} in this team."
        for slug in slugs
    }
    return {slug: fault for slug, fault in faults.items() if fault}


def require(team: Team, definition: SpecModel, *path: str | int) -> None:
    """Raise a 422 problem that points to every dependency that the team lacks."""
    errors = missing(team, definition, *path)
    if errors:
        raise Problem(422, "Invalid request", errors[0]["detail"], errors=errors, code="unknown_reference")


def for_workers(
    team: Team, definitions: Iterable[RewardDefinition], endpoints: Iterable[str] = (), records: Records | None = None
) -> Needs:
    """Collect the dependencies of definitions. Only for the link.

    Args:
        team: the owner of the definitions.
        definitions: all definitions that the worker may score with.
        endpoints: further judges that it calls.
        records: what judges were when the definitions were made; the others are what they are now.

    Raises:
        Problem: 422 if a judge is not fit for use. Anything missing or refused is left out; its grader reports it.
    """
    definitions = list(definitions)
    asked = {slug for definition in definitions for slug in definition.endpoints} | set(endpoints)
    loaded = {slug for definition in definitions for slug in definition.reward_models}
    judges = judge_endpoints(team).filter(slug__in=asked).select_related("team")
    models = []
    for name in sorted(loaded):
        with suppress(LookupError):
            models.append(policy_by_name(team, name))
    return Needs(
        judges={judge.slug: judge_for_workers(as_recorded(judge, records or {})) for judge in judges},
        reward_models={policy.slug: Path(policy.path) for policy in models},
    )


def _graders(node: Any, place: Place) -> Iterator[tuple[Place, GraderModel]]:
    """Every grader in a definition, including nested ones. JSON values inside graders are not searched."""
    if isinstance(node, SpecModel):
        if isinstance(node, GraderModel):
            yield place, node
        for name in type(node).model_fields:
            yield from _graders(getattr(node, name), (*place, name))
    elif isinstance(node, tuple):
        for index, child in enumerate(node):
            yield from _graders(child, (*place, index))
    elif isinstance(node, Mapping):
        for name, child in node.items():
            if isinstance(child, SpecModel):
                yield from _graders(child, (*place, name))
