"""Options of a multiple choice, in the forms used in files."""

import re
from dataclasses import dataclass
from typing import Any

from trainer_core.datasets.fields import json_type
from trainer_core.datasets.mapping.path import article

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TEXTS, _LABELS = ("text", "texts", "choices", "options"), ("label", "labels", "key", "keys")
_LABELLED = re.compile(r"\s*\(?([A-Z])[).:]\s*")


@dataclass(frozen=True, slots=True)
class Options:
    """Options to choose from."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    """The file's label of each option."""
    written: tuple[str, ...]
    """The texts as in the file, including any letters in front of them."""


def options_of(value: Any, name: str) -> Options:
    """The options listed in a value.

    Texts, ``{text: […], label: […]}``, ``{A: …, B: …}`` and ``[{label, text}]`` are read. Letters in front of all
    texts, such as "A) ", are removed.

    Raises:
        ValueError: it lists none, or more than there are letters.
    """
    texts, labels = _read(value)
    if texts is None or not texts:
        raise ValueError(f"`{name}` is {article(json_type(value))} that lists no options.")
    if len(texts) > len(LETTERS):
        raise ValueError(f"`{name}` lists {len(texts)} options; there are letters for {len(LETTERS)}.")
    plain = tuple(LETTERS[: len(texts)])
    written = tuple(texts)
    found = [_LABELLED.match(text) for text in texts]
    if all(found) and tuple(one.group(1) for one in found if one) == plain:
        texts = [text[one.end() :] for text, one in zip(texts, found, strict=True) if one]
    if labels is None or len(labels) != len(texts) or len(set(labels)) < len(labels):
        labels = list(plain)
    return Options(tuple(texts), tuple(labels), written)


def places_of(text: str, options: Options) -> list[int]:
    """Positions of the options that match a text: as in the file, else without letters, else with its own letter.

    A letter in front of the text counts only if it is the letter of the option with the text after it.
    """
    for texts in (options.written, options.texts):
        if found := [place for place, option in enumerate(texts) if option == text]:
            return found
    label = _LABELLED.match(text)
    if label is None:
        return []
    place = LETTERS.index(label.group(1))
    return [place] if options.texts[place : place + 1] == (text[label.end() :],) else []


def lettered(options: Options) -> str:
    """One option per line, each with its letter."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options.texts, strict=False))


def _read(value: Any) -> tuple[list[str] | None, list[str] | None]:
    if isinstance(value, list):
        if value and all(isinstance(one, dict) for one in value):
            texts = [next((one[name] for name in _TEXTS if name in one), None) for one in value]
            labels = [next((one[name] for name in _LABELS if name in one), None) for one in value]
            return _scalars(texts), _scalars(labels)
        return _scalars(value), None
    if isinstance(value, dict):
        listed = next((value[name] for name in _TEXTS if isinstance(value.get(name), list)), None)
        if listed is not None:
            called: list[Any] = next((value[name] for name in _LABELS if isinstance(value.get(name), list)), [])
            return _scalars(listed), _scalars(called) if _are_labels(called) else None
        names = [str(name).upper() for name in value]
        if names == list(LETTERS[: len(names)]):
            return _scalars(list(value.values())), names
    return None, None


def _are_labels(labels: Any) -> bool:
    """Whether they are names of options. The numbers in TruthfulQA's labels instead say which options are right."""
    return isinstance(labels, list) and all(isinstance(label, str) for label in labels)


def _scalars(values: list[Any] | None) -> list[str] | None:
    if values is None or not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values):
        return None
    return [str(one).strip() for one in values]
