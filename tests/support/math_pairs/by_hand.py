"""Pairs that were written by hand to find faults, before the grader had been tried on them."""

import random

from tests.support.math_pairs.pair import Made

Table = tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
"""Gold answers, each with right answers and wrong ones."""
_BOXED: Table = (
    (
        "(-3,7]",
        (
            r"-3<t\le 7",
            r"\left(-3,7\right]",
            "(-3, 7]",
            r"x\in(-3,7]",
            r"\{x\mid -3<x\le7\}",
            r"7\geq x>-3",
            r"x > -3 \text{ and } x \le 7",
        ),
        (
            "(-3,7)",
            "[-3,7]",
            "(-3,-7]",
            "(3,7]",
            r"x\in\{-3,7\}",
            r"-3\le x\le 7",
            "x>-3",
            r"x\le 7",
            r"(-3,7]\cup(8,9)",
            r"x > -3 \text{ or } x \le 7",
            "-3,7",
            "-3 < x < 7",
        ),
    ),
    (
        r"(-\infty,2)\cup(2,\infty)",
        (r"x\neq 2", r"\mathbb{R}\setminus\{2\}", r"x<2\text{ or }x>2", r"(2,+\infty)\cup(-\infty,2)"),
        ("x=2", r"(-\infty,2]\cup(2,\infty)", r"x\ne -2", r"\mathbb{R}", "x<2", r"(-\infty,\infty)"),
    ),
    (
        r"[0,\infty)",
        (r"x\ge0", r"\{x: x\geq 0\}", r"[0,+\infty)"),
        ("x>0", r"(0,\infty)", r"[0,\infty]", r"x\ge1", r"(-\infty,0]"),
    ),
    (
        r"\left(\frac13,\sqrt2\right)",
        (r"\left(1/3, \sqrt{2}\right)", r"\frac{1}{3}<x<\sqrt{2}"),
        (r"(0.33,\sqrt2)", "(1/3,1.41)", r"(\sqrt2,1/3)"),
    ),
    (
        r"(1,2)\cup(3,4)\cup(5,6)",
        (r"(5,6)\cup(1,2)\cup(3,4)",),
        (r"(1,2)\cup(3,4)", r"(1,4)\cup(5,6)", "(1,2),(3,4),(5,7)"),
    ),
    (
        r"\{1,2,3\}",
        (r"\{3,2,1\}", r"\{ 1, 2 , 3\}", r"\lbrace 1,2,3\rbrace", "1,2,3", "1, 2 and 3", r"x\in\{1,2,3\}"),
        (r"\{1,2\}", r"\{1,2,3,4\}", "123", r"\{1,23\}", "1,2,4", "1+2+3", "6", r"\{(1,2,3)\}"),
    ),
    (
        r"\{-\sqrt3,\sqrt3\}",
        (r"\pm\sqrt{3}", r"\{\sqrt3,-\sqrt3\}", r"x=\pm\sqrt3", r"-\sqrt3,\sqrt3"),
        (r"\sqrt3", r"\pm3", r"\pm 1.73", r"-\sqrt3"),
    ),
    (
        r"\emptyset",
        (r"\{\}", r"\varnothing", r"\text{empty set}", "∅"),
        ("0", r"\{0\}", r"\{\emptyset\}", r"\mathbb{R}"),
    ),
    (
        "(3,-4)",
        (
            r"\left(3,-4\right)",
            "(3, -4)",
            "(x,y)=(3,-4)",
            "x=3, y=-4",
            "(3,−4)",
            r"( \frac{6}{2}, -4 )",
            r"\langle 3,-4\rangle",
        ),
        ("(-4,3)", "(3,4)", "3-4", "[3,-4]", r"\{3,-4\}", "(3,-4,0)", "-1", "x=-4,y=3", "(3)(-4)", "-12"),
    ),
    (
        "(0,2),(2,0)",
        ("(2,0), (0,2)", r"\{(0,2),(2,0)\}", r"(0,2) \text{ and } (2,0)"),
        ("(0,2)", "(0,2),(0,2)", "(2,2),(0,0)", "0,2,2,0"),
    ),
    (
        r"\begin{pmatrix}3\\-4\end{pmatrix}",
        (r"\begin{bmatrix}3\\-4\end{bmatrix}", r"\begin{pmatrix} 3 \\ -4 \\ \end{pmatrix}"),
        (r"\begin{pmatrix}3\\4\end{pmatrix}", r"\begin{pmatrix}-4\\3\end{pmatrix}", "-1"),
    ),
    (
        r"\begin{pmatrix}1&0\\0&1\end{pmatrix}",
        (r"\begin{bmatrix}1 & 0 \\ 0 & 1\end{bmatrix}", r"\left[\begin{array}{cc}1&0\\0&1\end{array}\right]"),
        (
            r"\begin{pmatrix}1&0&0&1\end{pmatrix}",
            r"\begin{pmatrix}0&1\\1&0\end{pmatrix}",
            "1",
            r"\begin{vmatrix}1&0\\0&1\end{vmatrix}",
            r"\begin{pmatrix}1&0\\0&1\\0&0\end{pmatrix}",
        ),
    ),
    (
        "y=3x-2",
        ("3x-y=2", "y+2=3x", "y=-2+3x", "6x-2y-4=0", "3x-2"),
        ("y=3x+2", "3x+y=2", "x=3y-2", "3x-2=0", "y=3x", "y=3x-2+x^2-x", "y>3x-2", r"y\approx 3x-2+1"),
    ),
    (
        "(x-1)^2+(y+2)^2=9",
        ("(y+2)^2+(x-1)^2=3^2", "x^2-2x+y^2+4y-4=0"),
        ("(x+1)^2+(y-2)^2=9", "(x-1)^2+(y+2)^2=3", "x^2+y^2=9", "(x-1)^2-(y+2)^2=9"),
    ),
    (
        r"\frac{x^2}{4}+\frac{y^2}{9}=1",
        ("9x^2+4y^2=36",),
        ("4x^2+9y^2=36", r"\frac{x^2}{9}+\frac{y^2}{4}=1", "9x^2+4y^2=1"),
    ),
    ("x=2", ("2", "2=x", r"x=\frac{4}{2}"), ("x=-2", "x^2=2", "2x", "x=2,3", "x=2y", "x>2", "y=2")),
    (
        r"25\%",
        ("25%", "0.25", r"\frac14", "25 percent", r"25\text{ percent}"),
        ("2.5%", r"0.25\%", "250", "-25%", "75%", "0.025"),
    ),
    (
        r"12\text{ cm}^2",
        (r"12 \mathrm{cm}^2", r"12\,\text{cm}^{2}", "12", r"12\text{ square centimeters}", r"0.0012\text{ m}^2"),
        (r"12\text{ cm}", r"12\text{ cm}^3", r"144\text{ cm}^2", r"12\text{ m}^2", r"0.12\text{ m}^2"),
    ),
    (
        r"60^\circ",
        ("60", "60°", r"60\text{ degrees}", r"\frac{\pi}{3}"),
        (r"60\pi", r"6^\circ", "120°", r"\frac{\pi}{6}", "60^2", "60^0"),
    ),
    (
        r"\$4.50",
        ("4.5", r"4.50\text{ dollars}", r"\$4.5", "450 cents"),
        (r"\$450", r"4.50\text{ cents}", "€4.50", "45", r"\$-4.50", "4.05"),
    ),
    (
        r"90\text{ km/h}",
        (r"90 \text{ kilometers per hour}", r"25\text{ m/s}", r"90\frac{\text{km}}{\text{h}}"),
        (r"90\text{ m/s}", r"90\text{ km}", r"90\text{ mph}", r"25\text{ km/h}"),
    ),
    (
        r"3\text{ hours }20\text{ minutes}",
        (r"200\text{ minutes}", r"3\frac13\text{ hours}"),
        (r"3.2\text{ hours}", r"320\text{ minutes}", r"3\text{ hours}", r"20\text{ minutes}"),
    ),
    (
        r"2\frac34",
        ("2.75", r"\frac{11}{4}", "11/4", "2 3/4", r"2+\frac34"),
        (r"\frac{23}{4}", r"2\cdot\frac34", "1.5", "2.34", "2,75", r"\frac{6}{4}", "23/4", r"\frac{4}{11}"),
    ),
    (
        r"-\frac{5}{12}",
        (r"\frac{-5}{12}", r"\frac{5}{-12}", "-5/12", r"-\dfrac5{12}", r"-5\div12"),
        (r"\frac{5}{12}", r"-\frac{12}{5}", "-0.42", "-0.4167", r"\frac{-5}{-12}", "-5.12"),
    ),
    (r"1\,234\,567", ("1234567", "1,234,567", "1{,}234{,}567", r"1.234567\times10^6"), ()),
    (
        "0.125",
        (r"\frac18", "1/8", ".125", "12.5%", r"1.25\times10^{-1}", "2^{-3}"),
        ("0.12", "0.13", "0.1250001", r"\frac{1}{7}", "125", "1.25", "12.5"),
    ),
    (
        r"\frac{1}{\sqrt2}",
        (r"\frac{\sqrt2}{2}", "2^{-1/2}", "0.70710678", r"\sqrt{\frac12}", r"\sqrt{0.5}"),
        ("0.71", "0.7071", r"\sqrt2", r"\frac{2}{\sqrt2}", r"\frac{\sqrt{2}}{4}", r"\sqrt{\frac{1}{4}}"),
    ),
    (r"\sqrt[3]{4}", ("4^{1/3}", "2^{2/3}", r"\sqrt[3]4"), (r"3\sqrt4", "6", r"\sqrt{4}", "4^3", r"\sqrt[4]{3}")),
    (
        r"\frac{x+1}{x-1}",
        (r"1+\frac{2}{x-1}", "(x+1)/(x-1)", r"\dfrac{-x-1}{1-x}"),
        ("x+1/x-1", r"\frac{x-1}{x+1}", r"\frac{x+1}{1-x}", "-1", r"x+\frac{1}{x}-1"),
    ),
    (
        r"\sin 2\theta",
        (r"2\sin\theta\cos\theta", r"\sin(2\theta)"),
        (r"2\sin\theta", r"\sin^2\theta", r"2\cos\theta", r"\sin 2x"),
    ),
    (
        r"\log_2 3",
        (r"\frac{\ln 3}{\ln 2}", r"\log_{2}(3)", r"\frac{1}{\log_3 2}"),
        (r"\log_3 2", r"\log 3", r"\frac{3}{2}", "1.58", r"\log_2 3+1"),
    ),
    ("e^{2x}+C", ("C+e^{2x}", "e^{2x} + c"), ("e^{2x}", "2e^{2x}+C", "e^{2x}+Cx", "e^{x}+C")),
    ("n^2+n", ("n(n+1)", r"n\cdot(n+1)", r"2\binom{n+1}{2}"), ("n^2+1", "n^3", "n(n-1)", "2n^2", "m^2+m", "|n|^2+|n|")),
    ("3+4i", ("4i+3", r"3+4\mathrm{i}", "(2+i)^2"), ("3-4i", "4+3i", "7i", "7", "5", "3+4j")),
    ("5!", ("120", r"5\cdot4\cdot3\cdot2\cdot1"), ("5", "24", "5!!", "!5")),
    ("x^2", (r"x\cdot x", "x²", "x**2"), ("2x", "x2", "x_2", "x^{22}", "|x^2|+x-|x|")),
    (r"\frac{a}{b+c}", ("a/(b+c)",), ("a/b+c", r"\frac{a}{b}+c", r"\frac ab+\frac ac")),
    ("3:4:5", ("6:8:10", "3 : 4 : 5"), ("3:5:4", "5:4:3", "3:4", "345", "60")),
    ("11010_2", ("11010_{2}", r"11010_{\text{two}}", "11010"), ("11010_3", "26_2", "1101_2", "010110_2")),
    (
        "42",
        (
            "４２",
            "42。",
            "\u200b42",
            "42 人",
            r"\mathbf{42}",
            "{42}",
            r"{\bf 42}",
            r"42\,",
            r"\displaystyle 42",
            "42.0",
            r"\underline{42}",
            r"\text{answer is }42",
            r"\color{blue}{42}",
            r"\left(42\right)",
            "$42$",
        ),
        (
            "４３",
            "4 2",
            "4.2",
            "４ ２",
            "42x",
            "42_{10}+1",
            r"\overline{42}+1",
            r"\text{not }42",
            r"4\cdot2",
            "4²",
            "42!",
            "42'",
            r"42\pi",
            r"\not=42",
            r"\ne 42",
            "<42",
            r"\sim 43",
            "~41",
            r"42\text{ or }41",
            "42?43",
        ),
    ),
    (
        r"\frac{\pi}{4}",
        ("π/4", r"\pi/4", "0.785398", r"\tfrac{1}{4}π", r"45^\circ"),
        ("π", "4/π", "0.785", "45", r"\pi 4", "3.14/4"),
    ),
    (r"x\ge 5", ("x≥5", "x⩾5", "[5,∞)", "5≤x"), ("x>5", "x≤5", "(5,∞)", "x=5", "5")),
    ("是", ("是",), ("不是", "否")),
    (r"\text{Yes}", ("yes", "YES.", r"\textbf{Yes}"), ("No", "yes and no", "not yes", "maybe", "y")),
    (r"\text{June 5}", ("June 5", "june 5"), ("June 6", "July 5", "5", "5 June 6")),
    (
        r"\text{no solution}",
        ("no solution", "No solution."),
        ("one solution", "0", "solution", "infinitely many solutions"),
    ),
    ("-0", ("0", "0.0"), ()),
    ("10^{-3}", ("0.001", "1e-3", r"\frac{1}{1000}"), ("-1000", "1e3", "0.01", "10-3", "103")),
    ("a_n=2n+1", ("2n+1", "a_n=1+2n"), ("a_n=2n", "b_n=2n+1", "2^n+1", "a_{n+1}=2n+1", "a=2n+1")),
    ("1234567", (), ("1.234567", "1,234", "1234,567", "1 234", "12345678", r"1.234567\times10^5", "123456 7")),
    ("0", (), ("-1", ".01", "10", r"\infty", "o")),
)
_COMPLETIONS: Table = (
    (
        "C",
        (
            r"The answer is \boxed{C}.",
            "The answer is (C).",
            "**Answer: C**",
            "Therefore, the correct option is C.",
            "The correct answer is C) because it fits.",
            r"\boxed{\text{(C)}}",
            "<answer>C</answer>",
            "Final Answer: (C)",
            "The correct choice is (C).",
            "Option C is correct.",
            "So the right option is **C**.",
            "答案：C",
            "故选C。",
            "The best answer is: C",
            r"Answer: \text{C}",
            "I choose (C).",
        ),
        (
            r"The answer is \boxed{B}, not C.",
            "The answer is (B), not (C).",
            "**Answer: B or C**",
            "The correct option is not C.",
            "The correct answer is D; C is wrong.",
            "C or D",
            "<answer>D</answer> C",
            "Final Answer: (A)(C)",
            "The correct choice is (B).",
            "Option C is incorrect.",
            "Option B is correct, C is not.",
            "答案：B",
            "故选B，不选C。",
            "I am not sure whether it is A, B, C or D.",
            "The correct option is B. C would be wrong.",
            "The correct options are B and C.",
        ),
    ),
    (
        "42",
        (
            "The final answer is 42.",
            "Thus the answer is $42$.",
            "**42**",
            "#### 42",
            "Answer: 42",
            "So we get x = 42.",
            "The total is 42 apples.",
            r"\[ \boxed{42} \]",
            r"\boxed{42\text{ apples}}",
            "<answer> 42 </answer>",
            "答案是42。",
            "The answer is: \n\n42",
            "= 42",
            "Hence, the answer is **42**.",
            "Answer:\n$$42$$",
            r"The answer is \( 42 \).",
            "The answer is 42%.",
        ),
        (
            "The final answer is 24.",
            "The answer is 42 or 43.",
            "The answer is not 42.",
            "#### 421",
            "It lies between 42 and 50.",
            "Answer: -42",
            "So x = 4.2",
            "<answer>41</answer> 42",
            r"\boxed{42}\boxed{43}",
            r"\boxed{} 42",
            "The answer is 1/42.",
            "The answer is 42^2.",
            "I guess 42? No: 41.",
            "The answer is 42, 43.",
            "The answer is (42, 1).",
        ),
    ),
)


def boxed(chance: random.Random) -> Made:
    """Boxed answers in every grammar."""
    yield from _made(_BOXED)


def completions(chance: random.Random) -> Made:
    """Whole completions that state an answer, hedge, or deny it."""
    yield from _made(_COMPLETIONS)


def _made(table: Table) -> Made:
    for gold, right, wrong in table:
        yield from ((gold, answer, True) for answer in right)
        yield from ((gold, answer, False) for answer in wrong)
