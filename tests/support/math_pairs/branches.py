"""Families of what differs far away, in one region, or in its name, and of numbers that nobody can write out."""

import random

from tests.support.math_pairs.pair import Made


def branches(chance: random.Random) -> Made:
    """Expressions that are equal on one side of a place only; the places lie at all sizes."""
    for size in (6, 60, 700, 9_000, 10**6):
        a = chance.randrange(size, 2 * size)
        yield f"x+{a}", f"|x+{a}|", False
        yield f"{a}", rf"\max(x,{a})", False
        yield "x", rf"\max(x,-{a})", False
        yield "x", rf"\sqrt{{(x+{a})^2}}-{a}", False
        yield f"x^2-{2 * a}x+{a * a}", f"|x-{a}|(x-{a})", False
        yield "1", rf"\frac{{|x+{a}|}}{{x+{a}}}", False
        yield f"x+y+{a}", f"|x+y+{a}|", False
        yield f"y=x+{a}", f"y=|x+{a}|", False
        yield f"(x-{a})(x-{a}.001)", f"|(x-{a})(x-{a}.001)|", False
        yield "0", rf"\lfloor\frac{{2}}{{1+(x-{a})^2}}\rfloor", False
        yield f"|x-{a}|", rf"\sqrt{{(x-{a})^2}}", True
        yield f"|x-{a}|", f"|{a}-x|", True
        yield rf"\max(x,{a})", rf"\frac{{x+{a}+|x-{a}|}}{{2}}", True
        yield rf"\sqrt{{x-{a}}}", f"(x-{a})^{{1/2}}", True
        yield rf"\sqrt[3]{{(x-{a})^3}}", f"x-{a}", True
        yield f"y=|x-{a}|", f"|{a}-x|-y=0", True
        yield rf"2\ln|x-{a}|", rf"\ln((x-{a})^2)", True
    yield from ((gold, answer, True) for gold, answer in (
        (r"\lfloor 2x\rfloor", r"\lfloor x\rfloor+\lfloor x+\frac12\rfloor"), (r"\ln|\sec x|", r"-\ln|\cos x|"),
        ("||x|-5|", "|5-|x||"), (r"\min(a,b)", r"\frac{a+b-|a-b|}{2}"), ("e^{|x|}", r"\max(e^x,e^{-x})"),
        (r"\lceil x\rceil", r"-\lfloor -x\rfloor"), ("|xy|", "|x||y|"), ("x^x", r"e^{x\ln x}"),
        (r"\tanh x", r"\frac{e^x-e^{-x}}{e^x+e^{-x}}"), (r"\frac{x}{|x|}", r"\frac{|x|}{x}"),
    ))  # fmt: skip
    yield from ((gold, answer, False) for gold, answer in (
        ("x", r"\arcsin(\sin x)"), ("x", r"\arctan(\tan x)"), (r"\frac{\pi}{2}", r"\arctan x+\arctan\frac1x"),
        ("x", r"\lfloor x\rfloor"), (r"\ln x", r"|\ln x+60|-60"), ("0", r"\lfloor\frac{x}{10^9}\rfloor"),
        ("e^x", "|e^x-10^{30}|-10^{30}"), ("|x|+|y|=1", "x+y=1"), (r"\ln(x^2)", r"2\ln x"),
        ("5", r"5+\sqrt{-x^2-1}-\sqrt{-x^2-1}"),
    ))  # fmt: skip


def sizes(chance: random.Random) -> Made:
    """Numbers of very different sizes, towers, and what only just misses a round number."""
    for power in (30, 80, 900, 20_000):
        yield f"x+y=10^{{{power}}}", f"x^2+y=10^{{{power}}}", False
        yield f"x<y+10^{{{power}}}", f"x^2<y+10^{{{power}}}", False
        yield f"10^{{{power}}}+x", f"10^{{{power}}}+2x", False
        yield "x", f"x+10^{{-{power}}}", False
        yield "x", rf"x+10^{{-{power}}}\sin x", False
        yield f"x+y=10^{{{power}}}", f"2x+2y=2\\cdot 10^{{{power}}}", True
        yield "x", f"x+10^{{{power}}}-10^{{{power}}}", True
        yield f"10^{{{power}}}x", rf"\frac{{10^{{{power + 1}}}x}}{{10}}", True
        yield f"10^{{{power}}}+x", f"x+10^{{{power}}}", True
    yield from ((gold, answer, False) for gold, answer in (
        ("1", r"\tanh(1000+x^2)"), ("x", r"x\tanh 1000"), ("x", r"x+\tan(1000i)-i"), ("0", r"1-\cos(10^{-40})"),
        ("1", r"\frac{2\arctan(10^{100})}{\pi}"), ("262537412640768744", r"e^{\pi\sqrt{163}}"),
        ("5", "5+10^{10^{10}}"), ("5", "((10^{10})^{10})^{10}"), ("5", "10000000!"), ("x^2", "x^{x^{x^x}}"),
        ("x", "x+9999999!-9999999!"), ("x", r"\binom{9999999}{4999999}x"), ("7", r"\sin(10^{9000})"),
        ("0", r"0\cdot\tan\frac{\pi}{2}"), ("1:2", "0:0"), ("(1,2)", r"1\text{ or }2"),
        ("5", r"5+0\cdot\ln 0"), ("20", r"\max(x,20)+0\cdot 2^{10^x}"),
    ))  # fmt: skip


def names(chance: random.Random) -> Made:
    """What an answer is about: two different names are two different answers, and no name is none."""
    for _ in range(6):
        a, b = sorted(chance.sample(range(2, 90), 2))
        for gold, renamed, unnamed in (
            (rf"x=\pm {a}", rf"y=\pm {a}", rf"\pm {a}"),
            (f"x<{a}", f"y<{a}", rf"(-\infty,{a})"),
            (rf"x\ge {a}", rf"y\ge {a}", rf"[{a},\infty)"),
            (rf"x={a}\text{{ or }}x={b}", rf"y={a}\text{{ or }}y={b}", f"{a},{b}"),
            (f"{a}<x<{b}", f"{a}<y<{b}", f"({a},{b})"),
            (rf"x\in[{a},{b}]", rf"y\in[{a},{b}]", f"[{a},{b}]"),
            (f"|x|<{a}", f"|y|<{a}", f"(-{a},{a})"),
            (f"x={a},y={b}", f"u={a},v={b}", f"({a},{b})"),
            (rf"\text{{Area}}={a}", rf"\text{{Perimeter}}={a}", f"{a}"),
            (f"AB={a}", f"CD={a}", f"{a}"),
            (rf"P(A)=\frac{{{a}}}{{97}}", rf"P(B)=\frac{{{a}}}{{97}}", rf"\frac{{{a}}}{{97}}"),
        ):
            yield gold, renamed, False
            yield gold, unnamed, True
            yield unnamed, gold, True
        yield rf"x\equiv {a}\pmod{{97}}", rf"y\equiv {a}\pmod{{97}}", False
        yield rf"\{{x\mid x>{a}\}}", rf"\{{t: t>{a}\}}", True
        yield rf"\text{{Area}}={a}", rf"\text{{The area of the square is }}{a}", True
        yield rf"\text{{Area}}={a},\text{{Perimeter}}={b}", rf"\text{{Perimeter}}={a},\text{{Area}}={b}", False
