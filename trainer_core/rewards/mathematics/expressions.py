"""Reads sums and products of operands, with mixed numbers and units."""

from collections.abc import Sequence
from fractions import Fraction

from trainer_core.rewards.mathematics import atoms, units
from trainer_core.rewards.mathematics.matrices import matrix_product, matrix_sum
from trainer_core.rewards.mathematics.operands import Operands
from trainer_core.rewards.mathematics.series import progression
from trainer_core.rewards.mathematics.tokens import Token
from trainer_core.rewards.mathematics.tree import (
    Node,
    UnreadableError,
    inverse,
    is_number,
    negative,
    node,
    number,
    product,
    quantity,
    total,
    with_unit_of,
)

_PER = ("per", "每")
_STOPS = {*atoms.SEPARATORS, "if", "when", "where", "for", "to", "is", "of", "with"}


class Expressions(Operands):
    """Expressions, read from a stream."""

    def sum(self) -> Node:
        """Terms with + and -, or what stands alone."""
        stream = self.stream
        start = stream.place
        terms = [self._signed()]
        while stream.at("+", "-", "\\pm", "\\mp"):
            terms.append(self._signed())
        if any(term.head == "matrix" for term in terms):
            return terms[0] if len(terms) == 1 else matrix_sum(terms)
        if len(terms) == 1:
            return terms[0]
        continued = progression(terms) if stream.only_whole_numbers(start) else None
        return continued or total(terms)

    def _signed(self) -> Node:
        sign, unsure = 1, ""
        while self.stream.at("+", "-", "\\pm", "\\mp"):
            token = self.stream.take()
            if token.kind == "command":
                unsure = token.text
            elif token.text == "-":
                sign = -sign
        term = self.term()
        term = _all([number(-1), term]) if sign < 0 and term.head == "matrix" else negative(term) if sign < 0 else term
        return node("pm", [term], "" if unsure == "pm" else "-") if unsure else term

    def term(self) -> Node:
        """A product, up to the next + or -."""
        factors, stream = [self.operand()], self.stream
        while True:
            if stream.at(*atoms.TIMES) or self._at_ten_to_a_power():
                stream.take()
                factors.append(self._factor())
            elif stream.at(*atoms.OVER):
                stream.take()
                factors.append(inverse(self._factor()))
            elif not self.congruent and (stream.at("\\bmod") or (stream.at("\\mod") and is_number(factors[-1]))):
                stream.take()
                factors = [_remainder(_all(factors), self.operand())]
            elif (multiplier := self._multiplier()) is not None:
                factors.append(number(multiplier))
            elif (scale := self._prefixed_ohm()) is not None:
                factors = [quantity(_all(factors), "ohm", scale)]
            elif self._at_unit():
                factors = [self._with_unit(_all(factors))]
            elif self.starts():
                if self.literal and stream.peek().kind == "number":
                    factors[-1] = self._mixed(factors[-1])
                elif self.literal and stream.at("\\frac", "\\dfrac", "\\tfrac"):
                    whole, fraction = factors[-1].value, self.operand()
                    inner = fraction.parts[0] if fraction.head == "quantity" else fraction
                    if not is_number(inner) or not 0 < inner.value < 1:
                        factors.append(fraction)
                    elif inner is fraction:
                        factors[-1] = number(whole + inner.value)
                    else:  # 33 1/3 per cent
                        factors[-1] = with_unit_of(fraction, number(whole + inner.value))
                elif stream.peek().kind == "number" and not stream.peek(-1).text.endswith((")", "]", "}", "!")):
                    raise UnreadableError("a number behind another thing without a sign between them")
                else:
                    factors.append(self.operand())
            else:
                return _all(factors)

    def _at_ten_to_a_power(self) -> bool:
        """Whether the x of ``3x10^5`` stands here."""
        sign, ten, raised = (self.stream.peek(ahead) for ahead in range(3))
        return self.stream.peek(-1).kind == "number" and (sign.text, ten.text, raised.text) == ("x", "10", "^")

    def _factor(self) -> Node:
        sign = 1
        while self.stream.at("-", "+"):
            sign = -sign if self.stream.take().text == "-" else sign
        found = self.operand()
        if self.literal and self.stream.at("\\frac", "\\dfrac", "\\tfrac"):
            raise UnreadableError("a mixed number among factors")
        return negative(found) if sign < 0 else found

    def _mixed(self, whole: Node) -> Node:
        """``2 1/2``: a whole number, a space, and a proper fraction."""
        over, sign, under = (self.stream.peek(ahead) for ahead in range(3))
        proper = over.text.isdigit() and under.text.isdigit() and sign.text == "/" and 0 < over.value < under.value
        if not proper or not over.gap:
            raise UnreadableError("two numbers without a sign between them")
        self.stream.place += 3
        self.literal = False
        return number(whole.value + over.value / under.value)

    def juxtaposed(self) -> Node:
        """``2x`` of ``\\sin 2x``: factors up to the next operator or function."""
        if self.stream.at("-"):
            self.stream.take()
            return negative(self.juxtaposed())
        factors = [self.operand()]
        while self.starts() and self.stream.peek().text not in atoms.FUNCTIONS and not self.stream.at("("):
            if self.stream.peek().kind == "number":
                raise UnreadableError("a number behind a function's argument")
            factors.append(self.operand())
        return _all(factors)

    def _multiplier(self) -> int | None:
        """Take "thousand" behind a number, if it stands here."""
        token = self.stream.peek()
        found = units.MULTIPLIERS.get(token.text.casefold().removesuffix("s")) if token.kind == "word" else None
        if found is not None:
            self.stream.take()
        return found

    def _prefixed_ohm(self) -> Fraction | None:
        """Take the kiloohm of ``\\text{ k}\\Omega``, if it stands here; its ohms."""
        token = self.stream.peek()
        if not (token.in_text and self.stream.at("\\Omega", ahead=1)) or not units.is_known(f"{token.text}Omega"):
            return None
        self.stream.place += 2
        return units.canonical({f"{token.text}Omega": 1})[1]

    def _at_unit(self) -> bool:
        token = self.stream.peek()
        if token.kind != "word" or token.text.casefold() in _STOPS | units.NO_UNITS:
            return False
        if token.in_text:
            return True
        if self.stream.peek(-1).kind == "number" or (token.gap and units.is_known(token.text)):
            return token.text in units.SHORT or (token.gap and (units.is_known(token.text) or len(token.text) > 3))
        return False

    def _with_unit(self, value: Node) -> Node:
        degrees = value.head == "quantity" and value.text == "degree"
        percent = value.head == "quantity" and not degrees
        powers = self._unit()
        if percent:
            raise UnreadableError("a unit behind a unit")
        if degrees:
            first = next(iter(powers)).casefold()
            if first not in ("c", "f", "celsius", "fahrenheit"):
                raise UnreadableError("a unit behind degrees")
            return quantity(value.parts[0], "celsius" if first.startswith("c") else "fahrenheit")
        name, scale = units.canonical(powers)
        if name == "percent":
            scale /= 100
        found = quantity(value, name, scale)
        if self.stream.peek().kind == "number":  # 5 ft 3 in
            with self.stream.deeper():
                more = self.term()
            if more.head != "quantity" or more.text != name or not (is_number(value) and is_number(more.parts[0])):
                raise UnreadableError("a number behind a unit")
            base = value.value * scale + more.parts[0].value * more.parts[1].value
            return quantity(number(base / scale), name, scale)
        return found

    def _unit(self) -> dict[str, int]:
        powers: dict[str, int] = {}
        sign, pending, stream = 1, 1, self.stream
        while True:
            token = stream.peek()
            if token.kind == "word" and token.text.casefold() in _PER:
                stream.take()
                sign = -1
            elif stream.at("/") and _is_unit_word(stream.peek(1)):
                stream.take()
                sign = -1
                self._one_unit(powers, sign, pending)
                pending = 1
            elif token.kind == "word" and token.text.casefold() not in _STOPS and (token.in_text or powers == {}):
                if (size := units.power_word(token.text)) is not None:
                    stream.take()
                    if powers:
                        powers[next(reversed(powers))] *= size
                    else:
                        pending = size
                else:
                    self._one_unit(powers, sign, pending)
                    pending = 1
            elif token.kind == "word" and token.gap and not token.in_text and len(token.text) > 3 and powers:
                if token.text.casefold() in _STOPS:
                    break
                if (size := units.power_word(token.text)) is not None:
                    stream.take()
                    powers[next(reversed(powers))] *= size
                else:
                    self._one_unit(powers, sign, pending)
            elif stream.at("\\cdot") and _is_unit_word(stream.peek(1)):
                stream.take()
            else:
                break
        if not powers:
            raise UnreadableError("half a unit")
        return powers

    def _one_unit(self, powers: dict[str, int], sign: int, size: int) -> None:
        name, exponent = self.stream.take().text, size
        if self.stream.skip("^"):
            raised = self.script()
            if not is_number(raised) or raised.value.denominator != 1 or abs(raised.value) > 9:
                raise UnreadableError("the power of a unit")
            exponent = int(raised.value)
        powers[name] = powers.get(name, 0) + sign * exponent


def _is_unit_word(token: Token) -> bool:
    return token.kind == "word" or (token.kind == "letter" and token.text in "msghLlJNWKVA")


def _all(factors: Sequence[Node]) -> Node:
    if len(factors) == 1:
        return factors[0]
    return matrix_product(factors) if any(factor.head == "matrix" for factor in factors) else product(factors)


def _remainder(value: Node, modulus: Node) -> Node:
    if is_number(value) and is_number(modulus) and modulus.value > 0:
        return number(value.value % modulus.value)
    return node("call", [value, modulus], "mod")
