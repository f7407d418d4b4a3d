"""Tokens read one after another, and the brackets that are open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from trainer_core.rewards.mathematics.tokens import Token
from trainer_core.rewards.mathematics.tree import UnreadableError

_DEEPEST = 60
_MOST_WRITTEN_OUT = 10_000
"""Nodes that the sums and products of one answer may be written out to."""
END = Token("sign", "")


class Stream:
    """A place in a sequence of tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = list(tokens)
        self.place = 0
        self._depth = 0
        self.open: list[str] = []
        """Brackets that are open here, the innermost last."""
        self._written_out = 0

    def charge(self, nodes: int) -> None:
        """Count ``nodes`` that a sum is written out to. Raises UnreadableError if they are too many."""
        self._written_out += nodes
        if self._written_out > _MOST_WRITTEN_OUT:
            raise UnreadableError("a sum of too many terms")

    def only_whole_numbers(self, start: int) -> bool:
        """Whether all since ``start`` are whole numbers, plus signs and one ellipsis: ``1+2+\\cdots+100``."""
        read = self._tokens[start : self.place]
        dots = [token for token in read if token.kind == "command"]
        return (
            [token.text for token in dots] in (["cdots"], ["dots"], ["ldots"])
            and all(token.text.isdigit() for token in read if token.kind == "number")
            and all(token.kind == "number" or token.text == "+" or token is dots[0] for token in read)
        )

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one behind or before it; an empty sign where there is none."""
        index = self.place + ahead
        return self._tokens[index] if 0 <= index < len(self._tokens) else END

    def take(self) -> Token:
        """The next token. Raises UnreadableError at the end."""
        if self.place >= len(self._tokens):
            raise UnreadableError("it ends too early")
        self.place += 1
        return self._tokens[self.place - 1]

    def at(self, *texts: str, ahead: int = 0) -> bool:
        """Whether the next token is one of these signs, or one of these commands, written with a backslash."""
        token = self.peek(ahead)
        if token.kind == "sign":
            return token.text in texts
        return token.kind == "command" and "\\" + token.text in texts

    def skip(self, *texts: str) -> bool:
        """Take the next token if it is one of these."""
        if self.at(*texts):
            self.place += 1
            return True
        return False

    def expect(self, *texts: str) -> Token:
        """Take the next token. Raises UnreadableError if it is none of these."""
        if not self.at(*texts):
            raise UnreadableError(f"{texts[0]!r} is missing before {self.peek().text[:20]!r}")
        return self.take()

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count what is read meanwhile as one level deeper. Raises UnreadableError where that is too deep."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableError("nested too deeply")
        yield
        self._depth -= 1

    def enter(self, bracket: str) -> None:
        """A bracket opens. Raises UnreadableError where too many are open."""
        self.open.append(bracket)
        if len(self.open) > _DEEPEST:
            raise UnreadableError("nested too deeply")

    def leave(self) -> None:
        """The innermost bracket is closed."""
        self.open.pop()

    def split_word(self) -> None:
        """Make the next token, a word, the letters that it is made of."""
        word = self._tokens[self.place]
        letters = [Token("letter", letter, word.gap and not index) for index, letter in enumerate(word.text)]
        self._tokens[self.place : self.place + 1] = letters

    def split_digit(self) -> None:
        """Make the next token, a number of several digits, its first digit and the rest, as LaTeX reads it."""
        token = self.peek()
        if token.kind == "number" and token.text.isdigit() and len(token.text) > 1:
            first, rest = token.text[0], token.text[1:]
            self._tokens[self.place : self.place + 1] = [
                Token("number", first, token.gap, False, Fraction(int(first))),
                Token("number", rest, False, False, Fraction(int(rest))),
            ]

    @property
    def ended(self) -> bool:
        """Whether all is read."""
        return self.place >= len(self._tokens)
