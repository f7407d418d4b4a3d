"""Gold answers, read from the place that a mapping specifies."""

from typing import Any

from trainer_core.datasets.fields import is_gold, json_type
from trainer_core.datasets.invisible import is_blank
from trainer_core.datasets.mapping.document import MappedAnswer
from trainer_core.datasets.mapping.number import last_number, plain_number
from trainer_core.datasets.mapping.options import LETTERS, Options, options_of, places_of
from trainer_core.datasets.mapping.path import MISSING, Step, article, required, shown, value_at
from trainer_core.datasets.shape import Row
from trainer_core.rewards.graders.math.extract import boxed

_ANSWER = 60


class AnswerReader:
    """Reads the answer of each row by one rule."""

    def __init__(self, mapped: MappedAnswer, steps: tuple[Step, ...], choices: list[tuple[Step, ...]]) -> None:
        """
        Args:
            mapped: the rule.
            steps: its path, parsed.
            choices: its paths to options, parsed.
        """
        self._mapped, self._steps, self._choices = mapped, steps, choices
        self._name = shown(steps)

    def read(self, row: Row) -> str | list[str] | None:
        """The answer; a list of accepted answers as it is. Raises ValueError with a message."""
        value = value_at(row, self._steps)
        if self._mapped.optional and (value is MISSING or value is None or value == [] or _is_blank(value)):
            return None
        value = required(row, self._steps)
        match self._mapped.rule:
            case "as_is":
                if isinstance(value, list) and is_gold(value):
                    return [self._scalar(one).strip() for one in value]
                return self._scalar(value).strip()
            case "last_number":
                return last_number(self._scalar(value), self._name)
            case "after_marker":
                return self._after_marker(self._scalar(value))
            case "boxed":
                boxes = boxed(self._scalar(value))
                if not boxes or not boxes[-1].strip():
                    raise ValueError(f"`{self._name}` has no closed \\boxed{{}} with an answer in it.")
                return boxes[-1].strip()
        return self._letter(value, self._options(row))

    def _scalar(self, value: Any) -> str:
        if isinstance(value, list | dict) or value is None:
            hint = f" Name one of its elements, such as `{self._name}[0]`." if isinstance(value, list) else ""
            raise ValueError(f"`{self._name}` is {article(json_type(value))}, and an answer is text or a number.{hint}")
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        if is_blank(text):
            raise ValueError(f"`{self._name}` is empty.")
        return text

    def _after_marker(self, text: str) -> str:
        marker = self._mapped.marker
        _, found, after = text.rpartition(marker)
        if not found:
            raise ValueError(f"`{self._name}` has no `{marker}` followed by the answer.")
        answer = after.strip().partition("\n")[0].strip()
        if is_blank(answer):
            raise ValueError(f"There is nothing after the last `{marker}` of `{self._name}`.")
        return plain_number(answer) or answer

    def _options(self, row: Row) -> Options:
        if len(self._choices) == 1:
            return options_of(required(row, self._choices[0]), shown(self._choices[0]))
        return options_of([required(row, steps) for steps in self._choices], shown(self._choices[0]))

    def _letter(self, value: Any, options: Options) -> str:
        text = self._scalar(value).strip()
        count = len(options.texts)
        match self._mapped.rule:
            case "choice_index":
                first = self._mapped.first
                if not (text.isascii() and text.isdigit() and len(text) < 4 and 0 <= int(text) - first < count):
                    raise ValueError(
                        f"`{self._name}` is {text[:_ANSWER]!r}, and the options are numbered from {first} "
                        f"to {count - 1 + first}."
                    )
                return LETTERS[int(text) - first]
            case "choice_label":
                label = text if text in options.labels else text.strip("(). ").upper()
                if label not in options.labels:
                    raise ValueError(
                        f"`{self._name}` is {text[:_ANSWER]!r}, and the options are called "
                        f"{', '.join(label[:20] for label in options.labels)}."
                    )
                return LETTERS[options.labels.index(label)]
        places = places_of(text, options)
        if len(places) != 1:
            many = "several of the options have" if places else "no option has"
            raise ValueError(f"`{self._name}` is {text[:_ANSWER]!r}, a text that {many}.")
        return LETTERS[places[0]]


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and is_blank(value)
