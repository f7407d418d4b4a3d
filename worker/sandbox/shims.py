"""Stand-ins for the imports of files with reward functions: only the parts that such functions use."""

import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

ABSENT = ("trl", "trl.rewards", "datasets")
"""Modules whose members can be named, also in annotations, but not used."""
_BOX = re.compile(r"\\boxed\s*\{")


class Parser:
    """Finds the final answer: here, the whole last message."""

    def __init__(self, extract_fn: Callable[[str], str] = lambda text: text) -> None:
        self.extract_fn = extract_fn

    def parse(self, text: str) -> Any:
        """The answer in ``text``."""
        return self.extract_fn(text)

    def parse_answer(self, completion: Any) -> Any:
        """The answer in the last message of the assistant, or in a text."""
        return self.parse(last_text(completion))

    def get_format_reward_func(self) -> Callable[..., float]:
        """A reward function: 1 if there is an answer."""

        def format_reward_func(completion: Any, **known: Any) -> float:
            return float(bool(self.parse_answer(completion)))

        return format_reward_func


class ThinkParser(Parser):
    """The answer is the text after ``</think>``."""

    def parse(self, text: str) -> Any:
        """The answer; empty if the thinking is not closed."""
        _, closed, answer = text.rpartition("</think>")
        return self.extract_fn(answer.strip()) if closed else ""


class XMLParser(Parser):
    """The answer is inside a tag: ``<answer>…</answer>``."""

    def __init__(
        self,
        fields: Sequence[str | tuple[str, ...]],
        answer_field: str = "answer",
        extract_fn: Callable[[str], str] = lambda text: text,
    ) -> None:
        super().__init__(extract_fn)
        self.fields = [(field,) if isinstance(field, str) else tuple(field) for field in fields]
        self.answer_field = answer_field

    def parse(self, text: str) -> types.SimpleNamespace:
        """Each field's last content, or None. A field with several tags is available under each name."""
        found: dict[str, str | None] = {}
        for names in self.fields:
            for name in names:
                parts = re.findall(rf"<{re.escape(name)}>\s*(.*?)\s*</{re.escape(name)}>", text, re.DOTALL)
                found[name] = parts[-1] if parts else None
        return types.SimpleNamespace(**found)

    def parse_answer(self, completion: Any) -> Any:
        """The content of the answer's tag."""
        answer = getattr(self.parse(last_text(completion)), self.answer_field, None)
        return None if answer is None else self.extract_fn(answer)


class Rubric:
    """Reward functions with their weights."""

    def __init__(
        self,
        funcs: Sequence[Callable[..., Any]] | None = None,
        weights: Sequence[float] | None = None,
        parser: Parser | None = None,
        **_: Any,
    ) -> None:
        self.funcs = list(funcs or [])
        self.weights = list(weights) if weights is not None else [1.0] * len(self.funcs)
        self.parser = parser or Parser()
        self.class_objects: dict[str, Any] = {"parser": self.parser}

    def add_reward_func(self, func: Callable[..., Any], weight: float = 1.0) -> None:
        """Add a function."""
        self.funcs.append(func)
        self.weights.append(weight)

    def add_metric(self, func: Callable[..., Any], weight: float = 0.0) -> None:
        """Add a function that is reported but does not count."""
        self.add_reward_func(func, weight)

    def add_class_object(self, name: str, value: Any) -> None:
        """Add an object that functions may request by name."""
        self.class_objects[name] = value


class RubricGroup(Rubric):
    """The sum of several rubrics."""

    def __init__(self, rubrics: Sequence[Rubric], **_: Any) -> None:
        super().__init__()
        self.rubrics = list(rubrics)


def extract_boxed_answer(text: str) -> str:
    """Content of the last closed box; the text itself if there is none."""
    for match in reversed(list(_BOX.finditer(text))):
        depth = 1
        for position in range(match.end(), len(text)):
            depth += (text[position] == "{") - (text[position] == "}")
            if depth == 0:
                return text[match.end() : position]
    return text


def last_text(completion: Any) -> str:
    """The text of a completion: itself, or the assistant's last message."""
    if isinstance(completion, str):
        return completion
    said = [message for message in completion if message.get("role") == "assistant"]
    return str(said[-1]["content"]) if said else ""


class _Absent(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"

        def refuse(*_: Any, **__: Any) -> None:
            raise ImportError(f"{whole} is not there in the jail: only reward functions run here")

        return type(name, (), {"__init__": refuse})


def install() -> None:
    """Make imports of these libraries find the stand-ins from here on."""
    for name in ABSENT:
        sys.modules[name] = _Absent(name)
        sys.modules[name].__path__ = []
    library = types.ModuleType("verifiers")
    kinds = {"Messages": list, "State": dict, "Info": dict, "RewardFunc": Callable}
    classes = (Rubric, RubricGroup, Parser, ThinkParser, XMLParser, extract_boxed_answer)
    library.__dict__.update(kinds | {part.__name__: part for part in classes})
    library.__path__ = []
    for name in ("verifiers", "verifiers.types", "verifiers.utils", "verifiers.utils.data_utils"):
        sys.modules[name] = library
