"""Formulas of chemistry, in which letters are elements: ``\\text{Fe}^{3+}``, ``\\mathrm{C_6H_{12}O_6}``."""

import re
from typing import Final

ELEMENTS: Final = {
    "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar", "K", "Ca",
    "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",
    "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I", "Xe", "Cs", "Ba", "La", "Ce",
    "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W", "Re", "Os", "Ir",
    "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U", "Np", "Pu", "Am", "Cm",
    "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr",
}  # fmt: skip
_MARKED = re.compile(r"\\(?:text|textrm|mathrm|rm|ce)(?![A-Za-z])")
_LOOKS = re.compile(r"\\(?:text|textrm|mathrm|rm|ce|left|right)(?![A-Za-z])|\\[,;:! ]|[{}_\s$]")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?\d{0,3}|[()]\d{0,3}){1,60}(\^\d?[+-])?")
_ELEMENT = re.compile(r"[A-Z][a-z]?")
_LONGEST = 200


def chemical_formula(text: str) -> str | None:
    """A formula without what only changes how it looks, such as ``SO4^2-``; None if ``text`` is none.

    Without a charge, only what is set upright and has several elements is one: ``P_1P_2`` is a product.
    """
    if len(text) > _LONGEST:
        return None
    plain = _LOOKS.sub("", text)
    match = _FORMULA.fullmatch(plain)
    if match is None or not any(sign.isalpha() for sign in plain):
        return None
    elements = _ELEMENT.findall(plain)
    if not ELEMENTS.issuperset(elements):
        return None
    upright = (
        _MARKED.search(text) is not None and any(sign in text for sign in "_0123456789") and len(set(elements)) > 1
    )
    return plain if match[1] or upright else None
