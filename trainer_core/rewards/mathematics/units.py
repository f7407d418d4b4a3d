"""Units of measurement: what words stand for which, and how much of the base unit each is."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

_METRE: Final = {
    "m": ("1", "metre meter metres meters"), "km": ("1000", "kilometre kilometer kilometres kilometers"),
    "cm": ("1/100", "centimetre centimeter centimetres centimeters"),
    "mm": ("1/1000", "millimetre millimeter millimetres millimeters"),
    "dm": ("1/10", "decimetre decimeter"), "nm": ("1/1000000000", "nanometre nanometer nanometers"),
    "in": ("127/5000", "inch inches"), "ft": ("381/1250", "foot feet"), "yd": ("1143/1250", "yard yards yds"),
    "mi": ("201168/125", "mile miles"),
}  # fmt: skip
_SECOND: Final = {
    "s": ("1", "sec secs second seconds"), "ms": ("1/1000", "millisecond milliseconds"),
    "min": ("60", "mins minute minutes"), "h": ("3600", "hr hrs hour hours"), "day": ("86400", "days"),
    "week": ("604800", "weeks"),
}  # fmt: skip
_GRAM: Final = {
    "g": ("1", "gram grams"), "kg": ("1000", "kilogram kilograms"), "mg": ("1/1000", "milligram milligrams"),
    "lb": ("45359237/100000", "lbs pound_mass pounds pound"), "oz": ("45359237/1600000", "ounce ounces"),
    "ton": ("1000000", "tons tonne tonnes"),
}  # fmt: skip
_LITRE: Final = {"L": ("1", "l litre liter litres liters"), "mL": ("1/1000", "ml millilitre milliliter milliliters")}
_DOLLAR: Final = {"dollar": ("1", "dollars $ USD"), "cent": ("1/100", "cents ¢")}
_OTHERS: Final = (
    "degree degrees deg ° 度", "radian radians rad", "percent percentage % pct", "euro euros € EUR",
    "pound-sterling £ GBP", "yen ¥ 円 yuan 元", "newton newtons N", "joule joules J", "watt watts W", "volt volts V",
    "ampere amperes amp amps A", "hertz Hz", "pascal pascals Pa", "kelvin K", "mole moles mol", "ohm ohms Omega",
    "celsius °C", "fahrenheit °F", "unit units", "person people persons", "child children", "man men", "woman women",
    "mph", "year years yr yrs", "month months", "am a.m", "pm p.m", "th st nd rd",
)  # fmt: skip
_PREFIXED: Final = {
    "newton": "kN mN MN", "joule": "kJ mJ MJ", "watt": "kW mW MW GW", "volt": "kV mV", "ampere": "mA",
    "hertz": "kHz MHz GHz", "pascal": "kPa MPa hPa GPa", "mole": "mmol kmol",
    "ohm": "kOmega mOmega MOmega",
}  # fmt: skip
_PREFIXES: Final = {
    "k": Fraction(1000), "M": Fraction(10**6), "G": Fraction(10**9), "h": Fraction(100), "m": Fraction(1, 1000),
}  # fmt: skip
MULTIPLIERS: Final = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "百": 100, "千": 1000, "万": 10**4, "亿": 10**8,
}  # fmt: skip
"""Words that multiply the number before them; they are no units."""
NO_UNITS: Final = {
    "factorial", "minus", "plus", "times", "over", "half", "halves", "third", "thirds", "quarter", "quarters", "fifths",
    "tenth", "tenths", "not", "through", "modulo", "mod", "base", "choose", "divided", "multiplied", "by", "less",
    "more", "than", "about", "negative", "imaginary", "pi",
}  # fmt: skip
"""Words behind a number that make it another one."""
SHORT: Final = {"cm", "km", "mm", "dm", "nm", "ft", "yd", "mi", "kg", "mg", "lb", "lbs", "oz", "mL", "ml", "hr", "hrs",
                "sec", "min", "mph", "deg", "rad", "USD", "Hz", "Pa", "mol", "pm", "am", "inch", "inches"}  # fmt: skip
"""Units of two letters or more that need not stand in ``\\text{}``."""


@dataclass(frozen=True, slots=True)
class _Unit:
    base: str
    scale: Fraction


def _table() -> dict[str, _Unit]:
    found: dict[str, _Unit] = {}
    for base, names in (("m", _METRE), ("s", _SECOND), ("g", _GRAM), ("L", _LITRE), ("dollar", _DOLLAR)):
        for name, (scale, others) in names.items():
            for one in (name, *others.split()):
                found[one] = _Unit(base, Fraction(scale))
    for line in _OTHERS:
        first, *more = line.split()
        for one in (first, *more):
            found[one] = _Unit(first, Fraction(1))
    for base, short in _PREFIXED.items():
        for one in short.split():
            found[one] = _Unit(base, _PREFIXES[one[0]])
    return found


_UNITS: Final[Mapping[str, _Unit]] = _table()
_SIZED: Final = {"square": 2, "squared": 2, "sq": 2, "sq.": 2, "cubic": 3, "cubed": 3, "cu": 3}


def power_word(word: str) -> int | None:
    """The power that "square" and "cubic" stand for; None for other words."""
    return _SIZED.get(word.casefold())


def is_known(word: str) -> bool:
    """Whether ``word`` is the name of a unit of this table."""
    return word in _UNITS or word.casefold() in _UNITS


def _unit(word: str) -> _Unit:
    word = word.rstrip(".") if len(word) > 2 else word
    if (known := _UNITS.get(word) or _UNITS.get(word.casefold())) is not None:
        return known
    name = word.casefold()
    name = name[:-3] + "y" if name.endswith("ies") else name
    return _Unit(name[:-1] if name.endswith("s") and not name.endswith("ss") and len(name) > 3 else name, Fraction(1))


def canonical(powers: Mapping[str, int]) -> tuple[str, Fraction]:
    """Base units with their powers as one text, and how many of them one of the given unit is.

    Args:
        powers: the words of a unit with their powers, such as ``{"km": 1, "h": -1}``.
    """
    bases: dict[str, int] = {}
    scale = Fraction(1)
    for word, exponent in powers.items():
        unit = _unit(word)
        bases[unit.base] = bases.get(unit.base, 0) + exponent
        scale *= unit.scale**exponent
    if bases.get("degree") == 1 and ("c" in bases or "f" in bases):
        return ("celsius" if "c" in bases else "fahrenheit"), Fraction(1)
    for name in ("celsius", "fahrenheit"):
        if bases in ({"degree": 1, name: 1}, {name: 1}):
            return name, Fraction(1)
    if bases == {"mph": 1}:
        return "m*s^-1", Fraction(201168, 125) / 3600
    told = "*".join(f"{base}^{power}" if power != 1 else base for base, power in sorted(bases.items()) if power)
    return told, scale
