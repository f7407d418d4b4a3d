"""Earlier answers by prompt, in bounded memory: the least recently used prompt is dropped first."""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Sequence

MOST_BYTES = 64 << 20
ANSWERS_KEPT = 32
"""Number of latest answers kept for one prompt."""
OVERHEAD = 200
"""Bytes of an answer in addition to its tokens."""

Prompt = tuple[int, ...]


class AnswerHistory:
    """Finished answers, 4 bytes per token."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._answers: OrderedDict[Prompt, deque[array[int]]] = OrderedDict()
        self.bytes = 0

    def add(self, prompt: Prompt, tokens: Sequence[int]) -> None:
        """Keep a finished answer."""
        kept = self._answers.get(prompt)
        if kept is None:
            kept = self._answers[prompt] = deque()
            self.bytes += 8 * len(prompt) + OVERHEAD
        else:
            self._answers.move_to_end(prompt)
        kept.append(array("i", tokens))
        self.bytes += 4 * len(tokens) + OVERHEAD
        if len(kept) > ANSWERS_KEPT:
            self._drop(kept.popleft())
        while self.bytes > self._most and self._answers:
            forgotten, answers = self._answers.popitem(last=False)
            self.bytes -= 8 * len(forgotten) + OVERHEAD
            for answer in answers:
                self._drop(answer)

    def latest(self, prompt: Prompt, most_tokens: int) -> list[array[int]]:
        """The latest answers with at most ``most_tokens`` tokens in total, oldest first."""
        chosen: list[array[int]] = []
        for answer in reversed(self._answers.get(prompt, ())):
            most_tokens -= len(answer)
            if most_tokens < 0:
                break
            chosen.append(answer)
        return chosen[::-1]

    def _drop(self, answer: array[int]) -> None:
        self.bytes -= 4 * len(answer) + OVERHEAD
