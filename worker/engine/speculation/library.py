"""Texts of the answers that an engine is writing, indexed by prompt on first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.engine.speculation.continuations import BYTES_PER_TOKEN, LONGEST, Continuations
from worker.engine.speculation.history import AnswerHistory, Prompt

MOST_EACH = 1024
"""Most tokens of the prompt, or of a running answer's past, that are indexed at a time: the last ones."""
MOST_EARLIER = 4096
"""Most tokens of finished answers that go into a new index."""
MOST_AT_END = 64
"""Most missing tokens that are still indexed when an answer leaves. More means that drafting stopped long ago."""
MOST_BYTES = 128 << 20
"""Memory limit of all indexes. Beyond it they are rebuilt."""


@dataclass(slots=True)
class _Shelf:
    """The index of one prompt."""

    index: Continuations = field(default_factory=Continuations)
    answers: int = 0
    """Number of running answers in it."""


class AnswerText:
    """An answer that is being written."""

    __slots__ = ("prompt", "read", "shelf", "tokens")

    def __init__(self, prompt: Prompt, tokens: list[int]) -> None:
        self.prompt, self.tokens = prompt, tokens
        self.shelf: _Shelf | None = None
        """Index that holds it, if any."""
        self.read = 0
        """Number of tokens that are in the index or were skipped."""

    def before(self, end: int) -> tuple[int, ...]:
        """The last tokens before the answer's token ``end``, as many as the index uses."""
        if end >= LONGEST:
            return tuple(self.tokens[end - LONGEST : end])
        return (*self.prompt[end - LONGEST :], *self.tokens[:end])


class TextLibrary:
    """Answers of one engine. Until `find` is called for an answer, it costs only its entry here."""

    def __init__(self) -> None:
        self._history = AnswerHistory()
        self._answers: dict[str, AnswerText] = {}
        self._shelves: dict[Prompt, _Shelf] = {}
        self._indexed = 0

    def enter(self, request_id: str, prompt: Prompt, tokens: list[int]) -> None:
        """Add an answer that is being written; no effect if it is already known."""
        if request_id not in self._answers:
            self._answers[request_id] = AnswerText(prompt, tokens)

    def leave(self, request_id: str, *, ended: bool) -> None:
        """Forget an answer; if it has ``ended``, keep its text."""
        answer = self._answers.pop(request_id, None)
        if answer is None:
            return
        if ended and answer.tokens:
            self._history.add(answer.prompt, answer.tokens)
        shelf = self._shelves.get(answer.prompt)
        if shelf is None:
            return
        if answer.shelf is shelf:
            if len(answer.tokens) - answer.read <= MOST_AT_END:
                self._read(answer, shelf)
            shelf.answers -= 1
        elif ended:
            self._add(shelf, answer.before(0), answer.tokens[:MOST_EACH])
        if not shelf.answers:
            del self._shelves[answer.prompt]
            self._indexed -= shelf.index.size

    def find(self, request_id: str) -> tuple[tuple[int, ...], Continuations] | None:
        """The end of an answer's text, and the up-to-date index of its prompt. None if the answer is not known."""
        answer = self._answers.get(request_id)
        if answer is None:
            return None
        if self._indexed * BYTES_PER_TOKEN > MOST_BYTES:
            self._forget()
        if answer.shelf is None:
            self._put(answer)
        assert answer.shelf is not None
        self._read(answer, answer.shelf)
        return answer.before(len(answer.tokens)), answer.shelf.index

    def _put(self, answer: AnswerText) -> None:
        """Add an answer to the index of its prompt, which is created if needed."""
        prompt = answer.prompt
        shelf = self._shelves.get(prompt)
        if shelf is None:
            shelf = self._shelves[prompt] = _Shelf()
            self._add(shelf, (), prompt[-MOST_EACH:])
            for earlier in self._history.latest(prompt, MOST_EARLIER):
                self._add(shelf, answer.before(0), earlier)
        answer.shelf, answer.read = shelf, 0
        shelf.answers += 1

    def _read(self, answer: AnswerText, shelf: _Shelf) -> None:
        """Index new tokens."""
        if answer.read < len(answer.tokens):
            first = max(answer.read, len(answer.tokens) - MOST_EACH)
            self._add(shelf, answer.before(first), answer.tokens[first:])
            answer.read = len(answer.tokens)

    def _add(self, shelf: _Shelf, before: Sequence[int], tokens: Sequence[int]) -> None:
        shelf.index.add(before, tokens)
        self._indexed += len(tokens)

    def _forget(self) -> None:
        """Free memory: drop all indexes, so that they are rebuilt from the last tokens of each text."""
        self._shelves.clear()
        self._indexed = 0
        for answer in self._answers.values():
            answer.shelf = None
