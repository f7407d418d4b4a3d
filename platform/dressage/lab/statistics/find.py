"""The statistics operation: facts about each row, and their distribution."""

from collections import Counter

import numpy as np
import pyarrow as pa

from dressage.datasets.rows.facts import script_of, words
from dressage.lab.plan import LabWork, Result
from dressage.lab.reports import Bin, CountedName, StatisticsReport
from dressage.lab.statistics.answer_types import answer_type
from dressage.lab.texts import read_texts
from trainer_core.rewards.graders.text.language import detect, load

_NAMES = 30
"""Maximum number of languages and scripts in a report, most frequent first."""
_BINS = 20


def find_statistics(work: LabWork) -> Result:
    """Determine characters, words, language, script and answer type of each row."""
    load()
    characters: list[int] = []
    counted: list[int] = []
    languages: list[str | None] = []
    scripts: list[str] = []
    answers: list[str] = []
    for texts in read_texts(work.version.path):
        for text, answer in zip(texts.texts, texts.answers, strict=True):
            characters.append(len(text))
            counted.append(len(words(text)))
            languages.append(detect(text))
            scripts.append(script_of(text))
            answers.append(answer_type(answer))
        work.told("Reading rows", len(characters), work.version.rows)
    table = pa.table(
        {
            "characters": pa.array(characters, pa.int64()),
            "words": pa.array(counted, pa.int64()),
            "language": pa.array(languages, pa.string()),
            "script": pa.array(scripts, pa.string()),
            "answer_type": pa.array(answers, pa.string()),
        }
    )
    report: StatisticsReport = {
        "rows": len(characters),
        "characters": _histogram(characters),
        "words": _histogram(counted),
        "languages": _names([language or "unknown" for language in languages]),
        "scripts": _names(scripts),
        "answer_types": _names(answers),
    }
    return Result("statistics", table, dict(report))


def _names(values: list[str]) -> list[CountedName]:
    return [{"name": name, "rows": count} for name, count in Counter(values).most_common(_NAMES)]


def _histogram(values: list[int]) -> list[Bin]:
    """Integer bins of equal width up to the 99th percentile. Larger values are in the last bin."""
    numbers = np.array(values, np.int64)
    least, most = int(numbers.min()), int(numbers.max())
    top = max(least, int(np.percentile(numbers, 99)))
    width = max(1, -(-(top - least + 1) // _BINS))
    places = np.minimum((numbers - least) // width, (top - least) // width)
    counts = np.bincount(places)
    edges = [least + width * place for place in range(len(counts))]
    ends = [*(edge - 1 for edge in edges[1:]), most]
    return [
        {"least": first, "most": last, "rows": int(count)}
        for first, last, count in zip(edges, ends, counts, strict=True)
    ]
