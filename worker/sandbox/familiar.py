r"""Answers of every kind, compared before the first job to warm up the parser and SymPy.

The LaTeX parser computes its decisions on first use and caches them. Jobs are forked from a process that has seen these
forms; otherwise each job would compute them again. Nor could a job load the modules that SymPy loads late if the
packages are under the host's ``/tmp``, which a job does not see.
"""

FAMILIAR = (
    # numbers
    (r"\frac{1}{2}+x", "x+0.5"),
    (r"2\frac{3}{4}", "2.75"),
    ("50%", r"50\%"),
    (r"90^\circ", "90+1"),
    # roots, powers, constants
    (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}"),
    (r"3\sqrt{13}", r"3\sqrt{13}+1"),
    (r"\frac{5 \pi^2}{4}", r"\frac{\pi}{2}-e^{2}"),
    (r"\frac{-1+\sqrt{5}}{2}", r"\frac{\sqrt{5}-1}{2}+1"),
    # algebra
    ("(x+1)^2", "x^2+2x+1"),
    (r"x^3+3x-6", r"x^{3}+3 x-5"),
    # functions
    (r"\sin(x)^2+\cos(x)^2", "1"),
    (r"\tan\theta+\cot \theta", r"\sec^2 x"),
    (r"\log_2 8+\ln x", r"3+\log x"),
    (r"|x-2|", r"\left|x\right|"),
    # complex numbers
    ("6 - 5i", "6 - 5i + 1"),
    # relations
    ("x=3", "3"),
    ("y = 2x + 3", "y=2x+4"),
    ("5x - 7y + 11z + 4 = 0", "5x-7y+11z+5=0"),
    (r"x \in [-2,7]", "[-2,7]"),
    (r"x \le 5", r"x \geq 5"),
    (r"-2 \leq x < 3", r"x > 1"),
    # sets, intervals, tuples, lists
    (r"\{1,2\}", r"\{2,1\}"),
    (r"1,-2", r"-2, 1+1"),
    (r"1 \pm \sqrt{19}", r"1+\sqrt{19},1-\sqrt{19}"),
    ("(0,1]", "[0,1)"),
    (r"(2,12) \cup (12,102)", r"(2,12) \cup (12,103]"),
    (r"(-\infty, -2] \cup [5, \infty)", r"(-\infty,3)"),
    (r"\left[ \frac{\pi^2}{8}, \frac{5 \pi^2}{4} \right]", r"\left(0,\pi\right)"),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\pi)"),
    (r"(6,31,-1)", r"\left( \frac{3}{5}, \frac{8}{3}, 1 \right)"),
    (r"(-\sqrt{3}, \sqrt{3})", r"(-\sqrt{3}, \sqrt{3})+1"),
    # matrices
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\3\end{pmatrix}"),
    # words
    (r"\text{Evelyn}", r"\text{Ada}"),
    (r"\text{(C)}", "C"),
)
