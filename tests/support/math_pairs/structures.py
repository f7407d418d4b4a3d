"""Families of intervals, sets, tuples, lists, expressions, equations and matrices."""

import random
from collections.abc import Sequence

from tests.support.math_pairs.pair import Made


def intervals(chance: random.Random) -> Made:
    """Intervals, unions and inequalities."""
    for _ in range(9):
        a, b = sorted(chance.sample(range(-20, 20), 2))
        c = b + chance.randrange(1, 9)
        yield f"({a},{b}]", rf"\left({a}, {b}\right]", True
        yield f"[{a},{b})", f"{a} \\le x < {b}", True
        yield f"({a},{b}]", f"{b} \\ge x > {a}", True
        yield rf"({b},\infty)", f"x>{b}", True
        yield rf"(-\infty,{b}]", rf"x \leq {b}", True
        yield rf"(-\infty,{a}) \cup ({b},\infty)", rf"x<{a} \text{{ or }} x>{b}", True
        yield rf"[{a},{b}] \cup [{c},\infty)", rf"[{c},\infty) \cup [{a},{b}]", True
        yield f"({a},{b}]", f"x \\in ({a},{b}]", True
        yield f"({a},{b}]", f"[{a},{b}]", False
        yield f"({a},{b})", f"({a},{b}]", False
        yield f"[{a},{b})", f"({a},{b}]", False
        yield rf"(-\infty,{b}]", rf"[-\infty,{b}]", False
        yield rf"({b},\infty)", f"x<{b}", False
        yield rf"({b},\infty)", rf"x \ge {b}", False
        yield rf"(-\infty,{a}) \cup ({b},\infty)", rf"(-\infty,{a}) \cap ({b},\infty)", False
        yield rf"[{a},{b}] \cup [{c},\infty)", rf"[{a},{c}]", False
    yield r"(-\infty,1)\cup(1,\infty)", r"\mathbb{R}\setminus\{1\}", True
    yield r"(-\infty,1)\cup(1,\infty)", r"x \ne 1", True
    yield r"(-\infty,1)\cup(1,\infty)", r"\mathbb{R}", False
    yield r"(-\infty,1)\cup(1,\infty)", r"\mathbb{R}\setminus\{2\}", False


def sets(chance: random.Random) -> Made:
    """Sets: neither order nor repetition counts, brackets do."""
    for _ in range(9):
        items = chance.sample(range(-20, 40), 3)
        a, b, c = items
        gold = rf"\{{{a},{b},{c}\}}"
        yield gold, rf"\{{{c}, {a}, {b}\}}", True
        yield gold, rf"\left\{{ {b}, {c}, {a} \right\}}", True
        yield gold, f"{a}, {b}, {c}", True
        yield gold, rf"\{{{a},{b},{c},{a}\}}", True
        yield gold, rf"\{{{a},{b}\}}", False
        yield gold, rf"\{{{a},{b},{c},{c + 1 if c + 1 not in items else 99}\}}", False
        yield gold, f"({a},{b},{c})", False
        yield gold, rf"\{{{a},{b},{-c if c and -c not in items else 98}\}}", False
    yield r"\{1,2\}", "(1,2)", False
    yield r"\{1,2\}", "[1,2]", False
    yield r"\emptyset", r"\varnothing", True
    yield r"\emptyset", r"\{\}", True
    yield r"\emptyset", r"\{0\}", False
    yield r"\{x \mid x>2\}", r"(2,\infty)", True
    yield r"\{x : x>2\}", r"(-2,\infty)", False


def tuples(chance: random.Random) -> Made:
    """Points and vectors: order counts."""
    for _ in range(11):
        a, b, c = chance.sample(range(-20, 40), 3)
        yield f"({a},{b})", rf"\left({a}, {b}\right)", True
        yield f"({a},{b},{c})", f"( {a} , {b} , {c} )", True
        yield rf"\left(\frac{{{a}}}{{7}},{b}\right)", f"({a}/7, {b}.0)", True
        yield f"({a},{b})", f"{a}, {b}", True
        yield f"({a},{b})", f"x={a}, y={b}", True
        yield f"({a},{b})", f"({b},{a})", False
        yield f"({a},{b})", f"({a},{b},{c})", False
        yield f"({a},{b},{c})", f"({a},{c},{b})", False
        yield f"({a},{b})", rf"\{{{a},{b}\}}", False
        yield f"({a},{b})", f"({a},{b + 1})", False
        yield f"({a},{b})", f"x={b}, y={a}", False


def lists(chance: random.Random) -> Made:
    """Several values without brackets: order does not count, each one does."""
    for _ in range(11):
        a, b, c = chance.sample(range(1, 60), 3)
        yield f"{a}, {b}, {c}", f"{c}, {b}, {a}", True
        yield f"{a},{b}", rf"{b}\text{{ and }}{a}", True
        yield f"{a}, {b}", f"{b}; {a}", True
        yield f"{a}, {b}", rf"x={a} \text{{ or }} x={b}", True
        yield f"{a}, -{a}", rf"\pm {a}", True
        yield rf"{a}+\sqrt{{{b}}}, {a}-\sqrt{{{b}}}", rf"{a} \pm \sqrt{{{b}}}", True
        yield f"{a}, {b}, {c}", f"{a}, {b}", False
        yield f"{a}, {b}", f"{a}", False
        yield f"{a}, {b}", f"{a}, {b}, {c}", False
        yield f"{a}, {b}", f"{a}, {b + 1}", False
        yield f"{a}, -{a}", f"{a}", False
        yield f"{a}", rf"\pm {a}", False
        yield f"x={a}, y={b}", f"x={b}, y={a}", False
    yield r"\boxed{2}, \boxed{3}, \boxed{13}", "2, 3, 13", True
    yield r"\boxed{2}, \boxed{3}, \boxed{13}", "13", False
    yield "1 and 2", "2, 1", True
    yield "100,200,300", "100, 200, 300", True
    yield "100,200,300", "100, 200", False


def expressions(chance: random.Random) -> Made:
    """Polynomials, quotients, functions."""
    for _ in range(10):
        a, b, k = chance.randrange(2, 9), chance.randrange(1, 9), chance.randrange(2, 7)
        square = polynomial([a * a, 2 * a, 1])
        yield f"(x+{a})^2", square, True
        yield f"(x+{a})(x-{b})", polynomial([-a * b, a - b, 1]), True
        yield f"{k}x+{b}", f"{b}+{k}x", True
        yield rf"\frac{{x}}{{{k}}}", rf"\frac{{1}}{{{k}}}x", True
        yield f"{k}(x+{b})", f"{k}x+{k * b}", True
        yield rf"\frac{{x^2-{a * a}}}{{x-{a}}}", f"x+{a}", True
        yield rf"{k}\sin^2 x+{k}\cos^2 x", f"{k}", True
        yield f"{a}x^{k}", rf"{a} \cdot x^{{{k}}}", True
        yield f"(x+{a})^2", polynomial([a * a, 2 * a + 1, 1]), False
        yield f"(x+{a})^2", f"x^2+{a * a}", False
        yield f"{k}x+{b}", f"{k}x-{b}", False
        yield f"{k}x+{b}", f"{k}y+{b}", False
        yield f"{k}(x+{b})", f"{k}x+{b}", False
        yield rf"\frac{{x}}{{{k}}}", rf"\frac{{{k}}}{{x}}", False
        yield f"{a}x^{k}", f"{a}x^{{{k + 1}}}", False
        yield f"{a}x^{k}", f"{a}^{k}x^{k}", False
    right = [
        ("2x", "x+x"),
        ("|x-2|", "|2-x|"),
        (r"\sqrt{x^2}", "|x|"),
        (r"\frac{a}{b}+\frac{c}{d}", r"\frac{ad+bc}{bd}"),
        ("e^{x+y}", "e^xe^y"),
        (r"\sin 2x", r"2\sin x\cos x"),
        ("n!", r"n\cdot(n-1)!"),
        (r"2^{n+1}", r"2\cdot 2^n"),
        (r"\pi r^2", r"r^2\pi"),
        ("(-1)^n", r"\cos(n\pi)"),
        (r"x_1+x_2", r"x_2+x_1"),
        (r"\frac{n(n+1)}{2}", r"\frac{n^2+n}{2}"),
        (r"\alpha+\beta", r"\beta+\alpha"),
        (r"\tan x", r"\frac{\sin x}{\cos x}"),
        (r"\cos^2 x-\sin^2 x", r"\cos 2x"),
    ]
    wrong = [
        ("2x", "x^2"),
        ("|x-2|", "x-2"),
        (r"\sqrt{x^2}", "x"),
        (r"\frac{a}{b}+\frac{c}{d}", r"\frac{a+c}{b+d}"),
        ("e^{x+y}", "e^x+e^y"),
        (r"\sin 2x", r"2\sin x"),
        ("n!", r"n\cdot n!"),
        (r"2^{n+1}", r"2^n+1"),
        (r"\pi r^2", r"2\pi r"),
        ("(-1)^n", r"1^n"),
        (r"x_1+x_2", r"x_1+x_3"),
        (r"\frac{n(n+1)}{2}", r"\frac{n(n-1)}{2}"),
        ("x", "x+10^{-30}"),
        (r"\tan x", r"\frac{\cos x}{\sin x}"),
        (r"\cos^2 x-\sin^2 x", r"\sin 2x"),
    ]
    yield from ((gold, answer, True) for gold, answer in right)
    yield from ((gold, answer, False) for gold, answer in wrong)


def equations(chance: random.Random) -> Made:
    """Equations and inequalities: equal up to a factor; names that are left out."""
    for _ in range(10):
        a, b, k = chance.randrange(2, 9), chance.randrange(10, 30), chance.randrange(2, 7)
        yield f"{b}", f"x={b}", True
        yield f"x={b}", f"{b}", True
        yield f"y={a}x+{b}", f"y = {b}+{a}x", True
        yield f"y={a}x+{b}", f"{a}x-y+{b}=0", True
        yield f"y={a}x+{k}", f"y-{a}x={k}", True
        yield f"y={a}x+{k}", f"y-{k}x={a}", a == k
        yield f"x^2+y^2={b}", f"x^2+y^2-{b}=0", True
        yield f"{a}x+{k}y={b}", f"{2 * a}x+{2 * k}y={2 * b}", True
        yield f"f(x)={a}x+{b}", f"{a}x+{b}", True
        yield f"{b}", f"{b + 1}={b}", False
        yield f"x={b}", f"y={b}", False
        yield f"x={b}", f"x={b + 1}", False
        yield f"y={a}x+{b}", f"y={a}x-{b}", False
        yield f"x^2+y^2={b}", f"x^2-y^2={b}", False
        yield f"{a}x+{k}y={b}", f"{a}x+{k}y={b + 1}", False
        yield f"y={a}x+{b}", f"{a}x+{b}=0", False
        yield f"y<{a}x+{b}", f"{a}x+{b}>y", True
        yield f"y<{a}x+{b}", f"y>{a}x+{b}", False
        yield f"y<{a}x+{b}", f"y \\le {a}x+{b}", False
    yield r"x \equiv 3 \pmod 5", "8 (mod 5)", True
    yield r"x \equiv 3 \pmod 5", r"x \equiv 3 \pmod 7", False
    yield "1:2", "3:6", True
    yield "1:2", "2:1", False
    yield "5", "6=5", False


def matrices(chance: random.Random) -> Made:
    """Matrices and columns, entry by entry."""
    for _ in range(9):
        rows = [[chance.randrange(-9, 10) for _ in range(2)] for _ in range(2)]
        gold = matrix(rows)
        if rows[0] == rows[1] or rows[0][1] == rows[1][0]:
            rows = [[1, 2], [3, chance.randrange(9)]]
            gold = matrix(rows)
        yield gold, matrix(rows, "bmatrix"), True
        yield gold, matrix(rows).replace("&", " & "), True
        yield gold, rf"\left({matrix(rows, 'matrix')}\right)", True
        yield gold, matrix([[f"{2 * cell}/2" for cell in row] for row in rows]), True
        yield gold, matrix([rows[1], rows[0]]), False
        yield gold, matrix([[rows[0][0], rows[1][0]], [rows[0][1], rows[1][1]]]), False
        yield gold, matrix([[rows[0][0] + 1, rows[0][1]], rows[1]]), False
        yield gold, matrix([[*rows[0], *rows[1]]]), False
    yield r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}", False
    yield r"\begin{vmatrix}1&2\\3&4\end{vmatrix}", "-2", True
    yield r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "-2", False


def matrix(rows: Sequence[Sequence[object]], name: str = "pmatrix") -> str:
    """LaTeX of a matrix."""
    inside = r" \\ ".join("&".join(map(str, row)) for row in rows)
    return rf"\begin{{{name}}}{inside}\end{{{name}}}"


def polynomial(coefficients: Sequence[int]) -> str:
    """A polynomial in x, its coefficients from the constant on."""
    terms = []
    for power in reversed(range(len(coefficients))):
        coefficient = coefficients[power]
        if coefficient:
            number = "" if abs(coefficient) == 1 and power else str(abs(coefficient))
            terms.append(f"{'-' if coefficient < 0 else '+'}{number}{['', 'x', f'x^{power}'][min(power, 2)]}")
    return "".join(terms).removeprefix("+")
