"""The bundle: everything that an attempt starts from."""

from pathlib import Path
from typing import Any

from pydantic import field_serializer

from trainer_core.link.base import Message
from trainer_core.link.commands import RampUnderWay
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.reward import RewardVersion
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec


class PolicyRef(Message):
    """The base policy: a Hugging Face folder on shared storage."""

    name: str
    path: Path
    manifest_sha256: str = ""
    """Hash of the manifest in the folder, where it is the copy of a checkpoint; empty for any other policy."""


class RewardRef(Message):
    """A reward version and its definition."""

    ref: str
    definition: RewardDefinition


class NotesRef(Message):
    """Address of the row notes of a dataset version: a Parquet file with as many rows, in their order."""

    url: str


class DatasetRef(Message):
    """Address of a dataset version; ``sha256`` is of the Parquet bytes."""

    url: str
    sha256: str
    rows: int
    difficulty: NotesRef | None = None
    """The notes ``difficulty``, where the run starts from them."""


class Resume(Message):
    """The checkpoint from which the attempt goes on."""

    step: int
    path: Path
    manifest_sha256: str


class Bundle(Message):
    """Everything an attempt starts from; ``spec`` already holds the controls that were applied."""

    run_id: str
    attempt: int
    spec: RunSpec
    revision: int
    policy: PolicyRef
    teacher: PolicyRef | None = None
    """The policy that ``spec.distillation`` names."""
    reference: PolicyRef | None = None
    """The policy that ``spec.kl.reference`` names; None where it is ``policy``, or nothing asks it."""
    reward: RewardRef | None = None
    """None for a run that learns from rows."""
    datasets: dict[str, DatasetRef]
    judges: dict[str, JudgeEndpoint] = {}
    """Endpoints that the rewards ask, by slug."""
    reward_models: dict[str, Path] = {}
    """Folders of sequence-classification models, by policy."""
    shadow: dict[str, RewardVersion] = {}
    """Reward versions that score beside it, by reference."""
    resume: Resume | None = None
    evaluated: bool | None = None
    """Whether the weights that the attempt starts from have been evaluated by an earlier one. None: a platform from
    before this was told."""
    ramps: tuple[RampUnderWay, ...] = ()
    """Ramps that had begun, and not ended, by the step that it goes on from."""
    measure_noise: bool = False
    """Whether people want the noise between engine and learner measured again, whatever the checkpoint says of it."""
    run_dir: Path
    lease_s: float = 15.0

    @property
    def versions(self) -> dict[str, RewardVersion]:
        """Every reward version that is known from the start, by reference."""
        if self.reward is None:
            return {}
        first = RewardVersion(definition=self.reward.definition, judges=self.judges, reward_models=self.reward_models)
        return {**self.shadow, self.reward.ref: first}

    def without_keys(self) -> "Bundle":
        """The bundle for a worker that has been given the keys of judges before."""
        shadow = {
            ref: version.model_copy(update={"judges": _keyless(version.judges)}) for ref, version in self.shadow.items()
        }
        return self.model_copy(update={"judges": _keyless(self.judges), "shadow": shadow})

    @field_serializer("spec", when_used="json")
    def _whole(self, spec: RunSpec) -> dict[str, Any]:
        """Write the spec with its defaults: its document says everything about the run."""
        return spec.model_dump(mode="json")


def _keyless(judges: dict[str, JudgeEndpoint]) -> dict[str, JudgeEndpoint]:
    return {slug: judge.model_copy(update={"api_key": None}) for slug, judge in judges.items()}
