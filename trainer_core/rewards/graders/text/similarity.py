"""Measures of how alike two texts are, from 0 to 1. Tokens are words and single other signs, in small letters."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

_TOKEN = re.compile(r"\w+|[^\w\s]")
_BLEU_ORDER = 4
_MAX_TOKENS = 20_000


def tokens(text: str) -> list[str]:
    """The first 20 000 tokens."""
    return [match.group() for match, _ in zip(_TOKEN.finditer(text.lower()), range(_MAX_TOKENS), strict=False)]


def bleu(given: Sequence[str], wanted: Sequence[str]) -> float:
    """Sentence BLEU-4 with brevity penalty (Papineni et al. 2002); orders above 1 smoothed by one (Lin, Och 2004)."""
    if not given or not wanted:
        return float(given == wanted)
    logarithms = 0.0
    for order in range(1, _BLEU_ORDER + 1):
        ours, theirs = _grams(given, order), _grams(wanted, order)
        smooth = int(order > 1)
        share = ((ours & theirs).total() + smooth) / (ours.total() + smooth) if ours.total() + smooth else 0.0
        if share == 0:
            return 0.0
        logarithms += math.log(share) / _BLEU_ORDER
    return math.exp(logarithms + min(0.0, 1 - len(wanted) / len(given)))


def gleu(given: Sequence[str], wanted: Sequence[str]) -> float:
    """Google BLEU: the smaller of precision and recall over all 1- to 4-grams (Wu et al. 2016)."""
    common = ours = theirs = 0
    for order in range(1, _BLEU_ORDER + 1):
        left, right = _grams(given, order), _grams(wanted, order)
        common += (left & right).total()
        ours, theirs = ours + left.total(), theirs + right.total()
    return common / max(ours, theirs) if max(ours, theirs) else 1.0


def rouge_n(given: Sequence[str], wanted: Sequence[str], order: int) -> float:
    """F1 of common n-grams (Lin 2004)."""
    left, right = _grams(given, order), _grams(wanted, order)
    return _f1((left & right).total(), left.total(), right.total())


def rouge_l(given: Sequence[str], wanted: Sequence[str]) -> float:
    """F1 of the longest common subsequence (Lin 2004)."""
    return _f1(LCSseq.similarity(given, wanted), len(given), len(wanted))


def cosine(given: Sequence[str], wanted: Sequence[str]) -> float:
    """Cosine of the token counts. OpenAI's measures embeddings; no model is asked here."""
    left, right = Counter(given), Counter(wanted)
    if not left or not right:
        return float(left == right)
    product = sum(count * right[token] for token, count in left.items())
    return min(product / math.sqrt(_square(left) * _square(right)), 1.0)


def meteor(given: Sequence[str], wanted: Sequence[str]) -> float:
    """METEOR (Banerjee, Lavie 2005) on equal tokens, without stems and synonyms: 10PR / (R + 9P) · (1 − penalty)."""
    places: dict[str, list[int]] = {}
    for index in reversed(range(len(wanted))):
        places.setdefault(wanted[index], []).append(index)
    matched = [places[token].pop() if places.get(token) else None for token in given]
    found = [place for place in matched if place is not None]
    if not found:
        return float(not given and not wanted)
    chunks, before = 0, None
    for place in matched:
        chunks += place is not None and (before is None or place != before + 1)
        before = place
    precision, recall = len(found) / len(given), len(found) / len(wanted)
    penalty = 0.5 * (chunks / len(found)) ** 3 if chunks > 1 else 0.0
    return 10 * precision * recall / (recall + 9 * precision) * (1 - penalty)


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _f1(common: int, ours: int, theirs: int) -> float:
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * common / (ours + theirs)


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())
