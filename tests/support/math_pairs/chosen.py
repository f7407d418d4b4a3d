"""Families that choose an option of the grader: where the answer stands, what kind it is, several accepted answers."""

import random

from tests.support.math_pairs.pair import Made


def last_numbers(chance: random.Random) -> Made:
    """The last number of a completion, whole: never a part of LaTeX, of a list, or of a name."""
    for _ in range(6):
        n, m = chance.sample(range(12, 98), 2)
        yield f"{n}", f"First {m}, then {n}.", True
        yield f"{n}", f"所以答案是{n}", True
        yield rf"\frac{{{n}}}{{7}}", rf"So it is \frac{{{n}}}{{7}}", True
        yield f"{n}{m}9", f"We get {n}{{,}}{m}9 in total.", True
        yield f"{n}", f"It has {n} km.", True
        yield f"{2**10}", "That makes 2^{10} ways.", True
        yield f"{n * n}", rf"It is ${n}^2$.", True
        yield "7", rf"So it is \frac{{{n}}}{{7}}", n == 49
        yield f"{m}9", f"We get {n}{{,}}{m}9 in total.", False
        yield f"{n}", rf"It is \sqrt{{{n}}}", False
        yield f"{n}", f"It is 2^{{{n}}}", False
        yield f"{n}", f"Let us call it x_{{{n}}}.", False
        yield f"1{n}", f"It is 0,1{n}.", False
        yield f"{n}", f"First {n}, then {m}.", False
    yield "6", r"\frac{5}{6}", False
    yield "916", "14{,}916", False
    yield "16", r"\sqrt{16}", False
    yield "10", "2^{10}", False
    yield "111", "0,111", False
    yield "14916", "14{,}916", True
    yield "4", r"\sqrt{16}", True


def typed_intervals(chance: random.Random) -> Made:
    """Rows that say that their answers are intervals."""
    for _ in range(6):
        a, b = sorted(chance.sample(range(-20, 20), 2))
        yield f"({a},{b})", f"{a} < x < {b}", True
        yield f"({a},{b})", rf"x \in ({a}, {b})", True
        yield f"[{a},{b}]", rf"\left[{a},{b}\right]", True
        yield f"({a},{b})", f"{a}, {b}", False
        yield f"({a},{b})", rf"\{{{a},{b}\}}", False
        yield f"({a},{b})", f"[{a},{b}]", False


def typed_sets(chance: random.Random) -> Made:
    """Rows that say that their answers are sets."""
    for _ in range(6):
        a, b = chance.sample(range(-20, 20), 2)
        yield f"{a}, {b}", rf"\{{{b},{a}\}}", True
        yield rf"\{{{a},{b}\}}", rf"x={b} \text{{ or }} x={a}", True
        yield rf"\{{{a}\}}", f"{a}", True
        yield rf"\{{{a},{b}\}}", f"({a},{b})", False
        yield rf"\{{{a},{b}\}}", f"{a}", False
        yield f"{a}", f"{a}, {b}", False


def typed_tuples(chance: random.Random) -> Made:
    """Rows that say that their answers are tuples."""
    for _ in range(6):
        a, b = chance.sample(range(-20, 20), 2)
        yield f"({a},{b})", f"{a}, {b}", True
        yield f"({a},{b})", f"[{a}, {b}]", True
        yield f"({a},{b})", rf"\langle {a},{b} \rangle", True
        yield f"({a},{b})", f"{b}, {a}", False
        yield f"({a},{b})", rf"\{{{a},{b}\}}", False
        yield f"({a},{b})", f"{a}", False
    yield "(1,2)", "y=2, x=1", True
    yield "(1,2)", "y=1, x=2", False


def typed_equations(chance: random.Random) -> Made:
    """Rows that say that their answers are equations."""
    for _ in range(6):
        a, b = chance.randrange(2, 9), chance.randrange(10, 30)
        yield f"y={a}x+{b}", f"{a}x-y+{b}=0", True
        yield f"x={b}", f"{b}=x", True
        yield f"y={a}x+{b}", f"{a}x+{b}", False
        yield f"x={b}", f"{b}", False


def typed_numbers(chance: random.Random) -> Made:
    """Rows that say that their answers are numbers."""
    for _ in range(6):
        n, m = chance.randrange(12, 98), chance.randrange(2, 9)
        yield f"{n}", f"x = {n}", True
        yield f"{n}", rf"{n}\text{{ cm}}", True
        yield rf"\frac{{{n}}}{{100}}", f"{n}\\%", True
        yield rf"{m}\sqrt{{{m}}}", rf"\sqrt{{{m**3}}}", True
        yield rf"\frac{{{n}}}{{{m}}}\pi", rf"\frac{{{n}\pi}}{{{m}}}", True
        yield f"{n}", rf"\text{{Answer: }}{n}", True
        yield f"{n}", f"{n}x", False
        yield f"{n}", rf"{n}\text{{ or }}{n + 1}", False
        yield f"{n}", rf"\{{{n}\}}", False
        yield f"{n}", rf"\pm {n}", False
        yield f"{n}", f"({n},{m})", False
        yield rf"{m}\sqrt{{{m}}}", rf"\sqrt{{{m**3 + 1}}}", False


def typed_expressions(chance: random.Random) -> Made:
    """Rows that say that their answers are expressions."""
    for _ in range(6):
        a, b = chance.sample(range(2, 9), 2)
        yield f"x^2+{a + b}x+{a * b}", f"(x+{a})(x+{b})", True
        yield f"{a}x+{b}", f"y={b}+{a}x", True
        yield f"{a}x+{b}", f"f(x)={a}x+{b}", True
        yield f"{a}(x+{b})", f"{a}x+{a * b}", True
        yield rf"\sin({a}x)+{b}", rf"{b}+\sin {a}x", True
        yield rf"\frac{{{a}}}{{x}}", f"{a}/x", True
        yield f"x^2+{a + b}x+{a * b}", f"(x-{a})(x+{b})", False
        yield f"{a}x+{b}", f"{a}x<{b}", False
        yield f"{a}x+{b}", f"{a}x, {b}", False
        yield f"{a}x+{b}", f"{a}x+{b}=0", False
        yield f"{a}x+{b}", f"{b}x+{a}", False


def typed_matrices(chance: random.Random) -> Made:
    """Rows that say that their answers are matrices."""
    for _ in range(6):
        a, b, c, d = chance.sample(range(-9, 10), 4)
        gold = rf"\begin{{pmatrix}}{a}&{b}\\{c}&{d}\end{{pmatrix}}"
        yield gold, rf"\begin{{bmatrix}}{a} & {b} \\ {c} & {d}\end{{bmatrix}}", True
        yield gold, rf"A=\begin{{pmatrix}}{a}&{b}\\{c}&\frac{{{2 * d}}}{{2}}\end{{pmatrix}}", True
        yield gold, rf"\left[\begin{{array}}{{cc}}{a}&{b}\\{c}&{d}\end{{array}}\right]", True
        yield gold, rf"\begin{{pmatrix}}{a}&{c}\\{b}&{d}\end{{pmatrix}}", False
        yield gold, rf"\begin{{pmatrix}}{a}&{b}\end{{pmatrix}}", False
        yield gold, f"({a},{b},{c},{d})", False
        yield gold, rf"\begin{{vmatrix}}{a}&{b}\\{c}&{d}\end{{vmatrix}}", False


def several_accepted(chance: random.Random) -> Made:
    """Rows that list the answers that they accept: each alone, and no mixture of them."""
    for _ in range(8):
        n, m, k = chance.sample(range(12, 98), 3)
        yield [f"{n}", f"{m}"], f"{m}", True
        yield [f"{n}", f"{m}"], f"x={n}", True
        yield [f"{n}", f"{m}"], f"{n}.0", True
        yield [f"({n},{m})", f"{n}+{m}i"], f"{m}i+{n}", True
        yield [f"{n}\\text{{ cm}}", rf"{m}\text{{ kg}}"], rf"{m}000\text{{ g}}", True
        yield [f"{n}", f"{m}"], f"{k}", False
        yield [f"{n}", f"{m}"], f"{n}, {m}", False
        yield [f"{n}", f"{m}"], rf"{n}\text{{ or }}{m}", False
        yield [f"({n},{m})", f"{n}+{m}i"], f"({m},{n})", False
        yield [f"{n}\\text{{ cm}}", rf"{m}\text{{ kg}}"], rf"{n}\text{{ kg}}", False


def typed_choices(chance: random.Random) -> Made:
    """Rows that say that their answers are letters of a choice."""
    for letter in "ABCDE":
        other = chance.choice([one for one in "ABCDE" if one != letter])
        yield letter, letter.lower(), True
        yield f"({letter})", rf"\text{{{letter}}}", True
        yield f"{letter}. 42", f"({letter})", True
        yield letter, other.lower(), False
        yield f"({letter})", rf"\text{{{other}}}", False
        yield f"{letter}. 42", "42", False


def typed_text(chance: random.Random) -> Made:
    """Rows that say that their answers are text."""
    for n in chance.sample(range(10, 99), 8):
        yield f"Day {n}", rf"\text{{day {n}}}", True
        yield f"Day {n}", f"Day {n + 1}", False


def written_out_units(chance: random.Random) -> Made:
    """Rows whose answers must have the gold answer's unit."""
    for n in chance.sample(range(10, 99), 8):
        yield rf"{n}\text{{ cm}}", rf"{n}\text{{ cm}}", True
        yield rf"{n}\text{{ cm}}", f"{n}", False


def exclusive(chance: random.Random) -> Made:
    """Answers that hedge, or name what is not asked."""
    for n in chance.sample(range(12, 98), 10):
        yield f"{n}", rf"{n} \text{{ or }} {n + 1}", False
        yield f"{n}", f"{n}={n + 1}", False
        yield f"{n}", rf"{n} + C", False
        yield f"{n}", rf"{n}+0", True
        yield f"{n}", rf"x={n}", True
