"""The reward versions that a run knows, and whether it can use one: the worker's side of promotion and shadows.

bundle · checkpoint ──► known ◄── commands (``definitions``)
                          │
   control on reward.* ──►│ objection? unreadable · unknown · lacks a component · this cluster lacks its tools
                          ▼
                 reward workers are equipped, then the spec changes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from trainer_core.link.base import first_fault
from trainer_core.link.commands import Command, ControlCommand
from trainer_core.link.reward import RewardVersion, Versions
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.matching import mismatches
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.advantage import GDPOAdvantage
from worker.errors import StartError

Equip = Callable[[Versions], str | None]
"""Prepares the reward workers for versions. Returns a sentence with the reason if this fails."""


class RewardVersions:
    """Used only by the loop's thread."""

    def __init__(self, spec: RunSpec, known: Versions, saved: Mapping[str, Any], equip: Equip) -> None:
        """
        Args:
            spec: the run's spec, as it starts or resumes.
            known: versions from the bundle; the reward workers are equipped for them.
            saved: definitions from the checkpoint, by reference.
            equip: see ``Equip``.

        Raises:
            StartError: a version that the spec names is unknown or cannot be used here.
        """
        self._known = dict(known)
        self._equipped = set(known)
        self._equip = equip
        self._served = {slug for version in known.values() for slug in version.judges}
        self._unreadable: dict[str, str] = {}
        self._trained = ""
        self._bare = set(saved) - set(known)
        """Versions known only by their definition: a checkpoint holds no endpoints or folders."""
        for ref in self._bare:
            self._known[ref] = RewardVersion(definition=RewardDefinition.model_validate(saved[ref]))
        objection = self.objection(spec)
        if objection is not None:
            raise StartError(f"The run's reward cannot be used: {objection}.")

    def take_in(self, commands: Iterable[Command]) -> None:
        """Read the definitions in commands. A version is read only once, because it never changes."""
        for command in commands:
            for ref, document in command.definitions.items() if isinstance(command, ControlCommand) else ():
                if (ref in self._known and ref not in self._bare) or ref in self._unreadable:
                    continue
                try:
                    self._known[ref] = RewardVersion.model_validate(document)
                    self._bare.discard(ref)
                    self._equipped.discard(ref)
                except ValidationError as error:
                    where, fault = first_fault(error)
                    self._unreadable[ref] = f"the definition of {ref} is not valid here: {fault} (at {where})"

    def objection(self, spec: RunSpec) -> str | None:
        """Reason why the run cannot use the versions that ``spec`` names. None: it can, and the workers are ready."""
        refs = [spec.reward.definition, *spec.reward.shadow]
        for ref in refs:
            if ref in self._unreadable:
                return self._unreadable[ref]
            if ref not in self._known:
                return f"the definition of {ref} did not come with the command"
        if spec.reward.definition != self._trained:
            misfit = self._misfit(spec)
            if misfit is not None:
                return misfit
        fresh = {ref: self._known[ref] for ref in refs if ref not in self._equipped}
        for ref, version in fresh.items():
            for slug, judge in version.judges.items():
                if judge.model_dir is not None and slug not in self._served:
                    return f"{ref} uses the judge {slug}, whose engine starts only with a run: fork the run"
        trouble = self._equip(fresh) if fresh else None
        if trouble is None:
            self._equipped.update(fresh)
            self._trained = spec.reward.definition
        return trouble

    def definition(self, ref: str) -> RewardDefinition:
        """Raises KeyError for an unknown reference."""
        return self._known[ref].definition

    def threshold(self, ref: str) -> float:
        """Smallest reward at which a sample counts as a success."""
        return self._known[ref].definition.success_threshold

    @property
    def thresholds(self) -> dict[str, float]:
        """``threshold`` of all known versions."""
        return {ref: version.definition.success_threshold for ref, version in self._known.items()}

    def state(self) -> dict[str, Any]:
        """State for the checkpoint: the definitions, without endpoints and keys, which the bundle provides again."""
        return {ref: version.definition.model_dump(mode="json") for ref, version in self._known.items()}

    def _misfit(self, spec: RunSpec) -> str | None:
        """Reason why the run cannot train on the definition."""
        definition = self.definition(spec.reward.definition)
        for path, message in mismatches(spec, definition):
            return f"{message} ({'.'.join(str(part) for part in path)})"
        if self._trained and isinstance(spec.advantage, GDPOAdvantage):
            # Groups of both versions may be in one batch, and their parts are compared one by one.
            before, after = _names(self.definition(self._trained)), _names(definition)
            if before != after:
                return f"gdpo compares components: {spec.reward.definition} must have those of {self._trained}"
        return None


def _names(definition: RewardDefinition) -> set[str]:
    return {component.name for component in definition.components}
