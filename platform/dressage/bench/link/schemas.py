"""What the worker of a bench job sends."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, model_validator

MAX_ERROR = 20_000
Message = Annotated[str, AfterValidator(lambda text: text[:MAX_ERROR])]


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class BenchScore(_Message):
    """One sample's score, as the worker tells it."""

    reward: FiniteFloat | None
    parts: dict[str, FiniteFloat] = {}
    error: Message | None = None
    traceback: Message | None = None
    seconds: Annotated[float, Field(ge=0.0)] = 0.0
    forgiven: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_of_two(self) -> "BenchScore":
        if (self.reward is None) == (self.error is None):
            raise ValueError("a score has either a reward or an error")
        return self


class BenchJudge(_Message):
    """What the judges were asked in all."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: FiniteFloat | None = None
    seconds_p50: FiniteFloat | None = None
    seconds_p95: FiniteFloat | None = None
    agreement_repeat: FiniteFloat | None = None
    agreement_swap: FiniteFloat | None = None


class BenchResult(_Message):
    """Either results or the reason why there are none."""

    results: tuple[tuple[BenchScore, ...], ...] | None = None
    judge: BenchJudge | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "BenchResult":
        if (self.results is None) == (self.error is None):
            raise ValueError("give either results or error")
        return self
