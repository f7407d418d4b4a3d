"""The text of a completion as it grows: complete characters only, and nothing of a stop string."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

UNFINISHED = "\ufffd"
"""Replacement for bytes that are not a complete character yet."""
MOST_UNFINISHED = 16
"""Tokens after which bytes are taken for no character: otherwise a policy that writes only such bytes would cost the
square of its length. A character has at most four bytes."""


class Released(NamedTuple, Generic[T]):
    """Text that may be sent."""

    text: str
    tokens: list[T]
    """Records of the tokens whose text begins in what has been released so far, each returned once."""


class GrowingText(Generic[T]):
    """The text of one completion.

    Text that may turn out to be the beginning of a stop string is held back until it is known.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], eos: Collection[int], stops: Sequence[str] = ()) -> None:
        """
        Args:
            decode: text of some tokens.
            eos: tokens that end a completion. They have no text.
            stops: strings that end the text; they do not belong to it.
        """
        self._decode, self._eos, self._stops = decode, frozenset(eos), tuple(stops)
        self._overlap = max(map(len, stops), default=1) - 1
        """Number of characters at the end that may belong to an unfinished stop string."""
        self._ids: list[int] = []
        self._window, self._read = 0, 0
        """Tokens before ``_read`` have become text. Decoding starts at ``_window``, because the text of a token may
        depend on the one before it."""
        self._held = ""
        self._released = 0
        """Number of characters released so far."""
        self._records: deque[tuple[int, T]] = deque()
        """(offset of its text, record) of tokens that were not released yet."""
        self.stopped = False
        """Whether a stop string has ended the text. Further tokens are ignored."""

    def feed(self, token: int, record: T) -> None:
        """Add a token, and a record of it to be released together with its text."""
        if self.stopped or token in self._eos:
            return
        self._records.append((self._released + len(self._held), record))
        self._ids.append(token)
        self._grow(at_end=False)

    def take(self) -> Released[T]:
        """The text that has become certain since the last call."""
        return self._release(self._held if self.stopped else self._held[: len(self._held) - self._doubtful()])

    def end(self) -> Released[T]:
        """All that is left of a completion that has ended."""
        if not self.stopped:
            self._grow(at_end=True)
        left = self._release(self._held)
        if not self.stopped:
            left.tokens.extend(record for _, record in self._records)
        self._records.clear()
        return left

    def _grow(self, *, at_end: bool) -> None:
        """Turn tokens into text, unless they end inside a character that may still be completed."""
        before = self._decode(self._ids[self._window : self._read])
        text = self._decode(self._ids[self._window :])
        given_up = len(self._ids) - self._read >= MOST_UNFINISHED
        if not (given_up or at_end) and (len(text) <= len(before) or text.endswith(UNFINISHED)):
            return
        self._window, self._read = len(self._ids) if given_up else self._read, len(self._ids)
        start = max(0, len(self._held) - self._overlap)  # nothing before can be part of a stop string any more
        self._held += text[len(before) :]
        found = [place for stop in self._stops if (place := self._held.find(stop, start)) >= 0]
        if found:
            self._held, self.stopped = self._held[: min(found)], True

    def _release(self, text: str) -> Released[T]:
        self._held = self._held[len(text) :]
        self._released += len(text)
        tokens = []
        while self._records and self._records[0][0] < self._released:
            tokens.append(self._records.popleft()[1])
        return Released(text, tokens)

    def _doubtful(self) -> int:
        """Number of characters at the end that may be the beginning of a stop string."""
        return next(
            (
                size
                for size in range(min(self._overlap, len(self._held)), 0, -1)
                if any(stop.startswith(self._held[-size:]) for stop in self._stops)
            ),
            0,
        )
