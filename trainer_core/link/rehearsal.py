"""Rehearsals: a few answers to a few prompts of a run that has not begun, and what the worker has seen."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from trainer_core.link.base import Count, Message
from trainer_core.link.bundle import Bundle
from trainer_core.link.limits import MAX_ERROR_TEXT, MAX_TEXT, MAX_TOKEN_TEXT

_Cut = Annotated[str, AfterValidator(lambda text: text[:MAX_TEXT])]
_Head = Annotated[str, AfterValidator(lambda text: text[:MAX_ERROR_TEXT])]
_Piece = Annotated[str, AfterValidator(lambda text: text[:MAX_TOKEN_TEXT])]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]

MAX_PIECES = 4000
"""Pieces of a prompt that travel; the middle of a longer one is left out."""


class RehearsalJob(Message):
    """A rehearsal that shall be held."""

    id: str
    bundle: Bundle
    """Everything that a first attempt of the run would start from; its ``run_dir`` is not used."""
    prompts: Annotated[int, Field(ge=1)]
    """Prompts of each source."""
    samples: Annotated[int, Field(ge=1)]
    """Samples of each prompt."""
    limit_s: float
    """Seconds after which the rehearsal is given up."""
    lease_s: float
    """The platform believes a worker dead that has not asked for so long."""


class RehearsalProgress(Message):
    """Progress of a rehearsal, told with each renewal of the lease."""

    phase: Literal["loading", "generating"]
    done: Count = 0
    total: Count = 0


class PromptPiece(Message):
    """One token of a prompt, or several that make one character together."""

    text: _Piece
    control: bool = False
    """Whether it is a control token, and no text."""


class RehearsalSample(Message):
    """One completion with its grade."""

    text: _Cut
    """The completion as the policy wrote it, thinking tags included."""
    tokens: Count
    thinking_tokens: Count = 0
    finish_reason: str
    reward: FiniteFloat | None = None
    parts: dict[str, FiniteFloat] = {}
    """Grade of each part before its weight."""
    reasons: dict[str, str] = {}
    """Reason of each part's grade, as far as one can be told: what it has read of the answer."""
    error: _Head | None = None
    """Reason why the reward could not be computed."""
    forgiven: tuple[str, ...] = ()
    """Errors that were counted as 0."""


class RehearsalGroup(Message):
    """The samples of one prompt."""

    source: str
    dataset: str
    row: Count
    """Number of the dataset row, from 0."""
    prompt_tokens: Count
    pieces: tuple[PromptPiece, ...]
    """The prompt as the policy sees it."""
    left_out: Count = 0
    """Pieces in the middle that are left out."""
    answer: Any = None
    """The reference answer, as the dataset has it."""
    samples: tuple[RehearsalSample, ...]

    @property
    def has_signal(self) -> bool:
        """Whether rewards differ."""
        return len({sample.reward for sample in self.samples if sample.reward is not None}) > 1


class RehearsalFinding(Message):
    """One thing that is wrong, or a warning of the start."""

    kind: str
    title: str
    message: str
    advice: str = ""


class DevicePeak(Message):
    """Arithmetic of a device, measured by matrix products in the number type of the learner's weights."""

    operations_per_s: Annotated[FiniteFloat, Field(gt=0.0)]
    """Floating-point operations per second; of all the host's cores together on a CPU."""
    gpu: bool
    """Whether a learner rank has such a device for itself."""


class RehearsalSpeed(Message):
    """Speed of the one engine, and the lengths that it met."""

    start_s: FiniteFloat
    """Seconds until everything was up."""
    generate_s: FiniteFloat
    reward_s: FiniteFloat
    """Seconds from the last completion to the last reward."""
    tokens_per_s: FiniteFloat
    """Completion tokens of all sequences together, while the engine was busy."""
    running: FiniteFloat
    """Mean number of running sequences."""
    prompt_tokens: FiniteFloat
    """Mean length of the prompts."""
    peak: DevicePeak | None = None
    """Peak of the device that it computed on, from which the learner's speed is estimated; None where it could not be
    measured, and from workers of former releases."""


class RehearsalReport(Message):
    """What a rehearsal has seen."""

    groups: tuple[RehearsalGroup, ...]
    findings: tuple[RehearsalFinding, ...] = ()
    template_sha256: str | None = None
    """Hash of the chat template; None where no prompt goes through one."""
    signal_share: _Share
    """Share of the groups whose rewards differ."""
    cut_share: _Share
    """Share of the answers that are cut at the limit."""
    speed: RehearsalSpeed


class RehearsalResult(Message):
    """The report, or the reason why there is none."""

    report: RehearsalReport | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "RehearsalResult":
        if (self.report is None) == (self.error is None):
            raise ValueError("give either report or error")
        return self
