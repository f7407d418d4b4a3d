"""Properties of mathematical verdicts: in every grammar a right answer is paid, and one small change makes it wrong."""

from fractions import Fraction
from math import comb
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.math_pairs.in_process import InProcess
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.sample import Sample

JAIL = InProcess()
MANY = pytest.mark.expensive(2, "many examples", about=("worker/sandbox", "trainer_core/rewards"))
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


@MANY
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


@MANY
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


@MANY
@given(SMALL, SMALL, SMALL, st.integers(1, 5), st.integers(2, 9))
@settings(max_examples=60, deadline=None)
def test_equations(a: int, b: int, c: int, step: int, factor: int) -> None:
    assume(a and b and c)
    gold = f"{a}x+({b})y={c}"
    moved = f"{factor * a}x={factor * c}-({factor * b})y"
    check(gold, moved, f"{factor * a}x={factor * c + step}-({factor * b})y")
    check(gold, f"{c}-({a})x-({b})y=0", f"{c}+({a})x-({b})y=0")
    assert grade(gold, f"{a}x+({b})y<{c}") == 0.0
    assert grade(f"x={a}", f"{a}=x") == 1.0
    assert grade(f"x={a}", f"y={a}") == 0.0


@MANY
@given(SMALL, st.sampled_from(["<", ">", r"\le", r"\ge"]), st.sampled_from(["<", ">", r"\le", r"\ge"]))
@settings(max_examples=60, deadline=None)
def test_inequalities(bound: int, sign: str, other: str) -> None:
    assume(sign != other)
    turned = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}
    check(f"x {sign} {bound}", f"{bound} {turned[sign]} x", f"x {other} {bound}")
    check(f"x {sign} {bound}", f"-x {turned[sign]} {-bound}", f"-x {sign} {-bound}")
    check(f"2x+3y {sign} {bound}", f"4x+6y {sign} {2 * bound}", f"4x+6y {other} {2 * bound}")
    assert grade(f"x {sign} {bound}", f"x {sign} {bound + 1}") == 0.0
    assert grade(f"x {sign} {bound}", str(bound)) == 0.0


@MANY
@given(SMALL, st.integers(1, 30), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_plus_and_minus(middle: int, size: int, step: int) -> None:
    gold = rf"{middle}\pm {size}"
    check(gold, f"{middle + size}, {middle - size}", f"{middle + size}, {middle - size - step}")
    check(gold, rf"x={middle - size}\text{{ or }}x={middle + size}", f"{middle + size}")
    assert grade(gold, rf"{middle}\mp {size}") == 1.0
    assert grade(gold, f"{middle}+{size}") == 0.0
    assert grade(gold, rf"{middle + step}\pm {size}") == 0.0


@given(st.sampled_from("ABCDE"), st.sampled_from("ABCDE"))
@settings(max_examples=25, deadline=None)
def test_choices(letter: str, other: str) -> None:
    assume(letter != other)
    check(letter, f"({letter})", f"({other})")
    check(f"({letter})", rf"\text{{{letter}}}", rf"\text{{{other}}}")
    check(f"{letter}. 42", letter, f"{other}. 43")
    assert grade(letter, f"{letter}, {other}") == 0.0
    assert grade(letter, rf"\text{{{letter} or {other}}}") == 0.0
    assert grade(letter, rf"\text{{not {letter}}}") == 0.0


@given(st.integers(-50, 50), st.integers(2, 40), st.integers(-3, 3), st.integers(1, 39))
@settings(max_examples=60, deadline=None)
def test_congruences(residue: int, modulus: int, turns: int, step: int) -> None:
    assume(step % modulus)
    gold = rf"x \equiv {residue} \pmod{{{modulus}}}"
    same = residue + turns * modulus
    check(gold, rf"x\equiv {same} \bmod {modulus}", rf"x\equiv {same + step} \pmod{{{modulus}}}")
    check(gold, rf"{same} \pmod{{{modulus}}}", rf"{same} \pmod{{{modulus + step}}}")
    assert grade(gold, rf"y\equiv {same} \pmod{{{modulus}}}") == 0.0
    assert grade(gold, str(residue)) == 0.0


@given(st.integers(1, 999), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_percentages(value: int, step: int) -> None:
    gold = rf"{value}\%"
    check(gold, rf"{value}\text{{ percent}}", rf"{value + step}\%")
    check(gold, latex(Fraction(value, 100)), latex(Fraction(value + step, 100)))
    assert grade(gold, str(value)) == 1.0
    assert grade(gold, str(value * 100)) == 0.0
    assert grade(latex(Fraction(value, 100)), rf"{value * 100}\%") == 0.0


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60), st.integers(2, 7), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_ratios(first: int, second: int, third: int, factor: int, step: int) -> None:
    gold, scaled = f"{first}:{second}", f"{factor * first} : {factor * second}"
    check(gold, scaled, f"{factor * first}:{factor * second + step}")
    check(gold, f"{first} to {second}", f"{first} to {second + step}")
    three = f"{first}:{second}:{third}"
    check(three, f"{factor * first}:{factor * second}:{factor * third}", f"{first}:{second}:{third + step}")
    assert grade(three, gold) == 0.0
    if first != second:
        assert grade(gold, f"{second}:{first}") == 0.0


PIECES = (
    "1", "23", "0.5", "x", "ab", "f(", "(", ")", "[", "]", "{", "}", "\\{", "\\}", "|", ",", ";", ":", "=", "<",
    "\\le ", "+", "-", "/", "^", "_", "!", "%", "\\%", "'", " ", "\\,", "$", "&", "\\\\", "\\frac", "\\sqrt",
    "\\sin ", "\\log_", "\\pm ", "\\pi ", "\\infty ", "\\cup ", "\\in ", "\\mid ", "\\text{", "cm", "\\mathrm{km}",
    "^\\circ ", "\\pmod ", "\\begin{pmatrix}", "\\end{pmatrix}", "\\begin{cases}", "\\binom", "\\lfloor ",
    "\\rfloor ", "\\langle ", "\\rangle ", "or", "\\boxed{", "\\overline", "...", "元", "是", "\u200b", "½", "²",
    "\\mathbb{R}", "\\setminus ", "thousand", "\\left", "\\angle ", "1,234", "14{,}9", "e", "i", "1e9",
)  # fmt: skip


@MANY
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


@given(st.integers(1, 12), st.integers(0, 9), st.integers(1, 9), st.sampled_from(["AM", "PM"]))
@settings(max_examples=60, deadline=None)
def test_times_of_day(hours: int, minutes: int, step: int, half: str) -> None:
    other, later = {"AM": "PM", "PM": "AM"}[half], hours % 12 + 1
    gold = rf"{hours}:0{minutes} \text{{ {half}}}"
    dotted = f"{half[0].lower()}.m."
    check(gold, f"{hours}:0{minutes} {half.lower()}", f"{later}:0{minutes} {half}")
    check(gold, f"{hours}:0{minutes} {dotted}", f"{hours}:0{(minutes + step) % 10} {dotted}")
    check(gold, f"{hours % 12 + 12 * (half == 'PM'):02d}:0{minutes}", f"{hours}:0{minutes} {other}")
    check(f"{hours}:0{minutes}", rf"\text{{{hours}:0{minutes}}}", f"{later}:0{minutes}")


@given(st.integers(1, 60), st.integers(2, 9))
@settings(max_examples=30, deadline=None)
def test_a_ratio_to_nothing_is_no_proportion(first: int, factor: int) -> None:
    check(f"{first}:0", f"{first} : 0", f"{factor * first}:0")
    check(f"0:{first}", rf"0:{first}", f"0:{factor * first}")
    check(f"{first}:0:{first}", f"{factor * first}:0:{factor * first}", f"{first}:{factor}:{first}")


@MANY
@given(st.permutations("bcdfnpqrxyz"), st.integers(0, 99), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_letters_side_by_side_are_a_product(letters: list[str], value: int, step: int) -> None:
    a, b, c = letters[:3]
    check(f"{a}{b}={value}", rf"{b}\cdot {a}={value}", f"{a}={value}")
    check(f"{a}{b}={value}", f"{value}={b}{a}", f"{a}{c}={value}")
    check(f"{a}={value}", str(value), f"{a}{b}={value}")
    check(f"{a}{b}", f"{b}{a}", f"{a}{c}")
    segment, other = f"{a}{b}".upper(), f"{a}{c}".upper()
    check(f"{segment}={value}", rf"|{segment}|={value}", f"{other}={value}")
    check(str(value), rf"\|\vec{{{a}}}\|={value}", rf"\|\vec{{{a}}}\|={value + step}")


@MANY
@given(st.integers(3, 12), st.integers(1, 5), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_chains_of_equal_constants(n: int, k: int, step: int) -> None:
    value = comb(n, k)
    check(str(value), rf"\binom{{{n}}}{{{k}}}={value}", rf"\binom{{{n}}}{{{k}}}={value + step}")
    check(str(n), rf"\log_2 {2**n}={n}", rf"\log_2 {2**n + step}={n}")
    check(str(n), rf"x=\sqrt{{{n * n}}}={n}", rf"x=\sqrt{{{n * n + step}}}={n}")
    check(f"{n + k}", f"{n}+{k}={n + k}", f"{n}+{k}={n + k + step}")
    assert grade(str(n), f"{n}+{step}={n}") == 0.0


@given(st.lists(SMALL, min_size=8, max_size=8), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_sums_and_products_of_matrices(cells: list[int], step: int) -> None:
    (a, b, c, d), (e, f, g, h) = cells[:4], cells[4:]
    one, other = _matrix(cells[:4], "pmatrix"), _matrix(cells[4:], "bmatrix")
    added = [x + y for x, y in zip(cells[:4], cells[4:], strict=True)]
    times = [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h]
    check(
        _matrix(added, "pmatrix"), f"{one}+{other}", f"{one}+{step + 1}{other}+{one}+{_matrix([1, 0, 0, 0], 'pmatrix')}"
    )
    check(_matrix(times, "pmatrix"), f"{one}{other}", f"{one}{other}+{_matrix([0, step, 0, 0], 'pmatrix')}")
    check(
        _matrix([step * x for x in added], "pmatrix"),
        f"{step}({one}+{other})",
        _matrix([step * x + 1 for x in added], "pmatrix"),
    )


@given(st.integers(0, 5), st.integers(3, 40), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_finite_sums(low: int, size: int, step: int) -> None:
    high = low + size
    value = sum(k * k + 1 for k in range(low, high + 1))
    check(str(value), rf"\sum_{{k={low}}}^{{{high}}}(k^2+1)", rf"\sum_{{k={low}}}^{{{high + 1}}}(k^2+1)")
    check(
        rf"\sum_{{i={low}}}^{{{high}}} i",
        rf"\sum\limits_{{n={low}}}^{{{high}}} n",
        str(sum(range(low, high + 1)) + step),
    )
    check(str(sum(range(1, size + 1))), rf"1+2+\cdots+{size}", rf"1+2+\cdots+{size + step}")


@given(
    st.integers(1, 99), st.integers(0, 999), st.sampled_from([r",\! ", r",\!\!", r", \!", r"{,}\!"]), st.integers(1, 9)
)
@settings(max_examples=40, deadline=None)
def test_thin_thousands(high: int, low: int, separator: str, step: int) -> None:
    check(str(1000 * high + low), f"{high}{separator}{low:03d}", f"{high}{separator}{(low + step) % 1000:03d}")
