"""Gold answers of mathematical rows, read once."""

from dataclasses import dataclass
from functools import lru_cache

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math import extract
from trainer_core.rewards.mathematics import choices
from trainer_core.rewards.mathematics.kinds import AnswerKind, taken_as
from trainer_core.rewards.mathematics.reading import read
from trainer_core.rewards.mathematics.tokens import canonical_text, tokens
from trainer_core.rewards.mathematics.tree import Node, UnreadableError


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold answer."""

    text: str
    tree: Node | None
    """None where the grammar does not read it."""
    letter: str | None
    """The letter of a choice that it is, or may be."""
    is_text: bool
    """Whether it is text that is no mathematics: then only the same text equals it."""

    @property
    def plain(self) -> str:
        """The text without differences of spacing, and of case where it is no mathematics."""
        return _plain(self.text, self.is_text)

    @property
    def is_safe(self) -> bool:
        """Whether SymPy's parser may see it."""
        return extract.is_safe(self.text)


@lru_cache(maxsize=8_192)
def gold_answers(text: str, kind: AnswerKind) -> tuple[Gold, ...]:
    """The answers that a gold text accepts: one, or letter and text of a choice such as "(B) 42".

    Raises:
        GraderError: it is none of this kind.
    """
    answer = extract.unwrapped(text)
    letter = choices.alone(answer)
    if kind == "choice":
        before = choices.in_front(answer)
        letter = letter or (before[0] if before else None)
        if letter is None:
            raise GraderError(f"the gold answer {text[:60]!r} is no letter of a choice")
        return (Gold(answer, None, letter, True),)
    if kind == "text":
        return (Gold(answer, None, None, True),)
    if kind == "any" and letter is None and (before := choices.in_front(answer)) is not None:
        return Gold(answer, None, before[0], True), *gold_answers(before[1], kind)
    is_letter = kind == "any" and letter is not None and letter in choices.LETTERS and letter in answer
    return (_gold(answer, kind, letter if is_letter else None),)


def _gold(answer: str, kind: AnswerKind, letter: str | None) -> Gold:
    try:
        tree = read(answer)
    except UnreadableError:
        if kind != "any":
            raise GraderError(f"the gold answer {answer[:60]!r} cannot be read as {kind}") from None
        return Gold(answer, None, letter, _is_text(answer))
    taken = taken_as(kind, tree)
    if taken is None:
        raise GraderError(f"the gold answer {answer[:60]!r} is no {kind}")
    return Gold(answer, taken, letter, False)


@lru_cache(maxsize=8_192)
def _plain(text: str, is_text: bool) -> str:
    return canonical_text(text, is_text)


def _is_text(answer: str) -> bool:
    """Whether words make up the answer, without any formula."""
    try:
        found = tokens(answer)
    except UnreadableError:
        return False
    words = [token for token in found if token.kind == "word" and len(token.text) > 1]
    return bool(words) and not any(token.kind == "command" or token.text in "^_{}=+<>@#;" for token in found)
