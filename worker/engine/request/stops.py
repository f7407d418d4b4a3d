"""Stop strings: texts after which a completion ends, no matter how tokens split them.

Only a token that could complete a stop string is checked further. All others cost one dictionary lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from os.path import commonprefix
from pathlib import Path

from tokenizers import Tokenizer

from worker.engine.types import EngineError

ANCHOR = "a"
"""Text put before each token to find the token's own text: tokenizers strip a space from the start of a text."""
UNFINISHED = "\ufffd"
"""Replacement for bytes that are not a complete character."""
MOST_SETS = 64
"""Number of prepared sets of stop strings that an engine keeps."""


class StopSets:
    """The stop strings of an engine: those that end every completion, and those of single requests."""

    def __init__(self, model_dir: str, always: tuple[str, ...]) -> None:
        """``always`` end every completion.

        Raises:
            EngineError: there are such strings, and the model's folder holds no tokenizer.
        """
        self._folder, self._always = Path(model_dir), always
        self._prepared = lru_cache(MOST_SETS)(lambda strings: StopStrings(self._backend, strings))
        if always:
            self._prepared(always)

    def of(self, strings: tuple[str, ...]) -> StopStrings | None:
        """The engine's stop strings and those of a request; None if there are none. Raises as ``__init__``."""
        found = (*self._always, *strings)
        return self._prepared(found) if found else None

    @cached_property
    def _backend(self) -> Tokenizer:
        path = self._folder / "tokenizer.json"
        if not path.is_file():
            raise EngineError(f"stop strings need the tokenizer of the policy, and {path} is missing")
        return Tokenizer.from_file(str(path))


class StopStrings:
    """A set of stop strings."""

    def __init__(self, backend: Tokenizer, strings: Sequence[str]) -> None:
        """``backend`` is the policy's tokenizer."""
        self._strings = tuple(strings)
        self._backend = backend
        self._window = max(len(string.encode()) for string in strings) + 1
        self._anchor = backend.encode(ANCHOR, add_special_tokens=False).ids
        self._before = len(self._text(self._anchor))
        self.candidates = _Memo(self._may_complete)
        """Whether a token can complete a stop string, by its id."""

    def ends(self, token_ids: Sequence[int]) -> bool:
        """Whether the last of ``token_ids`` completes a stop string."""
        tail = token_ids[-self._window :]
        text = self._text(tail)
        # Earlier text, such as text that the engine itself has written, completes nothing. Bytes that only the last
        # token turns into a character decode differently without it.
        before = len(commonprefix([text, self._text(tail[:-1])]))  # noqa: RUF071 - characters are meant
        return any(text.find(string, max(0, before - len(string) + 1)) >= 0 for string in self._strings)

    def _may_complete(self, token: int) -> bool:
        text = self._text([*self._anchor, token])[self._before :]
        if UNFINISHED in text:
            return True
        return any(
            string in text or any(text.startswith(string[cut:]) for cut in range(1, len(string)))
            for string in self._strings
        )

    def _text(self, token_ids: Sequence[int]) -> str:
        return str(self._backend.decode(list(token_ids), skip_special_tokens=False))


class _Memo(dict[int, bool]):
    """Answers of a function, each computed when it is first needed: most tokens of a vocabulary are never sampled."""

    def __init__(self, answer: Callable[[int], bool]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, token: int) -> bool:
        self[token] = found = self._answer(token)
        return found
