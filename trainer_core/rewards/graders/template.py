"""OpenAI's grader templates: ``{{item.x}}``, ``{{sample.output_text}}``, ``{{sample.output_json.x}}``."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.sample import Sample

_PLACE = re.compile(r"\{\{([^{}]*)\}\}")
_PATH = re.compile(r"(item|sample)((?:\.[A-Za-z0-9_\-]+|\[\d{1,6}\])+)")
_STEP = re.compile(r"\.([A-Za-z0-9_\-]+)|\[(\d+)\]")
_SAMPLE_FIELDS = ("output_text", "output_json", "answer_text", "thinking_text")


class NoJsonError(Exception):
    """The template reads the output as JSON, and it is none: the policy's fault, so the grade is 0."""


def check_template(text: str) -> str:
    """``text``, if its placeholders can be read. Raises ValueError."""
    for place in _PLACE.findall(text):
        path = _PATH.fullmatch(place.strip())
        if path is None:
            raise ValueError(f"{{{{{place}}}}} is no path such as item.answer or sample.output_text")
        if path[1] == "sample" and _steps(path[2])[0] not in _SAMPLE_FIELDS:
            raise ValueError(f"sample has no field {_steps(path[2])[0]!r}, only {', '.join(_SAMPLE_FIELDS)}")
    return text


def item_columns(texts: Iterable[str]) -> tuple[str, ...]:
    """Columns of the dataset row that templates read, each once: ``answer`` for ``{{item.answer}}``."""
    paths = (_PATH.fullmatch(place.strip()) for text in texts for place in _PLACE.findall(text))
    columns = (str(_steps(path[2])[0]) for path in paths if path is not None and path[1] == "item")
    return tuple(dict.fromkeys(name for name in columns if name not in ("prompt", "messages")))


def render(
    text: str, sample: Sample, item: Mapping[str, Any], show: Callable[[str, str], str] = lambda place, value: value
) -> str:
    """``text`` with its placeholders filled in. What is filled in is not read as a template again.

    Args:
        show: makes the text that stands for a placeholder from its path and its value.

    Raises:
        GraderError: the row has no such field.
        NoJsonError: the output is no JSON, or has no such member.
    """
    return _PLACE.sub(lambda match: show(match[1].strip(), _text(_value(match[1].strip(), sample, item))), text)


def _value(place: str, sample: Sample, item: Mapping[str, Any]) -> Any:
    path = _PATH.fullmatch(place)
    assert path is not None  # checked when the grader was made
    steps = _steps(path[2])
    if path[1] == "item":
        return _walk(item, steps, GraderError(f"the row has no {place}"))
    if steps[0] != "output_json":
        return getattr(sample, str(steps[0])) or ""
    try:
        value = json.loads(sample.output_text)
    except (ValueError, RecursionError):
        raise NoJsonError("the output is no JSON") from None
    return _walk(value, steps[1:], NoJsonError(f"the output has no {place}"))


def _steps(path: str) -> list[str | int]:
    return [name if name else int(index) for name, index in _STEP.findall(path)]


def _walk(value: Any, steps: list[str | int], missing: Exception) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            raise missing from None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
