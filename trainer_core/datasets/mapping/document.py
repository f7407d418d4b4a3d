"""Document of a mapping: the user's description of a file's columns."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from trainer_core.datasets.mapping.path import MAX_PATH, parse_path
from trainer_core.datasets.mapping.template import MAX_TEMPLATE, parse_template

MAX_NAME = 500
"""Most characters of a column name in a mapping."""
MADE = frozenset({"prompt", "messages", "answer", "tests", "source", "reference", "id"})
"""Columns that other fields of a mapping create, and the id. No tag may replace them."""
Role = Literal["system", "user", "assistant"]


def _valid(parse: Callable[[str], object]) -> Callable[[str], str]:
    def check(text: str) -> str:
        parse(text)
        return text

    return check


Path = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PATH), AfterValidator(_valid(parse_path))]
TemplateText = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_TEMPLATE), AfterValidator(_valid(parse_template))
]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class _MappingModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class TemplatePrompt(_MappingModel):
    """A prompt that a template makes of columns."""

    kind: Literal["columns"]
    template: TemplateText
    """Text with places such as `{question}`, `{reward_model.ground_truth}`, `{choices[0]}` or `{["a.b"]}`.
    `{choices|letters}` writes options with letters, `|numbers` and `|lines` lists, `|json` JSON; `{input?}` may be
    missing; `{{` and `}}` are braces."""
    form: Literal["chat", "text"] = "chat"
    """`chat` asks it as the user's message through the policy's chat template; `text` has the policy continue it."""


class ChatPrompt(_MappingModel):
    """A prompt that stands in the file as a chat. Turns of the model at its end become `reference`."""

    kind: Literal["chat"]
    path: Path
    """Place of the list of turns, or of JSON text of it. Turns are objects, or texts of user and assistant in turn."""
    role: ColumnName = "role"
    """Key of a turn that says who speaks, such as `from`."""
    content: ColumnName = "content"
    """Key of a turn with what is said, such as `value`."""
    roles: Annotated[dict[Short, Role], Field(max_length=50)] = {}
    """Roles by the words that the file has for them. Known without are user, human, assistant, gpt, model, bot, system
    and developer."""


class MappedAnswer(_MappingModel):
    """The gold answer: its place, and the rule by which it is taken from there."""

    path: Path
    rule: Literal["as_is", "last_number", "after_marker", "boxed", "choice_index", "choice_label", "choice_text"] = (
        "as_is"
    )
    """`as_is` takes a text, number or truth value; `last_number` its last number; `after_marker` what stands behind the
    last marker, up to the end of its line; `boxed` the last closed `\\\\boxed{}`. `choice_index`, `choice_label` and
    `choice_text` make the letter of the option that has this position, this label or this text."""
    marker: Annotated[str, StringConstraints(min_length=1, max_length=100)] = "####"
    """Text in front of the answer, for `after_marker`."""
    choices: Annotated[list[Path], Field(max_length=26)] = []
    """Places of the options, for their letters: that of the list, or one for each option."""
    first: Annotated[int, Field(ge=0, le=1)] = 0
    """Number of the first option, for `choice_index`."""
    optional: bool = False
    """Whether rows may lack it; their answer is null."""

    @model_validator(mode="after")
    def _options_are_told(self) -> "MappedAnswer":
        if self.rule in ("choice_index", "choice_label", "choice_text") and not self.choices:
            raise ValueError(f"The rule {self.rule} needs `choices`: the path of the options.")
        return self


class MappedTests(_MappingModel):
    """Tests of a program, and their place.

    A text, a list of texts, pairs of `input` and `output`, or `{inputs: […], outputs: […]}`.
    """

    path: Path
    optional: bool = False
    """Whether rows may lack them."""


class DatasetMapping(_MappingModel):
    """A mapping: what becomes of a file's columns. Columns that it does not name are kept as they are."""

    version: Literal[1] = 1
    prompt: Annotated[TemplatePrompt | ChatPrompt, Field(discriminator="kind")]
    system: TemplateText | None = None
    """Template of a system message in front of the chat, where it has none of its own."""
    answer: MappedAnswer | None = None
    tests: MappedTests | None = None
    source: Path | None = None
    """Place at which a row says what it comes from; it becomes the column `source`."""
    tags: Annotated[dict[ColumnName, Path], Field(max_length=64)] = {}
    """Columns that are made of values further inside, such as `{"level": "metadata.level"}`: rows are found by them."""
    json_columns: Annotated[list[ColumnName], Field(max_length=256)] = []
    """Columns of text that is read as JSON before all else."""
    left_out: Annotated[list[ColumnName], Field(max_length=256)] = []
    """Columns that are not stored. What is made of them is."""
    faulty_rows: Literal["refuse", "leave_out"] = "refuse"
    """Whether a row that cannot be mapped refuses the file, or is left out with a warning."""

    @model_validator(mode="after")
    def _fits_together(self) -> "DatasetMapping":
        if self.system is not None and isinstance(self.prompt, TemplatePrompt) and self.prompt.form == "text":
            raise ValueError("A prompt that the policy continues has no `system` message.")
        taken = MADE & self.tags.keys()
        if taken:
            raise ValueError(f"A tag cannot be called `{min(taken)}`, which is a separate column.")
        return self
