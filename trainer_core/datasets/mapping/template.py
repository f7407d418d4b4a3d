"""Text templates: ``{question}``, ``{choices|letters}``, ``{input?}`` if rows may lack it, ``{{`` for a brace."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from trainer_core.datasets.invisible import is_blank
from trainer_core.datasets.mapping.options import lettered, options_of
from trainer_core.datasets.mapping.path import MAX_PATH, MISSING, Step, parse_path, required, shown, value_at
from trainer_core.datasets.shape import Row

MAX_TEMPLATE = 20_000
MAX_PLACES = 100
MAX_TEXT = 1 << 20
"""Most characters that a template may create from a row."""
Format = Literal["letters", "numbers", "lines", "json"]
_BRACE = re.compile("[{}]")
_FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class TemplatePlace:
    """A placeholder that is filled from the row."""

    steps: tuple[Step, ...]
    optional: bool
    format: Format | None


@dataclass(frozen=True, slots=True)
class RowTemplate:
    """Text with placeholders, in order."""

    parts: tuple[str | TemplatePlace, ...]

    @property
    def places(self) -> tuple[TemplatePlace, ...]:
        """Only the placeholders."""
        return tuple(part for part in self.parts if isinstance(part, TemplatePlace))

    def fill(self, row: Row) -> str:
        """The text for a row, with all white space of the template and the row.

        Raises:
            ValueError: the row lacks a column, nothing of it is visible in the text, or the text is too long.
        """
        made: list[str] = []
        size, told = 0, False
        for part in self.parts:
            text = part if isinstance(part, str) else _filled(row, part)
            told = told or (isinstance(part, TemplatePlace) and not is_blank(text))
            size += len(text)
            if size > MAX_TEXT:
                raise ValueError(f"The template makes more than {MAX_TEXT:,} characters of the row.")
            made.append(text)
        if not told:
            names = ", ".join(f"`{shown(place.steps)}`" for place in self.places[:5])
            raise ValueError(
                f"The template gives an empty prompt: {names} {'is' if len(self.places) == 1 else 'are'} empty."
            )
        return "".join(made)


def parse_template(text: str) -> RowTemplate:
    """Parses a template from its text, in one pass.

    Raises:
        ValueError: with a message.
    """
    if len(text) > MAX_TEMPLATE:
        raise ValueError(f"A template has at most {MAX_TEMPLATE:,} characters.")
    parts: list[str | TemplatePlace] = []
    plain: list[str] = []
    at = count = 0
    while at < len(text):
        brace = _next_brace(text, at)
        plain.append(text[at:brace])
        if brace == len(text):
            break
        if text.startswith(text[brace] * 2, brace):
            plain.append(text[brace])
            at = brace + 2
            continue
        if text[brace] == "}":
            raise ValueError(f"The template has an unmatched `}}` at character {brace + 1}; `}}}}` writes one.")
        end = _end(text, brace)
        count += 1
        if count > MAX_PLACES:
            raise ValueError(f"The template has more than {MAX_PLACES} placeholders.")
        parts += ["".join(plain), _place(text[brace + 1 : end])]
        plain, at = [], end + 1
    parts.append("".join(plain))
    if not count:
        raise ValueError("The template names no column, such as {question}: all prompts would be the same.")
    return RowTemplate(tuple(part for part in parts if part != ""))


def as_text(value: Any, name: str, format: Format | None = None) -> str:
    """A value as a template writes it. Raises ValueError if the format does not fit it."""
    if format == "letters":
        return lettered(options_of(value, name))
    if format == "json":
        return json.dumps(value, ensure_ascii=False)
    if format in ("numbers", "lines"):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` is not a list, which the format {format} needs.")
        lines = [as_text(one, name) for one in value]
        return (
            "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
            if format == "numbers"
            else ("\n".join(lines))
        )
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case list() if all(isinstance(one, str | int | float | bool) for one in value):
            return "\n".join(as_text(one, name) for one in value)
    return json.dumps(value, ensure_ascii=False)


def _filled(row: Row, place: TemplatePlace) -> str:
    value = value_at(row, place.steps) if place.optional else required(row, place.steps)
    if value is MISSING or value is None:
        return ""
    return as_text(value, shown(place.steps), place.format)


def _next_brace(text: str, start: int) -> int:
    found = _BRACE.search(text, start)
    return found.start() if found else len(text)


def _end(text: str, start: int) -> int:
    """End of the placeholder that begins at ``start``; braces in quotes are part of a name."""
    quoted = escaped = False
    for at in range(start + 1, min(len(text), start + MAX_PATH + 20)):
        sign = text[at]
        if quoted:
            quoted, escaped = escaped or sign != '"', not escaped and sign == "\\"
        elif sign == '"':
            quoted = True
        elif sign == "}":
            return at
        elif sign == "{":
            break
    raise ValueError(f"The template has a `{{` at character {start + 1} that is not closed; `{{{{` writes one.")


def _place(inner: str) -> TemplatePlace:
    path, bar, format = inner.rpartition("|") if not inner.endswith("]") else (inner, "", "")
    if not bar:
        path, format = inner, ""
    elif format.strip() not in _FORMATS:
        raise ValueError(f"There is no format `{format.strip()[:40]}`; there are {', '.join(_FORMATS)}.")
    path = path.strip()
    return TemplatePlace(
        parse_path(path.removesuffix("?").strip()),
        path.endswith("?"),
        next((one for one in _FORMATS if one == format.strip()), None),
    )
