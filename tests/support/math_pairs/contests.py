"""Answers as contests, schools and universities ask for them: MATH, AIME, GSM8K, olympiads, GPQA, Gaokao.

Written before the grader saw them, and graded once before anything was mended. ``UNSEEN_CONTESTS`` were written for
the kinds that were mended, and graded once afterwards. The page gives both figures.
"""

import random

from tests.support.math_pairs.by_hand import Table, made
from tests.support.math_pairs.pair import Made

CONTESTS: Table = (
    # intervals and sets
    (
        r"(-\infty,-2)\cup(3,\infty)",
        (
            r"x<-2 \text{ or } x>3",
            r"(3,+\infty)\cup(-\infty,-2)",
            r"\{x \mid x<-2 \text{ or } x>3\}",
            r"x\in(-\infty,-2)\cup(3,\infty)",
        ),
        (
            r"(-\infty,-2]\cup[3,\infty)",
            r"(-2,3)",
            r"x<-2 \text{ and } x>3",
            r"(-\infty,-2)\cap(3,\infty)",
            r"(-\infty,2)\cup(3,\infty)",
        ),
    ),
    (
        r"[0,1)\cup(1,2]",
        (r"0\le x\le 2, x\ne 1", r"[0,2]\setminus\{1\}", r"(1,2]\cup[0,1)"),
        (r"[0,2]", r"[0,1]\cup[1,2]", r"(0,1)\cup(1,2)", r"[0,1)\cap(1,2]"),
    ),
    (
        r"\mathbb{R}\setminus\{0\}",
        (r"(-\infty,0)\cup(0,\infty)", r"x\neq 0", r"x \in \mathbb{R}, x\ne 0", r"\{x\mid x\ne 0\}"),
        (r"\mathbb{R}", r"(0,\infty)", r"[0,\infty)", r"x \ne 1"),
    ),
    (
        r"(1,+\infty)",
        (r"x>1", r"\{x|x>1\}", r"1<x", r"]1,\infty["),
        (r"x\ge 1", r"[1,+\infty)", r"x<1", r"(1,\infty]\cup\{0\}"),
    ),
    (
        r"\{1,2,3\}",
        (r"\{3,2,1\}", r"1,2,3", r"x\in\{1,2,3\}", r"\lbrace 1, 2, 3\rbrace"),
        (r"\{1,2\}", r"\{1,2,3,4\}", r"123", r"\{1,2,-3\}"),
    ),
    (
        r"\{-2,5\}",
        (r"x=-2 \text{ or } x=5", r"-2, 5", r"x_1=-2, x_2=5", r"5 \text{ and } -2"),
        (r"(-2,5)", r"\{2,5\}", r"x=-2", r"[-2,5]", r"\{-2\}"),
    ),
    (
        r"\emptyset",
        (r"\varnothing", r"\{\}", r"\text{empty set}", r"\text{the empty set}"),
        (r"0", r"\{0\}", r"\{\emptyset\}", r"\mathbb{R}"),
    ),
    (r"1\le x\le 5", (r"[1,5]", r"5\ge x\ge 1", r"x\in[1,5]"), (r"(1,5)", r"1<x\le 5", r"1\le y\le 5", r"1\le x\le 6")),
    (r"a\le -1", (r"(-\infty,-1]", r"-1\ge a", r"a\in(-\infty,-1]"), (r"a<-1", r"a\ge -1", r"x\le -1", r"a\le 1")),
    (
        r"k>2 \text{ or } k<-2",
        (r"|k|>2", r"(-\infty,-2)\cup(2,\infty)", r"k<-2 \text{ or } k>2"),
        (r"|k|<2", r"-2<k<2", r"k>2", r"k>2 \text{ and } k<-2"),
    ),
    # units
    (
        r"12\text{ cm}^2",
        (r"12", r"12\,\mathrm{cm}^2", r"12 \text{ square centimeters}", r"12\text{ sq cm}", r"0.0012\text{ m}^2"),
        (r"12\text{ cm}", r"12\text{ m}^2", r"12\text{ cm}^3", r"13\text{ cm}^2"),
    ),
    (
        r"60\text{ mph}",
        (r"60", r"60\text{ miles per hour}", r"60\,\text{mi/h}"),
        (r"60\text{ km/h}", r"60\text{ miles}", r"6\text{ mph}", r"60\text{ feet per second}"),
    ),
    (
        r"9.8\text{ m/s}^2",
        (
            r"9.8\,\mathrm{m\,s^{-2}}",
            r"9.8\ \text{m}/\text{s}^2",
            r"9.8 \text{ meters per second squared}",
            r"980\text{ cm/s}^2",
        ),
        (r"9.8\text{ m/s}", r"9.8\text{ m}", r"9.7\text{ m/s}^2"),
    ),
    (
        r"2.5\text{ hours}",
        (r"150\text{ minutes}", r"2\frac12\text{ hours}", r"2.5\text{ h}", r"2.5"),
        (r"2.5\text{ minutes}", r"250\text{ minutes}", r"2\text{ hours}"),
    ),
    (
        r"\$12.50",
        (r"12.50", r"\$12.5", r"12.50\text{ dollars}", r"1250\text{ cents}", r"12.5"),
        (r"\$1250", r"12.50\text{ euros}", r"\$12.05", r"12.50\text{ cents}"),
    ),
    (
        r"\$1,200",
        (r"1200", r"1,200\text{ dollars}", r"\$1200.00", r"1{,}200"),
        (r"1.2", r"12,00", r"\$1,020", r"1,200\text{ pounds}"),
    ),
    (
        r"45^\circ",
        (r"45", r"45\text{ degrees}", r"\frac{\pi}{4}", r"45°", r"\angle A=45^\circ"),
        (r"45\text{ radians}", r"54^\circ", r"\frac{\pi}{3}", r"-45^\circ", r"45\%"),
    ),
    (
        r"\frac{\pi}{6}",
        (r"30^\circ", r"\pi/6", r"\frac{1}{6}\pi", r"\frac{\pi}{6}\text{ radians}"),
        (r"60^\circ", r"30", r"\frac{6}{\pi}", r"-\frac{\pi}{6}"),
    ),
    (
        r"25\%",
        (r"0.25", r"\frac14", r"25", r"25\text{ percent}", r"25 \text{ per cent}"),
        (r"2.5\%", r"0.025", r"52\%", r"75\%"),
    ),
    (r"3\text{ apples}", (r"3", r"3\text{ apple}", r"\text{3 apples}"), (r"3\text{ pears}", r"4\text{ apples}", r"30")),
    (
        r"5\times10^{-3}\text{ mol}",
        (r"0.005\text{ mol}", r"5\text{ mmol}", r"5\times 10^{-3}"),
        (r"5\times10^{3}\text{ mol}", r"5\text{ mol}", r"0.05\text{ mol}"),
    ),
    (
        r"72\text{ km/h}",
        (r"20\text{ m/s}", r"72\text{ kilometers per hour}", r"72\,\mathrm{km\cdot h^{-1}}"),
        (r"72\text{ m/s}", r"27\text{ km/h}", r"20\text{ km/h}"),
    ),
    (
        r"6\sqrt{3}\text{ cm}",
        (r"6\sqrt{3}", r"6\sqrt 3\,\mathrm{cm}", r"\sqrt{108}\text{ cm}", r"\frac{18}{\sqrt3}\text{ cm}"),
        (r"6\sqrt{2}\text{ cm}", r"6\sqrt{3}\text{ m}", r"3\sqrt6\text{ cm}"),
    ),
    # ordinals, words and numerals
    (
        r"\text{Tuesday}",
        (r"Tuesday", r"\text{tuesday}", r"\mathrm{Tuesday}"),
        (r"\text{Thursday}", r"\text{not Tuesday}", r"2"),
    ),
    (r"\text{even}", (r"\text{Even}", r"even"), (r"\text{odd}", r"\text{neither}", r"\text{not even}")),
    (r"\text{Yes}", (r"yes", r"\text{yes}", r"Yes."), (r"\text{No}", r"\text{not yes}", r"1")),
    (r"7\text{th}", (r"7th", r"7^{\text{th}}", r"7^{th}", r"7"), (r"8th", r"7^t", r"17^{\text{th}}")),
    (r"21", (r"21", r"21.0", r"+21", r"\textbf{21}", r"021"), (r"12", r"-21", r"21!", r"2.1", r"2,1")),
    # mixed numbers, fractions, repeating decimals
    (
        r"2\frac{3}{4}",
        (r"\frac{11}{4}", r"2.75", r"2 3/4", r"11/4", r"2+\frac34"),
        (r"2\cdot\frac34", r"\frac{3}{2}", r"23/4", r"2\frac{4}{3}", r"-2\frac34"),
    ),
    (
        r"-1\frac12",
        (r"-\frac32", r"-1.5", r"-(1\frac12)", r"\frac{-3}{2}", r"\frac{3}{-2}"),
        (r"-\frac12", r"1\frac12", r"-1+\frac12"),
    ),
    (
        r"0.\overline{36}",
        (r"\frac{4}{11}", r"0.3636\overline{36}", r"\frac{36}{99}", r"0.363636..."),
        (r"0.36", r"\frac{36}{100}", r"0.3\overline{6}", r"\frac{5}{11}"),
    ),
    (
        r"0.1\overline{6}",
        (r"\frac16", r"0.1666\overline{6}", r"0.1\bar{6}"),
        (r"0.\overline{16}", r"0.16", r"\frac{16}{99}"),
    ),
    (
        r"\frac{2}{3}",
        (r"\dfrac23", r"\tfrac{2}{3}", r"2/3", r"\frac{4}{6}", r"{2 \over 3}", r"0.\overline{6}"),
        (r"\frac32", r"0.67", r"0.66", r"-\frac23", r"\frac{2}{-3}"),
    ),
    (r"\frac{m}{n}", (r"m/n", r"\frac{m}{n}", r"m n^{-1}"), (r"\frac{n}{m}", r"mn", r"m-n")),
    (
        r"\frac{1}{2\sqrt{2}}",
        (r"\frac{\sqrt2}{4}", r"2^{-3/2}", r"\frac{1}{\sqrt8}"),
        (r"\frac{\sqrt{2}}{2}", r"\frac{2}{\sqrt2}", r"2^{3/2}"),
    ),
    # thousands and scientific notation
    (
        r"1000000",
        (r"1,000,000", r"10^6", r"1\,000\,000", r"1\times10^6", r"1e6", r"1\text{ million}"),
        (r"100000", r"1,000,00", r"10^7", r"1.000.000,5", r"10^{-6}"),
    ),
    (
        r"6.02\times10^{23}",
        (r"6.02\cdot 10^{23}", r"6.02e23", r"602\times10^{21}", r"6.02*10^23"),
        (r"6.02\times10^{22}", r"6.02\times10^{-23}", r"6.2\times10^{23}", r"6.02"),
    ),
    (
        r"1.5\times10^{-4}",
        (r"0.00015", r"1.5e-4", r"15\times10^{-5}", r"1.5 \times 10^{-4}"),
        (r"0.0015", r"1.5\times10^4", r"15000"),
    ),
    (r"12345", (r"12,345", r"12\,345", r"12{,}345", r"12 345", r"12345."), (r"12.345", r"12,354", r"1234", r"123,45")),
    # bases and modular answers
    (r"1101_2", (r"1101_{2}", r"(1101)_2", r"1101_{\text{two}}"), (r"1011_2", r"1101_3", r"1101_{10}")),
    (r"2A_{16}", (r"2A_{16}", r"2a_{16}", r"(2A)_{16}"), (r"2B_{16}", r"2A_{15}", r"A2_{16}")),
    (
        r"x\equiv 3\pmod 7",
        (r"x\equiv 10\pmod 7", r"3\pmod{7}", r"x \equiv -4 \bmod 7", r"x\equiv3\ (\mathrm{mod}\ 7)"),
        (r"x\equiv 4\pmod 7", r"x\equiv 3\pmod 8", r"3", r"y \equiv 3\pmod 7", r"x=3"),
    ),
    # ±, roots and lists of solutions
    (
        r"\pm 3",
        (r"3,-3", r"x=\pm3", r"\{-3,3\}", r"x=3\text{ or }x=-3", r"-3 \text{ and } 3"),
        (r"3", r"-3", r"(3,-3)", r"\pm\sqrt3", r"3,3"),
    ),
    (
        r"1\pm\sqrt2",
        (r"1+\sqrt2, 1-\sqrt2", r"x=1\pm\sqrt{2}", r"\{1-\sqrt2,1+\sqrt2\}", r"\frac{2\pm\sqrt8}{2}"),
        (r"1+\sqrt2", r"-1\pm\sqrt2", r"\pm1+\sqrt2", r"1\pm2"),
    ),
    (
        r"x=1\text{ or }x=2",
        (r"1,2", r"\{1,2\}", r"x=2, x=1", r"x=1,2", r"x_1=2,x_2=1", r"x \in \{1,2\}"),
        (r"x=1", r"(1,2)", r"x=1\text{ or }x=3", r"y=1\text{ or }y=2", r"x=12", r"x=1 \text{ or } y=2"),
    ),
    (
        r"1,-2",
        (r"-2,1", r"x=1,-2", r"x=1\text{ or }x=-2", r"x_1=1,x_2=-2"),
        (r"1,2", r"-1,2", r"(1,-2,0)", r"1-2", r"1"),
    ),
    (
        r"(1,-2)",
        (r"x=1,y=-2", r"(x,y)=(1,-2)", r"1,-2", r"\langle 1,-2\rangle", r"\left(1;-2\right)"),
        (r"(-2,1)", r"x=-2,y=1", r"y=1, x=-2", r"(1,2)", r"\{1,-2\}", r"-2,1"),
    ),
    (
        r"x=3, y=4",
        (r"(3,4)", r"(x,y)=(3,4)", r"y=4, x=3", r"x=3\text{ and }y=4", r"\begin{cases}x=3\\y=4\end{cases}"),
        (r"(4,3)", r"x=4, y=3", r"x=3", r"x=3\text{ or }y=4", r"a=3, b=4"),
    ),
    (
        r"(1,2),(3,4)",
        (r"(3,4),(1,2)", r"\{(1,2),(3,4)\}", r"(x,y)=(1,2),(3,4)", r"(1,2)\text{ and }(3,4)"),
        (r"(2,1),(3,4)", r"(1,2)", r"(1,2,3,4)", r"(1,4),(3,2)", r"(1,3),(2,4)"),
    ),
    (
        r"2,3,5",
        (r"5,3,2", r"2, 3, 5", r"2, 3, \text{ and } 5", r"\{2,3,5\}", r"2;3;5"),
        (r"2,3", r"2,3,5,7", r"235", r"2,3,-5", r"(5,3,2)"),
    ),
    # expressions
    (
        r"x^2-4x+4",
        (r"(x-2)^2", r"4-4x+x^2", r"(2-x)^2", r"x(x-4)+4"),
        (r"(x+2)^2", r"x^2-4x-4", r"(x-2)(x+2)", r"y^2-4y+4", r"x^2-4x+4=0"),
    ),
    (
        r"2x+3",
        (r"3+2x", r"y=2x+3", r"f(x)=2x+3", r"2\left(x+\frac32\right)"),
        (r"2x-3", r"2x+3y", r"3x+2", r"2(x+3)", r"2x"),
    ),
    (
        r"\frac{n(n+1)}{2}",
        (r"\frac{n^2+n}{2}", r"\binom{n+1}{2}", r"\frac12n(n+1)", r"0.5n(n+1)"),
        (r"\frac{n(n-1)}{2}", r"n(n+1)", r"\binom{n}{2}", r"\frac{k(k+1)}{2}"),
    ),
    (r"2^{n}-1", (r"2^n-1", r"2\cdot2^{n-1}-1", r"-1+2^n"), (r"2^{n-1}", r"2^{n+1}-1", r"n^2-1", r"2n-1")),
    (
        r"\ln 2",
        (r"\log_e 2", r"\ln(2)", r"-\ln\frac12", r"\frac12\ln4"),
        (r"\log 2", r"\ln 3", r"\log_2 e", r"0.69", r"-\ln 2"),
    ),
    (
        r"\sin^2 x",
        (r"1-\cos^2x", r"(\sin x)^2", r"\frac{1-\cos2x}{2}", r"\sin x \sin x"),
        (r"\sin x^2", r"\cos^2x", r"\sin 2x", r"2\sin x"),
    ),
    (r"e^{2x}", (r"(e^x)^2", r"\exp(2x)", r"e^{x}\cdot e^x"), (r"e^{x^2}", r"2e^x", r"e^{-2x}", r"e^{2}x")),
    (
        r"\frac{1}{x-1}+\frac{1}{x+1}",
        (r"\frac{2x}{x^2-1}", r"\frac{2x}{(x-1)(x+1)}"),
        (r"\frac{2}{x^2-1}", r"\frac{2x}{x^2+1}", r"\frac{1}{2x}"),
    ),
    (
        r"\frac{x^3}{3}+C",
        (r"\frac13x^3+C", r"\frac{x^3}{3}+c", r"C+\frac{x^3}{3}"),
        (r"\frac{x^3}{3}", r"\frac{x^2}{3}+C", r"x^3+C", r"\frac{x^3}{3}+x"),
    ),
    (r"a^2+b^2", (r"b^2+a^2", r"(a+b)^2-2ab"), (r"(a+b)^2", r"a^2-b^2", r"a^2+c^2", r"2ab")),
    (
        r"3\pi",
        (r"3\cdot\pi", r"\pi\cdot3", r"3π", r"3\pi \text{ cm}"),
        (r"\pi^3", r"3", r"9.42", r"\frac{\pi}{3}", r"2\pi"),
    ),
    (
        r"\log_2 5",
        (r"\frac{\ln5}{\ln2}", r"\frac{\log5}{\log2}", r"\log_{2}(5)", r"\frac{1}{\log_5 2}"),
        (r"\log_5 2", r"\log 5", r"\log 10", r"\frac52"),
    ),
    (r"\sqrt[3]{2}", (r"2^{1/3}", r"\sqrt[6]{4}", r"\sqrt[3]{2}"), (r"\sqrt{2}", r"3\sqrt{2}", r"2^3", r"\sqrt[2]{3}")),
    (
        r"|x-2|",
        (r"|2-x|", r"\lvert x-2\rvert", r"\sqrt{(x-2)^2}", r"\left|x-2\right|"),
        (r"x-2", r"2-x", r"|x|-2", r"|x+2|"),
    ),
    (
        r"\lfloor x\rfloor",
        (r"\left\lfloor x\right\rfloor", r"\lfloor x \rfloor"),
        (r"\lceil x\rceil", r"x", r"[x+1]", r"\lfloor x\rfloor+1"),
    ),
    (r"5!", (r"120", r"5\cdot4!", r"5\times4\times3\times2\times1"), (r"5", r"60", r"5!!", r"(5!)!")),
    (
        r"\binom{10}{3}",
        (r"120", r"C(10,3)", r"{10 \choose 3}", r"\binom{10}{7}", r"\frac{10!}{3!7!}"),
        (r"\binom{3}{10}", r"\binom{10}{4}", r"720", r"\frac{10}{3}"),
    ),
    # complex numbers
    (r"3+4i", (r"4i+3", r"3+4\mathrm{i}", r"z=3+4i"), (r"3-4i", r"4+3i", r"5", r"3+4", r"-3+4i")),
    (r"-i", (r"\frac1i", r"i^3", r"0-i", r"-1\cdot i"), (r"i", r"-1", r"1", r"-j")),
    (
        r"e^{i\pi/3}",
        (r"\frac12+\frac{\sqrt3}{2}i", r"\cos60^\circ+i\sin60^\circ", r"\frac{1+i\sqrt3}{2}"),
        (r"e^{-i\pi/3}", r"\frac{\sqrt3}{2}+\frac12i", r"e^{\pi/3}"),
    ),
    # vectors and matrices
    (
        r"\begin{pmatrix}1\\2\\3\end{pmatrix}",
        (
            r"\begin{bmatrix}1\\2\\3\end{bmatrix}",
            r"\left(\begin{array}{c}1\\2\\3\end{array}\right)",
            r"\begin{pmatrix}1\\\ 2\\\ 3\end{pmatrix}",
        ),
        (
            r"\begin{pmatrix}3\\2\\1\end{pmatrix}",
            r"\begin{pmatrix}1\\2\end{pmatrix}",
            r"\begin{pmatrix}1\\2\\-3\end{pmatrix}",
            r"6",
        ),
    ),
    (
        r"\begin{pmatrix}1&0\\0&1\end{pmatrix}",
        (r"\begin{bmatrix}1&0\\0&1\end{bmatrix}", r"\begin{pmatrix}1 & 0 \\ 0 & 1\end{pmatrix}"),
        (
            r"\begin{pmatrix}0&1\\1&0\end{pmatrix}",
            r"1",
            r"\begin{pmatrix}1&0\\0&-1\end{pmatrix}",
            r"\begin{vmatrix}1&0\\0&1\end{vmatrix}",
        ),
    ),
    (
        r"2\mathbf{i}+3\mathbf{j}",
        (r"3\mathbf{j}+2\mathbf{i}", r"2\mathbf i+3\mathbf j"),
        (r"3\mathbf{i}+2\mathbf{j}", r"2\mathbf{i}-3\mathbf{j}", r"5"),
    ),
    # equations of curves
    (
        r"y=2x-1",
        (r"2x-y-1=0", r"y+1=2x", r"y-1=2(x-1)", r"2x-y=1"),
        (r"y=2x+1", r"x=2y-1", r"2x+y-1=0", r"2x-y+1=0", r"y=-2x-1"),
    ),
    (
        r"x^2+y^2=25",
        (r"y^2+x^2=5^2", r"x^2+y^2-25=0", r"\frac{x^2}{25}+\frac{y^2}{25}=1"),
        (r"x^2+y^2=5", r"x^2-y^2=25", r"x+y=5", r"x^2+y^2=25^2"),
    ),
    (
        r"\frac{x^2}{4}+\frac{y^2}{3}=1",
        (r"3x^2+4y^2=12", r"\frac{y^2}{3}+\frac{x^2}{4}=1"),
        (r"\frac{x^2}{3}+\frac{y^2}{4}=1", r"\frac{x^2}{4}-\frac{y^2}{3}=1", r"3x^2+4y^2=1"),
    ),
    (r"y^2=4x", (r"4x=y^2", r"x=\frac{y^2}{4}", r"y^2-4x=0"), (r"x^2=4y", r"y^2=-4x", r"y=4x", r"y=2\sqrt{x}")),
    (r"F=ma", (r"ma=F", r"F=m\cdot a"), (r"F=m+a", r"F=m/a", r"F = mb")),
    # piecewise
    (
        r"f(x)=\begin{cases}x & x\ge0\\ -x & x<0\end{cases}",
        (
            r"\begin{cases}-x & x<0\\ x & x\ge0\end{cases}",
            r"f(x)=\begin{cases}x, & x\geq 0\\ -x, & x<0\end{cases}",
            r"\begin{cases}x & \text{if } x\ge0\\ -x & \text{if } x<0\end{cases}",
        ),
        (r"\begin{cases}x & x<0\\ -x & x\ge0\end{cases}", r"x", r"\begin{cases}x & x>0\\ -x & x<0\end{cases}"),
    ),
    # ratios
    (r"2:3", (r"4:6", r"\frac23", r"2 : 3", r"2\text{ to }3", r"2/3"), (r"3:2", r"2:3:1", r"2:5", r"\frac32")),
    (r"1:2:3", (r"2:4:6", r"1 : 2 : 3"), (r"3:2:1", r"1:2", r"1:2:4", r"6")),
    # multi-letter names and products
    (r"AB=5", (r"5", r"BA=5", r"|AB|=5", r"\overline{AB}=5", r"AB = 5.0"), (r"AC=5", r"AB=6", r"A=5", r"AB>5")),
    (r"\triangle ABC", (r"\triangle{ABC}", r"\triangle ABC"), (r"\triangle ABD", r"ABC=1", r"\angle ABC")),
    (
        r"2\sqrt{3}+\sqrt{2}",
        (r"\sqrt2+2\sqrt3", r"\sqrt{12}+\sqrt2"),
        (r"2\sqrt{5}", r"\sqrt{14}", r"2\sqrt{3}-\sqrt{2}", r"2\sqrt2+\sqrt3"),
    ),
    (r"abc", (r"a b c", r"a\cdot b\cdot c", r"abc"), (r"ab", r"a+b+c", r"abd", r"a b d")),
    # relations and conditions
    (
        r"x=\frac{\pi}{4}+k\pi, k\in\mathbb{Z}",
        (
            r"\frac{\pi}{4}+k\pi, k\in\mathbb{Z}",
            r"x=\frac{\pi}{4}+n\pi, n\in\mathbb{Z}",
            r"x=k\pi+\frac{\pi}{4}\ (k\in\mathbb{Z})",
        ),
        (
            r"x=\frac{\pi}{4}+2k\pi, k\in\mathbb{Z}",
            r"\frac{\pi}{4}",
            r"x=\frac{\pi}{3}+k\pi, k\in\mathbb{Z}",
            r"x=\frac{\pi}{4}-\frac{k\pi}{2}, k\in\mathbb{Z}",
        ),
    ),
    (r"a>b>c", (r"c<b<a", r"a > b > c"), (r"a<b<c", r"a>c>b", r"a>b", r"a\ge b\ge c")),
    (r"n\ge 2", (r"n \geq 2", r"2\le n", r"[2,\infty)"), (r"n>2", r"n\le 2", r"m\ge2", r"2")),
    # nothing, infinity
    (r"\infty", (r"+\infty", r"\text{infinity}", r"∞"), (r"-\infty", r"0", r"8", r"\text{DNE}")),
    (
        r"\text{DNE}",
        (r"\text{does not exist}", r"\text{The limit does not exist}", r"DNE"),
        (r"0", r"\infty", r"\text{exists}"),
    ),
    (
        r"\text{no solution}",
        (r"\text{No solution}", r"\text{no solutions}", r"no solution"),
        (r"0", r"\text{one solution}", r"\text{infinitely many solutions}"),
    ),
    # chemistry
    (
        r"\text{H}_2\text{O}",
        (r"\mathrm{H_2O}", r"\text{H}_2\text{O}", r"H_2O"),
        (r"\mathrm{H_2O_2}", r"\mathrm{HO_2}", r"\mathrm{CO_2}", r"\mathrm{H_3O}"),
    ),
    (
        r"\mathrm{C_6H_{12}O_6}",
        (r"C_6H_{12}O_6", r"\text{C}_6\text{H}_{12}\text{O}_6", r"\mathrm{C}_{6}\mathrm{H}_{12}\mathrm{O}_{6}"),
        (r"C_6H_{12}O_5", r"C_5H_{12}O_6", r"C_{12}H_6O_6", r"C_6H_6"),
    ),
    (r"\mathrm{NaCl}", (r"\text{NaCl}", r"NaCl"), (r"\mathrm{KCl}", r"\mathrm{NaF}", r"\text{NaClO}")),
    # 高考
    (
        r"[-1,2)",
        (r"\{x\mid -1\le x<2\}", r"-1≤x<2", r"\left[-1,2\right)", r"x∈[-1,2)"),
        (r"(-1,2]", r"[-1,2]", r"\{-1,2\}", r"[-1,2)∪\{3\}"),
    ),
    (r"\frac{1}{2}或2", (r"\frac12, 2", r"2或\frac12", r"x=2\text{ or }x=\frac12"), (r"\frac12", r"2", r"\frac12或3")),
    (r"15种", (r"15", r"15 种", r"15\text{种}"), (r"51种", r"16种", r"1.5")),
    (r"3\text{米}", (r"3米", r"3"), (r"30米", r"4米", r"3千克")),
    (r"①③", (r"①③", r"①,③", r"①、③"), (r"①②", r"①②③", r"③④", r"①")),
)

PHYSICS_AND_WORDS: Table = (
    (
        r"2\text{ hours }30\text{ minutes}",
        (
            r"150\text{ minutes}",
            r"2.5\text{ hours}",
            r"2\text{ hours and }30\text{ minutes}",
            r"2\text{ h }30\text{ min}",
        ),
        (
            r"2\text{ hours }20\text{ minutes}",
            r"230\text{ minutes}",
            r"3\text{ hours }2\text{ minutes}",
            r"2\text{ hours}",
        ),
    ),
    (
        r"5\text{ ft }10\text{ in}",
        (r"70\text{ inches}", r"5\text{ feet }10\text{ inches}", r"5\text{ feet, }10\text{ inches}"),
        (r"5\text{ ft }11\text{ in}", r"510\text{ inches}", r"10\text{ ft }5\text{ in}"),
    ),
    (r"30^\circ15'", (r"30.25^\circ", r"30^\circ 15'"), (r"30.15^\circ", r"15^\circ30'", r"30^\circ")),
    (r"33\frac13\%", (r"\frac13", r"33\frac{1}{3}\%", r"\frac{100}{3}\%"), (r"33\%", r"33\frac12\%", r"3\frac13\%")),
    (
        r"0.5",
        (r"\frac12", r"50\%", r".5", r"0.50", r"0{,}5", r"5\times10^{-1}"),
        (r"0.5\%", r"5\%", r"0.05", r"-0.5", r"5"),
    ),
    (r"50\%", (r"0.5", r"\frac{1}{2}", r"50", r"50 \%", r"50\text{ percent}"), (r"0.5\%", r"5", r"500\%", r"5000")),
    (r"\text{€}5", (r"5", r"5\text{ euros}", r"5\text{ EUR}"), (r"\$5", r"5\%", r"5\text{ dollars}")),
    (
        r"25\text{ cents}",
        (r"\$0.25", r"25¢", r"25", r"0.25\text{ dollars}"),
        (r"\$25", r"2.5\text{ cents}", r"52\text{ cents}"),
    ),
    (
        r"3\text{ million}",
        (r"3000000", r"3,000,000", r"3\times10^6", r"3\text{ million dollars}"),
        (r"3", r"3\text{ billion}", r"300000", r"3\text{ thousand}"),
    ),
    (r"2\text{ dozen}", (r"24", r"24\text{ eggs}"), (r"2", r"12", r"42")),
    (
        r"30^\circ\text{C}",
        (r"30", r"30\text{ degrees Celsius}", r"30℃", r"30\,^\circ\mathrm{C}"),
        (r"30^\circ\text{F}", r"30\text{ K}", r"3^\circ\text{C}"),
    ),
    (
        r"1.2\times10^3\text{ J}",
        (r"1200\text{ J}", r"1.2\text{ kJ}", r"1.2\times 10^{3}", r"1200\text{ joules}"),
        (r"1.2\text{ J}", r"1200\text{ W}", r"12\text{ kJ}", r"1.2\times10^{-3}\text{ J}"),
    ),
    (
        r"6.67\times10^{-11}\ \mathrm{N\,m^2/kg^2}",
        (
            r"6.67\times10^{-11}",
            r"6.67\times 10^{-11}\ \mathrm{N\cdot m^2/kg^2}",
            r"6.67\times10^{-11}\,\mathrm{N\,m^2\,kg^{-2}}",
        ),
        (r"6.67\times10^{11}\ \mathrm{N\,m^2/kg^2}", r"6.67\times10^{-11}\ \mathrm{N\,m/kg}", r"6.76\times10^{-11}"),
    ),
    (
        r"10\text{ m/s}",
        (
            r"10\text{ m s}^{-1}",
            r"10\,\mathrm{m\cdot s^{-1}}",
            r"36\text{ km/h}",
            r"10\text{ meters per second}",
            r"v=10\text{ m/s}",
        ),
        (r"10\text{ km/h}", r"10\text{ m}", r"36\text{ m/s}", r"10\text{ m/s}^2", r"10\text{ s/m}"),
    ),
    (
        r"\frac34\text{ cup}",
        (r"0.75\text{ cups}", r"\frac{3}{4}", r"\frac{3}{4}\text{ cups}"),
        (r"\frac43\text{ cup}", r"\frac34\text{ pint}", r"34"),
    ),
    (
        r"100\text{ m}^2",
        (r"100", r"100\,m^2", r"100\text{ square meters}", r"100 \text{ sq. m}"),
        (r"100\text{ m}", r"10\text{ m}^2", r"100\text{ ft}^2", r"100\text{ m}^3"),
    ),
    (r"S_{10}=55", (r"55", r"S_{10}=55", r"S_{10} = 55.0"), (r"S_{11}=55", r"a_{10}=55", r"S_{10}=56", r"S_{10}>55")),
    (
        r"a_n=2n+1",
        (r"2n+1", r"a_{n}=1+2n", r"a_n=2(n-1)+3"),
        (r"b_n=2n+1", r"a_n=2n-1", r"a_n=n+2", r"a_{n+1}=2n+1", r"2n+1, n=3"),
    ),
    (r"f(2)=5", (r"5", r"f(2)=5.0", r"5=f(2)"), (r"f(3)=5", r"g(2)=5", r"f(5)=2", r"f(2)=-5")),
    (r"P(A)=\frac12", (r"\frac12", r"P(A)=0.5", r"50\%"), (r"P(B)=\frac12", r"P(A)=\frac13", r"P(A\cap B)=\frac12")),
    (
        r"\frac{dy}{dx}=2x",
        (r"2x", r"y'=2x", r"\frac{dy}{dx}=x+x"),
        (r"\frac{dx}{dy}=2x", r"\frac{dy}{dx}=x^2", r"y=2x", r"\frac{dy}{dt}=2x"),
    ),
    (
        r"\vec{AB}=(1,2)",
        (r"(1,2)", r"\overrightarrow{AB}=(1,2)", r"\langle 1,2\rangle"),
        (r"\vec{BA}=(1,2)", r"\vec{AC}=(1,2)", r"(2,1)", r"\vec{AB}=(-1,2)"),
    ),
    (
        r"\angle A=60^\circ",
        (r"60^\circ", r"60", r"m\angle A=60^\circ", r"\angle A = 60°"),
        (r"\angle B=60^\circ", r"\angle A=30^\circ", r"\angle A<60^\circ"),
    ),
    (
        r"0.\dot{1}\dot{2}",
        (r"\frac{12}{99}", r"\frac{4}{33}", r"0.\overline{12}"),
        (r"0.12", r"0.1\overline{2}", r"\frac{12}{100}"),
    ),
    (
        r"\sqrt2",
        (r"1.414214", r"2^{1/2}", r"2^{0.5}", r"\sqrt{2}\approx1.414", r"1.41421356"),
        (r"1.41", r"1.414", r"2", r"1.414215", r"-\sqrt2"),
    ),
    (
        r"x\approx 3.14159",
        (r"3.14159", r"x\approx3.14159", r"x=3.14159"),
        (r"3.14", r"x\approx3.15", r"y\approx3.14159"),
    ),
    (
        r"\frac{(x+1)^3}{3}+C",
        (r"\frac13(x+1)^3+C", r"\frac{x^3}{3}+x^2+x+C", r"\frac{1}{3}(1+x)^3+c"),
        (r"\frac{(x+1)^2}{3}+C", r"\frac{x^3}{3}+C", r"\frac{(x+1)^3}{3}", r"\frac{x^3}{3}+x^2-x+C"),
    ),
    (r"\sin^2 x+C", (r"-\cos^2x+C", r"C-\cos^2 x", r"-\frac12\cos2x+C"), (r"\cos^2 x+C", r"\sin^2 x", r"\sin 2x+C")),
    (r"y=Ce^{2x}", (r"y=ce^{2x}", r"Ce^{2x}", r"y=Ae^{2x}"), (r"y=e^{2x}", r"y=Ce^{x}", r"y=Ce^{-2x}", r"y=e^{2x}+C")),
    (
        r"a=2, b=3, c=5",
        (r"(a,b,c)=(2,3,5)", r"b=3, a=2, c=5", r"(2,3,5)", r"a=2,\ b=3\text{ and }c=5"),
        (r"a=3, b=2, c=5", r"(5,3,2)", r"a=2,b=3", r"a=2, b=3, d=5", r"a=2,b=3,c=-5"),
    ),
    (
        r"\frac{\sqrt3}{2}",
        (r"\sqrt{3}/2", r"\sqrt{\frac34}", r"\frac{\sqrt 3}2", r"\frac{3}{2\sqrt3}", r"\sin 60^\circ"),
        (r"\sqrt{\frac32}", r"\frac{3}{2}", r"\sqrt{3/2}", r"\frac{2}{\sqrt3}", r"0.87"),
    ),
    (
        r"\text{I and III}",
        (r"\text{I, III}", r"\text{III and I}", r"I, III"),
        (r"\text{I and II}", r"\text{I}", r"\text{I, II and III}"),
    ),
    (r"ACD", (r"A, C, D", r"ACD", r"A、C、D", r"\text{ACD}"), (r"AC", r"ABCD", r"ABD", r"A, C, E")),
    (r"\text{undefined}", (r"\text{Undefined}", r"undefined"), (r"0", r"\infty", r"\text{defined}")),
    (
        r"x+2y-3=0",
        (r"-x-2y+3=0", r"x+2y=3", r"y=\frac{3-x}{2}", r"2x+4y-6=0"),
        (r"x-2y-3=0", r"x+2y+3=0", r"x+2y-3", r"2x+y-3=0", r"x+2y>3"),
    ),
    (
        r"r=2\cos\theta",
        (r"r=2\cos(\theta)", r"2\cos\theta=r", r"\frac r2=\cos\theta"),
        (r"r=2\sin\theta", r"r=\cos2\theta", r"r=2\cos\phi", r"r=-2\cos\theta"),
    ),
    (
        r"[1,3]\cup\{5\}",
        (r"\{5\}\cup[1,3]", r"1\le x\le3\text{ or }x=5"),
        (r"[1,5]", r"[1,3]", r"\{1,3,5\}", r"(1,3)\cup\{5\}"),
    ),
    (
        r"x<-1\text{ or }0<x<2",
        (r"(-\infty,-1)\cup(0,2)", r"0<x<2\text{ or }x<-1", r"x\in(-\infty,-1)\cup(0,2)"),
        (r"(-\infty,-1]\cup(0,2)", r"x<-1", r"-1<x<2", r"(-\infty,-1)\cup(0,2]"),
    ),
    (
        r"(2,3)\text{ and }(4,5)",
        (r"(4,5),(2,3)", r"(2,3),(4,5)", r"(2,3);(4,5)"),
        (r"(3,2),(5,4)", r"(2,4),(3,5)", r"(2,3)", r"2,3,4,5"),
    ),
    (r"10_{3}", (r"10_3", r"(10)_3"), (r"10_4", r"11_3", r"3_{4}")),
    (r"7\pmod{12}", (r"19\pmod{12}", r"x\equiv7\pmod{12}"), (r"7\pmod{11}", r"8\pmod{12}", r"x\equiv-7\pmod{12}")),
    (
        r"x\equiv 2,3\pmod 5",
        (r"x\equiv 3,2\pmod 5", r"x \equiv 2, 3 \pmod{5}", r"x\equiv2\pmod5\text{ or }x\equiv3\pmod5"),
        (r"x\equiv 2\pmod 5", r"x\equiv 2,4\pmod 5", r"x\equiv2,3\pmod7"),
    ),
    (r"n=6k\pm1", (r"n=6k+1\text{ or }n=6k-1", r"6k\pm1"), (r"n=6k+1", r"n=6k", r"n=3k\pm1")),
    (
        r"-\frac{3}{4}",
        (r"\frac{-3}{4}", r"\frac{3}{-4}", r"- 3/4", r"-0.75", r"-.75", r"–\frac34", r"−0.75"),
        (r"\frac34", r"-\frac43", r"--\frac34", r"\frac{-3}{-4}"),
    ),
    (
        r"13{,}000",
        (r"13000", r"13,000", r"13\,000", r"1.3\times10^4", r"13\text{ thousand}"),
        (r"13", r"13.0", r"1300", r"13,00"),
    ),
    (r"-5", (r"-5", r"(-5)", r"−5", r"x=-5", r"- 5"), (r"5", r"|-5|", r"-(-5)", r"5-", r"+5")),
    (
        r"72",
        (r"72", r"\mathbf{72}", r"072", r"72.", r"\text{72}", r"72\text{ people}", r"8\cdot9", r"\fbox{72}"),
        (r"7\cdot2", r"27", r"7^2", r"72!", r"\text{seventy}", r"720", r"7 2"),
    ),
    (r"(0,0)", (r"(0, 0)", r"\left(0,0\right)", r"x=0,y=0"), (r"(0,1)", r"0", r"(0,0,0)", r"\{0,0\}")),
    (
        r"\left(\frac12,-\sqrt3\right)",
        (r"(0.5,-\sqrt3)", r"\left(\frac{1}{2}, -\sqrt{3}\right)"),
        (r"\left(\frac12,\sqrt3\right)", r"\left(-\sqrt3,\frac12\right)", r"\frac12-\sqrt3"),
    ),
    (r"2x^2+3x-5", (r"(2x+5)(x-1)", r"3x+2x^2-5"), (r"(2x-5)(x+1)", r"2x^2+3x+5", r"2x^3+3x-5")),
    (r"(x-1)(x+2)", (r"x^2+x-2", r"(x+2)(x-1)"), (r"(x+1)(x-2)", r"(1,-2)", r"x=1\text{ or }x=-2", r"x^2+x+2")),
    (
        r"\{x\mid x=2k, k\in\mathbb{Z}\}",
        (r"\{2k\mid k\in\mathbb{Z}\}", r"\{x : x=2n, n\in\mathbb{Z}\}"),
        (r"\{x\mid x=3k, k\in\mathbb{Z}\}", r"\{2\}", r"\{2k\mid k\in\mathbb{N}\}"),
    ),
    (
        r"A=\{1,2\}, B=\{3\}",
        (r"A=\{2,1\}, B=\{3\}", r"B=\{3\}, A=\{1,2\}"),
        (r"A=\{3\}, B=\{1,2\}", r"A=\{1,2\}", r"A=\{1,2\}, C=\{3\}"),
    ),
    (r"AB\parallel CD", (r"AB \parallel CD", r"AB // CD"), (r"AB\perp CD", r"AB\parallel CE", r"AB")),
    (r"\text{March 5}", (r"\text{march 5}", r"March 5"), (r"\text{March 6}", r"\text{May 5}", r"5")),
    (r"O(n\log n)", (r"O(n \log n)", r"\mathcal{O}(n\log n)"), (r"O(n)", r"O(n^2)", r"O(\log n)")),
    (
        r"y=\pm\sqrt{x}",
        (r"y=\sqrt{x}\text{ or }y=-\sqrt{x}", r"\pm\sqrt{x}"),
        (r"y=\sqrt x", r"y=-\sqrt x", r"y=\pm x", r"x=\pm\sqrt y"),
    ),
    (
        r"\tan\alpha=\frac34",
        (r"\frac34", r"\tan \alpha=0.75"),
        (r"\tan\beta=\frac34", r"\tan\alpha=\frac43", r"\sin\alpha=\frac34"),
    ),
    (r"m:n=2:3", (r"2:3", r"\frac mn=\frac23", r"m:n=4:6"), (r"n:m=2:3", r"3:2", r"m:p=2:3")),
    (r"2,4,6,\ldots", (r"2,4,6,\dots", r"2, 4, 6, ..."), (r"2,4,6", r"2,4,8,\ldots", r"1,2,3,\ldots")),
    (
        r"4.5\times10^2\text{ N}",
        (r"450\text{ N}", r"0.45\text{ kN}", r"450"),
        (r"45\text{ N}", r"4.5\text{ kN}", r"450\text{ J}"),
    ),
    (r"\frac{3}{x}", (r"3/x", r"3x^{-1}", r"\frac{6}{2x}"), (r"\frac{x}{3}", r"3x", r"\frac{3}{y}", r"-\frac3x")),
    (r"x^{2y}", (r"x^{2 y}", r"x^{y+y}"), (r"x^2y", r"x^{y^2}", r"2x^y", r"x^{2+y}")),
    (r"\sqrt{x+1}", (r"(x+1)^{1/2}", r"\sqrt{1+x}"), (r"\sqrt{x}+1", r"x+1", r"\sqrt{x-1}", r"\pm\sqrt{x+1}")),
    (r"a_1=1,a_2=3", (r"a_2=3,a_1=1", r"a_1=1\text{ and }a_2=3"), (r"a_1=3,a_2=1", r"b_1=1,b_2=3", r"a_1=1")),
    (
        r"17\text{ cows and }5\text{ hens}",
        (r"17\text{ cows, }5\text{ hens}", r"5\text{ hens and }17\text{ cows}"),
        (r"5\text{ cows and }17\text{ hens}", r"17\text{ cows}", r"22"),
    ),
    (
        r"f(x)=x^2",
        (r"x^2", r"f(x)=x\cdot x", r"f(t)=t^2", r"y=x^2"),
        (r"f(x)=x^3", r"f(x)=2x", r"f(x)=-x^2", r"f(2)=4"),
    ),
    (r"\mathrm{pH}=7", (r"7", r"\text{pH}=7", r"pH = 7"), (r"\mathrm{pH}=8", r"\mathrm{pOH}=7", r"-7")),
    (r"\text{CH}_3\text{COOH}", (r"CH_3COOH", r"\mathrm{CH_3COOH}"), (r"CH_3COO", r"C_2H_5OH", r"\mathrm{CH_3CHO}")),
    (r"\text{Fe}^{3+}", (r"\mathrm{Fe^{3+}}", r"Fe^{3+}"), (r"\mathrm{Fe^{2+}}", r"\mathrm{Fe}", r"\mathrm{Cu^{3+}}")),
    (
        r"\text{SO}_4^{2-}",
        (r"\mathrm{SO_4^{2-}}", r"SO_4^{2-}"),
        (r"\mathrm{SO_3^{2-}}", r"\mathrm{SO_4^{-}}", r"\mathrm{PO_4^{2-}}"),
    ),
)


UNSEEN_CONTESTS: Table = (
    (
        r"[1,4]\setminus\{2\}",
        (r"[1,2)\cup(2,4]", r"1\le x\le4\text{ and }x\ne2", r"\{x\mid 1\le x\le 4, x\neq 2\}"),
        (r"[1,4]", r"[1,2)\cup[2,4]", r"(1,2)\cup(2,4)", r"1\le x\le 4\text{ or }x\ne2"),
    ),
    (
        r"\mathbb{R}\setminus\{-1,1\}",
        (r"x\ne1, x\ne-1", r"(-\infty,-1)\cup(-1,1)\cup(1,\infty)", r"x\ne\pm1"),
        (r"x\ne1", r"(-\infty,-1)\cup(1,\infty)", r"\{-1,1\}"),
    ),
    (
        r"(-\infty,0]\cup[2,\infty)",
        (r"x\le0\text{ or }x\ge2", r"\mathbb{R}\setminus(0,2)"),
        (r"\mathbb{R}\setminus[0,2]", r"x\le0\text{ or }y\ge2", r"0\le x\le2"),
    ),
    (
        r"\{0\}\cup[3,5)",
        (r"x=0\text{ or }3\le x<5", r"[3,5)\cup\{0\}"),
        (r"[0,5)", r"x=0\text{ and }3\le x<5", r"\{0,3\}\cup(3,5]"),
    ),
    (
        r"1\text{ hour }45\text{ minutes}",
        (
            r"1\text{ hour and }45\text{ minutes}",
            r"105\text{ minutes}",
            r"1.75\text{ hours}",
            r"1\text{ h},\ 45\text{ min}",
        ),
        (
            r"145\text{ minutes}",
            r"45\text{ minutes and }1\text{ hour and }1\text{ minute}",
            r"1\text{ hour and }54\text{ minutes}",
        ),
    ),
    (
        r"45^\circ30'",
        (r"45.5^\circ", r"45^\circ 30'0''", r"45^{\circ}30'"),
        (r"45.3^\circ", r"30^\circ45'", r"45^\circ31'"),
    ),
    (r"3\text{rd}", (r"3rd", r"3^{\text{rd}}", r"3^{rd}", r"3"), (r"2nd", r"3\text{ cm}", r"4^{th}")),
    (
        r"0.2\dot{7}",
        (r"\frac{5}{18}", r"0.2\overline{7}", r"0.2\dot7"),
        (r"0.\dot{2}\dot{7}", r"0.27", r"\frac{3}{11}"),
    ),
    (
        r"0.\dot{1}4285\dot{7}",
        (r"\frac17", r"0.\overline{142857}"),
        (r"0.142857\dot{7}", r"0.\overline{14285}", r"\frac{1}{8}"),
    ),
    (
        r"C_8^3",
        (r"56", r"\binom83", r"C_{8}^{3}", r"\mathrm{C}_8^3", r"C(8,5)"),
        (r"C_8^4", r"C_7^3", r"336", r"\frac83"),
    ),
    (r"A_6^2", (r"30", r"6\times5", r"\frac{6!}{4!}"), (r"15", r"A_6^3", r"36")),
    (r"\cos B=\frac13", (r"\frac13", r"\cos B = 1/3"), (r"\cos A=\frac13", r"\sin B=\frac13", r"\cos B=3")),
    (
        r"\cos\angle ABC=\frac12",
        (r"\frac12", r"\cos \angle ABC = 0.5"),
        (r"\cos\angle ABD=\frac12", r"\cos\angle ABC=-\frac12"),
    ),
    (
        r"\text{Cu}^{2+}",
        (r"\mathrm{Cu}^{2+}", r"\mathrm{Cu^{2+}}", r"Cu^{2+}", r"\ce{Cu^2+}"),
        (r"\mathrm{Cu^{+}}", r"\mathrm{Co^{2+}}", r"\mathrm{Cu^{2-}}"),
    ),
    (
        r"\mathrm{NH_4^+}",
        (r"\text{NH}_4^+", r"NH_4^+", r"\mathrm{NH_4^{+}}"),
        (r"\mathrm{NH_3}", r"\mathrm{NH_4^-}", r"\mathrm{NH_2^+}"),
    ),
    (
        r"\mathrm{Ca(OH)_2}",
        (r"\text{Ca(OH)}_2", r"\mathrm{Ca}(\mathrm{OH})_2"),
        (r"\mathrm{Ca(OH)_3}", r"\mathrm{Mg(OH)_2}", r"\mathrm{CaOH_2}"),
    ),
    (r"x^2+3x+C", (r"x(x+3)+C", r"(x+1)(x+2)+C", r"C+x^2+3x"), (r"x^2+3x", r"x^2+2x+C", r"2x+3+C")),
    (r"-\ln|\cos x|+C", (r"\ln|\sec x|+C", r"C-\ln|\cos x|"), (r"\ln|\cos x|+C", r"\ln|\sin x|+C", r"\tan x+C")),
    (r"a+b+c", (r"c+b+a",), (r"a+b+c+1", r"a+b", r"a+b+C+1")),
    (r"y=C e^{-x}", (r"y=Ae^{-x}", r"y=ke^{-x}", r"y=\frac{C}{e^x}"), (r"y=Ce^{x}", r"y=C+e^{-x}", r"y=e^{-x}")),
    (
        r"x\equiv1,4\pmod{5}",
        (r"x\equiv4,1\pmod 5", r"x\equiv1\pmod5\text{ or }x\equiv4\pmod5"),
        (r"x\equiv1,3\pmod5", r"x\equiv1\pmod5", r"x\equiv1,4\pmod{10}"),
    ),
    (
        r"\{x\mid x=3k+1, k\in\mathbb{Z}\}",
        (r"\{3n+1\mid n\in\mathbb{Z}\}", r"\{x: x=3m+1, m\in\mathbb{Z}\}"),
        (r"\{3n+2\mid n\in\mathbb{Z}\}", r"\{3n+1\mid n\in\mathbb{N}\}", r"\{x\mid x=3x+1\}"),
    ),
    (
        r"\frac{\pi}{3}+2k\pi, k\in\mathbb{Z}",
        (r"x=\frac{\pi}{3}+2k\pi, k\in\mathbb{Z}", r"x=2n\pi+\frac\pi3, n\in\mathbb{Z}"),
        (r"x=\frac{\pi}{3}+k\pi, k\in\mathbb{Z}", r"\frac\pi3, k\in\mathbb{Z}"),
    ),
    (r"a\perp b", (r"b\perp a",), (r"a\parallel b", r"a\perp c")),
    (r"BD", (r"B, D", r"D, B", r"BD"), (r"B", r"B, C", r"ABD")),
    (r"②④", (r"②④", r"②、④", r"④②"), (r"②③", r"24", r"②③④", r"②")),
    (
        r"3,7",
        (r"7,3", r"x=3\text{ or }x=7", r"x_1=7,x_2=3", r"\{3,7\}", r"(3,7)"),
        (r"x=3,y=7", r"a=7, b=3", r"m=3,n=7", r"x_1=3,y_1=7"),
    ),
    (r"m=3,n=7", (r"3,7", r"(m,n)=(3,7)", r"n=7, m=3"), (r"7,3", r"m=3\text{ or }n=7", r"m=3", r"\{3,7\}", r"m=7,n=3")),
    (
        r"\text{No solutions}",
        (r"\text{no solution}", r"无解", r"\text{There is no solution}"),
        (r"\text{one solution}", r"0", r"\text{no}"),
    ),
    (r"12.5\text{ per cent}", (r"12.5\%", r"0.125", r"\frac18"), (r"125\%", r"1.25\%")),
    (r"{3 \over 8}", (r"\frac38", r"0.375", r"3/8"), (r"\frac83", r"38")),
    (r"75¢", (r"75\text{ cents}", r"\$0.75"), (r"\$75", r"57¢")),
    (
        r"36\text{ sq. ft}",
        (r"36\text{ ft}^2", r"36\text{ square feet}", r"36"),
        (r"36\text{ ft}", r"36\text{ cu. ft}", r"63\text{ sq. ft}"),
    ),
    (r"1,4,9,\ldots", (r"1, 4, 9, ...", r"1,4,9,\dots"), (r"1,4,9", r"1,4,8,\ldots")),
)


def contest_boxes(chance: random.Random) -> Made:
    """Boxed answers."""
    yield from made(CONTESTS)
    yield from made(PHYSICS_AND_WORDS)


def unseen_contest_boxes(chance: random.Random) -> Made:
    """Boxed answers of the kinds that were mended."""
    yield from made(UNSEEN_CONTESTS)
