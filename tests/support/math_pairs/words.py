"""Families of units, choices, text, other scripts, LaTeX's quirks, and whole completions."""

import random

from tests.support.math_pairs.pair import Made


def units(chance: random.Random) -> Made:
    """Units: one side may leave them out; where both have one, they must agree after conversion."""
    for _ in range(8):
        n = chance.randrange(2, 90)
        yield str(n), rf"{n}\text{{ cm}}", True
        yield rf"{n}\text{{ cm}}", f"{n}", True
        yield rf"{n}\text{{ cm}}^2", rf"{n} \text{{ square centimeters}}", True
        yield rf"{n}\text{{ km}}", rf"{n}000\text{{ m}}", True
        yield f"{n} km", rf"{n}\,\mathrm{{km}}", True
        yield rf"{n}\text{{ hours}}", rf"{n * 60} \text{{ min}}", True
        yield rf"\${n}", f"{n} dollars", True
        yield f"{n}", rf"\${n}", True
        yield f"{n} apples", f"{n}", True
        yield rf"{n}^\circ", f"{n}", True
        yield rf"{n}\text{{ m/s}}", rf"{n}\ \mathrm{{m\,s^{{-1}}}}", True
        yield f"{n} km", f"{n} m", False
        yield rf"{n}\text{{ cm}}", rf"{n}\text{{ cm}}^2", False
        yield rf"{n}\text{{ km}}", rf"{n}00\text{{ m}}", False
        yield rf"{n}\text{{ hours}}", rf"{n} \text{{ min}}", False
        yield rf"\${n}", f"{n} cents", False
        yield rf"\${n}", f"€{n}", False
        yield f"{n} apples", f"{n} oranges", False
        yield f"{n} apples", f"{n + 1} apples", False
        yield rf"{n}^\circ", rf"{n + 1}^\circ", False
        yield rf"{n}\text{{ m/s}}", rf"{n}\text{{ m}}", False
        yield rf"{n}\text{{ kg}}", rf"{n}\text{{ g}}", False


def choices(chance: random.Random) -> Made:
    """Letters of multiple choice in boxes."""
    for letter in "ABCDE":
        other = chance.choice([one for one in "ABCDE" if one != letter])
        for form in ("({})", r"\text{{{}}}", r"\textbf{{({})}}", "{}.", "({}) 42", r"\text{{({})}}", "{})"):
            yield letter, form.format(letter), True
            yield letter, form.format(other), False
        yield f"({letter})", letter, True
        yield rf"\text{{({letter})}}", f"{letter}", True
        yield f"({letter})", other, False
        yield letter, f"{letter}, {other}", False


def texts(chance: random.Random) -> Made:
    """Words: neither case nor spacing counts, each word does."""
    words = [
        "Evelyn",
        "Monday",
        "parallel",
        "no solution",
        "Infinitely many",
        "square",
        "odd",
        "even",
        "red",
        "increasing",
    ]
    for word in words:
        other = chance.choice([one for one in words if one != word])
        yield rf"\text{{{word}}}", word, True
        yield word, rf"\text{{ {word.lower()} }}", True
        yield rf"\text{{{word}}}", rf"\textbf{{{word.upper()}}}", True
        yield word, f"{word}.", True
        yield rf"\text{{{word}}}", other, False
        yield word, rf"\text{{not {word}}}", False
        yield word, word[:-1], False
        yield word, "7", False
    yield "yes", "no", False
    yield "no", "on", False
    yield "Alice and Bob", "Bob, Alice", True
    yield "Alice and Bob", "Alice", False
    yield "x" * 2300 + "1", "x" * 2300 + "2", False
    yield "1" * 2300 + "1", "1" * 2300 + "2", False
    yield "1" * 2300 + "1", "1" * 2300 + "1", True


def scripts(chance: random.Random) -> Made:
    """Full-width signs, digits of other alphabets, invisible characters, Unicode's mathematics."""
    for _ in range(7):
        n = chance.randrange(12, 98)
        wide = "".join(chr(ord(digit) + 0xFEE0) for digit in str(n))
        yield str(n), wide, True
        yield str(n), f"\u200b{n}\u200b", True
        yield str(n), f"{str(n)[0]}\u200d{str(n)[1]}", True
        yield f"({n}, 3)", f"（{n}，3）", True
        yield f"{n}, 3", f"{n}、3", True
        yield rf"\sqrt{{{n}}}", f"√{n}", True
        yield rf"{n}\pi", f"{n}π", True
        yield f"{n}", f"{n}元", True
        yield f"{n}", f"答案是{n}", True
        yield rf"[{n},\infty)", f"[{n}, ∞)", True
        yield f"x^2+{n}", f"x²+{n}", True
        yield str(n), "".join(chr(ord(digit) + 0xFEE0) for digit in str(n + 1)), False
        yield str(n), f"{str(n)[0]}\u3000{str(n)[1]}", False
        yield f"({n}, 3)", f"（3，{n}）", False
        yield f"{n}, 3", f"{n}、4", False
        yield rf"\sqrt{{{n}}}", f"{n}", False
        yield rf"{n}\pi", f"{n + 1}π", False
        yield f"{n}", f"答案是{n + 1}", False
        yield rf"({n},\infty)", f"[{n}, ∞)", False
        yield f"x^2+{n}", f"x³+{n}", False
        yield f"{n}", f"−{n}", False
        yield "日本", "中国", False


def latex(chance: random.Random) -> Made:
    """Commands that change nothing, and those that do."""
    for _ in range(7):
        n, m = chance.sample(range(2, 60), 2)
        yield f"{n}", f"${n}$", True
        yield f"{n}", rf"\({n}\)", True
        yield rf"\frac{{{n}}}{{7}}", rf"\displaystyle\frac{{{n}}}{{7}}", True
        yield rf"\left({n},{m}\right)", rf"\bigl({n},\,{m}\bigr)", True
        yield f"{n}", rf"\boxed{{{n}}}", True
        yield f"{n}", rf"\mathbf{{{n}}}", True
        yield f"{n}", rf"\color{{red}}{{{n}}}", True
        yield f"{n}", rf"\textcolor{{red}}{{{n + 1}}}", False
        yield f"{n}", rf"\approx {n}", True
        yield f"{n}", rf"\approx {n + 1}", False
        yield f"{n}", rf"\text{{{n}}}", True
        yield f"{n}", f"**{n}**", True
        yield f"{n}x", rf"{n}\,x", True
        yield f"{n}", rf"\text{{Answer: }}{n}", True
        yield f"{n}", f"{n}.", True
        yield rf"\frac{{{n}}}{{7}}", rf"\displaystyle\frac{{{n}}}{{8}}", False
        yield f"{n}", f"x_{{{n}}}", False
        yield f"{n}", rf"2^{{{n}}}", False
        yield f"{n}", rf"\frac{{{m}}}{{{n}}}", m == n * n
        yield f"{n}", rf"{m}, {n}", False
        yield f"{n}", rf"{m}\quad {n}", False
        yield f"{n}", rf"\frac{{{n}}}{{", False
        yield f"{n}x", rf"{n}\,y", False
        yield f"{n}", rf"\text{{Answer: }}{m}", False
        yield f"{n}{m}", rf"{n}\;{m}", False
        yield f"{n}", rf"{n}_2 + 1", False


def completions(chance: random.Random) -> Made:
    """Whole completions: the answer stands where prompts ask for it."""
    for _ in range(8):
        n, m = chance.sample(range(12, 98), 2)
        yield f"{n}", rf"First \boxed{{{m}}}. No, it is \boxed{{{n}}}.", True
        yield f"{n}", f"{m} + {n - m} = {n}\n#### {n}", True
        yield f"{n}", f"We add {m}.\nThe answer is {n}.", True
        yield f"{n}", f"We add {m}.\n**Final answer:** {n} apples", True
        yield f"{n}", f"<answer>{n}</answer> I used {m} steps.", True
        yield f"{n}", f"So she has {n} apples.", True
        yield rf"\frac{{{n}}}{{7}}", rf"Therefore $x = \frac{{{n}}}{{7}}$.", True
        yield f"{n}, {m}", rf"\boxed{{{m}}} and \boxed{{{n}}}", True
        yield f"{n}", f"所以答案是{n}。", True
        yield f"{n}", rf"First \boxed{{{n}}}. No, it is \boxed{{{m}}}.", False
        yield f"{n}", f"{n} + {m}\n#### {n + m}", False
        yield f"{n}", f"We add {n}.\nThe answer is {m}.", False
        yield f"{n}", f"We add {n}.\n**Final answer:** {m} apples", False
        yield f"{n}", f"<answer>{m}</answer> I used {n} steps.", False
        yield "7", rf"Therefore $x = \frac{{{n}}}{{7}}$.", n == 49
        yield f"{n}", rf"\boxed{{{m}}} or \boxed{{{n}}}", False
        yield f"{n}", rf"\boxed{{{n}", False
        yield f"{n}", f"The answer is {n} or {m}.", False
