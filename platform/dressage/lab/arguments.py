"""Operations of the lab, as clients ask for them and as jobs keep them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from dressage.datasets.rows.query import RowQuery
from dressage.lab.synthesis.words import ANSWER_FORMAT, REPHRASE, WHOLE_ANSWERS
from trainer_core.rewards.graders.judge import ENDPOINT_PATTERN
from trainer_core.rewards.graders.rubric import RubricItem
from trainer_core.rewards.graders.rubric_prompt import Scale

Ref = Annotated[str, Field(min_length=3, max_length=80)]
MAX_ASKED_ROWS = 10_000
"""Rows that a model is asked about in one job."""
Column = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]


class _LabModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class FindDuplicates(_LabModel):
    """Rows that say the same, word for word or nearly; notes ``duplicates``."""

    kind: Literal["duplicates"]
    threshold: float = Field(0.8, ge=0.5, le=1)
    """Jaccard similarity of the sets of shingles from which rows are near duplicates; 1 finds equal ones alone."""
    shingle: int = Field(3, ge=1, le=12)
    """Words of a shingle; in scripts without spaces each sign is a word."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What is compared: ``prompt`` is the prompt or what user and assistant say, ``answer`` the gold answer, all else
    a column of that name."""
    same_figures: bool = True
    """Whether near duplicates must have the same numbers and operators: one question with other numbers is another."""
    against: list[Ref] = Field([], max_length=10)
    """``slug@version`` of others. A row that one of them has, or nearly has, is not kept."""


class FindContamination(_LabModel):
    """Rows that evaluation sets have, in whole or in part; notes ``contamination``.

    Source: GPT-3 (arXiv 2005.14165), appendix C, looks for shared runs of 13 words; Llama 3 (arXiv 2407.21783), section
    5.1.4, for runs of 8 and the share that they cover.
    """

    kind: Literal["contamination"]
    against: list[Ref] = Field(min_length=1, max_length=10)
    """``slug@version`` of the evaluation sets."""
    run: int = Field(13, ge=5, le=50)
    """Words of a run; in scripts without spaces each sign is a word. Shorter texts are found where equal or near."""
    threshold: float = Field(0.5, gt=0, le=1)
    """Share of the runs of the shorter of two texts that the other has as well, from which a row is contaminated."""
    common: float = Field(0.05, gt=0, le=1)
    """Share of the rows of one version, and ten rows at least, above which a run is taken for common and left out."""
    near: float = Field(0.8, ge=0.5, le=1)
    """Jaccard similarity of the sets of three-word runs from which rows are near; 1 finds equal ones alone."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What is compared, as for duplicates."""
    same_figures: bool = True
    """Whether numbers and operators beside the shared runs must agree: a question with other numbers is another."""


class FindStatistics(_LabModel):
    """Length, words, language, script and kind of answer of each row; notes ``statistics``."""

    kind: Literal["statistics"]


class FindParaphrases(_LabModel):
    """Rows that say the same in other words, by a model's vectors of them; notes ``paraphrases``.

    Source: SemDeDup (arXiv 2303.09540), which takes rows for the same whose vectors have a large cosine similarity.
    """

    kind: Literal["paraphrases"]
    endpoint: str = Field(pattern=ENDPOINT_PATTERN)
    """Slug of a judge endpoint of the team: one whose address has ``/embeddings``, or a policy."""
    threshold: float = Field(0.95, ge=0.5, le=1)
    """Cosine similarity from which rows say the same."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What is compared, as for duplicates."""
    same_numbers: bool = True
    """Whether rows must have the same numbers, in digits or English words: a question with others is another."""


class AskingOperation(_LabModel):
    """What operations have in common that ask a model about rows."""

    endpoint: str = Field(pattern=ENDPOINT_PATTERN)
    """Slug of a judge endpoint of the team. The cluster serves a policy's for as long as the job asks."""
    sample: int | None = Field(None, ge=1, le=MAX_ASKED_ROWS)
    """Rows that are asked about, drawn at random; null for all, of which there may be 10,000."""
    seed: int = Field(0, ge=0, le=2**31 - 1)
    """Number that makes another sample."""
    max_tokens: int = Field(2048, ge=16, le=65_536)
    """Longest answer."""


class AssessQuality(AskingOperation):
    """A judge's verdicts on each row by a rubric; notes ``quality``."""

    kind: Literal["quality"]
    items: tuple[RubricItem, ...] = Field(min_length=1, max_length=32)
    """Criteria. A row's score is the points that it wins over those that can be won; pitfalls take points away."""
    scale: Scale = "likert"
    """Met or not (1 or 0), or how well from 1 to 5 (0 to 1 in quarters)."""
    columns: list[Column] = Field(["prompt", "answer"], min_length=1, max_length=8)
    """What the judge sees of a row, as for duplicates."""

    @model_validator(mode="after")
    def _can_be_won(self) -> "AssessQuality":
        names = [item.name for item in self.items]
        if len(set(names)) < len(names):
            raise ValueError("two criteria have the same name")
        if not any(item.weight > 0 for item in self.items):
            raise ValueError("a rubric needs a criterion of positive weight")
        return self


class FindMemorised(AskingOperation):
    """Rows whose rest a model writes word for word once it is shown their beginning; notes ``memorisation``.

    Source: "Reasoning or Memorization?" (arXiv 2507.10532), which completes partial prompts of benchmarks.
    """

    kind: Literal["memorisation"]
    shown: float = Field(0.6, ge=0.2, le=0.9)
    """Share of a prompt's words that the model is shown; in scripts without spaces each sign is a word."""
    least_rest: int = Field(8, ge=3, le=200)
    """Words that must be left to write. Rows with fewer are left out: a short rest can be guessed."""
    max_tokens: int = Field(512, ge=16, le=65_536)
    """Tokens that the model may write behind the rest of the prompt: what it answers."""

    @property
    def columns(self) -> list[str]:
        """Columns of a row that the model sees."""
        return ["prompt"]


Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]


class NewDataset(_LabModel):
    """A dataset for what is made; slugs of datasets and of endpoints have the same form."""

    name: Text = Field(min_length=1, max_length=120)
    slug: str | None = Field(None, pattern=ENDPOINT_PATTERN)


class SynthesiseRows(AskingOperation):
    """Variations of rows, each verified before it enters a version; notes ``synthesis``.

    A model writes them. Then a model answers each several times, and the graders of a reward compare the answers with
    the gold answer of the row that it was made of.
    """

    kind: Literal["synthesis"]
    query: RowQuery = RowQuery()
    """The rows of which variations are made, as for versions that are filtered. Those without a gold answer, and those
    that are variations themselves, are left out."""
    instruction: Text = Field(REPHRASE, min_length=1, max_length=4_000)
    """What the model is to make of a question; with ``whole`` answers the default is another one."""
    answers: Literal["same", "whole"] = "same"
    """Gold answers of variations: ``same`` as the row's, which the model is not shown; or ``whole`` numbers that it
    writes with the question, knowing the row's answer. Rows whose answer is a whole number are then left out."""
    variations: int = Field(2, ge=1, le=8)
    """Variations of each row that are asked for."""
    same_numbers: bool = True
    """Whether a variation must have the numbers of its source, and no others."""
    near: float = Field(0.8, ge=0.5, le=0.95)
    """Jaccard similarity of the sets of three-word runs from which a variation says the same as another text."""
    solver: str | None = Field(None, pattern=ENDPOINT_PATTERN)
    """Slug of the judge endpoint that answers the variations; null for the one that writes them."""
    attempts: int = Field(4, ge=1, le=16)
    """Answers to each variation."""
    answer_format: Text = Field(ANSWER_FORMAT, max_length=1_000)
    """What is written below a variation where it is put to the model that answers it; the version has it not."""
    reward: Ref | None = None
    """``slug@version`` of a reward whose graders compare the answers; null for mathematical equality with ``answer``,
    wherever the final answer stands."""
    least_pass_rate: float = Field(0.5, gt=0, le=1)
    """Share of right answers from which a variation is kept. No wrong answer may come as often as right ones."""
    most_pass_rate: float = Field(1.0, gt=0, le=1)
    """Largest share of right answers: below 1, what is always solved is left out."""
    into: NewDataset | None = None
    """A new dataset for the result; null makes the next version of this one."""

    @property
    def columns(self) -> list[str]:
        """Columns of a row that the model sees."""
        return ["prompt"] if self.answers == "same" else ["prompt", "answer"]

    @model_validator(mode="before")
    @classmethod
    def _instruct(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("answers") == "whole":
            return {"instruction": WHOLE_ANSWERS, **given}
        return given

    @model_validator(mode="after")
    def _is_a_band(self) -> "SynthesiseRows":
        if self.least_pass_rate > self.most_pass_rate:
            raise ValueError("least_pass_rate is above most_pass_rate")
        if not self.instruction.strip():
            raise ValueError("the instruction is empty")
        return self


AnyAsking = AssessQuality | SynthesiseRows | FindMemorised
AnyOperation = FindDuplicates | FindContamination | FindStatistics | FindParaphrases | AnyAsking


class LabOperation(RootModel[Annotated[AnyOperation, Field(discriminator="kind")]]):
    """What is to be done with the rows of a version."""

    model_config = ConfigDict(frozen=True)
