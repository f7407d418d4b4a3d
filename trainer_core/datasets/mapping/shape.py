"""A mapping as a shape, the interface that the file reader uses for both."""

from collections.abc import Mapping
from typing import Any

from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.mapping.answer import AnswerReader
from trainer_core.datasets.mapping.chat import messages_of, turns_of
from trainer_core.datasets.mapping.code_tests import tests_of
from trainer_core.datasets.mapping.document import ChatPrompt, DatasetMapping, MappedAnswer, TemplatePrompt
from trainer_core.datasets.mapping.path import MISSING, parse_path, required, shown, value_at
from trainer_core.datasets.mapping.template import parse_template
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape

LETTER = "Please reason step by step, and put the letter of your choice within \\boxed{}."
_RULES = {
    "last_number": "the last number of",
    "boxed": "the last \\boxed{} of",
    "choice_index": "the letter of the option whose number is",
    "choice_label": "the letter of the option that is called",
    "choice_text": "the letter of the option with the text of",
}


def shape_of(mapping: DatasetMapping, title: str = "Mapped manually") -> Shape:
    """The shape of a mapping. Every row matches it; rows that it cannot convert are faulty."""
    grader, system = _fitting(mapping)
    return Shape(
        name="mapping",
        title=title,
        columns="those in its mapping",
        mapping=tuple(_told(mapping)),
        matches=lambda row: True,
        convert=_Converter(mapping).convert,
        grader=grader,
        system=system if mapping.system is None else None,
    )


class _Converter:
    """A mapping with its paths and templates parsed."""

    def __init__(self, mapping: DatasetMapping) -> None:
        self._mapping, prompt = mapping, mapping.prompt
        self._template = parse_template(prompt.template) if isinstance(prompt, TemplatePrompt) else None
        self._chat = parse_path(prompt.path) if isinstance(prompt, ChatPrompt) else ()
        self._system = parse_template(mapping.system) if mapping.system is not None else None
        answer = mapping.answer
        self._answer = (
            AnswerReader(answer, parse_path(answer.path), [parse_path(path) for path in answer.choices])
            if answer
            else None
        )
        self._tests = parse_path(mapping.tests.path) if mapping.tests else ()
        self._source = parse_path(mapping.source) if mapping.source else ()
        self._tags = {name: parse_path(path) for name, path in mapping.tags.items()}

    def convert(self, row: Row) -> Row:
        """The row as it is stored. Raises ValueError with a message about what is wrong."""
        data = self._read_json(row)
        made, used_up = self._asked(data)
        if self._answer is not None:
            made["answer"] = self._answer.read(data)
        tests = self._mapping.tests
        if tests is not None:
            found = value_at(data, self._tests)
            empty = found is MISSING or found in (None, "", [], {})
            if not (tests.optional and empty):
                made["tests"] = tests_of(required(data, self._tests), shown(self._tests))
        if self._source:
            made["source"] = required(data, self._source)
        for name, steps in self._tags.items():
            made[name] = None if (value := value_at(data, steps)) is MISSING else value
        gone = {*self._mapping.left_out, *([used_up] if used_up is not None else [])}
        return _beside(made, {name: value for name, value in data.items() if name not in gone})

    def _asked(self, data: Row) -> tuple[Row, str | None]:
        """(the prompt's columns, the column that they contain completely)."""
        prompt = self._mapping.prompt
        if self._template is not None:
            text = self._template.fill(data)
            if isinstance(prompt, TemplatePrompt) and prompt.form == "text":
                return {"prompt": text}, None
            return {"messages": self._headed([{"role": "user", "content": text.strip()}], data)}, None
        assert isinstance(prompt, ChatPrompt)  # the other kind
        name = shown(self._chat)
        messages, reference = messages_of(turns_of(required(data, self._chat), name), name, prompt)
        made: Row = {"messages": self._headed(messages, data)}
        if reference is not None:
            made["reference"] = reference
        return made, str(self._chat[0]) if len(self._chat) == 1 else None

    def _headed(self, messages: list[dict[str, str]], data: Row) -> list[dict[str, str]]:
        if self._system is None or messages[0]["role"] == "system":
            return messages
        return [{"role": "system", "content": self._system.fill(data).strip()}, *messages]

    def _read_json(self, row: Row) -> Row:
        data = dict(row)
        for name in self._mapping.json_columns:
            text = data.get(name)
            if not isinstance(text, str):
                continue
            if not text.strip():
                data[name] = None
                continue
            try:
                data[name] = read_json(text)
            except ValueError as error:
                raise ValueError(f"`{name[:80]}` {error}, and the mapping reads it as JSON.") from error
        return data


def _beside(made: Row, kept: Row) -> Row:
    """The created columns, then those of the file; if both have a name, the file's column is renamed to
    ``source_…``."""
    row = dict(made)
    reserved = made.keys() | {"prompt", "messages"}
    for name, value in kept.items():
        if name not in reserved:
            row[name] = value
        elif name not in made or _differ(made[name], value):
            other = f"source_{name}"
            while other in made or other in kept:
                other = f"source_{other}"
            row[other] = value
    return row


def _differ(made: Any, value: Any) -> bool:
    return type(made) is not type(value) or made != value


def _fitting(mapping: DatasetMapping) -> tuple[Mapping[str, Any] | None, str | None]:
    """A grader for the rows, and the system prompt that requests the form it reads."""
    if mapping.tests is not None:
        return {"type": "code_tests", "tests": "tests"}, None
    if mapping.answer is None or mapping.answer.rule == "as_is":
        return None, None  # the user decides which grader fits a text
    if mapping.answer.rule.startswith("choice"):
        return {"type": "choice", "reference": "answer"}, LETTER
    return {"type": "math", "reference": "answer", "extraction": "boxed"}, BOXED


def _told(mapping: DatasetMapping) -> list[Mapped]:
    prompt, told = mapping.prompt, []
    if isinstance(prompt, TemplatePrompt):
        how = "continued by the policy" if prompt.form == "text" else "as the user's message"
        told.append(Mapped("prompt" if prompt.form == "text" else "messages", f"`{prompt.template}` {how}"))
    else:
        told.append(Mapped("messages", f"the chat in `{prompt.path}`, without the model's last message"))
        told.append(Mapped("reference", "the model's last message in it"))
    if mapping.system is not None:
        told.append(Mapped("messages", f"`{mapping.system}` as the system message"))
    if mapping.answer is not None:
        told.append(Mapped("answer", _answer_told(mapping.answer)))
    if mapping.tests is not None:
        told.append(Mapped("tests", f"`{mapping.tests.path}`"))
    if mapping.source is not None:
        told.append(Mapped("source", f"`{mapping.source}`"))
    return told + [Mapped(name, f"`{path}`") for name, path in mapping.tags.items()]


def _answer_told(answer: MappedAnswer) -> str:
    if answer.rule == "as_is":
        return f"`{answer.path}` unchanged"
    if answer.rule == "after_marker":
        return f"the text after the last `{answer.marker}` of `{answer.path}`"
    return f"{_RULES[answer.rule]} `{answer.path}`"
