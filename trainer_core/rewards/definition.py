"""Reward definitions: weighted sums of graders."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import model_validator

from trainer_core.rewards.graders import (
    Grader,
    leaves,
    needs_jail,
    needs_packages,
)
from trainer_core.rewards.graders.size import refuse_many
from trainer_core.rewards.parts import SHAPING_PARTS
from trainer_core.spec.base import SpecModel, field


class Component(SpecModel):
    """One part of a reward."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}$")
    """Short name of the part in charts and tables."""
    weight: float = field(1.0, ge=-1000.0, le=1000.0)
    """The part's grade is multiplied by this and added to the reward."""
    grader: Grader
    """How the part is graded."""
    row_field: str | None = field(None, min_length=1, max_length=200)
    """Field that a dataset row must hold for this part: where it is missing or null, the part is neither graded nor
    added. So rows with an answer and rows for a judge may stand in one run. Empty: the part is for every row."""
    on_error: Literal["exclude", "zero", "stop"] = "exclude"
    """When the grader fails: leave the sample out, count this part as 0, or leave it out and ask for the run to stop.
    Each is shown and counted."""

    def concerns(self, item: Mapping[str, Any]) -> bool:
        """Whether the part is for the dataset row ``item``."""
        return self.row_field is None or item.get(self.row_field) is not None


class RewardDefinition(SpecModel):
    """A reward: ``r = Σ weight · grade``."""

    components: tuple[Component, ...] = field(min_length=1, max_length=32)
    """The parts. Names must be unique."""
    success_threshold: float = field(0.5)
    """A sample succeeds, for pass rates and the curriculum, when its reward reaches this."""

    @model_validator(mode="before")
    @classmethod
    def _is_small(cls, given: Any) -> Any:
        return refuse_many(given)

    @model_validator(mode="after")
    def _names_are_unique(self) -> "RewardDefinition":
        names = [component.name for component in self.components]
        doubled = next((name for name in names if names.count(name) > 1), None)
        if doubled is not None:
            raise ValueError(f"the component name {doubled!r} is used twice")
        for taken in SHAPING_PARTS:
            if taken in names:
                raise ValueError(f"the component name {taken!r} is taken by the run's shaping of rewards")
        return self

    @property
    def needs_jail(self) -> bool:
        """Whether a part runs untrusted text, which is graded only where there is a jail."""
        return any(needs_jail(component.grader) for component in self.components)

    @property
    def needs_packages(self) -> bool:
        """Whether the jail must hold the installed packages, which takes seconds to load."""
        return any(needs_packages(component.grader) for component in self.components)

    @property
    def needs_length(self) -> bool:
        """Whether a part looks at the number of tokens, which a text alone does not tell."""
        return any(leaf.needs_length for leaf in self._leaves())

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Slugs of the judge endpoints that the parts ask, in order, each once."""
        return _once(str(getattr(leaf, "endpoint", "")) for leaf in self._leaves() if leaf.tool == "judges")

    @property
    def reward_models(self) -> tuple[str, ...]:
        """The policies that the parts use as reward models, in order, each once."""
        return _once(str(getattr(leaf, "policy", "")) for leaf in self._leaves() if leaf.tool == "models")

    def missing_columns(self, columns: Collection[str]) -> Iterator[tuple[Component, str]]:
        """(Part, column) for each column that a part cannot grade without and rows with ``columns`` do not have.

        Parts for rows of one kind alone (``row_field``) miss nothing.
        """
        for component in self.components:
            if component.row_field is None:
                needed = (name for leaf in leaves(component.grader) for name in leaf.row_columns)
                yield from ((component, name) for name in dict.fromkeys(needed) if name not in columns)

    @property
    def has_pure_parts(self) -> bool:
        """Whether a part needs no tool at all."""
        return any(leaf.tool is None for leaf in self._leaves())

    def _leaves(self) -> Iterator[Grader]:
        for component in self.components:
            yield from leaves(component.grader)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
