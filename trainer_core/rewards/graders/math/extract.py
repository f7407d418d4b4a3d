"""Finds the final answer in a text. Linear time, whatever the text."""

import re
from dataclasses import dataclass

from trainer_core.rewards.graders.math import latex_numbers
from trainer_core.rewards.graders.math.numeric import NUMBER
from trainer_core.rewards.mathematics.tokens import closing
from trainer_core.rewards.mathematics.tree import UnreadableError
from trainer_core.rewards.mathematics.units import is_known

_BOX = re.compile(r"\\(?:boxed|fbox)\s*")
_UNBRACED = re.compile(r"[^\s{}$\\]+")
_JOINING_WORD = re.compile(r"(?:and|or|和|或|、|;|&)")
_JOIN = re.compile(
    r"(?:[\s$,;&、]|\\[()\[\],; ]|\\q?quad|\\text\s*\{\s*(?:and|or)\s*\}|\b(?:and|or)\b|和|或|[A-Za-z](?:_\w)?\s*=)*"
)
_NAME = re.compile(r"(?<![A-Za-z\\])([A-Za-z](?:_\w)?)\s*=\s*\$?\s*$")
_STATEMENT = re.compile(
    r"\b(?:final\s+)?answers?\**\s*(?:is\b|are\b|:|=)[:*\s]*|(?:最终)?答案(?:是|为|[:：])+\s*", re.IGNORECASE
)
_LONGEST_STATEMENT = 2_000
_SENTENCE_END = re.compile(r"(?<=[^\s.])\.\s+(?=[A-Z])|,?\s+(?:because|since|as|so|where|which)\b|。")
_FORMULA_AT_END = re.compile(r"\$([^$]+)\$$|\\\(((?:(?!\\\().)+?)\\\)$|\\\[((?:(?!\\\[).)+?)\\\]$")
_FORMULA = re.compile(r"\$([^$]+)\$|\\\(((?:(?!\\\().)+?)\\\)|\\\[((?:(?!\\\[).)+?)\\\]")
_INEQUALITY = re.compile(r"[<>≤≥≠]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt|neq?|in)(?![A-Za-z])")
_PLAIN_INEQUALITY = re.compile(
    r"(?:(?:[-−]?\d[\d./]{0,20}|[-−]?∞)\s{0,3}(?:<=|[<≤])\s{0,3})?(?<![\w\\])[A-Za-z](?:_\w)?\s{0,3}(?:<=|>=|[<>≤≥≠])\s{0,3}[-−]?\d[\d./]{0,20}(?<!\.)"
)
"""An inequality for one letter, outside of formulas."""
_BY_COLONS = re.compile(
    r"(?<![\w:.,\\])\d{1,9}(?:(?::\d{1,9}){1,5}|(?:\s:\s\d{1,9}){1,5})(?:\s{0,2}[AaPp]\.?[Mm]\b\.?)?"
    r"(?![\d:]|\.\d)(?=\D{0,80}$)"
)
"""A ratio or a time of day behind which no number follows."""
_IS_SOLUTION = re.compile(
    r"[\s,]{0,4}(?:(?:is|are|gives|holds?|works?|satisf(?:y|ies)|must\s+hold|follows|remains?)\b|est\b|ist\b|es\b|是|即为|为|成立)[^\d$]{0,80}",
    re.IGNORECASE,
)
"""What follows a relation that is the answer, up to the end of its line."""
_REASON = re.compile(
    r"\b(?:because|since|as|if|when|whenever|where|while|although|unless)\b|因为|由于|当|若", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|never|no|wrong|incorrect|false)\b|n['’]t\b|不|错|nicht\b|\bpas\b", re.IGNORECASE)
_HEDGE = re.compile(r"(?<![\w.,])[-−]?\d[\d.,/]{0,40}\s*(?:,|or|,\s{0,3}or)\s*[-−]?\d[\d.,/]{0,40}\b(?=\D{0,40}$)")
"""Two numbers at the end between which the answer does not decide."""
_DENIAL = re.compile(r"(?:\w+ly\s+)?(?:not|never|neither|nor)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:(?:not|never|isn['’]t|cannot|can['’]t)(?:\s+be)?|except|(?:more|less|fewer|greater|larger|smaller)\s+than"
    r"|at\s+least|at\s+most|up\s+to|under|over|below|above|beyond|anything\s+but|(?:multiple|divisor|power)s?\s+of"
    r"|(?:or|and)\s+(?:maybe|perhaps|possibly|probably)"
    r"|n['’](?:est|égale|vaut)\s+pas|ne\s+(?:vaut|sont|fait)\s+pas|nicht|kein|no\s+(?:es|son|vale)|non\s+è|não\s+é|не)"
    r"(?:\s+equal\s+to)?|不是|并非|不等于|不为|[<>≤≥≠]=?|\\(?:ne|neq|le|leq|ge|geq|lt|gt))[\s$]*$",
    re.IGNORECASE,
)
"""Words in front of a number that say that it is not the answer, or only a bound of it."""
_BETWEEN = re.compile(r"\bbetween\s+\S{1,40}\s+and[\s$]*$", re.IGNORECASE)
_OPERATED = re.compile(
    r"(?:\b(?:minus|negative|plus|times|half\s+of|(?:third|quarter|square|cube|root|logarithm|sine|cosine|tangent)\s+of"
    r"|twice|double|triple|sqrt|log|ln|sin|cos|tan|exp)[\s$({]*|√\s*"
    r"|(?:\d|(?<![\w\\])(?-i:[b-z])|\bpi|π)(?:\s*[-−+/^×·÷]\s*|\*|\s\*\s)\(?|[)\]}](?:\s*[+^×·÷]\s*|[-−*/])\(?)$",
    re.IGNORECASE,
)
"""An operator or a function in front of a number: it is a part of a formula that stands among words."""
_GOES_ON = re.compile(
    r"[\s$]*(?:(?:(?:is|are)\s+(?:not|never)|isn['’]t|aren['’]t)\s+(?:the|a|an|our|my|correct|right|valid)\b"
    r"|(?:is|are)\s+(?:wrong|incorrect|false)\b|(?:pi|squared|cubed|factorial|plus|minus|divided\s+by)\b|[π√^]"
    r"|(?:or|and)\s+(?:more|less|fewer|greater|above|below|up|over|under)\b"
    r"|(?:個|つ|人|通り|cm|m)?(?:では(?:ない|ありません|なく)|でない|じゃない|以上|以下|未満|より))",
    re.IGNORECASE,
)
"""What makes the number in front of it another one, or a bound."""
_ASIDE = re.compile(
    r"\s*[(（]\s*(?:about|not|rather\s+than|approximately|approx\.?|roughly|i\.?e\.?|or\s+about|约|約|environ|etwa|≈|\\approx)[^()（）]{1,60}"
    r"[)）]\s*[.。]?\s*$",
    re.IGNORECASE,
)
"""What the answer is about, in brackets behind it."""
_UNIT = re.compile(r"\s?([A-Za-zµ°]{1,20}(?:/[A-Za-z]{1,12})?)(?:\^?([23²³])|(?![A-Za-z^]))(?=[\s.,;!)。]*$)")
_NO_UNIT = {"in", "am", "pm", "a", "A", "K", "C", "F"}
"""Units that are other words as well."""
_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[A-Za-z ]*\})?")
_PROSE = re.compile(r"[A-Za-z]{2,}|[^\W\d_a-zA-Z]{2,}")
_FORBIDDEN = re.compile(
    r"__|[\"`#@;\x00-\x08]|[A-Za-z_]\.[A-Za-z_]|\b(?:import|lambda|exec|eval|open|globals|locals|getattr)\b",
    re.IGNORECASE,
)
_MAX_TEXT = 400_000
_AROUND = 120
"""Characters to each side of a number whose words qualify it."""
_DISPLAYS = {"\\]": "\\[", "$$": "$$"}


def boxed(text: str) -> list[str]:
    """Contents of every closed ``\\boxed{…}`` outside other boxes, in order. ``\\boxed 5`` counts too."""
    return [box.content for box in _boxes(text[-_MAX_TEXT:])]


def boxed_answer(text: str) -> str | None:
    """The last box, or several of them as one list where only commas, "and" and the like stand between; None where
    there is none."""
    text = text[-_MAX_TEXT:]
    boxes = _boxes(text)
    if not boxes:
        return None
    last = [boxes[-1]]
    for box in reversed(boxes[:-1]):
        if not _joins(text[box.end : last[0].start]):
            break
        last.insert(0, box)
    if len(last) == 1:
        return last[0].content
    named = [f"{_name(text, box.start)}{box.content}" for box in last]
    return ", ".join(dict.fromkeys(named))


def unwrapped(text: str) -> str:
    """The final answer of a text that is one: its last boxes, or what follows GSM8K's four hashes, or all of it."""
    boxes = boxed_answer(text)
    return boxes if boxes is not None else text.rpartition("####")[2].strip()


def final_answer(text: str) -> str | None:
    """The final answer where prompts ask for it: the first that is there of the last boxes, ``<answer>`` tags, GSM8K's
    hashes, "the answer is …", and a formula or number in the last line. A box that is never closed holds none."""
    text = text[-_MAX_TEXT:]
    boxes = boxed_answer(text)
    if boxes is not None or _BOX.search(text):
        return boxes
    inner = tagged(text, "<answer>", "</answer>")
    if inner is not None:
        return inner
    hashes = text.rpartition("####")
    if hashes[1] and hashes[2].strip():
        return hashes[2].strip().splitlines()[0].strip()
    text = _with_displays_in_line(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _stated(text) or (_ending(lines[-1]) if lines else None)


def has_place(text: str) -> bool:
    """Whether ``text`` has a box, ``<answer>`` tags or GSM8K's hashes: the answer stands there and nowhere else."""
    return any(mark in text for mark in ("\\boxed", "\\fbox", "<answer>", "####"))


def is_safe(text: str) -> bool:
    """Whether SymPy's parser may see ``text``: nothing in it that Python could run."""
    return _FORBIDDEN.search(text) is None


def _stated(text: str) -> str | None:
    """The answer behind the last "the answer is"."""
    stated = None
    for match in _STATEMENT.finditer(text):
        stated = match
    if stated is None:
        return None
    behind = text[stated.end() : stated.end() + _LONGEST_STATEMENT].strip()
    line = behind.splitlines()[0].strip() if behind else ""
    if _DENIAL.match(line):
        return line
    line = _SENTENCE_END.split(line.strip("* "), maxsplit=1)[0].strip("* ")
    return _ending(line) or line or None


def _ending(line: str) -> str | None:
    """The formula that ends ``line``, or all of it if it is one, or its last number."""
    line = _ASIDE.sub("", line)
    bare = line.rstrip(" .*。").lstrip("* ").removeprefix("A: ")
    if formula := _FORMULA_AT_END.search(bare.removesuffix("である").rstrip()):
        before = bare[: formula.start()][-_AROUND:]
        if any(form.search(before) for form in (_DENIED, _BETWEEN)):
            return bare
        return next(part for part in formula.groups() if part is not None).strip()
    if not _PROSE.search(_COMMAND.sub("", bare)) and any(sign.isalnum() for sign in bare):
        return bare
    if hedge := _HEDGE.search(bare):
        return hedge.group().strip()
    if (relation := _relation_in_prose(bare)) is not None:
        return relation
    if (joined := _joined_by_colons(bare)) is not None:
        return bare if _is_qualified(bare, joined) else joined
    number = last_number_text(line)
    if number is None or not _is_qualified(line, number):
        return number and _with_unit(line, number)
    return bare


def _relation_in_prose(line: str) -> str | None:
    """The inequality of "Therefore $x \\ge 5$ is the solution"; all of ``line`` if it is denied, None without one."""
    formulas = [match for match in _FORMULA.finditer(line) if _INEQUALITY.search(match.group())]
    found = formulas[-1] if formulas else next(reversed(list(_PLAIN_INEQUALITY.finditer(line))), None)
    if found is None:
        return None
    before, rest = line[max(0, found.start() - _AROUND) : found.start()], line[found.end() :]
    if not _IS_SOLUTION.fullmatch(rest) or _REASON.search(before) or _REASON.search(rest):
        return None
    if _NEGATED.search(rest) or _DENIED.search(before):
        return line
    return next(part for part in (*found.groups(), found.group()) if part is not None).strip()


def _joined_by_colons(line: str) -> str | None:
    """The ratio or time of day that holds the last number of ``line``; None if it is another number."""
    match = _BY_COLONS.search(line)
    return None if match is None else match.group().strip()


def _with_unit(line: str, number: str) -> str:
    """The last ``number`` of ``line`` with a unit of the table that ends the line behind it."""
    start = line.rfind(number)
    match = _UNIT.match(line, start + len(number)) if start >= 0 else None
    if match is None or match[1] in _NO_UNIT or not all(map(is_known, match[1].split("/"))):
        return number
    power = {"²": "^2", "³": "^3"}.get(match[2] or "", f"^{match[2]}" if match[2] else "")
    return rf"{number} \text{{{match[1].replace('/', '}/' + chr(92) + 'text{')}}}{power}"


def _is_qualified(line: str, number: str) -> bool:
    """Whether the words around the last ``number`` of ``line`` say that it is not the answer, or not all of it."""
    start = line.rfind(number)
    if start < 0:
        return False
    before, behind = line[max(0, start - _AROUND) : start], line[start + len(number) :][:_AROUND]
    return any(form.search(before) for form in (_DENIED, _BETWEEN, _OPERATED)) or _GOES_ON.match(behind) is not None


def _with_displays_in_line(text: str) -> str:
    """``text`` with each displayed formula of one line in one line with its delimiters, which stood above and below."""
    lines: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        opening = _DISPLAYS.get(line.strip(" \t.,"))
        opens = opening is not None and len(lines) > 1 and lines[-2].rstrip().endswith(opening)
        if opening is not None and opens and (opening != "$$" or lines[-2].count("$$") % 2):
            formula, start = lines.pop().strip(), lines.pop().rstrip()
            line = f"{start}{formula.rstrip('.,')}{line.strip()}"
        lines.append(line)
    return "\n".join(lines)


def _joins(between: str) -> bool:
    return _JOIN.fullmatch(between) is not None and ("," in between or _JOINING_WORD.search(between) is not None)


def _name(text: str, start: int) -> str:
    match = _NAME.search(text[max(0, start - 40) : start])
    return f"{match[1]} = " if match else ""


def last_number_text(text: str) -> str | None:
    """The last number as it stands in ``text``: with the LaTeX that it is a part of."""
    found = latex_numbers.last(text[-_MAX_TEXT:], NUMBER)
    return None if found is None else found.rstrip(".")


def tagged(text: str, start: str, end: str) -> str | None:
    """Text between the last pair of tags."""
    before, opened, rest = text.rpartition(start)
    inner, closed, _ = rest.partition(end)
    if opened and not closed:  # the last one was never closed: the pair before it counts
        return tagged_once(before, start, end)
    return inner.strip() if opened else None


def tagged_once(text: str, start: str, end: str) -> str | None:
    """Text between the last closing tag and the opening tag before it."""
    before, closed, _ = text.rpartition(end)
    _, opened, inner = before.rpartition(start)
    return inner.strip() if opened and closed else None


@dataclass(frozen=True, slots=True)
class _Box:
    start: int
    end: int
    content: str


def _boxes(text: str) -> list[_Box]:
    found, position = [], 0
    while match := _BOX.search(text, position):
        position = match.end()
        if position < len(text) and text[position] == "{":
            try:
                end = closing(text, position)
            except UnreadableError:
                break  # never closed: no later box is outside of it
            found.append(_Box(match.start(), end + 1, text[position + 1 : end].strip()))
            position = end + 1
        elif word := _UNBRACED.match(text, position):
            found.append(_Box(match.start(), word.end(), word.group()))
    return found
