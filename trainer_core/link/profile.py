"""Profiles: the rows of a dataset version, sampled by a policy where it decides, and what is counted of each."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from trainer_core.link.base import Count, Message
from trainer_core.link.bundle import Bundle

ANSWER_CHARACTERS = 200
"""Longest answer that travels; of a longer one its beginning does."""
MOST_ANSWERS = 8
"""Different wrong answers of a row that are kept, the most frequent ones."""

_Answer = Annotated[str, AfterValidator(lambda text: text[:ANSWER_CHARACTERS])]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]


class ProfilePlan(Message):
    """Bounds of a profile."""

    min_pass_rate: _Share = 0.2
    """Lower edge of the band that rows are sorted by."""
    max_pass_rate: _Share = 0.8
    first: Annotated[int, Field(ge=2, le=64)] = 4
    """Samples that every row gets."""
    most: Annotated[int, Field(ge=2, le=64)] = 32
    """Most samples of one row."""
    budget: Annotated[int, Field(ge=1, le=2_000_000)]
    """Most samples of all rows."""
    target_error: _Share = 0.02
    """Mean probability of a wrong class at which sampling ends."""
    votes: Annotated[int, Field(ge=0, le=64)] = 8
    """Samples of a row whose wrong answers agree, before its gold is judged; 0: golds get no samples of their own."""

    @model_validator(mode="after")
    def _in_order(self) -> "ProfilePlan":
        if self.min_pass_rate >= self.max_pass_rate:
            raise ValueError("min_pass_rate must be smaller than max_pass_rate")
        if self.first > self.most:
            raise ValueError("first must not be larger than most")
        return self


class ProfileAnswer(Message):
    """A wrong answer to a row; answers that the grader holds for equal are one."""

    text: _Answer
    votes: Count


class ProfileRow(Message):
    """All that is counted of one row so far."""

    row: Count
    """Number of the row, from 0."""
    asked: Count
    """Samples, those included whose reward could not be computed."""
    samples: Count
    """Samples that were graded."""
    correct: Count
    answers: tuple[ProfileAnswer, ...] = ()
    """Wrong answers, the most frequent first."""

    @model_validator(mode="after")
    def _counts_fit(self) -> "ProfileRow":
        if not self.correct <= self.samples <= self.asked:
            raise ValueError("correct is at most samples, and samples at most asked")
        return self


class ProfileJob(Message):
    """A profile that shall be made, or gone on with."""

    id: str
    bundle: Bundle
    """What a first attempt of a run over the version would start from; its ``run_dir`` is not used."""
    plan: ProfilePlan
    threshold: FiniteFloat
    """Reward from which an answer counts as right."""
    done: tuple[ProfileRow, ...] = ()
    """What was handed in before."""
    batches: Count = 0
    """Number of batches that were handed in."""
    limit_s: float
    """Seconds after which the worker ends with what it has."""
    lease_s: float
    """The platform believes a worker dead that has not asked for so long."""


class ProfileProgress(Message):
    """Progress of a profile, told with each renewal of the lease."""

    phase: Literal["loading", "sampling"]
    done: Count = 0
    """Samples taken so far."""
    total: Count = 0
    """The budget."""


class ProfileBatch(Message):
    """Rows that were sampled, as they stand now."""

    number: Count
    """Number of batches before."""
    rows: Annotated[tuple[ProfileRow, ...], Field(min_length=1, max_length=1024)]
    tokens: Count
    """Completion tokens of the batch."""
    seconds: Annotated[float, Field(ge=0.0)]


class KeptBatches(Message):
    """The answer to a batch."""

    batches: int
    """Number of batches that are kept."""


class ProfileResult(Message):
    """The end of sampling, or the reason why it failed."""

    stopped: Literal["settled", "most", "budget", "time", "errors"] | None = None
    """Reason why it ended: all rows are settled as far as the plan asks, no row that is not may get further samples,
    the budget is spent, time is up, or rewards failed."""
    votes: bool = True
    """Whether the reward reads a place of the answer, without which no gold can be suspected."""
    warnings: tuple[str, ...] = ()
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "ProfileResult":
        if (self.stopped is None) == (self.error is None):
            raise ValueError("give either stopped or error")
        return self
