"""Letters of multiple choice: alone, in front of their text, and in prose."""

import re

LETTERS = "ABCDEFGHIJ"
_WRAPPED = re.compile(r"\\(?:text(?:bf|it|rm)?|mathrm|mathbf|boxed|fbox|bf)\s*\{([^{}]*)\}")
_LOOKS = re.compile(r"\*\*|__|`|\$|\\[()\[\]]|\\(?:left|right)(?![A-Za-z])|\\[,;:! ]")
_ALONE = re.compile(r"\s*(?:option|choice|answer)?\s*[(\[]?\s*([A-Za-z])\s*[)\]]?\s*[.:]?\s*", re.IGNORECASE)
_IN_FRONT = re.compile(r"\s*(?:[(\[]\s*([A-J])\s*[)\]]|([A-J])\s*[).:](?=\s))\s*(\S.*)", re.DOTALL)
_LABEL = re.compile(
    r"\s{0,9}\\(?:text(?:bf|it|rm)?|mathrm|mathbf)\s?\{\s?\([A-J]\)(?:\\?\s|~){0,4}\}(?:\\?\s|~|:|\\,)*(?=\S)"
)
_SEVERAL = re.compile(r"(?:or|and|,|/|&|;|或|和)|.*[(\[]\s*[A-J]\s*[)\]]", re.DOTALL)
_NEGATION = re.compile(
    r"\b(?:not|isn't|isn’t|cannot be|never|wrong|incorrect|instead of|rather than)\s*$", re.IGNORECASE
)
_REJECTED = re.compile(
    r"(?:不|别|別|非|勿|没有|沒有|无法|無法|排除)(?:能|可|可以|该|該|应该|應該|会|會|要|应|應|再|选|選|择)?$"
)
"""Chinese words in front of "选" that reject a letter."""
_DENIES = re.compile(r"\b(?:not|never|cannot)\b|n['’]t\b|\bno\s+sense\b", re.IGNORECASE)
_STATED = re.compile(
    r"(?:\b(?:answer|choice|option|selection)s?\b(?:\s*[:=](?=\s{0,3}[(\[]?\s?(?-i:[A-J])(?![A-Za-z0-9]))"
    r"|[^.\n]{0,40}?\b(?:is|are|be|would be|must be)\b|\s*[:=])\s*:?"
    r"|\b(?:I|we)(?:['’](?:d|ll|m|re)|\s+(?:would|will|must|should|am|are|therefore|thus))?\s+"
    r"(?:choose|select|pick|go with|going with)\b"
    r"|\b(?:(?:so|thus|therefore|hence|then|let['’]s|let us),?\s+(?:choose|select|pick|go with)"
    r"|(?-i:Choose|Select|Pick|Go with|Going with))\b"
    r"|\b(?:it is|it's|must be|therefore,?|thus,?|so,?|hence,?)\b"
    r"|\bréponse\b[^.\n]{0,30}?\best(?:\s+la)?|\bAntwort\b[^.\n]{0,30}?\bist|\brespuesta\b[^.\n]{0,30}?\bes"
    r"|(?:正解|答え|解答)(?:は|：|:)"
    r"|答案(?:选|是|为|:|：)*|正确的?(?:答案|选项|说法|结论|一项)?(?:应该?)?(?:是|为)[:：]*|(?:选择|故选|应选|选)[:：]*)\s*"
    r"(?:(?:option|choice|letter|answer)\s+|选项)?",
    re.IGNORECASE,
)
_CALLED_RIGHT = re.compile(
    r"\b(?:option|choice|answer)\s+[(\[]?\s*([A-J])\s*[)\]]?\s+is\s+(?:the\s+)?(?:correct|right|best)\b", re.IGNORECASE
)
_BEGINS_RIGHT = re.compile(
    r"(?:^|[.!?\n]|(?<![A-J)\]])[,;])\s*(?:[Oo]nly\s+)?[(\[]?([A-J])[)\]]?\s+is\s+"
    r"(?:(?:the\s+)?(?:only\s+)?(?:correct|right|best)(?:\s+(?:answer|option|choice))?|the\s+answer)"
    r"(?=\s*(?:[.!,;]|$)|\s+(?:because|since)\b)"
)
"""A sentence or clause such as "B is correct", which begins with the letter."""
_RIGHT_IN_CHINESE = re.compile(
    r"(?<![A-J、和与及或])(?:选项|選項)?\s?([A-J])\s?(?:选?项|選項)?(?:是|为|為)?(?:正确|正確)(?!吗|嗎|与否|與否|的?说法)"
)
"""A letter that is called right in Chinese: "D项正确". Behind another letter it is one of several."""
_SUPPOSED = re.compile(
    r"\b(?:if|not|never|whether|unless|suppose|supposing|assume|assuming|claims?|claimed|thinks|thought|says|said"
    r"|believes|cannot|(?:false|wrong|untrue)\s+that)\b|n['’]t\b|若|如果|假设|假如|倘若|当|并非|不能|未必|是否|要使|以为|误认",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?;\n]")
_CLAUSE = re.compile(r"[.!?;\n,]|\b(?:but|and|so|while|whereas|hence|thus|therefore)\b", re.IGNORECASE)
_UNDER_A_CONDITION = re.compile(
    r"(?:\s+(?:answer|option|choice))?,?\s*(?:(?:only\s+)?(?:if|when|unless|provided)\b|\?)", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"[)\]]?[ \t]*(?:[=<>≠≤≥+*/^]|(?:fails?|cannot|can['’]t|won['’]t)\b"
    r"|(?:is|are|was|can|could|does|did|do|must|has|would|should|may|might|will)(?:n['’]t)?\b"
    r"|(?:选?项|選項)?(?:均|都|皆|全)?(?:不(?!(?:仅|但|只))|并不|并非|是?错|排除|明显不)|以外|では(?:ない|ありません|なく)|じゃない|でない|(?:est|ist|es)\s)",
    re.IGNORECASE,
)
"""What makes a letter the subject of a sentence or a part of a formula: "B is too small", "C = 5"."""
_PREDICATE_RIGHT = re.compile(
    r"[)\]]?[ \t]*(?:is|must\s+be|has\s+to\s+be|would\s+be)\s+"
    r"(?:(?:clearly|definitely|indeed|obviously|certainly|probably|most\s+likely|then|also|thus|therefore)\s+)?"
    r"(?:(?:the|our|my)\s+)?(?:(?:only|final|best)\s+)?(?:correct|right|answer|best|true|choice|option|solution|one)\b",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s{4,}")
_SENTENCE_LONG = 120
"""Characters of a sentence that are looked at."""
_LETTER = re.compile(r"[(\[]\s*([A-J])\s*[)\]]|([A-J])(?![A-Za-z0-9'’])")
_ANOTHER = re.compile(
    r"[)\].]?\s*(?:,?\s*(?:or|and|and/or|或|和|oder|und|ou|et|o|y)\s+|\s*(?:または|か|或者?|和|及|与|跟)\s*|[,、]\s*|/\s*)[(\[]?\s*[A-J](?![A-Za-z'’])"
)
_MORE_LETTERS = re.compile(r"\A(?:\s?[、,和及与]\s?[A-J](?![A-Za-z])){1,9}")
_LINE = re.compile(
    r"(?:(?:[Oo]ption|[Cc]hoice|OPTION|CHOICE)\s{1,3}|选项\s?)?"
    r"(?:[(\[]?([A-J])[)\]]?[.:]?|[(\[]([A-J])[)\]].{0,200}|([A-J])[).:]\s.{0,200})"
)
_LONGEST = 20_000


def alone(text: str) -> str | None:
    """The letter that ``text`` is, such as "(B)" or ``\\text{b}``, as a capital; None if it is more, or no letter."""
    match = _ALONE.fullmatch(_bare(text)) if len(text) < 100 else None
    return match[1].upper() if match else None


def in_front(text: str) -> tuple[str, str] | None:
    """Letter and text of "(B) 42" and "B. 42"; None for anything else, such as "(B) or (C)"."""
    match = _IN_FRONT.fullmatch(_bare(text)) if len(text) < _LONGEST else None
    if match is None or _SEVERAL.match(match[3]):
        return None
    return match[1] or match[2], match[3].strip()


def without_label(text: str) -> str:
    """``text`` without a letter of a choice that is set as text in front of it, as in ``\\textbf{(B) } 42``."""
    match = _LABEL.match(text)
    return text[match.end() :] if match else text


def in_prose(text: str, letters: str = LETTERS) -> str | None:
    """The letter that ``text`` settles on, None where it settles on none or on several.

    The last box counts; else the last sentence that states an answer; else the last line, if a letter stands there.
    "The answer is not B" states nothing, and "B or C" is no letter.
    """
    plain = _SPACES.sub(_few, _bare(text[-_LONGEST:].translate(_WIDE)))
    stated = _stated(plain)
    if stated is not None:
        return stated if stated in letters and stated else None
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    if lines and (match := _LINE.fullmatch(lines[-1])):
        found = match[1] or match[2] or match[3]
        return found if found in letters else None
    return None


_WIDE = str.maketrans({"（": "(", "）": ")", "：": ":", "。": ".", "，": ",", "【": "[", "】": "]"})


def _bare(text: str) -> str:
    """``text`` without what only changes how it looks."""
    return _LOOKS.sub("", _WRAPPED.sub(r"\1", _WRAPPED.sub(r"\1", text)))


def _few(spaces: re.Match[str]) -> str:
    """Fewer spaces for many, as which the searches would take long on."""
    return "\n\n" if "\n" in spaces[0] else " "


def _stated(text: str) -> str | None:
    """The letter of the last statement; empty where that is ambiguous; None where nothing is stated."""
    found, place = None, 0
    for statement in _STATED.finditer(text):
        match = _LETTER.match(text, statement.end())
        if _REJECTED.search(text[max(0, statement.start() - 12) : statement.start()]):
            continue
        if _DENIES.search(_CLAUSE.split(statement.group())[-1]):
            continue  # "the answer can't possibly be B"
        if match is None or _NEGATION.search(text[max(0, statement.start() - 20) : statement.end()].rstrip()):
            continue
        letter = match[1] or match[2]
        rest = text[match.end() :]
        is_right = _PREDICATE_RIGHT.match(rest)
        if match[2] in ("A", "I") and re.match(r"\s+[a-z]", rest) and not is_right:
            continue  # "the answer is A number": an article
        if _PREDICATE.match(rest) and not is_right:
            continue  # "so B is wrong": the letter is spoken of, and no answer
        found, place = "" if _names_another(rest) else letter, statement.end()
    for praise in _CALLED_RIGHT.finditer(text, place):
        found = praise[1] if praise[1].isupper() and not _is_supposed(text, praise, _CLAUSE) else found
    if found is None and not place:
        praises = [*_BEGINS_RIGHT.finditer(text), *_RIGHT_IN_CHINESE.finditer(text)]
        called = {praise[1] for praise in praises if not _is_supposed(text, praise, _SENTENCE)}
        found = None if not called else called.pop() if len(called) == 1 else ""
    return found


def _names_another(rest: str) -> bool:
    """Whether a second letter is stated in ``rest``, behind the first one; "B, A is wrong" states B alone."""
    other = _ANOTHER.match(rest)
    if other is None:
        return False
    behind = _MORE_LETTERS.sub("", rest[other.end() :], count=1)
    return not _PREDICATE.match(behind) or _PREDICATE_RIGHT.match(behind) is not None


def _is_supposed(text: str, praise: re.Match[str], ends: re.Pattern[str]) -> bool:
    """Whether what stands around "option B is correct", up to ``ends``, supposes it, denies it, or sets a condition."""
    before = text[max(0, praise.start() - _SENTENCE_LONG) : praise.start(1)]
    clause = ends.split(before.rstrip(" ([\n"))[-1]
    return _SUPPOSED.search(clause) is not None or _UNDER_A_CONDITION.match(text, praise.end()) is not None
