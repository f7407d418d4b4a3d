"""Pairs of a third round, written before the grader had seen them: styles that the rounds before lack.

``NEAR`` and a few completions were added when what the round had found was mended. Ten pairs are left out that the
page lists as not read yet.
"""

import random

from tests.support.math_pairs.by_hand import Table, made
from tests.support.math_pairs.pair import Made

BOXED: Table = (
    (
        r"9.8\text{ m/s}^2",
        (
            r"9.8\,\mathrm{m\,s^{-2}}",
            r"9.8\ \text{m}/\text{s}^2",
            r"9.8\;\frac{\text{m}}{\text{s}^2}",
            r"a = 9.8\,\text{m/s}^2",
            r"980\text{ cm/s}^2",
        ),
        (r"9.8\text{ m/s}", r"98\text{ m/s}^2", r"9.8\text{ cm/s}^2", r"9.8\text{ m}^2\text{/s}"),
    ),
    (
        r"5.0\times 10^{3}\text{ N}",
        (r"5000\text{ N}", r"5\text{ kN}", r"5\times10^3\ \mathrm{N}", r"F = 5000\,\text{N}"),
        (r"500\text{ N}", r"5.0\times10^{-3}\text{ N}", r"5000\text{ J}", r"5\text{ MN}"),
    ),
    (
        r"3.0\times10^8\text{ m/s}",
        (r"300000\text{ km/s}", r"3\cdot 10^{8}\,\mathrm{m/s}"),
        (r"3.0\times10^8\text{ km/s}", r"3.0\times10^7\text{ m/s}", r"3.08\text{ m/s}"),
    ),
    (
        r"12\,\Omega",
        (r"12\text{ ohm}", r"12\text{ ohms}", r"12\;\Omega", r"R=12\,\Omega"),
        (r"12\text{ V}", r"1.2\,\Omega", r"12\text{ k}\Omega"),
    ),
    (
        r"\{x\in\mathbb{R} : x^2<4\}",
        (r"\{t\in\mathbb{R}: t^2<4\}",),
        (r"[-2,2]", r"\{x\in\mathbb{R}:x^2<2\}", r"\{x\mid x<2\}", r"\{-2,2\}", r"\{x\mid x^2<2\}"),
    ),
    (
        r"\{x \mid x\ge 3\}",
        (r"[3,\infty)", r"\{t\mid t\geq3\}", r"x\geq 3", r"\{x\in\mathbb{R}\mid x\ge3\}"),
        (r"\{x\mid x>3\}", r"(3,\infty)", r"\{3\}", r"\{x\mid x\le3\}"),
    ),
    (
        r"\{2k \mid k\in\mathbb{Z}\}",
        (r"\{2n : n\in\mathbb{Z}\}", r"\{2k : k\in \mathbb{Z}\}"),
        (r"\{2k+1\mid k\in\mathbb{Z}\}", r"\{2k\mid k\in\mathbb{N}\}", r"2k", r"\{3k\mid k\in\mathbb{Z}\}"),
    ),
    (
        r"\{1,3,5\}",
        (r"\left\{1,3,5\right\}", r"\{5,3,1\}", r"x\in\{1,3,5\}", r"1,3\text{ and }5"),
        (r"\{1,3\}", r"\{1,3,5,7\}", r"[1,5]", r"\{1,35\}"),
    ),
    (
        r"f(x)=\begin{cases}x&x\ge0\\-x&x<0\end{cases}",
        (
            r"f(x)=\begin{cases}-x&x<0\\x&x\ge0\end{cases}",
            r"\begin{cases}x, & x\ge0\\ -x, & x<0\end{cases}",
            r"f(x)=\begin{cases}x & \text{if } x\geq 0\\-x & \text{if } x<0\end{cases}",
        ),
        (
            r"f(x)=\begin{cases}x&x<0\\-x&x\ge0\end{cases}",
            r"f(x)=\begin{cases}x&x\ge0\\x&x<0\end{cases}",
            "x",
            r"f(x)=\begin{cases}x&x\ge1\\-x&x<1\end{cases}",
        ),
    ),
    (
        r"\begin{cases}1&n\text{ even}\\0&n\text{ odd}\end{cases}",
        (r"\begin{cases}0&n\text{ odd}\\1&n\text{ even}\end{cases}",),
        (r"\begin{cases}0&n\text{ even}\\1&n\text{ odd}\end{cases}", "1", "0"),
    ),
    (
        r"\binom{2024}{12}",
        (r"{2024 \choose 12}", r"\binom{2024}{2012}"),
        (r"\binom{2024}{11}", r"\frac{2024!}{12!}", r"\binom{2012}{12}", r"2024\cdot12"),
    ),
    (
        r"2^{1011}-1",
        (r"-1+2^{1011}", r"2\cdot2^{1010}-1", r"N = 2^{1011}-1"),
        (r"2^{1011}+1", r"2^{1010}-1", r"2^{1011-1}", r"1-2^{1011}"),
    ),
    (
        r"\frac{n(n+1)}{2}",
        (r"\frac{n^2+n}{2}", r"\binom{n+1}{2}", r"\tfrac12 n(n+1)"),
        (r"\frac{n(n-1)}{2}", r"n(n+1)", r"\frac{n^2+1}{2}", r"\binom{n}{2}"),
    ),
    (
        r"x_1=1, x_2=-3",
        (r"x=1\text{ or }x=-3", r"1,-3", r"x\in\{1,-3\}", r"x = -1\pm2"),
        (r"x_1=1", r"x_1=-3, x_2=1", r"x_1=1, x_2=3", r"x_1=-1, x_2=3", r"(1,-3,2)", r"x=1\text{ or }x=3"),
    ),
    (
        r"x=1\text{ or }x=-3",
        (r"x_1=1,\ x_2=-3", r"x_{1}=-3,\;x_{2}=1", r"x_1=1\text{ and }x_2=-3"),
        (r"x_1=1, x_2=-2", r"x_1=1, y_2=-3", r"x_1=1, x_1=-2", r"x_1=1"),
    ),
    (
        r"f(x)=2x+1",
        (r"f(x)=1+2x", r"2x+1", r"y=2x+1", r"f(t)=2t+1"),
        (r"f(x)=2x-1", r"g(x)=2x+1", r"f(x)=2+x", r"x=2y+1"),
    ),
    (
        r"2n\pi, n\in\mathbb{Z}",
        (r"2k\pi, k\in\mathbb{Z}", r"2\pi n, n\in\mathbb{Z}", r"2\pi k\ (k\in\mathbb{Z})"),
        (r"n\pi, n\in\mathbb{Z}", r"2k\pi, k\in\mathbb{N}", r"2\pi", r"2k\pi, n\in\mathbb{Z}"),
    ),
    (
        r"]1,\infty[",
        (r"(1,\infty)", r"x>1", r"]1,+\infty["),
        (r"[1,\infty[", r"]-\infty,1[", r"]1,2[", "1"),
    ),
    (
        r"[0,1[",
        (r"[0,1)", r"0\le x<1", r"[0;1["),
        (r"[0,1]", r"]0,1[", r"]0,1]", "(0,1)"),
    ),
    (r"|x|>2", (r"x>2\text{ or }x<-2", r"(-\infty,-2)\cup(2,\infty)"), (r"|x|<2", r"x>2", r"[-2,2]", r"|x|\ge2")),
    (
        r"3,14",
        (r"3, 14", r"14, 3"),
        (r"314", r"3", r"3.14159", r"(14,3)"),
    ),
    (r"1\,234{,}5", (r"1234.5", r"1234{,}5"), (r"12345", r"1234", r"1.2345")),
    (
        r"\overrightarrow{AB}=(2,-1)",
        (r"(2,-1)", r"\vec{AB}=(2,-1)"),
        (r"(-1,2)", r"(-2,1)", r"\overrightarrow{BA}=(2,-1)", r"\overrightarrow{AC}=(2,-1)"),
    ),
    (
        r"2i-3j+k",
        (r"2\mathbf{i}-3\mathbf{j}+\mathbf{k}", r"k+2i-3j"),
        (r"2i+3j+k", r"2i-3j", r"-2i+3j-k"),
    ),
    (
        r"y=\frac{1}{2}x+3",
        (r"x-2y+6=0", r"2y=x+6", r"y=0.5x+3", r"y-3=\frac{x}{2}"),
        (r"x-2y-6=0", r"y=2x+3", r"y=\frac12x-3", r"\frac12x+3=0"),
    ),
    (
        r"\frac{x^2}{25}+\frac{y^2}{16}=1",
        (r"16x^2+25y^2=400", r"\frac{y^2}{16}+\frac{x^2}{25}=1", r"\frac{x^2}{5^2}+\frac{y^2}{4^2}=1"),
        (r"\frac{x^2}{16}+\frac{y^2}{25}=1", r"\frac{x^2}{25}-\frac{y^2}{16}=1", r"\frac{x}{5}+\frac{y}{4}=1"),
    ),
    (
        r"4x^3-\sin x+C",
        (r"-\sin x+4x^3+C", r"4x^3-\sin(x)+c"),
        (r"4x^3+\sin x+C", r"12x^2-\cos x", r"4x^3-\sin x+2x", r"4x^3"),
    ),
    (r"是", (r"\text{是}", "是。"), ("否", "不是", r"\text{否}")),
    (r"3\text{ 個}", ("3個", "3", "3個です"), ("4個", "30個", "3人")),
    (r"45^\circ", (r"45\text{ degrees}", r"\frac{\pi}{4}", "45°", "45度"), (r"54^\circ", r"\frac{\pi}{3}", "45'")),
)
NEAR: Table = (
    (
        r"\{x\in\mathbb{Z}\mid x>2\}",
        (r"\{n\in\mathbb{Z}\mid n>2\}",),
        (r"\{n\in\mathbb{Z}\mid n>3\}", r"\{x\mid x>2\}", "x>2"),
    ),
    (r"\mathbb{Z}", (r"\{k\mid k\in\mathbb{Z}\}",), (r"\{2k\mid k\in\mathbb{Z}\}", r"\{x^2\mid x\in\mathbb{Z}\}")),
    (r"(-\infty,3)", (r"\{y\mid y<3\}",), (r"\{x\mid y<3\}", r"\{x\in\mathbb{Z}\mid x<3\}", r"\{x^2\mid x<3\}")),
    (r"k\in\mathbb{Z}", (r"\mathbb{Z}",), (r"n\in\mathbb{Z}", r"k\in\mathbb{N}")),
    (r"]-\infty,1[\cup]2,3]", (r"(-\infty,1)\cup(2,3]",), (r"(-\infty,1)\cup(2,3)", r"(-\infty,1]\cup(2,3]")),
    (
        r"\begin{cases}x+1&0\le x<1\\x^2&1\le x\le2\end{cases}",
        (r"\begin{cases}1+x&x\in[0,1)\\x^2&2\ge x\ge1\end{cases}",),
        (r"\begin{cases}1+x&x\in[0,1]\\x^2&2\ge x\ge1\end{cases}", "x+1", r"\begin{cases}x+1\\x^2\end{cases}"),
    ),
    (
        r"\begin{cases}1&x>0\\0&\text{otherwise}\end{cases}",
        (r"\begin{cases}1&\text{if }x>0\\0&\text{else}\end{cases}",),
        (r"\begin{cases}0&\text{if }x>0\\1&\text{else}\end{cases}", r"\begin{cases}1&y>0\\0&\text{else}\end{cases}"),
    ),
    (r"x=1, y=2", (r"\begin{cases}x&=1\\y&=2\end{cases}",), (r"\begin{cases}x&=2\\y&=1\end{cases}",)),
    (r"12\text{ k}\Omega", (r"12000\,\Omega",), (r"12\,\Omega", r"12\text{ M}\Omega")),
    (r"5\text{ mW}", (r"0.005\text{ W}",), (r"5\text{ MW}", r"5\text{ W}")),
    ("f(x)=2x+1", ("f(a)=2a+1",), ("y=2t+1", "f(2)=5", "f(x)=2t+1", "y=2x")),
    ("x_1=2,x_2=5", (r"x\in\{2,5\}",), ("x_1=5,x_2=2", "x=2,y=5", r"x=2\text{ or }x=5\text{ or }x=7", "x=2")),
    (r"|x|\ge2", (r"x\ge2\text{ or }x\le-2",), (r"(-\infty,-2]\cup(2,\infty)", r"|x|\ge-2", "x\\ge2")),
)
COMPLETIONS: Table = (
    (
        "336",
        (
            "Summing the two cases we obtain $112+224=\\boxed{336}$, and we are done. $\\blacksquare$",
            "Therefore the number of such permutations is $\\boxed{336}$.\n\n**Remark.** For $n=5$ one gets $60$.",
            "Le nombre cherché est donc 336.",
            "La réponse est $336$.",
            "La réponse finale est : 336",
            "故答案为：336.",
            "综上所述，所求的值为336。",
            "よって、答えは336である。",
            "答え：336",
            "したがって、求める個数は336個である。",
            "Die Antwort ist 336.",
            "Respuesta: 336",
            "La respuesta es 336.",
            "Ответ: 336",
            "Sure! Here's how it goes: 12 × 28 = 336. So you'd end up with 336 in total :)",
            "Great question! The final count comes out to **336** 🎉",
            "tl;dr: 336",
            "ANSWER: 336",
            "Final Answer: The final answer is $336$. I hope it is correct.",
            "336 ways in total.",
            "The answer is 336 (not 335).",
        ),
        (
            "La réponse n'est pas 336.",
            "La réponse est 335.",
            "答えは335である。",
            "答案不是336。",
            "答えは336ではない。",
            "Die Antwort ist nicht 336.",
            "Le nombre cherché est donc 363.",
            "Hmm, is it 336? Let me check: no, it's 335.",
            "At first I got 336, but the correct count is 448.",
            "The answer is not 336 but 448.",
            "Ответ: 335",
            "La respuesta no es 336.",
            "答えは336以上",
            "The answer is 335 (not 336).",
            "So you'd end up with more than 336.",
            "It's either 336 or 448, not sure.",
            "336 is the count for n=4; for n=5 we get 1680.",
        ),
    ),
    (
        r"\frac{7}{12}",
        (
            "Hence $P=\\frac{7}{12}$.",
            "So the probability equals $\\tfrac{7}{12}$ (about 58.3%).",
            "La probabilité vaut donc $\\dfrac{7}{12}$.",
            "所以概率为 $\\frac{7}{12}$。",
            "確率は $\\frac{7}{12}$ である。",
            "The answer is 7/12.",
        ),
        (
            "So the probability equals $\\tfrac{5}{12}$ (about 41.7%).",
            "所以概率为 $\\frac{12}{7}$。",
            "確率は $\\frac{5}{12}$ である。",
            "$1-\\frac{7}{12}=\\frac{5}{12}$",
            "It is less than $\\frac{7}{12}$.",
        ),
    ),
    (
        r"12\text{ m/s}",
        (
            "The final speed is v = 12 m/s.",
            "Thus $\\boxed{12\\ \\text{m}\\,\\text{s}^{-1}}$",
            "So it moves at 12 m/s.",
        ),
        (
            "The final speed is v = 12 km/h.",
            "$\\boxed{12\\ \\text{m/s}^2}$",
            "v = 21 m/s",
            "$\\boxed{12\\text{ km/s}}$",
        ),
    ),
    (
        r"12\text{ m}^2",
        ("It covers 12 m².", "It covers 12 m^2.", "It covers 120000 cm²."),
        ("It covers 12 m.", "It covers 12 cm².", "It covers 12 m³."),
    ),
    (r"300\text{ s}", ("It takes 5 min.", "It takes 300 seconds."), ("It takes 5 s.", "It takes 300 min.")),
    (
        "C",
        (
            "正确答案是C。",
            "故选：C",
            "正解は C です。",
            "La bonne réponse est C.",
            "La réponse est (C).",
            "I'd go with C here, since A and B both violate the first condition.",
            "The correct option is (C), as shown above.",
            "Die richtige Antwort ist C.",
        ),
        (
            "正确答案是D。",
            "故选：B",
            "La bonne réponse est B.",
            "I'd go with D here, since A and C both violate the first condition.",
            "C is tempting, but the answer is (D).",
            "La réponse n'est pas C.",
            "正解はCではない。",
            "答えはC以外です。",
            "Die Antwort ist C oder D.",
            "La réponse est C ou D.",
        ),
    ),
)


def strange_boxes(chance: random.Random) -> Made:
    """Boxed answers: units of physics, set builders, cases, roots with indices, brackets of other countries."""
    yield from made(BOXED)
    yield from made(NEAR)


def strange_completions(chance: random.Random) -> Made:
    """Whole completions: competition write-ups, chat, and other languages."""
    yield from made(COMPLETIONS)
