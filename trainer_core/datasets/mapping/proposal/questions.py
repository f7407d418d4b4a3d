"""Guesses the task: the question, the text that it is about, and options to choose from."""

import re
from dataclasses import dataclass
from typing import Any

from trainer_core.datasets.mapping.options import options_of
from trainer_core.datasets.mapping.path import Step, written
from trainer_core.datasets.mapping.proposal.columns import FirstRows, plain

_ALONE = ("question", "problem", "instruction", "prompt", "query", "puzzle", "exercise", "riddle")
_WITH_ANSWER = (
    "question_text", "question_stem", "question_content", "problem_statement", "problem_description", "description",
    "statement", "task_description", "task", "goal", "ctx", "sentence", "input", "inputs",
)  # fmt: skip
_ABOUT = (
    "context", "passage", "passages", "article", "background", "story", "paragraph", "premise", "dialogue", "dialog",
    "document", "table", "fact",
)  # fmt: skip
_ELSE = ("image", "images", "audio", "video", "image_path", "base_commit", "repo")
"""Columns that a question may be about, but that a text prompt cannot show."""
_INPUT = ("input", "inputs", "context")
_CHOICES = (
    "choices", "options", "endings", "answer_choices", "multiple_choices", "candidates", "choice", "answers_options",
    "multiple_choice_targets",
)  # fmt: skip
_SINGLE = re.compile(
    r"(?:option|choice|op|opt|sol|solution|answer|ending|option_text|distractor_option)_?([a-j0-9])|([a-j])"
)
_MIN_WORDS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """The question of the rows."""

    steps: tuple[Step, ...]
    template: str
    stands_alone: bool
    """Whether its name marks it as a task even if no answer is known."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """Options to choose from."""

    template: str
    paths: tuple[str, ...]


def guess_question(columns: FirstRows) -> Question | None:
    """The question; None if no column is one."""
    if columns.named(_ELSE):
        return None
    for name in columns.named((*_ALONE, *_WITH_ANSWER)):
        steps: tuple[Step, ...] = (name,)
        if not columns.is_text(*steps):
            steps = next(((name, key) for key in ("stem", "text", "question") if columns.is_text(name, key)), ())
        if not steps or not _is_sentence(columns, steps):
            continue
        place = f"{{{written(steps)}}}"
        if plain(name) == "instruction":
            return _with_input(columns, steps, place)
        return _about(columns, steps, place, stands_alone=plain(name) in _ALONE)
    return None


def guess_choices(columns: FirstRows, question: Question) -> Choices | None:
    """Options in one column, inside the question's column, or in one column each."""
    places: list[tuple[Step, ...]] = [(name,) for name in columns.named(_CHOICES)]
    if len(question.steps) > 1:
        places += [(question.steps[0], key) for key in ("choices", "options")]
    for steps in places:
        if columns.all(steps, _lists_options):
            path = written(steps)
            return Choices(f"{{{path}|letters}}", (path,))
    single = _one_each(columns)
    if single:
        lines = [f"{chr(ord('A') + place)}. {{{written([name])}}}" for place, name in enumerate(single)]
        return Choices("\n".join(lines), tuple(written([name]) for name in single))
    return None


def _with_input(columns: FirstRows, steps: tuple[Step, ...], place: str) -> Question | None:
    """An instruction with its input."""
    for name in columns.named(_INPUT):
        if columns.all((name,), lambda value: value is None or isinstance(value, str)):
            return Question(steps, f"{place}\n\n{{{written([name])}}}", True)
        return None
    return Question(steps, place, True)


def _about(columns: FirstRows, steps: tuple[Step, ...], place: str, *, stands_alone: bool) -> Question | None:
    names = [name for name in columns.named(_ABOUT) if name != steps[0]]
    if not names and columns.named(_CHOICES) and columns.named(("text",)):
        names = columns.named(("text",))  # LogiQA's name for the passage
    about = []
    for name in names:
        if not columns.all((name,), _is_prose):
            return None  # the question is about something that the template cannot show
        about.append(f"{{{written([name])}}}")
    return Question(steps, "\n\n".join([*about, place]), stands_alone)


def _is_sentence(columns: FirstRows, steps: tuple[Step, ...]) -> bool:
    """Whether most rows hold more than one word; characters of scripts without spaces count."""
    long = [isinstance(value, str) and (len(value.split()) >= _MIN_WORDS or not value.isascii() or len(value) > 12)
            for value in columns.values(*steps)]  # fmt: skip
    return sum(long) * 2 > len(long)


def _is_prose(value: Any) -> bool:
    return value is None or isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, str) for one in value)
    )  # fmt: skip


def _lists_options(value: Any) -> bool:
    try:
        return len(options_of(value, "options").texts) > 1
    except ValueError:
        return False


def _one_each(columns: FirstRows) -> list[str]:
    """Columns that hold one option each, such as A, B, C, D or option1, option2; in order and without gaps."""
    found: dict[str, dict[str, str]] = {}
    for name in columns.names:
        match = _SINGLE.fullmatch(plain(name).replace("__", "_"))
        if match is None or not columns.all((name,), _is_option):
            continue
        sign = match.group(1) or match.group(2)
        found.setdefault(plain(name)[: -len(sign)], {})[sign] = name
    for prefix, signs in found.items():
        ordered = sorted(signs)
        wanted = [["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], [*"0123456789"], [*"123456789"]]
        if len(ordered) > 1 and any(ordered == letters[: len(ordered)] for letters in wanted):
            if not prefix and len(ordered) < 3:
                continue
            return [signs[sign] for sign in ordered]
    return []


def _is_option(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and bool(str(value).strip())
