"""Facts about rows that people look for: words, length, answer, tags, script."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import regex  # type: ignore[import-untyped]

WORD = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}_]+"
"""A word; each sign of a script that puts no spaces between words is one."""
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
"""Scripts that rows are told apart by; ``none`` where a prompt has no letter of them."""
_LOOKED_AT = 2_000
"""Signs of a prompt by which its script is told."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a row is found by."""

    text: str
    """The prompt, or all messages of the chat, a line each."""
    length: int
    """Signs of ``text``."""
    answer: str | None
    tags: tuple[str, ...]
    """``column=value`` of short texts, whole numbers, truth values, and lists of them."""
    script: str


def facts_of(row: dict[str, Any], answer: str | None) -> Facts:
    """The facts of a row, whose answer is told as it is stored."""
    text = text_of(row)
    return Facts(text, len(text), answer, tags_of(row), script_of(text))


def facts_of_stored(text: str, answer: str | None) -> Facts:
    """The facts of a row that is given as its JSON."""
    return facts_of(json.loads(text), answer)


def text_of(row: dict[str, Any]) -> str:
    """Text that the policy is shown of a row, without its chat template."""
    if "prompt" in row:
        return str(row["prompt"])
    return "\n".join(str(message.get("content", "")) for message in row.get("messages", ()))


def words(text: str) -> list[str]:
    """The words of a text in small letters, as the search takes them."""
    return [word.lower() for word in _WORD.findall(text)]


def tags_of(row: dict[str, Any]) -> tuple[str, ...]:
    """``column=value`` for each short value outside of prompt and answer."""
    found: list[str] = []
    for column, value in row.items():
        if column not in _NOT_TAGS:
            for one in value[:MAX_TAGS] if isinstance(value, list) else (value,):
                text = tag_value(one)
                if text is not None:
                    found.append(f"{column}={text}")
    return tuple(dict.fromkeys(found))[:MAX_TAGS]


def tag_value(value: Any) -> str | None:
    """The value as a tag has it; None for one that is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str) and 0 < len(str(value)) <= LONGEST_TAG:
        return str(value)
    return None


def script_of(text: str) -> str:
    """The script of which most letters are; Japanese is that of its kana, which are fewer than its kanji."""
    head = text[:_LOOKED_AT]
    if head.isascii():
        return "Latin" if any(sign.isalpha() for sign in head) else "none"
    counts = Counter({name: len(pattern.findall(head)) for name, pattern in _SCRIPTS.items()})
    kana = counts["Hiragana"] + counts["Katakana"]
    if kana and kana * 4 >= counts["Han"]:
        counts["Hiragana"] += counts["Han"]
    name, count = counts.most_common(1)[0]
    return name if count else "none"
