"""A rubric: weighted criteria, each judged by a language model."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

from pydantic import ValidationError, field_validator, model_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders.model.judge import ENDPOINT_PATTERN, Judges, ask_readable, require
from trainer_core.rewards.graders.model.rubric_prompt import Asking, Scale, questions, reader
from trainer_core.rewards.graders.template import NoJsonError, check_template, item_columns
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel, field, method_doc

PROMPT = "Task:\n{{item.prompt}}\n\nResponse:\n{{sample.answer_text}}"


class RubricItem(SpecModel):
    """One criterion."""

    name: str = field(min_length=1, max_length=200)
    """Short name."""
    description: str = field(min_length=1, max_length=4000)
    """What a response must do, or for a negative weight what it must not do."""
    weight: float = field(1.0, ge=-1000.0, le=1000.0)
    """Points for meeting it; negative for a pitfall. Not 0."""

    @field_validator("weight")
    @classmethod
    def _counts(cls, weight: float) -> float:
        if weight == 0:
            raise ValueError("a criterion of weight 0 would have no effect")
        return weight


class RubricGrader(GraderModel):
    """Points won over points that can be won: pitfalls take points away, and add none to what can be won."""

    model_config = method_doc("Rubric", "Σ wᵢ·sᵢ / Σ max(wᵢ, 0)", "arXiv 2505.08775 (HealthBench)")

    tool: ClassVar[Tool | None] = "judges"
    type: Literal["rubric"] = "rubric"
    endpoint: str = field("default", pattern=ENDPOINT_PATTERN)
    """The team's judge endpoint."""
    items: tuple[RubricItem, ...] = field((), max_length=64)
    """Criteria for every row. Names must be unique."""
    items_field: str | None = field(None, max_length=200)
    """Field of the dataset row with criteria of its own, a list of the same shape; a row may have none."""
    mode: Literal["separate", "together"] = "separate"
    """One question for each criterion, or one for all."""
    scale: Scale = "binary"
    """Met or not (1 or 0), or how well from 1 to 5 (0 to 1 in quarters)."""
    prompt: str = field(PROMPT, min_length=1, max_length=20_000)
    """Template of what is judged. What comes from the sample is shown between marks that it cannot forge."""
    repeats: int = field(1, ge=1, le=16)
    """Times that each question is asked, with seeds of their own; the mean counts."""
    swap_order: bool = False
    """Ask once more with criteria and choices in reverse order; the mean counts."""
    clip: bool = True
    """A grade below 0, where pitfalls outweigh all else, counts as 0."""
    temperature: float = field(0.0, ge=0.0, le=2.0)
    """Spread of the judge's answers."""
    max_tokens: int = field(1024, ge=1, le=65_536, unit="tokens")
    """Longest answer."""

    _templates = field_validator("prompt")(check_template)

    @model_validator(mode="after")
    def _has_criteria(self) -> "RubricGrader":
        names = [item.name for item in self.items]
        doubled = next((name for name in names if names.count(name) > 1), None)
        if doubled is not None:
            raise ValueError(f"the criterion {doubled!r} stands twice")
        if self.items_field is None and not any(item.weight > 0 for item in self.items):
            raise ValueError("a rubric needs a criterion of positive weight, or the field of rows that have them")
        return self

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns that the template reads. A row without criteria of its own is graded by those for every row."""
        own = (self.items_field,) if self.items_field is not None and not self.items else ()
        return tuple(dict.fromkeys((*item_columns((self.prompt,)), *own)))

    def grade(self, sample: Sample, item: Mapping[str, Any], judges: Judges | None = None) -> float:
        """Grade of up to 1.0; output that is not the JSON that the prompt reads is 0.0.

        Raises:
            JudgeError: there is no judge, it fails, or its answers cannot be read.
            GraderError: the row's criteria cannot be read, or leave nothing to win.
        """
        judges, criteria = require(judges), self._criteria(item)
        possible = sum(max(criterion.weight, 0.0) for criterion in criteria)
        if possible == 0:
            raise GraderError("the rubric has no criterion of positive weight for this row")
        try:
            scores = self._scores(sample, item, criteria, judges)
        except NoJsonError:
            tell("The output is not the JSON that the prompt reads.")
            return 0.0
        grade = sum(criterion.weight * score for criterion, score in zip(criteria, scores, strict=True)) / possible
        return max(grade, 0.0) if self.clip else grade

    def _criteria(self, item: Mapping[str, Any]) -> list[RubricItem]:
        own = item.get(self.items_field) if self.items_field is not None else None
        if own is None:
            return list(self.items)
        if not isinstance(own, list) or len(own) > 64:
            raise GraderError(f"the field {self.items_field!r} holds no list of up to 64 criteria")
        try:
            return [*self.items, *(RubricItem.model_validate(one) for one in own)]
        except ValidationError as error:
            first = error.errors()[0]
            raise GraderError(f"the field {self.items_field!r} has a bad criterion: {first['msg']}") from error

    def _scores(
        self, sample: Sample, item: Mapping[str, Any], criteria: Sequence[RubricItem], judges: Judges
    ) -> list[float]:
        """The mean score of each criterion over repeats and orders."""
        texts = [f"{criterion.name}: {criterion.description}" for criterion in criteria]
        orders = (False, True) if self.swap_order else (False,)
        batches = [texts] if self.mode == "together" else [[text] for text in texts]
        asks = [
            Asking(self.prompt, self.scale, batch, swapped, repeat, self.temperature, self.max_tokens)
            for swapped in orders
            for repeat in range(self.repeats)
            for batch in batches
        ]
        size = 1 if self.mode == "separate" else len(texts)
        read = reader(self.scale, size)
        answers = ask_readable(judges, self.endpoint, questions(asks, sample, item), read)
        flat = [verdict for ask, answer in zip(asks, answers, strict=True) for verdict in ask.in_order(answer)]
        rounds = [[one.score for one in flat[start : start + len(texts)]] for start in range(0, len(flat), len(texts))]
        self._note(rounds, judges)
        for criterion, first, *scores in zip(criteria, flat, *rounds, strict=False):
            tell(f"{criterion.name} {sum(scores) / len(scores):.3g}: {first.reason}")
        return [sum(column) / len(rounds) for column in zip(*rounds, strict=True)]

    def _note(self, rounds: Sequence[Sequence[float]], judges: Judges) -> None:
        """Tell how far repeats and orders agree. ``rounds``: first all repeats in order, then all in reverse."""
        plain, swapped = rounds[: self.repeats], rounds[self.repeats :]
        for same in (plain, swapped):
            for left, right in combinations(same, 2):
                judges.agreed("repeat", _alike(left, right))
        for left, right in zip(plain, swapped, strict=False):
            judges.agreed("swap", _alike(left, right))


def _alike(left: Sequence[float], right: Sequence[float]) -> float:
    return 1 - sum(abs(a - b) for a, b in zip(left, right, strict=True)) / len(left)
