"""Row queries, used for the browser's filters and to derive versions from the rows found."""

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    model_validator,
)

from dressage.datasets.rows.facts import SCRIPTS, Facts, words
from dressage.datasets.rows.ids import MAX_LENGTH

MAX_IDS = 10_000
Script = Literal[SCRIPTS]  # type: ignore[valid-type]  # the names are there already
RowId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LENGTH + 10)]
Tag = Annotated[str, StringConstraints(min_length=3, max_length=400, pattern=r"^[^=\x00]+=[^\x00]+$")]


NoteName = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00]*$")]
Bound = Annotated[float, Field(allow_inf_nan=False)]
NoteValue = StrictBool | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | NoteName


class NoteCondition(BaseModel):
    """A condition on notes, such as ``difficulty.pass_rate`` from 0.2 to 0.8. Rows without such notes never match."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    notes: NoteName
    """Name of the notes."""
    column: NoteName
    """Column of the notes."""
    equals: NoteValue | None = None
    """Exact value."""
    least: Bound | None = None
    """Smallest allowed value."""
    most: Bound | None = None
    """Largest allowed value."""


class RowQuery(BaseModel):
    """Conditions on rows. A row must fulfil all of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    text: str | None = Field(None, min_length=1, max_length=500, pattern=r"^[^\x00]*$")
    """Words that must all occur in the prompt or chat, in any order and case. Double quotes enclose a phrase."""
    answer: str | None = Field(None, max_length=2_000, pattern=r"^[^\x00]*$")
    """The exact gold answer."""
    min_length: int | None = Field(None, ge=0, le=2**31 - 1)
    """Minimum length of the prompt or chat, in characters."""
    max_length: int | None = Field(None, ge=0, le=2**31 - 1)
    """Maximum length of the prompt or chat, in characters."""
    tags: list[Tag] = Field([], max_length=10)
    """``column=value``, such as ``level=3``. A row must have all of them."""
    script: Script | None = None
    """Script that most letters belong to."""
    ids: list[RowId] | None = Field(None, min_length=1, max_length=MAX_IDS)
    """Ids of rows. A row must have one of them."""
    notes: list[NoteCondition] = Field([], max_length=10)
    """Conditions on what operations found about the rows. Without a value, any known value matches."""

    @model_validator(mode="after")
    def _some_words(self) -> "RowQuery":
        if self.text is not None and not any(self.phrases()):
            raise ValueError("text holds no word")
        return self

    def phrases(self) -> list[list[str]]:
        """Phrases in ``text``, each a list of consecutive words."""
        found: list[list[str]] = []
        for index, part in enumerate((self.text or "").split('"')):
            inside = words(part)
            found += [inside] if index % 2 else [[word] for word in inside]
        return [phrase for phrase in found if phrase]

    def is_empty(self) -> bool:
        """Whether every row matches."""
        return self == RowQuery()


class Matcher:
    """Evaluates a query row by row. Its conditions on notes are evaluated elsewhere, for all rows at the same time."""

    def __init__(self, query: RowQuery) -> None:
        self._query = query
        self._phrases = query.phrases()
        self._tags = set(query.tags)
        self.ids = None if query.ids is None else frozenset(query.ids)
        self.needs_facts = query != RowQuery(ids=query.ids, notes=query.notes)
        """Whether there are conditions other than those on ids and notes."""

    def finds(self, row_id: str, facts: Facts) -> bool:
        """Whether a row fulfils all conditions."""
        query = self._query
        return (
            (self.ids is None or row_id in self.ids)
            and (query.answer is None or query.answer == facts.answer)
            and (query.min_length is None or facts.length >= query.min_length)
            and (query.max_length is None or facts.length <= query.max_length)
            and (query.script is None or query.script == facts.script)
            and self._tags <= set(facts.tags)
            and self._has_phrases(facts.text)
        )

    def _has_phrases(self, text: str) -> bool:
        if not self._phrases:
            return True
        found = words(text)
        return all(_follow(phrase, found) for phrase in self._phrases)


def _follow(phrase: list[str], text: list[str]) -> bool:
    length = len(phrase)
    if length == 1:
        return phrase[0] in text
    return any(text[start : start + length] == phrase for start in range(len(text) - length + 1))
