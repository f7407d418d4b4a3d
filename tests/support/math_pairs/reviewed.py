"""Pairs from reviews of the grader: what was paid although wrong, or not paid although right, with what is near it."""

import random

from tests.support.math_pairs.by_hand import Table, made
from tests.support.math_pairs.pair import Made

BOXED: Table = (
    (
        "x=1, y=2",
        ("(x,y)=(1,2)", "(y,x)=(2,1)", "(1,2)", r"(x,y)=\left(1,\frac42\right)"),
        ("(y,x)=(1,2)", "(x,y)=(2,1)", "(2,1)", "(u,v)=(1,2)", "(x,y)=(1,3)", "(x,y)=(1,2,3)"),
    ),
    (
        "(x,y)=(1,2)",
        ("x=1, y=2", "y=2, x=1", r"x=1\text{ and }y=2", "(1,2)", r"\begin{cases}x=1\\y=2\end{cases}"),
        (r"x=1\text{ or }y=2", "x=2, y=1", "u=1, v=2", "x=1", "(2,1)", "x=1, y=2, z=3", "y=1, x=2"),
    ),
    (
        "(1,2)",
        ("y=2, x=1", "b=2, a=1", "(x,y)=(1,2)", "(y,x)=(2,1)", "A=(1,2)", "n=1, k=2"),
        ("y=1, x=2", "b=1, a=2", "(y,x)=(1,2)", "(x,y)=(2,1)", r"x=1\text{ or }y=2", "z=3, y=2, x=1"),
    ),
    ("y=1, x=2", ("(2,1)", "x=2, y=1"), ("(1,2)",)),
    (
        "x^2+y^2=4",
        (r"\pi x^2+\pi y^2=4\pi", "ex^2+ey^2=4e", r"\frac{x^2+y^2}{\pi}=\frac{4}{\pi}"),
        (
            r"\pi x^2+\pi y^2=4",
            r"\pi x^2+ey^2=4\pi",
            r"x^2+y^2=4\pi",
            r"\pi x^2+\pi y^2=5\pi",
            r"kx^2+ky^2=4k",
            r"\pi^2x^2+\pi y^2=4\pi",
        ),
    ),
    (r"\pi x^2<\pi", (r"ex^2<e", "x^2<1"), (r"-\pi x^2<-\pi", r"\pi x^2<1", r"x^2>1")),
    (r"x+y=10^{900}\pi", (r"ex+ey=10^{900}\pi e",), (r"x^2+y=10^{900}\pi", r"x+2y=10^{900}\pi")),
    (
        r"\binom{n}{k}",
        (r"\frac{n!}{k!(n-k)!}", r"\binom{n}{n-k}"),
        (
            r"\frac{n!}{(n-k)!}",
            r"\frac{n!}{k!(n+k)!}",
            r"\frac{n!}{k!(k-n)!}",
            r"(-1)!\binom{n}{k}",
            "(-1)!",
            r"0\cdot\lfloor k-n-1\rfloor!(\lfloor n\rfloor-\lceil n\rceil)!(\lfloor k\rfloor-\lceil k\rceil)!",
        ),
    ),
    (r"\frac{n!}{k!(n-k)!}", (r"\binom{n}{k}",), (r"\binom{k}{n}", r"\binom{n}{k+1}")),
    (
        r"S=\{1,2\}",
        (r"x\in\{1,2\}", r"\{2,1\}", "1, 2"),
        (r"T=\{1,2\}", r"x\in\{1,3\}", r"S=\{1,3\}"),
    ),
    (r"x\in\{1,2\}", (r"S=\{1,2\}",), (r"y\in\{1,2\}", r"S=\{1\}")),
    (r"\frac{dy}{dx}=2x", ("y'=2x", "2x"), ("y'=3x", "z'=2x", r"\frac{dy}{dt}=2x", "y=2x", r"\frac{dx}{dy}=2x")),
    ("AB=5", ("BA=5", "5"), ("AC=5", "BA=6", "CA=5")),
    (
        "15",
        (r"\textbf{(C) } 15", r"\textbf{(C)}\ 15", r"\text{(A)}~15", r"\mathrm{(E) }15"),
        (r"\textbf{(C) } 14", r"\textbf{(C) } 15x", r"\textbf{(C) }\text{ or }15", r"C15", r"\textbf{(C) }"),
    ),
    (r"\textbf{(C) } 15", ("C", "15", r"\textbf{(C) } 15", "(C)"), (r"\textbf{(D) } 15", "D", "14")),
)
COMPLETIONS: Table = (
    (
        "A",
        (
            "The answer is A, so B is wrong.",
            "A is correct. Therefore B is incorrect.",
            "The answer is A. Many students pick B.",
            "So A is the correct answer.",
            "Therefore A is clearly correct.",
            "Option A is correct, since 2 is even.",
            "I would choose A. It is a common mistake to choose B.",
            "We pick A.",
            "Choose A.",
            "Let's go with A.",
            "Going with A.",
            "Thus, choose (A).",
            "So A is right, not B.",
            "I believe option A is correct.",
            "If we add both, we see that x = 2, so option A is correct.",
            "Option B is not correct but option A is correct.",
            "So A is most likely the right one.",
            "The answer is A\n\nWould you like to see more?",
            "Answer: (A)\n= 5 is too small.",
            "A is the answer.",
        ),
        (
            "The answer is B, so A is wrong.",
            "Therefore A is incorrect.",
            "Hence A is ruled out.",
            "The answer is A = 5.",
            "Many students pick A.",
            "It is a common mistake to choose A.",
            "If option A is correct then 2 is odd.",
            "It is not true that option A is correct.",
            "Option A is correct only if n is even.",
            "Option A is correct?",
            "So A is too small.",
            "Thus A cannot be right.",
            "So A isn't the answer.",
            "Thus A can't be it.",
            "Hence A fails.",
            "So A must be wrong.",
            "So A is hardly the answer.",
            "She thinks option A is correct.",
            "If 2 is odd, A is correct.",
            "A is correct. B is correct.",
            "B, A is correct.",
            "Vitamin A is best.",
            "Statement A is correct.",
            "A is not correct.",
        ),
    ),
    (
        "C",
        (
            "A and B are wrong, C is the answer.",
            "C is the correct option.",
            "Only C is correct.",
            "E is wrong. So the answer is C.",
            "A fails. C is right because it fits.",
        ),
        (
            "E, thus C is not the answer.",
            "The answer is C = 5.",
            "B and C is correct.",
            "Neither B nor C is correct.",
            "Hence C is ruled out.",
            "The answer is E, so C would be wrong.",
        ),
    ),
    (
        "42",
        (
            "The answer is\n\\[\n42\n\\]",
            "\\[\nx = 42\n\\]",
            "Hence\n\n$$\nx = 42.\n$$",
            "We find \\[\n42\n\\].",
            "The final answer is:\n$$\n42\n$$\nWe are done.",
            "She runs 42 times.",
            "They have 42 square meters.",
            "We add 40 + 2 = 42.",
            "**Total (in cm):** 42",
            "It grows by a factor of 42.",
            "Answer - 42",
            "We get 6*7, which is 42",
        ),
        (
            "The answer is\n\\[\n41\n\\]",
            "\\[\nx > 42\n\\]",
            "\\[\n42 + 1\n\\]",
            "$$\nx = 41\n$$",
            "It holds up to 42.",
            "There are under 42.",
            "They have over 42 apples.",
            "It is anything but 42.",
            "It is a multiple of 42.",
            "It lies between 40 and 42.",
            "It is 41 and maybe 42.",
            "There are 42 or more.",
            "It is 42 or fewer apples.",
        ),
    ),
    (
        "6",
        ("It is 6.", "So there are 6 pigs.", "They weigh 6 kg in total."),
        (
            "It is minus 6.",
            "The answer is minus 6.",
            "It is sqrt(6).",
            "It is log 6.",
            "It is 5 - 6.",
            "It is pi/6.",
            "It is 6 pi.",
            "It is 6 squared.",
            "It is half of 6.",
            "It is twice 6.",
            "It is 6π.",
            "It is √6.",
            "It is x + 6.",
            "It is f(x)*6.",
        ),
    ),
    ("5", ("It is 5.",), ("It is between 4 and 5.", "The answer is between 4 and 5.", "It is below 5.")),
)


def reviewed_boxes(chance: random.Random) -> Made:
    """Boxed answers."""
    yield from made(BOXED)


def reviewed_completions(chance: random.Random) -> Made:
    """Whole completions: rejected letters, formulas on lines of their own, qualified numbers."""
    yield from made(COMPLETIONS)
