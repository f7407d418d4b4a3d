"""Checks of verifiable instructions, after IFEval (Zhou et al., arXiv 2311.07911). Names are IFEval's."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.text.language import detect

Check = Callable[[str, Mapping[str, Any]], bool]
_WORD = re.compile(r"\w+")
_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _relation(count: int, wanted: int, how: str) -> bool:
    return count < wanted if how == "less than" else count >= wanted


def _words(text: str, given: Mapping[str, Any]) -> bool:
    return _relation(len(_WORD.findall(text)), int(given["num_words"]), str(given["relation"]))


def _sentences(text: str, given: Mapping[str, Any]) -> bool:
    count = len(re.findall(r"[^.!?。！？\s][^.!?。！？]*[.!?。！？]+|[^.!?。！？\s][^.!?。！？]*\Z", text))
    return _relation(count, int(given["num_sentences"]), str(given["relation"]))


def _paragraphs(text: str, given: Mapping[str, Any]) -> bool:
    parts = [part for part in re.split(r"\s?\*\*\*\s?", text) if part.strip()]
    return len(parts) == int(given["num_paragraphs"])


def _keywords(text: str, given: Mapping[str, Any]) -> bool:
    folded = text.casefold()
    return all(str(word).casefold() in folded for word in given["keywords"])


def _frequency(text: str, given: Mapping[str, Any]) -> bool:
    count = text.casefold().count(str(given["keyword"]).casefold())
    return _relation(count, int(given["frequency"]), str(given["relation"]))


def _forbidden(text: str, given: Mapping[str, Any]) -> bool:
    words = (re.escape(str(word)) for word in given["forbidden_words"])
    return not any(re.search(rf"(?<!\w){word}(?!\w)", text, re.IGNORECASE) for word in words)


def _letter(text: str, given: Mapping[str, Any]) -> bool:
    count = text.casefold().count(str(given["letter"]).casefold())
    return _relation(count, int(given["let_frequency"]), str(given["let_relation"]))


def _is_json(text: str, given: Mapping[str, Any]) -> bool:
    bare = re.sub(r"^```(?:json|JSON|Json)?|```$", "", text.strip()).strip()
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _bullets(text: str, given: Mapping[str, Any]) -> bool:
    # White space of the same line only: with that of lines before, blank lines would cost the square of their number.
    return len(re.findall(r"^[^\S\n]*[*\-][^*\-\n]", text, re.MULTILINE)) == int(given["num_bullets"])


def _sections(text: str, given: Mapping[str, Any]) -> bool:
    marker = re.escape(str(given["section_spliter"]))
    return len(re.findall(rf"\s?{marker}\s?\d+\s?", text)) >= int(given["num_sections"])


def _highlights(text: str, given: Mapping[str, Any]) -> bool:
    # Between the stars of bold text stands nothing, and between two bold texts nothing that counts.
    single = re.findall(r"\*([^\n*]*)\*", text)
    double = re.findall(r"\*\*([^\n*]*)\*\*", text)
    return sum(bool(found.strip()) for found in (*single, *double)) >= int(given["num_highlights"])


def _end(text: str, given: Mapping[str, Any]) -> bool:
    return text.strip().strip('"').casefold().endswith(str(given["end_phrase"]).strip().casefold())


def _title(text: str, given: Mapping[str, Any]) -> bool:
    # Searched by hand: of the expression ``<<.+>>``, each ``<<`` would look at the rest of its line.
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if start >= 0 and end >= start + 3 and line[start:end].strip("<> "):
            return True
    return False


def _first_word(text: str, given: Mapping[str, Any]) -> bool:
    paragraphs = text.split("\n\n")
    place = int(given["nth_paragraph"])
    if sum(bool(one.strip()) for one in paragraphs) != int(given["num_paragraphs"]) or not 0 < place <= len(paragraphs):
        return False
    words = paragraphs[place - 1].split(maxsplit=1)
    first = re.match(r"[^.,?!'\"]*", words[0].lstrip("'\"")) if words else None
    return first is not None and first.group().casefold() == str(given["first_word"]).casefold()


def _two_responses(text: str, given: Mapping[str, Any]) -> bool:
    parts = [part.strip() for part in text.split("******")]
    if not all(parts[1:-1]):  # nothing between two separators
        return False
    responses = [part for part in parts if part]
    return len(responses) == 2 and responses[0] != responses[1]


CHECKS: dict[str, Check] = {
    "length_constraints:number_words": _words,
    "length_constraints:number_sentences": _sentences,
    "length_constraints:number_paragraphs": _paragraphs,
    "keywords:existence": _keywords,
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": _forbidden,
    "keywords:letter_frequency": _letter,
    "detectable_format:json_format": _is_json,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:title": _title,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_content:number_placeholders": lambda text, given: (
        len(re.findall(r"\[[^\[\]]*\]", text)) >= int(given["num_placeholders"])
    ),
    "detectable_content:postscript": lambda text, given: (
        str(given["postscript_marker"]).casefold().replace(" ", "") in text.casefold().replace(" ", "")
    ),
    "change_case:english_lowercase": lambda text, given: text.islower(),
    "change_case:english_capital": lambda text, given: text.isupper(),
    "punctuation:no_comma": lambda text, given: "," not in text,
    "change_case:capital_word_frequency": lambda text, given: _relation(
        sum(word.isupper() for word in _WORD.findall(text)),
        int(given["capital_frequency"]),
        str(given["capital_relation"]),
    ),
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_format:constrained_response": lambda text, given: any(option in text for option in _OPTIONS),
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": lambda text, given: (
        text.strip().casefold().startswith(str(given["prompt_to_repeat"]).strip().casefold())
    ),
    # A text whose language cannot be told follows, as in IFEval.
    "language:response_language": lambda text, given: detect(text) in (str(given["language"]), None),
    "startend:end_checker": _end,
    "startend:quotation": lambda text, given: (
        len(text.strip()) > 1 and text.strip()[0] == '"' and text.strip()[-1] == '"'
    ),
}


def follows(name: str, text: str, given: Mapping[str, Any]) -> bool:
    """Whether ``text`` follows the instruction. A blank text follows none.

    Raises:
        GraderError: there is no such check, or its parameters are missing or not what they should be.
    """
    if name not in CHECKS:
        raise GraderError(f"there is no check {name!r}")
    try:
        return bool(text.strip()) and CHECKS[name](text, given)
    except (KeyError, TypeError, ValueError) as error:
        raise GraderError(f"{name}: the parameter {error} is missing or wrong") from error
