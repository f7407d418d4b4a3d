"""Lab operations as clients request them and as jobs store them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from dressage.datasets.rows.query import RowQuery
from dressage.lab.synthesis.words import ANSWER_FORMAT, REPHRASE, WHOLE_ANSWERS
from trainer_core.rewards.graders.model.judge import ENDPOINT_PATTERN
from trainer_core.rewards.graders.model.rubric import RubricItem
from trainer_core.rewards.graders.model.rubric_prompt import Scale

Ref = Annotated[str, Field(min_length=3, max_length=80)]
MAX_ASKED_ROWS = 10_000
"""Maximum number of rows that one job may send to a model."""
Column = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]


class _LabModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class FindDuplicates(_LabModel):
    """Find rows that are equal or nearly equal word for word. Writes the notes ``duplicates``."""

    kind: Literal["duplicates"]
    threshold: float = Field(0.8, ge=0.5, le=1)
    """Jaccard similarity of the sets of shingles at or above which rows are near duplicates. 1 finds equal rows
    only."""
    shingle: int = Field(3, ge=1, le=12)
    """Words per shingle. In scripts without spaces each character is a word."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What to compare: ``prompt`` is the prompt or the user and assistant messages, ``answer`` the gold answer, any
    other name a column."""
    same_figures: bool = True
    """Whether near duplicates must have the same numbers and operators. A question with other numbers is a different
    one."""
    against: list[Ref] = Field([], max_length=10)
    """``slug@version`` of other versions. A row that one of them contains, exactly or nearly, is not kept."""


class FindContamination(_LabModel):
    """Find rows that evaluation sets contain, in whole or in part. Writes the notes ``contamination``.

    Source: GPT-3 (arXiv 2005.14165), appendix C, searches for shared runs of 13 words; Llama 3 (arXiv 2407.21783),
    section 5.1.4, for runs of 8 and the share that they cover.
    """

    kind: Literal["contamination"]
    against: list[Ref] = Field(min_length=1, max_length=10)
    """``slug@version`` of the evaluation sets."""
    run: int = Field(13, ge=5, le=50)
    """Words per run. In scripts without spaces each character is a word. Shorter texts are found only if equal or
    near."""
    threshold: float = Field(0.5, gt=0, le=1)
    """Minimum share of the runs of the shorter of two texts that the other one must contain for contamination."""
    common: float = Field(0.05, gt=0, le=1)
    """Share of the rows of one version, but at least ten rows, above which a run counts as common and is ignored."""
    near: float = Field(0.8, ge=0.5, le=1)
    """Jaccard similarity of the sets of three-word runs at or above which rows are near. 1 finds equal rows only."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What to compare, as for duplicates."""
    same_figures: bool = True
    """Whether numbers and operators outside the shared runs must agree. A question with other numbers is a different
    one."""


class FindStatistics(_LabModel):
    """Determine length, words, language, script and answer type of each row. Writes the notes ``statistics``."""

    kind: Literal["statistics"]


class FindParaphrases(_LabModel):
    """Find rows that say the same in other words, by a model's embeddings. Writes the notes ``paraphrases``.

    Source: SemDeDup (arXiv 2303.09540), which treats rows as equal if their embeddings have a high cosine similarity.
    """

    kind: Literal["paraphrases"]
    endpoint: str = Field(pattern=ENDPOINT_PATTERN)
    """Slug of a judge endpoint of the team. Its URL must provide ``/embeddings``, or it must serve a policy."""
    threshold: float = Field(0.95, ge=0.5, le=1)
    """Cosine similarity at or above which rows say the same."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What to compare, as for duplicates."""
    same_numbers: bool = True
    """Whether rows must have the same numbers, in digits or English words. A question with other numbers is a different
    one."""


class AskingOperation(_LabModel):
    """Common arguments of operations that ask a model about rows."""

    endpoint: str = Field(pattern=ENDPOINT_PATTERN)
    """Slug of a judge endpoint of the team. If it serves a policy, the cluster serves it while the job needs it."""
    sample: int | None = Field(None, ge=1, le=MAX_ASKED_ROWS)
    """Number of rows to ask about, drawn at random. Null means all rows, which may be at most 10,000."""
    seed: int = Field(0, ge=0, le=2**31 - 1)
    """Seed of the sample. Another number selects another sample."""
    max_tokens: int = Field(2048, ge=16, le=65_536)
    """Maximum length of an answer, in tokens."""


class AssessQuality(AskingOperation):
    """Have a judge score each row by a rubric. Writes the notes ``quality``."""

    kind: Literal["quality"]
    items: tuple[RubricItem, ...] = Field(min_length=1, max_length=32)
    """Criteria. A row's score is the points it earns divided by the points possible. Pitfalls subtract points."""
    scale: Scale = "likert"
    """Met or not (1 or 0), or a rating from 1 to 5 (0 to 1 in quarters)."""
    columns: list[Column] = Field(["prompt", "answer"], min_length=1, max_length=8)
    """What the judge sees of a row, as for duplicates."""

    @model_validator(mode="after")
    def _can_be_won(self) -> "AssessQuality":
        names = [item.name for item in self.items]
        if len(set(names)) < len(names):
            raise ValueError("two criteria have the same name")
        if not any(item.weight > 0 for item in self.items):
            raise ValueError("a rubric needs a criterion with positive weight")
        return self


class FindMemorised(AskingOperation):
    """Find rows that a model completes word for word from their beginning. Writes the notes ``memorisation``.

    Source: "Reasoning or Memorization?" (arXiv 2507.10532), which completes partial prompts of benchmarks.
    """

    kind: Literal["memorisation"]
    shown: float = Field(0.6, ge=0.2, le=0.9)
    """Share of a prompt's words that the model sees. In scripts without spaces each character is a word."""
    least_rest: int = Field(8, ge=3, le=200)
    """Minimum number of words left to complete. Rows with fewer are left out, because a short rest can be guessed."""
    max_tokens: int = Field(512, ge=16, le=65_536)
    """Maximum number of tokens after the rest of the prompt, for the model's answer."""

    @property
    def columns(self) -> list[str]:
        """Columns of a row that the model sees."""
        return ["prompt"]


Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]


class NewDataset(_LabModel):
    """A dataset for the result. Slugs of datasets and of endpoints have the same format."""

    name: Text = Field(min_length=1, max_length=120)
    slug: str | None = Field(None, pattern=ENDPOINT_PATTERN)


class SynthesiseRows(AskingOperation):
    """Create variations of rows, and verify each before it enters a version. Writes the notes ``synthesis``.

    A model writes the variations. Then a model answers each of them several times, and the graders of a reward compare
    the answers with the gold answer of the source row.
    """

    kind: Literal["synthesis"]
    query: RowQuery = RowQuery()
    """The rows to create variations of, as for filtered versions. Rows without a gold answer and rows that are
    variations themselves are left out."""
    instruction: Text = Field(REPHRASE, min_length=1, max_length=4_000)
    """What the model should do with a question. With ``whole`` answers the default is different."""
    answers: Literal["same", "whole"] = "same"
    """Gold answers of variations: ``same`` as the source row's, which the model does not see; or ``whole``: integers
    that it writes with the question, knowing the source row's answer. ``whole`` leaves out rows whose answer already is
    an integer."""
    variations: int = Field(2, ge=1, le=8)
    """Number of variations to request per row."""
    same_numbers: bool = True
    """Whether a variation must have exactly the numbers of its source."""
    near: float = Field(0.8, ge=0.5, le=0.95)
    """Jaccard similarity of the sets of three-word runs at or above which a variation repeats another text."""
    solver: str | None = Field(None, pattern=ENDPOINT_PATTERN)
    """Slug of the judge endpoint that answers the variations. Null uses the one that writes them."""
    attempts: int = Field(4, ge=1, le=16)
    """Number of answers to each variation."""
    answer_format: Text = Field(ANSWER_FORMAT, max_length=1_000)
    """Text appended to a variation when a model answers it. It is not stored in the version."""
    reward: Ref | None = None
    """``slug@version`` of a reward whose graders compare the answers. Null checks mathematical equality with
    ``answer``, at any place of the final answer."""
    least_pass_rate: float = Field(0.5, gt=0, le=1)
    """Minimum share of right answers for a variation to be kept. No wrong answer may be as frequent as the right
    ones."""
    most_pass_rate: float = Field(1.0, gt=0, le=1)
    """Maximum share of right answers. A value below 1 leaves out variations that are always solved."""
    into: NewDataset | None = None
    """A new dataset for the result. Null creates the next version of this dataset."""

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
    """The operation to apply to the rows of a version."""

    model_config = ConfigDict(frozen=True)
