"""Resolves the names in a spec (policy, datasets, reward) within the team."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref as dataset_version
from dressage.datasets.versions import holding, notes
from dressage.policies.models import Policy
from dressage.policies.selectors import policy_by_name
from dressage.rewards.models import RewardVersion
from dressage.rewards.selectors import version_by_ref as reward_version
from dressage.runs.needs import data_fit, policy_support, reward_versions
from dressage.teams.models import Team
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.matching import mismatches
from trainer_core.spec import RunSpec
from trainer_core.spec.data.curriculum import GoldilocksCurriculum
from trainer_core.spec.faults import join
from trainer_core.spec.methods.kl import OWN_REFERENCES


@dataclass
class References:
    """Rows that a spec's names refer to; ``errors`` lists the names that do not exist."""

    policy: Policy | None = None
    teacher: Policy | None = None
    reference: Policy | None = None
    """The policy that ``kl.reference`` names; None for the run's own weights."""
    reward: RewardVersion | None = None
    """None for a run that learns from rows, too."""
    datasets: dict[str, DatasetVersion] = field(default_factory=dict)
    errors: list[FieldError] = field(default_factory=list)

    @property
    def dataset_rows(self) -> dict[str, int]:
        """Number of rows of each dataset, by its reference."""
        return {ref: version.rows for ref, version in self.datasets.items()}


def resolve(team: Team, spec: RunSpec, *, new: bool = False, begun: bool = False) -> References:
    """Look up every reference. Never raises: the caller decides how to handle a missing one.

    Args:
        team: the owner of the named objects.
        spec: the spec that names them.
        new: nothing has been trained by the spec yet. So it is a fault if its policy does not support it, if its rows
            do not fit it, or if a dataset of another team is no longer shared. A run that has started continues, even
            if this release would not start it.
        begun: an attempt has begun, or the run continues another one, so its judges are those that its reward versions
            record. A spec that is not ``new`` has begun.
    """
    found = References()

    def look_up(pointer: str, select: Callable[[Team, str], Any], name: str) -> Any:
        try:
            return select(team, name)
        except LookupError as error:
            found.errors.append(FieldError(pointer=pointer, detail=str(error)))
            return None

    found.policy = look_up("/spec/policy/base", policy_by_name, spec.policy.base)
    if new and found.policy is not None:
        found.errors += policy_support.errors(found.policy, spec)
    if spec.distillation is not None:
        found.teacher = look_up("/spec/distillation/teacher", policy_by_name, spec.distillation.teacher)
    if spec.examples is None and spec.kl.reference not in OWN_REFERENCES:
        found.reference = look_up("/spec/kl/reference", policy_by_name, spec.kl.reference)
        found.errors += _unlike(found.policy, found.reference)
    for pointer, ref in dataset_references(spec):
        version = look_up(pointer, partial(dataset_version, new=new), ref)
        if version is not None:
            found.datasets[ref] = version
            found.errors += _without_notes(pointer, ref, version, spec) if new else []
    if spec.examples is None:
        found.reward = look_up("/spec/reward/definition", reward_version, spec.reward.definition)
    if found.reward is not None:
        definition = RewardDefinition.model_validate(found.reward.definition)
        for path, detail in mismatches(spec, definition):
            found.errors.append(FieldError(pointer=join("spec", *path), detail=detail))
        found.errors += data_fit.column_faults(spec, definition, found.datasets) if new else []
    if new and found.policy is not None:
        found.errors += data_fit.length_faults(spec, found.policy, found.datasets)
    found.errors += reward_versions.errors(team, spec, begun=begun or not new)
    return found


def _unlike(policy: Policy | None, reference: Policy | None) -> list[FieldError]:
    """A reference policy that cannot score the policy's tokens."""
    if policy is None or reference is None or policy.vocab_size == reference.vocab_size:
        return []
    detail = (
        f"The reference policy {reference.slug!r} has a vocabulary of {reference.vocab_size}, and the policy "
        f"{policy.slug!r} of {policy.vocab_size}: name a policy with the same vocabulary, base or start."
    )
    return [FieldError(pointer="/spec/kl/reference", detail=detail)]


def _without_notes(pointer: str, ref: str, version: DatasetVersion, spec: RunSpec) -> Iterator[FieldError]:
    """A curriculum that draws by row notes needs them. A run that has started uses the notes it was given."""
    curriculum = spec.curriculum
    by_notes = isinstance(curriculum, GoldilocksCurriculum) and curriculum.rates == "notes"
    if by_notes and pointer.startswith("/spec/data/") and notes.difficulty(version) is None:
        detail = f"{ref} has no row notes 'difficulty', which the curriculum needs: measure them under Difficulty."
        yield FieldError(pointer=pointer, detail=detail)


def dataset_references(spec: RunSpec) -> Iterator[tuple[str, str]]:
    """(JSON pointer, ``slug@version``) of every dataset that the spec names."""
    for index, source in enumerate(spec.data.sources):
        yield f"/spec/data/sources/{index}/dataset", source.dataset
    for index, evaluated in enumerate(spec.evaluation.sources):
        yield f"/spec/evaluation/sources/{index}/dataset", evaluated.dataset


def hold(team: Team, spec: RunSpec) -> None:
    """Protect the datasets of a spec from deletion until the transaction ends, for a caller that will need them.

    Call this before looking them up: a dataset that is deleted in the meantime is then found to be gone.
    """
    holding.hold(team, [ref for _, ref in dataset_references(spec)])


def require(team: Team, spec: RunSpec, *, new: bool = False, begun: bool = False) -> References:
    """Resolve the references. Raises a 422 problem that points to every reference that does not exist."""
    found = resolve(team, spec, new=new, begun=begun)
    if found.errors:
        raise Problem(422, "Invalid request", found.errors[0]["detail"], errors=found.errors, code="unknown_reference")
    return found


def require_files(team: Team, spec: RunSpec, *, new: bool = False, begun: bool = False) -> References:
    """Require the same as ``require``, and that the named files exist. Called before a run starts."""
    found = require(team, spec, new=new, begun=begun)
    gone = []
    named = (
        ("/spec/policy/base", found.policy),
        ("/spec/distillation/teacher", found.teacher),
        ("/spec/kl/reference", found.reference),
    )
    for pointer, policy in named:
        if policy is not None and not (Path(policy.path) / "config.json").is_file():
            detail = f"The folder of the policy {policy.slug!r} no longer exists."
            gone.append(FieldError(pointer=pointer, detail=detail))
    for pointer, ref in dataset_references(spec):
        if not found.datasets[ref].path.is_file():
            gone.append(FieldError(pointer=pointer, detail=f"The file of the dataset {ref} no longer exists."))
    if gone:
        raise Problem(422, "Invalid request", gone[0]["detail"], errors=gone, code="missing_files")
    return found
