"""Families of single numbers. Every label follows from the value that a pair is made of, never from a grader."""

import random
from fractions import Fraction
from math import gcd

from tests.support.math_pairs.pair import Made, digits_moved


def integers(chance: random.Random) -> Made:
    """Whole numbers, their signs and their separators."""
    for _ in range(9):
        n = chance.randrange(11, 99)
        m = chance.randrange(1000, 9_999_999)
        gold, large, sign = str(n), str(m), chance.choice(["-", ""])
        yield gold, f"{n}.0", True
        yield gold, f"+{n}", True
        yield gold, f" {n} ", True
        yield large, f"{m:,}", True
        yield f"{m:,}", large, True
        yield large, f"{m:,}".replace(",", "{,}"), True
        yield large, f"{m:,}".replace(",", r"\,"), True
        yield large, f"{m:,}".replace(",", r",\!"), True
        yield f"-{n}", f"−{n}", True
        yield gold, f"{gold[0]} {gold[1]}", False
        yield gold, rf"{gold[0]}\quad {gold[1]}", False
        yield gold, rf"{gold[0]}\, {gold[1]}", False
        yield f"{sign}{n}", f"{'' if sign else '-'}{n}", False
        yield gold, digits_moved(chance, gold), False
        yield large, digits_moved(chance, large), False
        yield large, large[:-1], False
        yield large, f"{m * 10}", False
        yield large, f"{m:,}".rpartition(",")[2], False


def decimals(chance: random.Random) -> Made:
    """Decimals: trailing zeros, points, equal fractions."""
    for _ in range(11):
        places = chance.choice([1, 2, 3])
        n = chance.randrange(101, 9999)
        n += n % 10 == 0
        value = Fraction(n, 10**places)
        gold = f"{n // 10**places}.{n % 10**places:0{places}d}"
        yield gold, f"{gold}0", True
        yield gold, rf"\frac{{{value.numerator}}}{{{value.denominator}}}", True
        yield gold, f"{value.numerator}/{value.denominator}", True
        yield f"{gold}00", gold, True
        yield f"-{gold}", f"-{gold}", True
        yield gold, f"{gold}1", False
        yield gold, f"{n}", False
        yield gold, f"-{gold}", False
        yield gold, rf"\frac{{{value.denominator}}}{{{value.numerator}}}", False
        yield gold, gold.partition(".")[0], False
    for n in range(111, 121):
        yield str(n), f"0,{n}", False
        yield f"0.{n}", f".{n}", True


def fractions(chance: random.Random) -> Made:
    """Fractions in every way that they are written."""
    for _ in range(12):
        a, b = _proper(chance)
        k = chance.randrange(2, 9)
        gold = rf"\frac{{{a}}}{{{b}}}"
        yield gold, f"{a}/{b}", True
        yield gold, rf"\dfrac{{{a}}}{{{b}}}", True
        yield gold, rf"\tfrac{{{a * k}}}{{{b * k}}}", True
        yield f"{a}/{b}", rf"\frac {{{a}}} {{{b}}}", True
        yield rf"-\frac{{{a}}}{{{b}}}", rf"\frac{{-{a}}}{{{b}}}", True
        yield rf"-\frac{{{a}}}{{{b}}}", f"-{a}/{b}", True
        yield rf"\frac{{{a % 9 + 1}}}{{7}}", rf"\frac{a % 9 + 1}7", True
        yield gold, rf"\frac{{{b}}}{{{a}}}", False
        yield gold, rf"\frac{{{a + 1}}}{{{b}}}", False
        yield gold, rf"\frac{{{a}}}{{{b + 1}}}", False
        yield gold, rf"-\frac{{{a}}}{{{b}}}", False
        yield gold, f"{a}", False
        yield gold, f"{a}{b}", False
        yield gold, f"{a} {b}", False


def mixed_numbers(chance: random.Random) -> Made:
    """Whole numbers with a fraction behind them."""
    for _ in range(14):
        a, b = _proper(chance)
        whole = chance.randrange(1, 20)
        over = whole * b + a
        yield rf"\frac{{{over}}}{{{b}}}", rf"{whole}\frac{{{a}}}{{{b}}}", True
        yield rf"{whole}\frac{{{a}}}{{{b}}}", f"{whole} {a}/{b}", True
        yield f"{whole} {a}/{b}", f"{over}/{b}", True
        yield rf"-{whole}\frac{{{a}}}{{{b}}}", f"-{over}/{b}", True
        yield rf"\frac{{{whole * 10 + a}}}{{{b}}}", f"{whole} {a}/{b}", Fraction(whole * 10 + a, b) == Fraction(over, b)
        yield f"{whole}{a}/{b}", f"{whole} {a}/{b}", int(f"{whole}{a}") == over
        yield f"{whole} {a}/{b}", rf"{whole}\cdot\frac{{{a}}}{{{b}}}", Fraction(whole * a, b) == Fraction(over, b)
        yield rf"{whole}\frac{{{a}}}{{{b}}}", f"{over + 1}/{b}", False


def percentages(chance: random.Random) -> Made:
    """Per cent, as a share and as a number of per cent."""
    for n in chance.sample(range(11, 99), 12):
        n += n % 10 == 0
        yield rf"{n}\%", f"{n}%", True
        yield f"{n}%", str(n), True
        yield f"{n}%", f"0.{n}", True
        yield f"0.{n}", rf"{n}\%", True
        yield f"{n}", f"{n}%", True
        yield f"{n}%", rf"{n}\text{{ percent}}", True
        yield rf"{n}\%", rf"{n + 1}\%", False
        yield f"{n}%", f"{n * 10}%", False
        yield f"{n}%", f"0.0{n}", False
        yield f"0.{n}", f"0.{n}%", False
        yield f"{n}%", f"-{n}%", False
        yield f"{n}%", f"{str(n)[0]} {str(n)[1]}%", False


def precision(chance: random.Random) -> Made:
    """Decimals that stand for other values: from six digits on, if they are rounded or cut."""
    from mpmath import mp  # type: ignore[import-untyped]

    mp.dps = 40
    values = [(rf"\frac{{{a}}}{{{b}}}", mp.mpf(a) / b) for a, b in ((1, 3), (2, 3), (5, 7), (10, 11), (4, 9), (22, 13))]
    values += [(rf"\sqrt{{{n}}}", mp.sqrt(n)) for n in (2, 3, 5, 7, 11)]
    values += [(r"\pi", mp.pi), (r"\frac{\pi}{4}", mp.pi / 4), ("e", mp.e), (r"\ln 2", mp.log(2))]
    for gold, value in values:
        for places in (7, 9, 12):
            shown = mp.nstr(mp.nint(value * 10**places) / 10**places, places + 2, strip_zeros=False)
            written = f"{shown.partition('.')[0]}.{shown.partition('.')[2][:places].ljust(places, '0')}"
            cut = str(int(mp.floor(value * 10**places))).rjust(places + 1, "0")
            yield gold, written, True
            yield gold, f"{cut[:-places]}.{cut[-places:]}", True
            last = str(int(written[-3]) + 1 if written[-3] != "9" else 7)
            yield gold, written[:-3] + last + written[-2:], False
            yield gold, f"{cut[:-places]}.{cut[-places:][:2]}", False
    for n in range(4):
        gold = f"{chance.randrange(1, 9)}.{chance.randrange(10**11, 10**12 - 1)}"
        yield gold[:9], gold[:9] + "0", True
        yield gold, gold[:6], False
        yield gold, f"{gold[:5]}{gold[6:]}", False
        yield "0.3", f"0.{'3' * (n + 4)}", False
        yield "0.3", "0.30000000000000004", True


def constants(chance: random.Random) -> Made:
    """Roots, powers, logarithms, trigonometry and complex numbers."""
    right = [
        (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}"),
        (r"2\sqrt{3}", r"\sqrt{12}"),
        ("-1", r"e^{i\pi}"),
        ("-1", "i^2"),
        (r"\frac{1}{2}", r"\sin 30^\circ"),
        (r"\frac{1}{2}", r"\cos\frac{\pi}{3}"),
        ("3", r"\log_2 8"),
        ("4", r"\sqrt{16}"),
        ("1024", "2^{10}"),
        (r"\frac{2}{\pi}", r"\frac2\pi"),
        ("120", "5!"),
        ("10", r"\binom{5}{2}"),
        (r"2\ln 2", r"\ln 4"),
        (r"1+\sqrt{2}", r"\sqrt{2}+1"),
        (r"3+4i", "4i+3"),
        (r"\sqrt[3]{8}", "2"),
        (r"8^{1/3}", "2"),
        ("2", r"|-2|"),
        (r"\pi", r"2\arcsin 1"),
        (r"3", r"\lfloor\pi\rfloor"),
        ("2", r"7\bmod 5"),
        (r"\frac{\pi}{2}", r"90^\circ"),
        (r"-\frac{1}{3}", r"-0.\overline{3}"),
        ("1", r"0.\overline{9}"),
        (r"2^{100}", r"4^{50}"),
        ("1", r"\tan 45^\circ"),
        (r"5\sqrt{2}", r"\sqrt{50}"),
        (r"\frac{3\sqrt{5}}{5}", r"\frac{3}{\sqrt{5}}"),
        ("e^2", r"\exp(2)"),
        ("0", r"\sin\pi"),
        (r"-8", r"(-2)^3"),
        (r"(1+i)^2", "2i"),
        (r"\sqrt{3}i", r"i\sqrt{3}"),
        (r"10^{-3}", "0.001"),
        ("1.2\\times10^{3}", "1200"),
    ]
    wrong = [
        (r"\frac{\sqrt{2}}{2}", r"\sqrt{2}"),
        (r"2\sqrt{3}", r"3\sqrt{2}"),
        ("1", r"e^{i\pi}"),
        ("1", "i^2"),
        (r"\sin 30^\circ", r"\sin 30"),
        (r"\frac{1}{2}", r"\cos\frac{\pi}{6}"),
        ("8", r"\log_2 8"),
        ("16", r"\sqrt{16}"),
        ("10", "2^{10}"),
        ("20", "2^{10}"),
        ("5", "5!"),
        ("5", r"\binom{5}{2}"),
        (r"\ln 2", r"\ln 4"),
        (r"3-4i", "4i+3"),
        (r"\sqrt[3]{8}", r"\sqrt{8}"),
        ("-2", "|-2|"),
        (r"\pi", "3"),
        (r"4", r"\lfloor\pi\rfloor"),
        ("5", r"7\bmod 5"),
        (r"10^{100}", r"10^{100}+1"),
        (r"2^{100}", r"2^{100}+1"),
        (r"\frac{1}{3}", r"0.\overline{4}"),
        ("6", r"\frac{5}{6}"),
        (r"5\sqrt{2}", r"5+\sqrt{2}"),
        (r"\frac{3\sqrt{5}}{5}", r"\frac{3}{5}"),
        (r"\pi", r"\frac{22}{7}"),
        ("7", "x_{7}"),
        ("8", r"(-2)^3"),
        (r"2i", "-2i"),
        (r"10^{3}", "10^{-3}"),
        ("1.2\\times10^{3}", "120"),
        (r"\sqrt{2}", r"-\sqrt{2}"),
        (r"e", r"\pi"),
        (r"\cos 60", r"\cos 60^\circ"),
        ("0", r"\cos\pi"),
    ]
    yield from ((gold, answer, True) for gold, answer in right)
    yield from ((gold, answer, False) for gold, answer in wrong)
    for k, m in ((2, 3), (3, 5), (4, 7), (5, 6), (7, 2), (6, 11), (9, 10)):
        yield rf"{k}\sqrt{{{m}}}", rf"\sqrt{{{k * k * m}}}", True
        yield rf"\frac{{{k}}}{{\sqrt{{{m}}}}}", rf"\frac{{{k}\sqrt{{{m}}}}}{{{m}}}", True
        yield rf"{k}\sqrt{{{m}}}", rf"\sqrt{{{k * m}}}", False
        yield rf"{k}\sqrt{{{m}}}", rf"{k + 1}\sqrt{{{m}}}", False
        yield rf"{k}^{{{m}}}", f"{k**m}", True
        yield rf"{k}^{{{m}}}", f"{k * m}", False


def _proper(chance: random.Random) -> tuple[int, int]:
    while True:
        b = chance.randrange(2, 30)
        a = chance.randrange(1, b)
        if gcd(a, b) == 1:
            return a, b
