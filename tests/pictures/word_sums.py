"""Word problems, and a model that judges them, writes them anew and solves them, as far as pictures need it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.support.judge_endpoint import Reply

_TOLD = [
    (
        "A bakery sells {a} loaves in the morning and {b} in the afternoon. How many loaves does it sell that day?",
        "In one day a baker sold {a} loaves before noon and {b} after it. What is the number of loaves sold?",
        "Somebody counts the loaves that leave a shop: {a} early, {b} late. Say what they come to.",
    ),
    (
        "Ana reads {a} pages on Monday and {b} on Tuesday. How many pages has she read?",
        "Over two days Ana got through {a} and then {b} pages of a book. Give the count of them all.",
        "A book keeps Ana busy for {a} pages on one day, for {b} on the next. Find the sum of both days.",
    ),
    (
        "A bus carries {a} people. At the next stop {b} get on and nobody gets off. How many people are on the bus?",
        "There were {a} passengers before a stop where {b} joined and none left. What is their number now?",
        "{b} people board a bus on which {a} sit already; everybody stays. Work out how many ride on.",
    ),
    (
        "A farmer picks {a} apples and {b} pears. How many pieces of fruit are there?",
        "From her trees a farmer takes {a} apples, then {b} pears. Count the fruit.",
        "Pears and apples lie in a cart, {b} of the former, {a} of the latter. State the total.",
    ),
]
_ROWS = [(17 + 7 * number, 25 + 3 * number, told) for number in range(6) for told in _TOLD]
SUMS = [{"prompt": told[0].format(a=a, b=b), "answer": str(a + b)} for a, b, told in _ROWS]
"""Rows of a dataset."""


def say(body: dict[str, Any]) -> str | Reply:
    """An answer to whatever is asked."""
    if "input" in body:
        data = [{"index": place, "embedding": _vector(text)} for place, text in enumerate(body["input"])]
        return Reply({"data": data, "usage": {"prompt_tokens": 25 * len(data)}})
    if "prompt" in body:
        choice = {"text": _continued(body["prompt"]), "finish_reason": "length"}
        return Reply({"choices": [choice], "usage": {"prompt_tokens": 15, "completion_tokens": 40}})
    question, system = body["messages"][-1]["content"], body["messages"][0]["content"]
    if "variations of a question" in system:
        return json.dumps({"variations": _written(_number_of(question))})
    place = next((place for place, texts in _ANEW.items() if any(text in question for text in texts)), None)
    if place is not None:
        return _solved(place, int(body["seed"]))
    return _judged(_number_of(question))


def _written(number: int) -> list[str]:
    """Two variations; in every sixth row the second has another number."""
    a, b, told = _ROWS[number]
    return [told[1].format(a=a, b=b), told[2].format(a=a, b=b + (number % 6 == 0))]


_ANEW = {number: _written(number) for number in range(len(_ROWS))}


def _solved(number: int, seed: int) -> str:
    """Right, but for one answer of four to every third row, and for all to every seventh."""
    a, b, _ = _ROWS[number]
    wrong = number % 7 == 3 or (number % 3 == 1 and seed % 4 == 3)
    return f"{a} and {b} make \\boxed{{{a + b + wrong}}}."


def _judged(number: int) -> str:
    """Every fifth row is unclear, and fruit is nothing that happens."""
    clear, life = (2 if number % 5 == 0 else 4 + number % 2), 3 if number % 4 == 3 else 5
    reasons = "It does not say what is counted.", "Nothing happens in it."
    verdicts = [
        {"criterion": 1, "reason": reasons[0] if clear == 2 else "", "score": clear},
        {"criterion": 2, "reason": reasons[1] if life == 3 else "", "score": life},
    ]
    return json.dumps({"verdicts": verdicts})


def _vector(text: str) -> list[float]:
    """Counts of the words, each at a place of its own."""
    vector = [0.0] * 64
    for word in text.lower().split():
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % len(vector)] += 1.0
    return vector


def _continued(shown: str) -> str:
    """Every third row is known by heart; of the others the beginning of the rest is guessed."""
    number = next(number for number, row in enumerate(SUMS) if row["prompt"].startswith(shown))
    rest = SUMS[number]["prompt"][len(shown) :]
    if number % 3 == 0:
        return f"{rest} The answer is \\boxed{{{SUMS[number]['answer']}}}."
    return f"{rest[: len(rest) // 3]} are there when all of that is over? The answer is \\boxed{{7}}."


def _number_of(text: str) -> int:
    return next(number for number, row in enumerate(SUMS) if row["prompt"] in text)
