"""Reads the operands of expressions: numbers, letters, fractions, roots, functions, brackets, matrices."""

from fractions import Fraction

from trainer_core.rewards.mathematics import atoms
from trainer_core.rewards.mathematics.matrices import matrix_power
from trainer_core.rewards.mathematics.series import series
from trainer_core.rewards.mathematics.stream import Stream
from trainer_core.rewards.mathematics.surroundings import Surroundings
from trainer_core.rewards.mathematics.tokens import Token
from trainer_core.rewards.mathematics.tree import (
    EMPTY,
    Node,
    UnreadableError,
    call,
    inverse,
    is_number,
    node,
    number,
    power,
    product,
    quantity,
    symbol,
)

_CLOSED_BY = {"|": "|", "\\lvert": "\\rvert", "\\vert": "\\vert", "\\|": "\\|"}
_ROUNDED = {"\\lfloor": ("\\rfloor", "floor"), "\\lceil": ("\\rceil", "ceiling")}
_OPENING = ("\\lvert", "\\lfloor", "\\lceil", "\\begin", "\\{", "\\langle")
_FIGURES = ("angle", "triangle", "odot", "square", "measuredangle")
"""Commands in front of the letters of a figure's points."""
_APPLIED = frozenset("fghFGH")
"""Letters that a bracket right behind makes functions."""


class Operands(Surroundings):
    """Operands, read from a stream. What stands in brackets is read by ``inside`` of the class that completes it."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self.literal = False
        """Whether the operand that was read last is a whole number as it was written."""
        self.congruent = False
        """Whether the right side of a congruence is read, behind which "mod 5" names the modulus and no remainder."""

    def juxtaposed(self) -> Node:
        """The argument of a function that has no brackets."""
        raise NotImplementedError

    def term(self) -> Node:
        """A product, up to the next + or -."""
        raise NotImplementedError

    def starts(self) -> bool:
        """Whether an operand begins here."""
        token, stream = self.stream.peek(), self.stream
        if token.kind in ("number", "letter"):
            return True
        if token.kind == "word":
            if token.text == "to" and stream.peek(1).kind == "number":
                return False  # of "7 to 3"
            return token.text.casefold() not in atoms.SEPARATORS and (not token.in_text or len(token.text) == 1)
        if stream.at("(", "[", "{", *_OPENING, *atoms.CURRENCIES, "\\$"):
            return not stream.at("(") or not (self.at_modulus() or self.at_membership())
        if stream.at("|", "\\vert", "\\|"):
            return not stream.open or stream.open[-1] not in ("|", "\\vert", "\\|", "builder", "\\{")
        return token.kind == "command" and (
            token.text in atoms.FUNCTIONS
            or token.text in atoms.GREEK
            or token.text in atoms.CONSTANTS
            or token.text in atoms.ACCENTS
            or token.text in _FIGURES
            or token.text
            in (
                "frac",
                "dfrac",
                "tfrac",
                "cfrac",
                "sqrt",
                "binom",
                "dbinom",
                "tbinom",
                "mathbb",
                "mathcal",
                "sum",
                "prod",
            )
        )

    def at_modulus(self) -> bool:
        """Whether "(mod" stands here."""
        following = self.stream.peek(1)
        return self.stream.at("(") and following.text.casefold() in ("mod", "bmod") and following.kind != "letter"

    def at_membership(self) -> bool:
        """Whether "(k \\in" stands here: a condition, and no factor."""
        return self.stream.at("(") and self.stream.peek(1).kind == "letter" and self.stream.at("\\in", ahead=2)

    def operand(self) -> Node:
        """One operand with what stands behind it: powers, per cent, factorials, degrees."""
        self.literal = False
        token = self.stream.peek()
        base = self._bare()
        literal = token.kind == "number" and token.text.isdigit()
        while True:
            found = self._behind(base)
            if found is None:
                self.literal = literal
                return base
            base, literal = found, False

    def _behind(self, base: Node) -> Node | None:
        stream = self.stream
        if stream.at("*") and stream.at("*", ahead=1) and not stream.peek(1).gap:  # as in Python
            stream.place += 2
            return power(base, self.script())
        if stream.skip("^"):
            if self._degree():
                return quantity(base, "degree")
            if stream.at("\\prime"):
                stream.take()
                return _primed(base)
            exponent = self.script()
            return matrix_power(base, exponent) if base.head == "matrix" else power(base, exponent)
        if stream.skip("'"):
            return _primed(base)
        if stream.at("!") and not (stream.at("=", ahead=1) and self._at_unequal(base)):
            stream.take()
            return call("factorial", [base])
        if stream.at("%", "\\%") and base.head != "quantity":
            stream.take()
            return quantity(base, "percent", Fraction(1, 100))
        if stream.skip("\\degree"):
            return quantity(base, "degree")
        return None

    def _at_unequal(self, base: Node) -> bool:
        """Whether the ``!=`` that comes next is a sign of its own, and not a factorial in front of "=": ``3!=6``."""
        return self.stream.peek().gap or not (is_number(base) or self.stream.peek(1).gap)

    def _degree(self) -> bool:
        stream = self.stream
        if stream.skip("\\circ", "\\degree"):
            return True
        if stream.at("{") and stream.at("\\circ", "\\degree", ahead=1) and stream.at("}", ahead=2):
            stream.place += 3
            return True
        return False

    def script(self) -> Node:
        """A raised or lowered part: a group, or one operand with its sign."""
        if self.stream.skip("-"):
            return product([number(-1), self._bare()])
        return self._bare()

    def argument(self) -> Node:
        """An argument of a command: a group, or one sign as LaTeX takes it."""
        self.stream.split_digit()
        token = self.stream.peek()
        if token.kind == "word" and not token.in_text:
            self.stream.split_word()
            return symbol(self.stream.take().text)
        return self._bare()

    def _bare(self) -> Node:
        with self.stream.deeper():
            return self._one()

    def _one(self) -> Node:
        stream, token = self.stream, self.stream.peek()
        if token.kind == "number":
            return self._number(stream.take())
        if token.kind == "word":
            if token.in_text and token.text in atoms.FUNCTIONS:
                stream.take()
                return self._function(token.text)
            if token.in_text and len(token.text) > 1:
                raise UnreadableError(f"the word {token.text[:20]!r} among mathematics")
            stream.split_word()
            token = stream.peek()
        if token.kind == "letter":
            return self._letter(stream.take())
        if stream.at("(", "["):
            return self._bracket()
        if stream.at("{"):
            stream.take()
            return self._within("{", "}")
        if stream.at("\\{"):
            return self._set()
        if stream.at("\\langle"):
            stream.take()
            inner = self._within("(", "\\rangle")
            if inner.head != "list" or inner.text != ",":
                raise UnreadableError("angle brackets around one thing")
            return node("tuple", inner.parts, "()")
        if stream.at(*_CLOSED_BY):
            opening = stream.take()
            name = opening.text if opening.kind == "sign" else f"\\{opening.text}"
            inner = self._within(name, _CLOSED_BY[name])
            return call("norm" if name == "\\|" else "det" if inner.head == "matrix" else "abs", [inner])
        if stream.at(*_ROUNDED):
            closing, name = _ROUNDED[f"\\{stream.take().text}"]
            return call(name, [self._within("round", closing)])
        if stream.at(*atoms.CURRENCIES, "\\$"):
            unit = atoms.CURRENCIES[stream.take().text]
            return quantity(self.operand(), unit)
        if token.kind == "command":
            return self._command(stream.take().text)
        raise UnreadableError(
            f"{token.text[:20]!r} where a number or a letter belongs" if token.text else "it ends early"
        )

    def _within(self, opening: str, closing: str) -> Node:
        self.stream.enter(opening)
        items, how = self.inside()
        if opening == "{" and len(items) == 1 and self.stream.skip("\\choose"):
            items.append(self.sum())
            how = "choose"
        self.stream.leave()
        self.stream.expect(closing)
        if not items:
            raise UnreadableError("empty brackets")
        if how == "choose":
            return call("binomial", items)
        return items[0] if len(items) == 1 else node("list", items, how)

    def _number(self, token: Token) -> Node:
        found = number(token.value, token.place)
        if self.stream.at("_") and token.text.isdigit():
            self.stream.take()
            base = self.script()
            return node("digits", [], f"{token.text}_{base.key}")
        if len(token.groups) > 1:  # it may be a list as well
            return Node("number", tuple(map(number, token.groups)), "", token.value, None, found.key)
        return found

    def _letter(self, token: Token) -> Node:
        name = token.text + self._subscript()
        while self.stream.at("'") and token.text in _APPLIED:
            self.stream.take()
            name += "'"
        if token.text in _APPLIED and self.stream.at("(") and not self.stream.peek().gap:
            argument = self._bracket()
            return node("call", argument.parts if argument.head == "tuple" else [argument], f"of {name}")
        return symbol(name)

    def _subscript(self) -> str:
        if not self.stream.skip("_"):
            return ""
        if self.stream.at("{"):
            self.stream.take()
            parts = []
            while not self.stream.at("}"):
                parts.append(self.stream.take().text)
            self.stream.take()
            return "_" + "".join(parts)
        return "_" + self.stream.take().text

    def _bracket(self) -> Node:
        opening = self.stream.take().text
        self.stream.enter(opening)
        items, how = self.inside()
        self.stream.leave()
        closing = self.stream.expect(")", "]").text
        if not items:
            raise UnreadableError("empty brackets")
        if len(items) > 1:
            if how != ",":
                return node("list", items, how)
            return node("tuple", items, opening + closing)
        if (opening, closing) not in (("(", ")"), ("[", "]")):
            raise UnreadableError(f"{opening}…{closing} around one thing")
        return items[0]

    def _set(self) -> Node:
        stream = self.stream
        stream.take()
        if stream.skip("\\}"):
            return EMPTY
        stream.enter("\\{")
        items, _ = self.inside()
        stream.leave()
        if stream.skip("|", "\\mid", ":", "\\vert", "\\colon"):
            stream.enter("builder")
            conditions, how = self.inside()
            stream.leave()
            stream.expect("\\}")
            condition = conditions[0] if len(conditions) == 1 else node("list", conditions, how)
            return node("builder", [items[0], condition])
        stream.expect("\\}")
        if not items:
            return EMPTY
        return node("set", sorted(items, key=lambda item: item.key))

    def _command(self, name: str) -> Node:
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            over = self.argument()
            return product([over, inverse(self.argument())])
        if name == "sqrt":
            return self._root()
        if name in ("binom", "dbinom", "tbinom"):
            above = self.argument()
            return call("binomial", [above, self.argument()])
        if name in ("sum", "prod"):
            return self._series(name)
        if name in atoms.FUNCTIONS:
            return self._function(name)
        if name in atoms.CONSTANTS:
            return symbol(atoms.CONSTANTS[name])
        if name in atoms.GREEK:
            return symbol(name.removeprefix("var") + self._subscript())
        if name in ("mathbb", "mathcal"):
            inner = self.argument()
            return symbol(atoms.BOARD.get(inner.text, inner.text) if name == "mathbb" else inner.text)
        if name in ACCENTED:
            start = self.stream.place
            inner = self.argument()
            points = "".join(self.stream.peek(at - self.stream.place).text for at in range(start, self.stream.place))
            # The vector from A to B is another one than that from B to A; the segments are one.
            told = points.strip("{}") if ACCENTED[name] == "vec" and inner.head == "product" else inner.key
            return symbol(f"{ACCENTED[name]}({told})" + self._subscript())
        if name in _FIGURES and self.stream.peek().kind in ("word", "letter"):
            return symbol(f"{name} {self.stream.take().text}")
        if name == "begin":
            return self.matrix()
        raise UnreadableError(f"the command {name[:20]!r}")

    def _series(self, name: str) -> Node:
        """A finite sum or product, written out. Raises UnreadableError for all others."""
        index, first, last = "", None, None
        while self.stream.at("^", "_"):
            if self.stream.take().text == "^":
                last = self.script()
            else:
                bounds = self.script()
                if bounds.head != "relation" or bounds.text != "=" or bounds.parts[0].head != "symbol":
                    raise UnreadableError(f"{name} without an index")
                index, first = bounds.parts[0].text, bounds.parts[1]
        if first is None or last is None:
            raise UnreadableError(f"{name} without bounds")
        with self.stream.deeper():
            body = self.term()
        return series(name, body, index, first, last, self.stream.charge)

    def _root(self) -> Node:
        index = number(2)
        if self.stream.at("["):
            self.stream.take()
            self.stream.enter("root")
            items, _ = self.inside()
            self.stream.leave()
            self.stream.expect("]")
            index = items[0]
        return power(self._bare(), inverse(index))

    def _function(self, name: str) -> Node:
        stream, exponent, base = self.stream, None, None
        while stream.at("^", "_"):
            if stream.take().text == "^":
                exponent = self.script()
            else:
                base = self.script()
        if exponent is not None and is_number(exponent) and exponent.value == -1 and name in atoms.INVERSE:
            name, exponent = atoms.INVERSE[name], None
        arguments = self._arguments()
        if base is not None:
            if name != "log":
                raise UnreadableError(f"{name} with a subscript")
            arguments.append(base)
        found = call("log" if name == "lg" else name, arguments)
        return found if exponent is None else power(found, exponent)

    def _arguments(self) -> list[Node]:
        if self.stream.at("(", "{"):
            argument = self._bare()
            return list(argument.parts) if argument.head in ("tuple", "list") else [argument]
        return [self.juxtaposed()]


ACCENTED = {
    name: {"overrightarrow": "vec", "widehat": "hat", "bar": "overline"}.get(name, name) for name in atoms.ACCENTS
}


def _primed(base: Node) -> Node:
    if base.head != "symbol":
        raise UnreadableError("a prime behind what is no letter")
    return symbol(base.text + "'")
