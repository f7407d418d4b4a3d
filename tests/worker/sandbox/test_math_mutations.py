"""Properties of mathematical verdicts: in every grammar a right answer is paid, and one small change makes it wrong."""

from fractions import Fraction
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.math_pairs.in_process import InProcess
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math import MathGrader
from trainer_core.rewards.sample import Sample

JAIL = InProcess()
INTEGERS = st.integers(-999, 9999)
SMALL = st.integers(-30, 30)


def grade(gold: str, answer: str) -> float:
    text = rf"\boxed{{{answer}}}"
    sample = Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)
    return MathGrader().grade(sample, {"answer": gold}, JAIL)


def check(gold: str, right: str, wrong: str) -> None:
    assert grade(gold, right) == 1.0, (gold, right)
    assert grade(gold, wrong) == 0.0, (gold, wrong)
    assert grade(right, gold) == 1.0, (right, gold)


def latex(value: Fraction) -> str:
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


@given(st.fractions(max_denominator=99), st.fractions(max_denominator=99))
@settings(max_examples=80, deadline=None)
def test_fractions(value: Fraction, other: Fraction) -> None:
    assume(value != other and abs(value) < 10**6 and abs(other) < 10**6)
    check(f"{value.numerator}/{value.denominator}", latex(value), latex(other))


@given(INTEGERS, st.integers(0, 9999), st.integers(1, 99))
@settings(max_examples=80, deadline=None)
def test_decimals(whole: int, places: int, step: int) -> None:
    written = f"{whole}.{places:04d}"
    value = Fraction(written)
    check(written, latex(value), f"{float(value + Fraction(step, 10**4)):.4f}")


@given(st.integers(1, 999), st.integers(1, 50), st.integers(2, 51))
@settings(max_examples=100, deadline=None)
def test_mixed_numbers(whole: int, over: int, under: int) -> None:
    assume(over < under)
    value = whole + Fraction(over, under)
    wrong = f"{whole}{over}/{under}"
    assume(Fraction(int(f"{whole}{over}"), under) != value)
    check(latex(value), rf"{whole}\frac{{{over}}}{{{under}}}", wrong)
    check(latex(value), f"{whole} {over}/{under}", rf"{whole + 1}\frac{{{over}}}{{{under}}}")


@given(st.integers(1000, 10**12), st.integers(0, 11))
@settings(max_examples=80, deadline=None)
def test_separators(value: int, place: int) -> None:
    digits = str(value)
    cut = 1 + place % (len(digits) - 1)
    assume(not (cut <= 3 and len(digits) - cut == 3))
    check(digits, f"{value:,}", f"{digits[:cut]} {digits[cut:]}")
    check(digits, f"{value:,}".replace(",", "{,}"), digits[:cut])


@given(st.lists(SMALL, min_size=2, max_size=5, unique=True), st.randoms(use_true_random=False), SMALL)
@settings(max_examples=80, deadline=None)
def test_collections(items: list[int], chance: Any, other: int) -> None:
    assume(other not in items)
    shuffled = chance.sample(items, len(items))
    texts, mixed = [str(item) for item in items], [str(item) for item in shuffled]
    changed = [str(other), *texts[1:]]
    check(", ".join(texts), ", ".join(mixed), ", ".join(changed))
    check(rf"\{{{', '.join(texts)}\}}", rf"\{{{','.join(mixed)}\}}", rf"\{{{', '.join(texts[1:])}\}}")
    check(f"({', '.join(texts)})", rf"\left({','.join(texts)}\right)", f"({', '.join(reversed(texts))})")
    check(f"({', '.join(texts)})", f"( {' , '.join(texts)} )", rf"\{{{', '.join(texts)}\}}")


@given(SMALL, st.integers(1, 40), st.sampled_from(["()", "[]", "(]", "[)"]), st.sampled_from(["()", "[]", "(]", "[)"]))
@settings(max_examples=100, deadline=None)
def test_intervals(low: int, size: int, brackets: str, other: str) -> None:
    assume(brackets != other)
    high = low + size
    signs = {"(": "<", "[": r"\le", ")": "<", "]": r"\le"}
    condition = f"{low} {signs[brackets[0]]} x {signs[brackets[1]]} {high}"
    gold = f"{brackets[0]}{low},{high}{brackets[1]}"
    check(gold, condition, f"{other[0]}{low},{high}{other[1]}")
    check(gold, rf"\left{brackets[0]} {low}, {high} \right{brackets[1]}", condition.replace(f" {high}", f" {high + 1}"))


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=4), st.integers(0, 3), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_polynomials(coefficients: list[int], place: int, step: int) -> None:
    assume(coefficients[-1])
    place %= len(coefficients)
    changed = [value + step * (index == place) for index, value in enumerate(coefficients)]
    check(_sum(coefficients), _nested(coefficients), _nested(changed))
    equation = f"y = {_sum(coefficients)}"
    check(equation, f"{_nested(coefficients)} - y = 0", f"y = {_nested(changed)}")


def _sum(coefficients: list[int]) -> str:
    return " + ".join(f"({value})x^{{{power}}}" for power, value in reversed(list(enumerate(coefficients))))


def _nested(coefficients: list[int]) -> str:
    found = str(coefficients[-1])
    for value in reversed(coefficients[:-1]):
        found = rf"x \cdot \left({found}\right) {'+' if value >= 0 else '-'} {abs(value)}"
    return found


@given(st.integers(2, 30), st.integers(2, 30), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_roots_and_powers(outer: int, inner: int, step: int) -> None:
    gold = rf"{outer}\sqrt{{{inner}}}"
    check(gold, rf"\sqrt{{{outer * outer * inner}}}", rf"\sqrt{{{outer * outer * inner + step}}}")
    check(rf"\frac{{{outer}}}{{\sqrt{{{inner}}}}}", rf"\frac{{{outer}\sqrt{{{inner}}}}}{{{inner}}}", gold + f"+{step}")
    check(rf"{outer}^{{{inner}}}", str(outer**inner), str(outer**inner + step))


@given(st.lists(SMALL, min_size=4, max_size=4), st.integers(0, 3), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_matrices(cells: list[int], place: int, step: int) -> None:
    changed = [cell + step * (index == place) for index, cell in enumerate(cells)]
    check(_matrix(cells, "pmatrix"), _matrix(cells, "bmatrix"), _matrix(changed, "pmatrix"))


def _matrix(cells: list[int], name: str) -> str:
    a, b, c, d = cells
    return rf"\begin{{{name}}} {a} & {b} \\ {c} & {d} \end{{{name}}}"


@given(st.integers(1, 999), st.sampled_from(["cm", "kg", "m", "hours", "apples", "km/h"]), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_units(value: int, unit: str, step: int) -> None:
    check(rf"{value}\text{{ {unit}}}", rf"{value} \text{{{unit}}}", rf"{value + step} \text{{{unit}}}")
    others = {"cm": "m", "kg": "g", "m": "km", "hours": "minutes", "apples": "pears", "km/h": "m/s"}
    check(rf"{value}\text{{ {unit}}}", str(value), rf"{value} \text{{ {others[unit]}}}")


@given(st.integers(7, 12), st.integers(1, 97), st.integers(2, 97), st.integers(1, 9))
@settings(max_examples=80, deadline=None)
def test_precision(places: int, over: int, under: int, step: int) -> None:
    value = Fraction(over, under)
    assume(any(value.denominator % prime == 0 for prime in range(3, 98) if prime % 2 and prime != 5 and prime % 5))
    assume(value > Fraction(1, 10))
    scaled = value * 10**places
    cut, rounded = int(scaled), int(scaled + Fraction(1, 2))
    assert grade(latex(value), _decimal(cut, places)) == 1.0
    assert grade(latex(value), _decimal(rounded, places)) == 1.0
    assert grade(latex(value), _decimal(rounded + step, places)) == 0.0
    assert grade(latex(value), _decimal(cut - step, places)) == 0.0
    assert grade(latex(value), _decimal(cut // 10 ** (places - 3), 3)) == 0.0


def _decimal(digits: int, places: int) -> str:
    text = str(digits).rjust(places + 1, "0")
    return f"{text[:-places]}.{text[-places:]}"


PIECES = (
    "1", "23", "0.5", "x", "ab", "f(", "(", ")", "[", "]", "{", "}", "\\{", "\\}", "|", ",", ";", ":", "=", "<",
    "\\le ", "+", "-", "/", "^", "_", "!", "%", "\\%", "'", " ", "\\,", "$", "&", "\\\\", "\\frac", "\\sqrt",
    "\\sin ", "\\log_", "\\pm ", "\\pi ", "\\infty ", "\\cup ", "\\in ", "\\mid ", "\\text{", "cm", "\\mathrm{km}",
    "^\\circ ", "\\pmod ", "\\begin{pmatrix}", "\\end{pmatrix}", "\\begin{cases}", "\\binom", "\\lfloor ",
    "\\rfloor ", "\\langle ", "\\rangle ", "or", "\\boxed{", "\\overline", "...", "元", "是", "\u200b", "½", "²",
    "\\mathbb{R}", "\\setminus ", "thousand", "\\left", "\\angle ", "1,234", "14{,}9", "e", "i", "1e9",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=9).map("".join), st.sampled_from(["7", "x^2", "(1,2)", "3 cm", "yes"])
)
@settings(max_examples=120, deadline=None)
def test_no_text_is_a_bug(text: str, gold: str) -> None:
    verdicts = (lambda: grade(gold, text), lambda: grade(text, gold))
    for verdict in verdicts:
        try:
            assert verdict() in (0.0, 1.0)
        except GraderError:  # a gold answer that cannot be read
            assert verdict is not verdicts[0]
