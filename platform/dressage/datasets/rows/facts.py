"""Searchable facts about rows: words, length, answer, tags, script."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import regex  # type: ignore[import-untyped]

WORD = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}_]+"
"""A word. In scripts without spaces between words, each character is one."""
LONGEST_TAG = 80
MAX_TAGS = 64
_WORD = regex.compile(WORD)
_NOT_TAGS = frozenset({"prompt", "messages", "answer", "solution", "id"})
_SCRIPTS = {
    name: regex.compile(rf"\p{{{name}}}")
    for name in (
        "Latin", "Han", "Hiragana", "Katakana", "Hangul", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari",
        "Bengali", "Thai", "Tamil", "Telugu", "Georgian", "Armenian", "Ethiopic", "Khmer", "Myanmar",
    )
}  # fmt: skip
SCRIPTS = (*_SCRIPTS, "none")
"""Scripts that are distinguished; ``none`` if a prompt has no letter of any of them."""
_LOOKED_AT = 2_000
"""Number of characters of a prompt that determine its script."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by which a row can be found."""

    text: str
    """The prompt, or all messages of the chat, one per line."""
    length: int
    """Length of ``text`` in characters."""
    answer: str | None
    tags: tuple[str, ...]
    """``column=value`` for short texts, integers, booleans, and lists of them."""
    script: str


def facts_of(row: dict[str, Any], answer: str | None) -> Facts:
    """The facts of a row. ``answer`` is the answer as stored."""
    text = text_of(row)
    return Facts(text, len(text), answer, tags_of(row), script_of(text))


def facts_of_stored(text: str, answer: str | None) -> Facts:
    """The facts of a row that is given as JSON text."""
    return facts_of(json.loads(text), answer)


def text_of(row: dict[str, Any]) -> str:
    """The text of a row that the policy sees, without the chat template."""
    if "prompt" in row:
        return str(row["prompt"])
    return "\n".join(str(message.get("content", "")) for message in row.get("messages", ()))


def words(text: str) -> list[str]:
    """The words of a text in lower case, as the search uses them."""
    return [word.lower() for word in _WORD.findall(text)]


def tags_of(row: dict[str, Any]) -> tuple[str, ...]:
    """``column=value`` for each short value that is not in the prompt or answer."""
    found: list[str] = []
    for column, value in row.items():
        if column not in _NOT_TAGS:
            for one in value[:MAX_TAGS] if isinstance(value, list) else (value,):
                text = tag_value(one)
                if text is not None:
                    found.append(f"{column}={text}")
    return tuple(dict.fromkeys(found))[:MAX_TAGS]


def tag_value(value: Any) -> str | None:
    """The value in its tag form; None if it cannot be a tag."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str) and 0 < len(str(value)) <= LONGEST_TAG:
        return str(value)
    return None


def script_of(text: str) -> str:
    """The script that most letters belong to. Japanese is detected by its kana, although kanji outnumber them."""
    head = text[:_LOOKED_AT]
    if head.isascii():
        return "Latin" if any(sign.isalpha() for sign in head) else "none"
    counts = Counter({name: len(pattern.findall(head)) for name, pattern in _SCRIPTS.items()})
    kana = counts["Hiragana"] + counts["Katakana"]
    if kana and kana * 4 >= counts["Han"]:
        counts["Hiragana"] += counts["Han"]
    name, count = counts.most_common(1)[0]
    return name if count else "none"
