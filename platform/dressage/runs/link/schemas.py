"""What a worker sends: the body of a sync, and the data of each kind of event."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, TypeAdapter

MAX_EVENTS = 500
_SPELLED = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a number is needed")
    if isinstance(value, str):
        if value not in _SPELLED:
            raise ValueError("the only words for numbers are NaN, Infinity and -Infinity")
        return _SPELLED[value]
    return value


Number = Annotated[float, BeforeValidator(_number)]
"""A JSON number, or one of the words for what JSON cannot write."""
Count = Annotated[int, Field(ge=0, lt=2**31)]
Name = Annotated[str, Field(min_length=1, max_length=160)]


class Message(BaseModel):
    """Base: further keys are kept out, not refused, so that newer workers can talk to older platforms."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


class LinkEvent(Message):
    """One line of the worker's journal."""

    seq: Annotated[int, Field(ge=1)]
    kind: Annotated[str, Field(min_length=1, max_length=20)]
    step: Count | None = None
    at: AwareDatetime | datetime
    data: dict[str, Any]


class Applied(Message):
    """What became of a control."""

    control_id: str
    state: Literal["applied", "settled", "rejected"]
    step: Count | None = None
    group: Annotated[str, Field(max_length=80)] | None = None
    policy_version: Count | None = None
    error: str | None = None


class SyncBody(Message):
    """A sync."""

    attempt: Count
    events: Annotated[tuple[LinkEvent, ...], Field(max_length=MAX_EVENTS)] = ()
    applied: Annotated[tuple[Applied, ...], Field(max_length=10_000)] = ()


class StateData(Message):
    state: Literal["starting", "running", "paused", "succeeded", "failed", "cancelled"]
    reason: str = ""
    detail: str | None = None


class PhaseData(Message):
    phase: Annotated[str, Field(max_length=40)]
    done: Count = 0
    total: Count = 0


class StepData(Message):
    metrics: Annotated[dict[Name, Number], Field(max_length=1000)]
    tokens_total: Annotated[int, Field(ge=0, lt=2**63)]
    seconds: Annotated[float, Field(ge=0.0)]


class EvalData(Message):
    metrics: Annotated[dict[Name, Number], Field(max_length=1000)]


class RolloutRow(Message):
    group_id: Annotated[str, Field(max_length=80)]
    sample: Count
    prompt_id: Annotated[str, Field(max_length=120)]
    source: Annotated[str, Field(max_length=63)]
    prompt: str
    completion: str
    answer: Any = None
    reward: Number | None = None
    reward_parts: dict[str, Any] = {}
    reward_error: str | None = None
    advantage: Number | None = None
    excluded: Annotated[str, Field(max_length=120)] | None = None
    finish_reason: Annotated[str, Field(max_length=20)]
    length: Count
    thinking_tokens: Count = 0
    budget_hit: bool = False
    control_revision: Count = 0
    policy_versions: Annotated[tuple[Count, ...], Field(max_length=2)] = ()
    reward_version: Annotated[str, Field(max_length=80)] | None = None
    shadow: Annotated[dict[Name, Number | None], Field(max_length=16)] = {}


class WorstToken(Message):
    group_id: Annotated[str, Field(max_length=80)]
    sample: Count
    position: Count
    token_id: Count
    text: Annotated[str, Field(max_length=200)] = ""
    behaviour_logprob: Number
    learner_logprob: Number
    version: Count


class RolloutsData(Message):
    rows: Annotated[tuple[RolloutRow, ...], Field(max_length=4096)]
    worst_tokens: Annotated[tuple[WorstToken, ...], Field(max_length=64)] = ()


class Proposal(Message):
    """An item that two rollouts of one prompt suggest."""

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


class RubricProposalsData(Message):
    component: Annotated[str, Field(min_length=1, max_length=63)]
    reward_version: Annotated[str, Field(max_length=80)] | None = None
    proposals: Annotated[tuple[Proposal, ...], Field(max_length=64)]


class CheckpointData(Message):
    path: Annotated[str, Field(min_length=1, max_length=1000)]
    bytes: Annotated[int, Field(ge=0)]
    manifest_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    reason: Literal["schedule", "requested", "before_control", "final"]
    control_id: str | None = None
    policy_version: Count


class AlertData(Message):
    level: Literal["info", "warn", "error"]
    title: str
    message: str
    metric: str | None = None
    value: Number | None = None


class LogData(Message):
    level: Literal["debug", "info", "warn", "error"]
    message: str


KINDS: dict[str, TypeAdapter[Any]] = {
    "state": TypeAdapter(StateData),
    "phase": TypeAdapter(PhaseData),
    "step": TypeAdapter(StepData),
    "eval": TypeAdapter(EvalData),
    "rollouts": TypeAdapter(RolloutsData),
    "rubric_proposals": TypeAdapter(RubricProposalsData),
    "checkpoint": TypeAdapter(CheckpointData),
    "alert": TypeAdapter(AlertData),
    "log": TypeAdapter(LogData),
}
"""How each kind of event is read."""
