"""Stop strings: texts after which a completion ends, no matter how tokens split them.

Only a token that could complete a stop string is checked further. All others cost one set lookup.
"""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
from pathlib import Path

from tokenizers import Tokenizer

from worker.engine.types import EngineError

ANCHOR = "a"
"""Text put before each token to find the token's own text: tokenizers strip a space from the start of a text."""
UNFINISHED = "\ufffd"
"""Replacement for bytes that are not a complete character."""


class StopStrings:
    """The stop strings of an engine."""

    def __init__(self, model_dir: str, strings: Sequence[str], vocab_size: int) -> None:
        """Find the tokens that can complete one of ``strings``.

        Raises:
            EngineError: the model's folder holds no tokenizer.
        """
        path = Path(model_dir) / "tokenizer.json"
        if not path.is_file():
            raise EngineError(f"stop strings need the tokenizer of the policy, and {path} is missing")
        self._strings = tuple(strings)
        self._backend = Tokenizer.from_file(str(path))
        self._window = max(len(string.encode()) for string in strings) + 1
        anchor = self._backend.encode(ANCHOR, add_special_tokens=False).ids
        before = len(self._text(anchor))
        texts = self._backend.decode_batch([[*anchor, token] for token in range(vocab_size)], skip_special_tokens=False)
        self.candidates = frozenset(token for token, text in enumerate(texts) if self._may_complete(text[before:]))

    def ends(self, token_ids: Sequence[int]) -> bool:
        """Whether the last of ``token_ids`` completes a stop string."""
        tail = token_ids[-self._window :]
        text = self._text(tail)
        # Earlier text, such as text that the engine itself has written, completes nothing. Bytes that only the last
        # token turns into a character decode differently without it.
        before = len(commonprefix([text, self._text(tail[:-1])]))  # noqa: RUF071 - characters are meant
        return any(text.find(string, max(0, before - len(string) + 1)) >= 0 for string in self._strings)

    def _may_complete(self, text: str) -> bool:
        if UNFINISHED in text:
            return True
        return any(
            string in text or any(text.startswith(string[cut:]) for cut in range(1, len(string)))
            for string in self._strings
        )

    def _text(self, token_ids: Sequence[int]) -> str:
        return str(self._backend.decode(list(token_ids), skip_special_tokens=False))
