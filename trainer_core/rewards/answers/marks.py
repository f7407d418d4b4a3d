"""Marks of an answer's text: the forms in which final answers are commonly written."""

import re
from typing import Final, Literal

from trainer_core.rewards.graders.code import code_blocks
from trainer_core.rewards.graders.math import extract

Mark = Literal[
    "boxed",
    "answer_tags",
    "hashes",
    "answer_line",
    "choice",
    "code",
    "ends_in_number",
    "number",
    "final_answer",
    "empty",
]

TELLS: Final[dict[Mark, str]] = {
    "boxed": "hold a \\boxed{}",
    "answer_tags": "hold <answer> tags",
    "hashes": "hold a ####",
    "answer_line": "hold an “Answer:”",
    "choice": "end in the letter of a choice",
    "code": "hold a fenced code block",
    "ends_in_number": "end in a number",
    "number": "hold a number",
    "final_answer": "hold a final answer",
    "empty": "are empty",
}
"""What a number of answers with each mark do, as a sentence goes on."""

_HASHES = re.compile(r"####[ \t]*\S")
_ANSWER_LINE = re.compile(r"\banswer(?:\s+is)?[ \t*_]{0,8}[:=]|\bthe answer is\b", re.IGNORECASE)
_CHOICE = re.compile(r"(?<![\w'’])\(?[A-J]\)?$")
_AFTER = " \t\r\n.,;:!?*_$\"'”’)]}"
"""Signs that may stand behind a final number or letter."""


def marks(text: str) -> frozenset[Mark]:
    """The marks of an answer, its thinking left out. Takes linear time."""
    if not text.strip():
        return frozenset({"empty"})
    found: set[Mark] = set()
    if extract.boxed(text):
        found.add("boxed")
    if extract.tagged(text, "<answer>", "</answer>") is not None:
        found.add("answer_tags")
    if extract.final_answer(text) is not None:
        found.add("final_answer")
    if _HASHES.search(text):
        found.add("hashes")
    if _ANSWER_LINE.search(text):
        found.add("answer_line")
    if _ends_in_choice(text):
        found.add("choice")
    if code_blocks.has_fence(text):
        found.add("code")
    number = extract.last_number_text(text)
    if number is not None:
        found.add("number")
        if text.rstrip(_AFTER).endswith(number.strip().rstrip(_AFTER)):
            found.add("ends_in_number")
    return frozenset(found)


def _ends_in_choice(text: str) -> bool:
    """Whether a capital from A to J stands alone at the end, in brackets or not."""
    return _CHOICE.search(text.rstrip(_AFTER)[-40:]) is not None
