"""Characters of answers: Unicode's many signs, written as the LaTeX or ASCII that means the same."""

import re
import unicodedata

_INVISIBLE = dict.fromkeys(
    [0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
)
_SIGNS = {
    "−": "-", "–": "-", "‐": "-", "‑": "-", "—": "-", "﹣": "-", "－": "-",
    "×": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ", "∙": r"\cdot ", "•": r"\cdot ", "÷": r"\div ", "∗": "*", "∕": "/",
    "⁄": "/", "±": r"\pm ", "∓": r"\mp ", "√": r"\sqrt ", "∞": r"\infty ", "π": r"\pi ", "≤": r"\le ", "≦": r"\le ",
    "⩽": r"\le ", "≥": r"\ge ", "≧": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ",
    "∈": r"\in ", "∪": r"\cup ", "∩": r"\cap ", "∅": r"\emptyset ", "∖": r"\setminus ", "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "∣": "|", "∥": r"\|",
    "°": r"^{\circ}", "º": r"^{\circ}", "℃": r"^{\circ}\text{C}", "℉": r"^{\circ}\text{F}", "…": r"\ldots ",
    "′": "'", "″": "''", "，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "∶": ":", "【": "[", "】": "]",
    "〔": "[", "〕": "]", "“": '"', "”": '"', "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
    "→": r"\to ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\epsilon ",
    "θ": r"\theta ", "λ": r"\lambda ", "μ": r"\mu ", "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "φ": r"\phi ",
    "¢": r"\text{ cents}", "⊥": r"\perp ", "ϕ": r"\phi ", "ω": r"\omega ", "Δ": r"\Delta ", "Ω": r"\Omega ",
}  # fmt: skip
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ"
_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
_RUN_ABOVE = re.compile(f"[{_SUPERSCRIPTS}]+")
_RUN_BELOW = re.compile(f"[{_SUBSCRIPTS}]+")
_LOWERED = str.maketrans(_SUPERSCRIPTS, "0123456789+-ni")
_RAISED = str.maketrans(_SUBSCRIPTS, "0123456789")
_THIN_SPACES = dict.fromkeys((0x2009, 0x202F, 0x2006, 0x2008, 0x200A), "\\,")
_OTHER = re.compile(r"[^\x00-\x7f]")
_BETWEEN_CIRCLES = re.compile("(?<=[①-⑳])(?=[①-⑳])")
"""①③ names two statements, and is no thirteen."""


def ascii_mathematics(text: str) -> str:
    """``text`` without invisible characters, its mathematical signs, digits and full-width forms in ASCII or LaTeX."""
    if text.isascii():
        return text
    text = text.translate(_INVISIBLE).translate(_THIN_SPACES)
    text = _RUN_ABOVE.sub(lambda run: f"^{{{run.group().translate(_LOWERED)}}}", text)
    text = _RUN_BELOW.sub(lambda run: f"_{{{run.group().translate(_RAISED)}}}", text)
    return _OTHER.sub(_one, _BETWEEN_CIRCLES.sub(", ", text))


def _one(match: re.Match[str]) -> str:
    sign = match.group()
    if (known := _SIGNS.get(sign)) is not None:
        return known
    if (digit := unicodedata.decimal(sign, None)) is not None:
        return str(digit)
    if sign.isspace():
        return " "
    plain = unicodedata.normalize("NFKC", sign)
    if "⁄" in plain:  # ½ is 1⁄2
        over, _, under = plain.partition("⁄")
        return rf"\frac{{{over}}}{{{under}}}" if over and under else sign
    return plain if plain.isascii() else sign
