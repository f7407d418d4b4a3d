"""Events: what a worker tells of its run. Each kind is a model, and ``KINDS`` finds it by its name.

An event travels in an envelope, ``LinkEvent``, with a number that leaves no gaps. The envelope and the data are read
apart: data that makes no sense must not cut off the events behind it.
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AwareDatetime, Field, FiniteFloat, model_validator

from trainer_core.link.base import Count, Message, Name, Number
from trainer_core.link.explanation import PartExplanation
from trainer_core.link.limits import MAX_OUTCOMES, MAX_TOKEN_TEXT

ReportedState = Literal["starting", "running", "paused", "suspended", "succeeded", "failed", "cancelled"]
"""States of a run that a worker reports; ``suspended`` only where the platform has asked it to give its place back."""
CheckpointReason = Literal["schedule", "requested", "before_control", "final", "release"]
"""Reason why a checkpoint was written: by the schedule, for a person, before a control took effect, after the last
step, to give the run's place back. The last is written only where the platform has asked for the place: platforms that
do not know it never do."""
CHECKPOINT_REASONS: tuple[CheckpointReason, ...] = get_args(CheckpointReason)
AlertLevel = Literal["info", "warn", "error"]
Reason = Annotated[str, Field(min_length=1, max_length=120)]
"""Reason why a group was not trained on, as ``RolloutRow.excluded``."""
ASKED_TO_PAUSE = "asked to pause"
"""Reason of a pause that people wanted. Before ``by_request`` this sentence alone said so."""
PLACE_GIVEN_BACK = "Its slot was released. It continues from its checkpoint once it is resumed and has a slot."
"""Reason of a suspension, for people."""
MAX_FAULT = 500
"""Characters of what is wrong with a checkpoint."""


class EventData(Message):
    """Base of what an event says; ``kind`` is its name on the link."""

    kind: ClassVar[str]


class LinkEvent(Message):
    """One line of a worker's journal."""

    seq: Annotated[int, Field(ge=1)]
    """Number in the attempt, from 1."""
    kind: Annotated[str, Field(min_length=1, max_length=20)]
    step: Count | None = None
    at: AwareDatetime | datetime
    data: dict[str, Any]


class StateData(EventData):
    """The run has come to another state."""

    kind: ClassVar[str] = "state"

    state: ReportedState
    reason: str = ""
    """A sentence for people."""
    detail: str | None = None
    """A traceback."""
    by_request: bool = False
    """Whether the run pauses because people asked for it. Any other pause is the run's own, and only people end it."""

    @model_validator(mode="before")
    @classmethod
    def _older(cls, data: Any) -> Any:
        """Events from before the flag say it with a sentence; journals may still hold them."""
        if isinstance(data, dict) and "by_request" not in data and data.get("state") == "paused":
            return {**data, "by_request": data.get("reason") == ASKED_TO_PAUSE}
        return data


class PhaseData(EventData):
    """Phase of the run. Only the newest counts."""

    kind: ClassVar[str] = "phase"

    phase: Annotated[str, Field(max_length=40)]
    done: Count = 0
    total: Count = 0


class Span(Message):
    """Work of a part of the run from when to when, in seconds since the run's start."""

    lane: str
    phase: str
    start: float
    end: float


class PromptLedgerData(Message):
    """Fates of the prompts that the run's curriculum has handed out: ``handed_out`` is the sum of the others."""

    handed_out: Count
    trained: Count
    """Prompts that took part in an update, once each."""
    rejected: Annotated[dict[Reason, Count], Field(max_length=100)] = {}
    """Prompts that a filter left out, by its name."""
    dropped: Annotated[dict[Reason, Count], Field(max_length=100)] = {}
    """Prompts that were not trained on for another reason, by reason."""
    pending: Count = 0
    """Prompts under way, or waiting: a resumed run hands them out first."""
    earlier: Count = 0
    """Prompts settled before the run had a ledger."""


class StepData(EventData):
    """A step has been learned."""

    kind: ClassVar[str] = "step"

    metrics: Annotated[dict[Name, Number], Field(max_length=1000)]
    tokens_total: Annotated[int, Field(ge=0, lt=2**63)]
    """Tokens that the run has trained on, this step's included."""
    seconds: Annotated[float, Field(ge=0.0)]
    """Duration of the step."""
    timeline: tuple[Span, ...] = ()
    ledger: PromptLedgerData | None = None
    """Figures after the step; None from workers of before."""


class EvalData(EventData):
    """The policy after a step has been evaluated on held-out prompts."""

    kind: ClassVar[str] = "eval"

    metrics: Annotated[dict[Name, Number], Field(max_length=1000)]


class TurnRow(Message):
    """One turn of an episode."""

    author: Literal["policy", "tool", "user", "system"]
    characters: Count
    """Length of its text, which follows that of the turn before in ``completion``."""


class RolloutRow(Message):
    """A sampled completion."""

    group_id: Annotated[str, Field(max_length=80)]
    sample: Count
    """Place in its group."""
    prompt_id: Annotated[str, Field(max_length=120)]
    source: Annotated[str, Field(max_length=63)]
    prompt: str
    completion: str
    answer: Any = None
    """The gold answer, as the dataset has it."""
    reward: Number | None = None
    reward_parts: dict[str, Any] = {}
    """Grade of each component; words for what JSON cannot write."""
    explanation: Annotated[dict[Name, PartExplanation], Field(max_length=32)] | None = None
    """Weight and reason of each component that was for the row; None from workers of before."""
    reward_error: str | None = None
    advantage: Number | None = None
    excluded: Annotated[str, Field(max_length=120)] | None = None
    """Reason why it takes no part in the loss."""
    finish_reason: Annotated[str, Field(max_length=20)]
    length: Count
    """Tokens of the completion."""
    thinking_tokens: Count = 0
    budget_hit: bool = False
    control_revision: Count = 0
    policy_versions: Annotated[tuple[Count, ...], Field(max_length=2)] = ()
    """Oldest and newest weights that sampled its tokens."""
    reward_version: Annotated[str, Field(max_length=80)] | None = None
    shadow: Annotated[dict[Name, Number | None], Field(max_length=16)] = {}
    """Rewards of the versions that only watch; null where one could not be computed."""
    right: bool | None = None
    """Whether it succeeds by the threshold of its reward version; None where the reward failed, and from workers of
    before."""
    turns: Annotated[tuple[TurnRow, ...], Field(max_length=256)] = ()
    """Who wrote which part of ``completion``; empty if the policy had one turn."""
    worst_gap: Number | None = None
    """Largest |log π_learner − log π_engine| of its sampled tokens; None where the learner has not scored it."""


class WorstTokenRow(Message):
    """A token about which engine and learner disagree."""

    group_id: Annotated[str, Field(max_length=80)]
    sample: Count
    position: Count
    token_id: Count
    text: Annotated[str, Field(max_length=MAX_TOKEN_TEXT)] = ""
    behaviour_logprob: Number
    learner_logprob: Number
    version: Count


class RolloutsData(EventData):
    """Some of a step's completions, and the tokens on which engine and learner disagree most."""

    kind: ClassVar[str] = "rollouts"

    rows: Annotated[tuple[RolloutRow, ...], Field(max_length=4096)]
    worst_tokens: Annotated[tuple[WorstTokenRow, ...], Field(max_length=64)] = ()


class ProposedItem(Message):
    """A rubric item that two rollouts of one prompt suggest."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: Annotated[str, Field(min_length=1, max_length=4000)]
    weight: FiniteFloat
    prompt_id: Annotated[str, Field(max_length=120)] = ""
    prompt_text: str = ""
    better: str = ""
    worse: str = ""
    better_reward: FiniteFloat | None = None
    worse_reward: FiniteFloat | None = None
    reason: str = ""


class RubricProposalsData(EventData):
    """Rubric items that a judge proposes."""

    kind: ClassVar[str] = "rubric_proposals"

    component: Annotated[str, Field(min_length=1, max_length=63)]
    reward_version: Annotated[str, Field(max_length=80)] | None = None
    proposals: Annotated[tuple[ProposedItem, ...], Field(max_length=64)]


class PromptOutcome(Message):
    """What came of the completions of one prompt."""

    prompt_id: Annotated[str, Field(min_length=3, max_length=120, pattern=r":\d{1,9}$")]
    """``<source>:<row index>``."""
    right: Count
    """Successful samples."""
    graded: Count
    """Samples whose reward could be computed."""
    reward: Number | None = None
    """Their mean reward; None where there are none."""
    ordinal: Count | None = None
    """Number of the prompt among all that the curriculum handed out, from 0; None from workers of before."""
    fate: Literal["trained", "rejected", "dropped"] | None = None
    """Fate of its group; None from workers of before."""
    reason: Reason | None = None
    """The filter that rejected it, or why it was dropped."""


class OutcomesData(EventData):
    """What came of the prompts that came back in a step, those included whose groups were dropped."""

    kind: ClassVar[str] = "outcomes"

    prompts: Annotated[tuple[PromptOutcome, ...], Field(min_length=1, max_length=MAX_OUTCOMES)]


class SourcePassRates(Message):
    """Prompts of one source by pass rate, as ``steering.curriculum.histogram`` counts them."""

    name: Annotated[str, Field(max_length=63)]
    prompts: Count
    untried: Count
    cells: Annotated[tuple[tuple[Annotated[int, Field(ge=0, le=800)], Count], ...], Field(max_length=801)]
    """(cell, prompts), for every cell that holds some."""


class PassRatesData(EventData):
    """Pass rates of the prompts that the curriculum draws from. Only the newest count."""

    kind: ClassVar[str] = "pass_rates"

    sources: Annotated[tuple[SourcePassRates, ...], Field(min_length=1, max_length=64)]
    stage: Annotated[str, Field(max_length=63)] | None = None
    """Name of the stage of the data that prompts are drawn in; None without stages."""


class CheckpointData(EventData):
    """A checkpoint's files are complete."""

    kind: ClassVar[str] = "checkpoint"

    path: Annotated[str, Field(min_length=1, max_length=1000)]
    bytes: Annotated[int, Field(ge=0)]
    manifest_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    reason: CheckpointReason
    control_id: str | None = None
    """The control before which, or the request for which, it was written."""
    policy_version: Count


class UnusableCheckpoint(Message):
    """The checkpoint from which the attempt should continue cannot be used, so the attempt ends."""

    path: Annotated[str, Field(min_length=1, max_length=1000)]
    fault: Annotated[str, Field(min_length=1, max_length=MAX_FAULT)]
    """Clause that names a file of the folder and what is wrong with it."""
    gone: bool = False
    """Whether the folder does not exist any more. Otherwise a file is missing, changed or not listed."""


class GuardNews(Message):
    """What a guard of the run has done."""

    guard: Annotated[str, Field(min_length=1, max_length=170)]
    """Name of the guard, or its metric's."""
    state: Literal["acts", "repeats", "calm"]
    """It objects and acts; it objects still and acts once more; it objects no more."""
    action: Annotated[str, Field(max_length=20)] = "alert"
    """Action that it takes: ``alert``, ``pause``, ``change`` or ``roll_back``."""
    severity: Literal["warn", "error"] = "warn"
    since: Count
    """Step of its first objection."""


class AlertData(EventData):
    """Alert to the user."""

    kind: ClassVar[str] = "alert"

    level: AlertLevel
    title: str
    message: str
    metric: str | None = None
    value: Number | None = None
    code: Annotated[str, Field(max_length=40)] | None = None
    """Name of what it is about, for programs: incidents are told by it."""
    guard: GuardNews | None = None
    """Set where a guard of the spec alerts. The platform acts on it."""
    unusable: UnusableCheckpoint | None = None
    """Set where a checkpoint cannot be used. The platform begins a new attempt at an older one. Platforms from before
    wait for the lease to expire, and begin it at the same one."""


class LogData(EventData):
    """A line of the run's log."""

    kind: ClassVar[str] = "log"

    level: Literal["debug", "info", "warn", "error"]
    message: str


KINDS: dict[str, type[EventData]] = {
    model.kind: model
    for model in (
        StateData,
        PhaseData,
        StepData,
        EvalData,
        RolloutsData,
        RubricProposalsData,
        OutcomesData,
        PassRatesData,
        CheckpointData,
        AlertData,
        LogData,
    )
}
"""Model of each kind of event."""


def event_data(event: LinkEvent) -> EventData:
    """The data of an event, by its kind.

    Raises:
        ValueError: there is no such kind; names it. ValidationError, which is one, where the data make no sense.
    """
    model = KINDS.get(event.kind)
    if model is None:
        raise ValueError(f"unknown event kind {event.kind!r}")
    return model.model_validate(event.data)
