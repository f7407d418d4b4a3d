"""A draft for one answer: the continuation seen in texts of its prompt, as long as it is likely enough."""

from __future__ import annotations

from dataclasses import dataclass

from worker.engine.speculation.acceptance import DraftAcceptance, Kind, kind
from worker.engine.speculation.continuations import LONGEST, Continuations


@dataclass(slots=True)
class Draft:
    """Proposed tokens. The lists have the same length."""

    tokens: list[int]
    expected: list[float]
    """Probability that a token and all tokens before it are accepted."""
    kinds: list[Kind]

    def cut(self, least_expected: float) -> None:
        """Keep the tokens whose expected acceptance is at least ``least_expected``."""
        size = len(self.tokens)
        while size and self.expected[size - 1] < least_expected:
            size -= 1
        del self.tokens[size:], self.expected[size:], self.kinds[size:]


def draft(
    text: tuple[int, ...], index: Continuations, acceptance: DraftAcceptance, *, most: int, least_expected: float
) -> Draft | None:
    """Draft up to ``most`` tokens after ``text``, while their expected acceptance is at least ``least_expected``."""
    tokens: list[int] = []
    expected: list[float] = []
    kinds: list[Kind] = []
    share = 1.0
    while len(tokens) < most and (found := index.after(text)) is not None:
        place, entry = found
        of = kind(place, entry)
        share *= acceptance.share(of, entry)
        if share < least_expected:
            break
        tokens.append(entry[0])
        expected.append(share)
        kinds.append(of)
        text = (*text[1 - LONGEST :], entry[0])
    return Draft(tokens, expected, kinds) if tokens else None
