"""Prompts as the policy sees them: token by token, with control tokens distinguished from text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from trainer_core.link.rehearsal import MAX_PIECES, PromptPiece

_CUT = "\ufffd"
"""Character shown for bytes that do not form a character by themselves."""
_LONGEST = 8
"""Most tokens that may form one character together."""


class VisiblePrompts:
    """Shows token ids using the tokenizer in a policy's folder."""

    def __init__(self, folder: Path) -> None:
        self._backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
        added = self._backend.get_added_tokens_decoder()
        self._control = {number: token.content for number, token in added.items() if token.special}

    def pieces(self, ids: Sequence[int]) -> tuple[tuple[PromptPiece, ...], int]:
        """(Pieces, number left out in the middle). Each is a token, or a few tokens that form a character together."""
        found: list[PromptPiece] = []
        waiting: list[int] = []
        for number in ids:
            if number in self._control:
                found += self._text(waiting)
                found.append(PromptPiece(text=self._control[number], control=True))
                waiting = []
                continue
            waiting.append(number)
            text = self._decode(waiting)
            if _CUT not in text or len(waiting) >= _LONGEST:
                found += self._text(waiting)
                waiting = []
        found += self._text(waiting)
        if len(found) <= MAX_PIECES:
            return tuple(found), 0
        half = MAX_PIECES // 2
        return (*found[:half], *found[-half:]), len(found) - 2 * half

    def _text(self, ids: list[int]) -> list[PromptPiece]:
        return [PromptPiece(text=self._decode(ids))] if ids else []

    def _decode(self, ids: list[int]) -> str:
        return str(self._backend.decode(ids, skip_special_tokens=False))
