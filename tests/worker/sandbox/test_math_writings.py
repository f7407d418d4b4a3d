"""Classes of writings: all that mean the same answer one another, and none answers a class of other numbers."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worker.sandbox.test_math_mutations import MANY, grade, latex

Writings = Callable[[int, int, int], Sequence[str]]
"""Writings of one answer, made of three numbers, of which the second is above the first, and the third above both."""


def degrees(low: int, middle: int, high: int) -> Sequence[str]:
    value = low + Fraction(middle % 60, 60)
    return (
        rf"{low}^\circ {middle % 60}'",
        rf"\left(\frac{{{value.numerator}}}{{{value.denominator}}}\right)^\circ",
        rf"{low}^{{\circ}}{middle % 60}^{{\prime}}",
    )


CLASSES: dict[str, Writings] = {
    "an interval without a point": lambda low, middle, high: (
        rf"[{low},{high}]\setminus\{{{middle}\}}",
        rf"[{low},{middle})\cup({middle},{high}]",
        rf"{low}\le x\le {high}, x\ne {middle}",
        rf"\{{x\mid {low}\le x\le {high}, x\neq {middle}\}}",
    ),
    "all but two points": lambda low, middle, high: (
        rf"(-\infty,{low})\cup({low},{high})\cup({high},\infty)",
        rf"\mathbb{{R}}\setminus\{{{low},{high}\}}",
        rf"x\ne {low}\text{{ and }}x\ne {high}",
    ),
    "a point and an interval": lambda low, middle, high: (
        rf"\{{{low}\}}\cup[{middle},{high})",
        rf"x={low}\text{{ or }}{middle}\le x<{high}",
        rf"[{middle},{high})\cup\{{{low}\}}",
    ),
    "outside of an interval": lambda low, middle, high: (
        rf"x<{low}\text{{ or }}x>{high}",
        rf"(-\infty,{low})\cup({high},\infty)",
        rf"\mathbb{{R}}\setminus[{low},{high}]",
    ),
    "roots": lambda low, middle, high: (
        f"{low},{high}",
        f"{high}, {low}",
        rf"\{{{low},{high}\}}",
        rf"x={low}\text{{ or }}x={high}",
        f"x={high}, x={low}",
    ),
    "several unknowns": lambda low, middle, high: (
        f"x={low}, y={high}",
        f"y={high}, x={low}",
        f"({low},{high})",
        f"(x,y)=({low},{high})",
        rf"\begin{{cases}}x={low}\\y={high}\end{{cases}}",
    ),
    "hours and minutes": lambda low, middle, high: (
        rf"{low}\text{{ hours }}{middle % 60}\text{{ minutes}}",
        rf"{low}\text{{ hours and }}{middle % 60}\text{{ minutes}}",
        rf"{60 * low + middle % 60}\text{{ minutes}}",
    ),
    "degrees and minutes": degrees,
    "combinations": lambda low, middle, high: (
        rf"\binom{{{high}}}{{{low}}}",
        f"C_{{{high}}}^{{{low}}}",
        f"C({high},{low})",
        rf"{{{high} \choose {low}}}",
        f"C_{{{high}}}^{{{high - low}}}",
    ),
    "integrals": lambda low, middle, high: (
        f"x^2+{2 * low}x+C",
        f"(x+{low})^2+C",
        f"C+x(x+{2 * low})",
        f"x^2+{2 * low}x+{high}+C",
    ),
    "decays": lambda low, middle, high: (
        f"y=Ce^{{{low}x}}",
        f"y=Ae^{{{low}x}}",
        rf"y=k(e^x)^{{{low}}}",
        rf"y=\frac{{C}}{{e^{{-{low}x}}}}",
    ),
    "residues": lambda low, middle, high: (
        rf"x\equiv {low},{middle}\pmod{{{high}}}",
        rf"x\equiv {middle},{low + high}\pmod{{{high}}}",
        rf"x\equiv {low}\pmod{{{high}}}\text{{ or }}x\equiv {middle}\pmod{{{high}}}",
    ),
    "angles of a period": lambda low, middle, high: (
        rf"x=\frac{{\pi}}{{{low + 2}}}+2k\pi, k\in\mathbb{{Z}}",
        rf"\frac{{\pi}}{{{low + 2}}}+2k\pi, k\in\mathbb{{Z}}",
        rf"x=2n\pi+\frac{{\pi}}{{{low + 2}}}\ (n\in\mathbb{{Z}})",
    ),
    "multiples": lambda low, middle, high: (
        rf"\{{x\mid x={high}k+{low}, k\in\mathbb{{Z}}\}}",
        rf"\{{{high}n+{low}\mid n\in\mathbb{{Z}}\}}",
        rf"\{{x : x={low}+{high}m, m\in\mathbb{{Z}}\}}",
    ),
    "recurring digits": lambda low, middle, high: (
        rf"{low}.\dot{{{high % 10}}}{middle % 10}\dot{{1}}",
        rf"{low}.\overline{{{high % 10}{middle % 10}1}}",
        latex(low + Fraction(100 * (high % 10) + 10 * (middle % 10) + 1, 999)),
    ),
    "ordinals": lambda low, middle, high: (
        rf"{10 * high + 4}\text{{th}}",
        f"{10 * high + 4}th",
        f"{10 * high + 4}^{{th}}",
    ),
    "ions": lambda low, middle, high: (
        rf"\mathrm{{C_{{{low + 1}}}H_{{{high}}}O_2^-}}",
        rf"\text{{C}}_{{{low + 1}}}\text{{H}}_{{{high}}}\text{{O}}_2^-",
        f"C_{{{low + 1}}}H_{{{high}}}O_{{2}}^{{-}}",
    ),
    "functions of an angle": lambda low, middle, high: (
        rf"\sin A=\frac{{{low}}}{{97}}",
        rf"\sin A={low}/97",
        rf"\frac{{{low}}}{{97}}=\sin A",
    ),
}  # fmt: skip
NUMBERS = st.tuples(st.integers(1, 12), st.integers(1, 11), st.integers(1, 19)).map(
    lambda drawn: (drawn[0], drawn[0] + drawn[1], drawn[0] + drawn[1] + drawn[2])
)
"""Three rising numbers."""


@MANY
@pytest.mark.parametrize("kind", sorted(CLASSES))
@settings(max_examples=4, deadline=None)
@given(numbers=NUMBERS)
def test_writings_of_one_answer(kind: str, numbers: tuple[int, int, int]) -> None:
    """Symmetry and transitivity at once: every writing answers every other one."""
    writings = CLASSES[kind](*numbers)
    refused = [(gold, answer) for gold, answer in product(writings, repeat=2) if grade(gold, answer) != 1.0]
    assert refused == []


@MANY
@pytest.mark.parametrize("kind", sorted(CLASSES))
@settings(max_examples=4, deadline=None)
@given(numbers=NUMBERS)
def test_writings_of_another_answer(kind: str, numbers: tuple[int, int, int]) -> None:
    """No writing answers one of the class with other numbers."""
    low, middle, high = numbers
    others = CLASSES[kind](low + 1, middle + 1, high + 2)
    paid = [pair for pair in product(CLASSES[kind](*numbers), others) if grade(*pair) != 0.0]
    assert paid == []


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"(-\infty,0]\cup[2,\infty)", r"x\le0\text{ or }y\ge2"),
        ("(1,5)", r"x>1\text{ and }y<5"),
        ("x=3, y=4", r"x=3\text{ or }y=4"),
        ("1,-2", "x=1, y=-2"),
        (r"1\text{ or }-2", "x=1, y=-2"),
        (r"\{1,-2\}", "x=1, y=-2"),
        ("x=1, -2", "x=1, y=-2"),
        ("x=1, y=-2", "-2, 1"),
        ("a+b+c", "a+b+c+1"),
        ("A+B+C", "A+B+C+1"),
        ("13", "①③"),
        (r"\text{Fe}^{3+}", r"\text{Fe}^{2+}"),
    ],
)
def test_what_once_was_paid_or_an_error(gold: str, answer: str) -> None:
    assert grade(gold, answer) == 0.0


def test_names_may_be_left_out_in_their_order() -> None:
    """The gold answer's names say which value is whose; an answer that adds names speaks of other unknowns."""
    assert grade("x=1, y=-2", "1, -2") == 1.0
    assert grade("y=-2, x=1", "1, -2") == 1.0
    assert grade("1, -2", "x_1=-2, x_2=1") == 1.0
