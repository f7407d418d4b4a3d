"""Pairs of kinds that suites from outside found unread or wrongly paid, each with its neighbours.

``MENDED`` and ``MENDED_COMPLETIONS`` were looked at while the grader was mended. ``UNSEEN`` and ``UNSEEN_COMPLETIONS``
were written for the same kinds afterwards and graded once before anything more was mended: the page gives that figure.
"""

import random

from tests.support.math_pairs.by_hand import Table, made
from tests.support.math_pairs.pair import Made

MENDED: Table = (
    (
        "12:00",
        (
            "12:00",
            r"12\!:\!00",
            "12 : 00",
            "12{:}00",
            r"12\colon00",
            r"\text{12:00}",
        ),
        (
            "1:00",
            "24:00",
            "12:30",
            "6:00",
            "12",
            "0:00",
            "12:01",
        ),
    ),
    (
        "8:00 AM",
        (
            "8:00 am",
            "8:00 a.m.",
            r"8\text{:}00\text{ AM}",
            r"8:00\text{ a.m.}",
            r"8:00\,\mathrm{AM}",
            "8:00",
            "08:00 AM",
            "8 AM",
        ),
        (
            "9:00 AM",
            "8:00 PM",
            "8:30 AM",
            "4:00 AM",
            "9:00",
            "20:00",
        ),
    ),
    (
        "8:00 PM",
        (
            "8:00 p.m.",
            "20:00",
            "8 PM",
            "8:00",
        ),
        (
            "8:00 AM",
            "9:00 PM",
            "21:00",
        ),
    ),
    (
        "3:30",
        (
            "3:30",
            "03:30",
        ),
        (
            "3:31",
            "4:30",
            "7:60",
            "30:3",
        ),
    ),
    ("10:30", ("10:30",), ("11:30",)),
    (
        "1:0",
        ("1:0",),
        (
            "2:0",
            "1:1",
            "0:1",
            "5:0",
        ),
    ),
    (
        "0:1",
        ("0:1",),
        (
            "1:0",
            "0:0",
        ),
    ),
    (
        "1:2:3",
        ("2:4:6",),
        (
            "1:2:4",
            "1:2",
        ),
    ),
    (
        "1:0:2",
        ("2:0:4",),
        (
            "1:0:3",
            "1:1:2",
        ),
    ),
    (
        "3:2",
        (
            "3/2",
            "6:4",
        ),
        (
            "2:3",
            "3:1",
        ),
    ),
    (
        "xy=12",
        (
            "yx=12",
            "12=xy",
            "xy-12=0",
            r"x\cdot y=12",
            "12",
        ),
        (
            "x=12",
            "z=12",
            "y=12",
            "xy=13",
            "xz=12",
        ),
    ),
    (
        "x=0",
        (
            "0",
            "2x=0",
        ),
        (
            "xy=0",
            "y=0",
            "x=1",
            "xyz=0",
        ),
    ),
    (
        "xy=0",
        (
            "yx=0",
            "2xy=0",
            "0",
        ),
        (
            "x=0",
            "xz=0",
        ),
    ),
    (
        "A=5",
        ("5",),
        (
            "AB=5",
            "B=5",
            "BA=5",
            "A_1=5",
        ),
    ),
    (
        "AB=5",
        (
            "BA=5",
            "5",
            r"\overline{AB}=5",
            "|AB|=5",
            r"AB=5\text{ cm}",
        ),
        (
            "AC=5",
            "A=5",
            "B=5",
            "AB=6",
        ),
    ),
    (
        "32349",
        (
            r"32,\! 349",
            r"32,\!349",
            r"32\,349",
            "32{,}349",
            "32,349",
            r"32\!349",
            r"32\ 349",
        ),
        (
            r"32,\! 348",
            r"3,\!2349",
            "32, 349",
            "32",
        ),
    ),
    (
        r"\binom52=10",
        (
            "10",
            r"\binom52",
            r"\binom{5}{2}=10",
        ),
        (
            "11",
            r"\binom52=11",
            r"\binom53=11",
        ),
    ),
    (
        "10",
        (
            r"\binom52=10",
            r"\binom{5}{2}=\frac{5!}{2!3!}=10",
            "2+8=10",
            r"\frac{5\cdot4}{2}=10",
        ),
        (
            r"\binom52=11",
            r"\binom51=10",
            "10=11",
            "2+7=10",
            "9=10",
            r"\binom{5}{2}=10=11",
        ),
    ),
    (
        "3",
        (
            r"\log_2 8=3",
            r"\log_{2}8=3",
            r"\sqrt9=3",
            "|{-3}|=3",
        ),
        (
            r"\log_2 7=3",
            r"\log_2 8=4",
            r"\sqrt8=3",
        ),
    ),
    (
        "1",
        (
            r"\sin\frac\pi2=1",
            r"\sin\left(\frac{\pi}{2}\right)=1",
            r"\cos0=1",
            r"\tan\frac{\pi}{4}=1",
            r"\sin 90^\circ=1",
        ),
        (
            r"\sin\pi=1",
            r"\sin\frac\pi2=0",
            r"\cos1=1",
        ),
    ),
    (
        "-1",
        (
            r"e^{i\pi}=-1",
            "i^2=-1",
            r"\cos\pi=-1",
        ),
        (
            r"e^{i\pi}=1",
            r"e^{\pi}=-1",
            "i=-1",
        ),
    ),
    (
        r"\sqrt2",
        (
            r"2\sin\frac\pi4=\sqrt2",
            r"\frac{2}{\sqrt2}=\sqrt2",
        ),
        (
            r"2\sin\frac\pi3=\sqrt2",
            r"\sqrt3=\sqrt2",
        ),
    ),
    (
        "12",
        (
            r"x=\sqrt{144}=12",
            r"v=3\cdot4=12",
        ),
        (r"x=\sqrt{145}=12",),
    ),
    (
        "1",
        (
            "|AB|=1",
            "AB=1",
            r"\overline{AB}=1",
            r"|\overrightarrow{AB}|=1",
            "|AB| = 1",
            r"\lvert AB\rvert=1",
            "|A|=1",
        ),
        (
            "|AB|=2",
            "|AB|>1",
        ),
    ),
    (
        "5",
        (
            r"\|v\|=5",
            r"\lVert v\rVert=5",
            r"\|\vec v\|=5",
            r"\left\|\mathbf{v}\right\|=5",
            r"|\vec{v}|=5",
            "|z|=5",
            r"\Vert v\Vert=5",
            "|v|=5",
        ),
        (
            r"\|v\|=6",
            r"\|v\|>5",
        ),
    ),
    (
        r"\begin{pmatrix}3&3\\3&3\end{pmatrix}",
        (
            r"\begin{pmatrix}1&2\\3&0\end{pmatrix}+\begin{pmatrix}2&1\\0&3\end{pmatrix}",
            r"3\begin{pmatrix}1&1\\1&1\end{pmatrix}",
            r"\begin{pmatrix}1&1\\1&1\end{pmatrix}\cdot3",
        ),
        (
            r"\begin{pmatrix}1&2\\3&0\end{pmatrix}-\begin{pmatrix}2&1\\0&3\end{pmatrix}",
            r"2\begin{pmatrix}1&1\\1&1\end{pmatrix}",
        ),
    ),
    (
        r"\begin{pmatrix}2&1\\1&1\end{pmatrix}",
        (r"\begin{pmatrix}1&1\\0&1\end{pmatrix}\begin{pmatrix}1&0\\1&1\end{pmatrix}",),
        (r"\begin{pmatrix}1&0\\1&1\end{pmatrix}\begin{pmatrix}1&1\\0&1\end{pmatrix}",),
    ),
    (
        "xy",
        (
            "yx",
            "x y",
            "y x",
            r"y\cdot x",
        ),
        (
            "x",
            "y",
            "xz",
        ),
    ),
    ("yx", ("xy",), ("xx",)),
    (
        "5050",
        (
            r"\sum_{k=1}^{100}k",
            r"1+2+\cdots+100",
            r"1+2+3+\dots+100",
        ),
        (
            r"\sum_{k=1}^{99}k",
            r"1+2+\cdots+99",
        ),
    ),
    (
        r"\sum_{k=0}^{10}2^k",
        (
            "2047",
            r"\sum_{i=0}^{10}2^i",
            "2^{11}-1",
        ),
        (
            "2048",
            "1023",
            r"\sum_{k=0}^{11}2^k",
        ),
    ),
    (
        "11:21",
        (
            "V_1:V_2=11:21",
            "V_1:V_2 = 22:42",
            "V_1/V_2=11:21",
            r"\frac{V_1}{V_2}=\frac{11}{21}",
            r"\frac{11}{21}",
        ),
        (
            "V_1:V_2=21:11",
            "V_1:V_2=11:22",
            "21:11",
        ),
    ),
    (
        "V_1:V_2=11:21",
        ("11:21",),
        (
            "V_2:V_1=11:21",
            "21:11",
        ),
    ),
    (
        "does not exist",
        (
            "DNE",
            r"\text{DNE}",
            "D.N.E.",
            "dne",
            r"\text{does not exist}",
            "Does Not Exist.",
        ),
        (
            "exists",
            "0",
            r"\infty",
            "no solution",
            "DN",
            "does not converge",
        ),
    ),
    (
        "DNE",
        (
            "does not exist",
            r"\text{DNE}",
        ),
        (
            "E",
            "1",
            "exists",
        ),
    ),
)
UNSEEN: Table = (
    (
        "7:05",
        (
            "7:05",
            "07:05",
            r"7:05\text{ a.m.}",
            r"\text{7:05}",
        ),
        (
            "7:50",
            "8:05",
            "7:06",
            "14:10",
            "75",
        ),
    ),
    (
        "6:00 PM",
        (
            r"6:00\ \text{PM}",
            "18:00",
            "6:00 pm",
            r"6\text{ p.m.}",
            "下午6:00",
        ),
        (
            "6:00 AM",
            "7:00 PM",
            "6:01 PM",
            "19:00",
            "12:00 PM",
        ),
    ),
    (
        "2:00:00",
        ("2:00:00",),
        (
            "1:00:00",
            "2:00:01",
            "4:00:00",
        ),
    ),
    (
        "0:3",
        ("0:3",),
        (
            "0:5",
            "3:0",
            "1:3",
        ),
    ),
    (
        "a:b=2:3",
        (
            "2:3",
            r"\frac{a}{b}=\frac{2}{3}",
            "a:b=4:6",
            r"\frac23",
        ),
        (
            "a:b=3:2",
            "b:a=2:3",
            "3:2",
            "a:c=2:3",
        ),
    ),
    (
        "AB:BC=1:2",
        (
            "1:2",
            "AB:BC=2:4",
        ),
        (
            "BC:AB=1:2",
            "AB:CD=1:2",
            "2:1",
        ),
    ),
    (
        "ab=6",
        (
            "ba=6",
            "6=ab",
            r"a\cdot b=6",
            "2ab=12",
            "6",
        ),
        (
            "a=6",
            "b=6",
            "ab=7",
            "ac=6",
            "c=6",
        ),
    ),
    (
        "mn=0",
        ("nm=0",),
        (
            "m=0",
            "n=0",
            "mp=0",
        ),
    ),
    (
        "PQ=7",
        (
            "QP=7",
            r"\overline{PQ}=7",
            "|PQ|=7",
            "7",
            r"PQ=7\text{ cm}",
        ),
        (
            "PR=7",
            "P=7",
            "Q=7",
            "PQ=8",
            "PQR=7",
        ),
    ),
    (
        "xyz=1",
        (
            "zyx=1",
            "1",
        ),
        (
            "x=1",
            "xy=1",
            "xyw=1",
        ),
    ),
    (
        "x=1",
        (
            "1",
            "1=x",
        ),
        (
            "xy=1",
            "xx=1",
            "y=1",
            "AB=1",
        ),
    ),
    (
        "1234567",
        (
            r"1,\!234,\!567",
            r"1,\! 234,\! 567",
            r"1,\!\!234,\!\!567",
            "1,234,567",
        ),
        (
            r"1,\!234,\!568",
            r"1,\!234",
            r"1,\! 234,\! 56",
        ),
    ),
    (
        "6",
        (
            "3!=6",
            r"\frac{12}{2}=6",
            r"2\cdot3=6",
            r"\binom{4}{2}=6",
            r"\lfloor 6.5\rfloor=6",
            "n=3!=6",
            r"\sqrt{36}=6\text{ cm}",
        ),
        (
            "4!=6",
            r"2\cdot4=6",
            r"\lceil 6.5\rceil=6",
            "3!=7",
            "6=7=6",
            r"\frac{12}{2}=6=5",
        ),
    ),
    (
        r"\frac{\sqrt3}{2}",
        (
            r"\sin 60^\circ=\frac{\sqrt3}{2}",
            r"\cos\frac{\pi}{6}=\frac{\sqrt{3}}{2}",
            r"\sqrt{\frac34}=\frac{\sqrt3}2",
        ),
        (
            r"\sin 30^\circ=\frac{\sqrt3}{2}",
            r"\cos\frac{\pi}{3}=\frac{\sqrt{3}}{2}",
            r"\sqrt{\frac14}=\frac{\sqrt3}2",
        ),
    ),
    (
        "2^{10}=1024",
        (
            "1024",
            "2^{10}",
            "4^5=1024",
        ),
        (
            "2^{10}=1025",
            "1025",
            "2^{9}=1024",
        ),
    ),
    (
        "13",
        (
            r"|\vec a|=13",
            r"|\vec{a}+\vec{b}|=13",
            r"\|AB\|=13",
            "|PQ|=13",
            "|5+12i|=13",
            "|z_1|=13",
        ),
        (
            r"|\vec a|=12",
            "|5+11i|=13",
            "|PQ|<13",
        ),
    ),
    (
        r"\begin{bmatrix}5\\11\end{bmatrix}",
        (
            r"\begin{bmatrix}1&2\\3&4\end{bmatrix}\begin{bmatrix}1\\2\end{bmatrix}",
            r"\begin{pmatrix}4\\10\end{pmatrix}+\begin{pmatrix}1\\1\end{pmatrix}",
            r"2\begin{pmatrix}5/2\\11/2\end{pmatrix}",
        ),
        (
            r"\begin{bmatrix}1\\2\end{bmatrix}\begin{bmatrix}1&2\\3&4\end{bmatrix}",
            r"\begin{pmatrix}4\\10\end{pmatrix}-\begin{pmatrix}1\\1\end{pmatrix}",
            r"\begin{bmatrix}11\\5\end{bmatrix}",
        ),
    ),
    (
        r"\begin{pmatrix}1&2\\0&1\end{pmatrix}",
        (
            r"\begin{pmatrix}1&1\\0&1\end{pmatrix}^2",
            r"\begin{pmatrix}1&0\\2&1\end{pmatrix}^T",
            r"\begin{pmatrix}1&0\\2&1\end{pmatrix}^{\top}",
        ),
        (
            r"\begin{pmatrix}1&1\\0&1\end{pmatrix}^3",
            r"\begin{pmatrix}1&2\\0&1\end{pmatrix}^T",
        ),
    ),
    (
        "55",
        (
            r"\sum_{i=1}^{10} i",
            r"\sum_{k=1}^{5}k^2",
            "1+2+3+...+10",
            "1^2+2^2+3^2+4^2+5^2",
            r"\sum\limits_{j=1}^{10}j",
        ),
        (
            r"\sum_{i=1}^{9} i",
            r"\sum_{k=1}^{4}k^2",
            "1+2+3+...+11",
            r"\sum_{i=0}^{9} i",
        ),
    ),
    (
        "120",
        (
            r"\prod_{k=1}^5 k",
            "5!",
        ),
        (
            r"\prod_{k=1}^4 k",
            r"\prod_{k=0}^5 k",
        ),
    ),
    (
        "2500",
        (r"1+3+5+\cdots+99",),
        (
            r"1+3+5+\cdots+97",
            r"2+4+6+\cdots+99",
        ),
    ),
    (
        r"1+2+4+\cdots+512",
        (
            "1023",
            "2^{10}-1",
        ),
        (
            "1024",
            "511",
            "131328",
        ),
    ),
    (
        "DNE",
        (
            "The limit does not exist",
            r"\text{does not exist.}",
            "不存在",
            "d.n.e.",
        ),
        (
            "The limit exists",
            r"\infty",
            "1",
            "存在",
        ),
    ),
    (
        "pq",
        (
            "qp",
            r"p\cdot q",
        ),
        (
            "p",
            "pr",
            "qq",
        ),
    ),
    (
        "ab",
        (
            "ab",
            "b a",
        ),
        (
            "ba",
            "abc",
        ),
    ),
    (
        "x^2y",
        (
            "yx^2",
            r"x\cdot x\cdot y",
        ),
        (
            "xy^2",
            "x^2",
        ),
    ),
)
MENDED_COMPLETIONS: Table = (
    (
        r"x \geq 5",
        (
            r"Therefore $x \geq 5$ is the solution.",
            r"Hence $x\ge5$ is the answer.",
            r"The solution is $x \geq 5$.",
            r"So the solution set is $[5,\infty)$.",
            r"We conclude that $x \geq 5$ holds.",
            "Therefore x ≥ 5 is the solution.",
            r"Therefore \(x \geq 5\) is the solution.",
            "So x >= 5 is the final answer.",
            r"所以 $x\geq5$ 是解。",
            r"**Therefore $x \geq 5$ is the solution.**",
        ),
        (
            r"Therefore $x \geq 6$ is the solution.",
            "Therefore $x > 5$ is the solution.",
            r"Therefore $x \geq 5$ is not the solution.",
            "So x >= 6 is the final answer.",
            r"Therefore $x \le 5$ is the solution.",
            r"$x\ge5$ is wrong.",
            r"Since $x \geq 5$ is given, we are done.",
        ),
    ),
    (
        "5",
        (
            "Therefore $x = 5$ is the solution.",
            "So 5 is the answer.",
            "The value 5 is correct.",
        ),
        (
            r"Therefore $x \geq 5$ is the solution.",
            "Therefore $x = 5$ is not the solution.",
            "So 5 isn't the answer.",
            "Thus 5 is wrong.",
        ),
    ),
    (
        "D",
        (
            "The answer: D, it doesn't make sense for it to be A or B",
            "The answer is D. It can't be A or B.",
            "Answer: D, it wouldn't be A",
            "The answer = D, since it is not A",
            "答案是D，A不对。",
            "答案是D，不能选A。",
            "答案选D，不是A。",
            "选D，A错误。",
            "故选D，排除A。",
            "答案：D，不选A和B。",
            "The answer is D, A is wrong.",
            "The answer is D and A is wrong.",
            "The answer isn't obvious but it is D",
            "答案是D，不应该选A",
            "选D而不选A",
            "The final answer: D. B would be too large.",
            "答案为 D，A 是错的",
            "The answer is D (not A).",
            "正确答案是D，而A不正确",
        ),
        (
            "The answer: A, it doesn't make sense for it to be D",
            "The answer can't be D",
            "The answer cannot possibly be D",
            "The answer is A, D is wrong.",
            "答案是A，D不对。",
            "答案是A，不能选D。",
            "答案不是D",
            "不能选D",
            "不应选D",
            "The answer is D or A",
            "The answer is D, A",
            "The answer is D and A",
            "答案是D，A",
            "答案是D和A",
            "The answer: D or A",
            "D is wrong",
            "答案是D不对",
            "The answer D is wrong",
        ),
    ),
    (
        "7",
        (
            "We get 7 because it fits.",
            "So there are 7 of them, as needed.",
        ),
        (
            r"So $x \geq 7$ is the solution.",
            "Clearly $7 < x$ is the solution.",
        ),
    ),
    (
        "(1,3]",
        (
            r"Hence $1 < x \le 3$ is the solution set.",
            "So 1 < x ≤ 3 holds.",
        ),
        (r"Hence $1 \le x \le 3$ is the solution set.",),
    ),
)
UNSEEN_COMPLETIONS: Table = (
    (
        "x < 3",
        (
            "Thus $x<3$ is the required solution.",
            "Consequently, $x < 3$ must hold.",
            "x < 3 is the solution.",
            r"Hence \(x<3\) is the set of solutions.",
        ),
        (
            "Thus $x<3$ is not the solution.",
            r"Thus $x\le3$ is the required solution.",
            "Thus $3<x$ is the solution.",
            "x > 3 is the solution.",
        ),
    ),
    (r"x\ne 2", (r"So $x \neq 2$ is the only condition.",), ("So $x = 2$ is the only condition.",)),
    (
        "B",
        (
            "答案是B，C不正确。",
            "选B，因为A和C都错了。",
            "Answer: B, since it can't be C.",
            "The correct answer is B, C is too small.",
            "答え：B。Cではない。",
            "The answer is B; D makes no sense.",
            "综上，故选B，D项错误。",
        ),
        (
            "答案是C，B不正确。",
            "选C，不选B。",
            "Answer: C, since it can't be B.",
            "The answer couldn't be B.",
            "排除B",
            "The answer is B or C.",
            "Answer: B/C",
            "答案是B、C",
            "B不对",
        ),
    ),
    (
        "12:00",
        (
            "They meet at 12:00.",
            "The answer is 12:00.",
        ),
        (
            "They meet at 1:00.",
            "The answer is 11:00.",
        ),
    ),
    (
        "32349",
        (
            r"The answer is 32,\!349.",
            r"In total 32,\! 349.",
            r"The answer is $32,\! 349$.",
        ),
        (
            r"The answer is 32,\!348.",
            r"In total 32,\! 34.",
        ),
    ),
)


def mended_boxes(chance: random.Random) -> Made:
    """Boxed answers that were looked at."""
    yield from made(MENDED)


def unseen_boxes(chance: random.Random) -> Made:
    """Boxed answers of the same kinds."""
    yield from made(UNSEEN)


def mended_completions(chance: random.Random) -> Made:
    """Whole completions that were looked at."""
    yield from made(MENDED_COMPLETIONS)


def unseen_completions(chance: random.Random) -> Made:
    """Whole completions of the same kinds."""
    yield from made(UNSEEN_COMPLETIONS)
