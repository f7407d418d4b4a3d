"""Numbers in a text: in digits, or as English words if the other text has them in digits."""

import re

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
    "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100",
    "thousand": "1000", "dozen": "12", "once": "1", "twice": "2", "double": "2", "thrice": "3", "triple": "3",
    "half": "2", "third": "3", "quarter": "4",
}  # fmt: skip


def numbers_in(text: str) -> set[str]:
    """The numbers written in digits, without thousands separators and insignificant zeros."""
    return {_plain(found) for found in _NUMBER.findall(text)}


def spoken_in(text: str) -> set[str]:
    """The numbers that English words in a text may denote."""
    return {_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS}


def other_numbers(source: str, variation: str) -> str | None:
    """A sentence that names the numbers that occur in only one of two texts; None if there are none."""
    before, after = numbers_in(source), numbers_in(variation)
    lost = sorted(before - after - spoken_in(variation))
    new = sorted(after - before - spoken_in(source))
    if not lost and not new:
        return None
    parts = [f"lacks {', '.join(lost[:5])}"] if lost else []
    parts += [f"has {', '.join(new[:5])}, which its source lacks"] if new else []
    return f"It {' and '.join(parts)}."


def _plain(number: str) -> str:
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    whole, point, rest = number.partition(".")
    rest = rest.rstrip("0") if "." not in rest and "," not in rest else rest
    return (whole.lstrip("0") or "0") + (f"{point}{rest}" if rest else "")
