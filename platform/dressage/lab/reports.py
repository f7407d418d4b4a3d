"""Reports of operations, as the API tells them."""

from typing import Any, Literal, NotRequired, get_args

from typing_extensions import TypedDict

Match = Literal["equal", "near", "part"]
"""How a row meets one of an evaluation set."""
LONGEST = 400
"""Signs of a text that a report shows."""


class ShownRow(TypedDict):
    """A row in a report."""

    ref: str
    """Version that it stands in."""
    index: int
    """Position in the version, from 0."""
    id: str
    text: str
    """Its beginning."""
    answer: str | None


class DuplicateCluster(TypedDict):
    """Rows that say the same."""

    cluster: int
    """Its number, as the notes have it."""
    size: int
    kind: str
    """`equal` where all texts are the same in their normal form, else `near`."""
    similarity: float
    """Least Jaccard similarity of a pair by which it was joined; 1 for equal rows."""
    answers_differ: bool
    """Whether its rows have different gold answers: one of them is wrong."""
    rows: list[ShownRow]
    """The first few."""


class DuplicatesReport(TypedDict):
    """Rows that say the same."""

    rows: int
    kept: int
    """Rows that are left when one of each cluster is kept."""
    equal_rows: int
    """Rows that are not kept since an equal one comes before, or stands in another version."""
    near_rows: int
    """Rows that are not kept since a similar one is."""
    clusters: int
    conflicts: int
    """Clusters whose rows have different gold answers."""
    elsewhere: int
    """Rows of this version that another version has, or nearly has."""
    largest: list[DuplicateCluster]
    """The largest clusters, those with different answers first."""


class ComparedSet(TypedDict):
    """A version that rows were compared with."""

    ref: str
    rows: int
    found: int
    """Its rows that some row of this version has."""


class ContaminatedRow(TypedDict):
    """A row with the row of an evaluation set that it meets."""

    row: ShownRow
    met: ShownRow
    match: Match
    """`equal`, `near`, or `part` where one text stands in the other."""
    share: float
    longest: int


class ContaminationReport(TypedDict):
    """Rows that evaluation sets have, in whole or in part."""

    rows: int
    clean: int
    """Rows that are left without those."""
    equal_rows: int
    near_rows: int
    part_rows: int
    """Rows of which an evaluation set has a part, or which have a part of one."""
    other_numbers: int
    """Rows that share enough runs but have other numbers. They are clean."""
    common_runs: int
    """Runs of the evaluation sets that were left out, since many rows have them."""
    sets: list[ComparedSet]
    largest: list[ContaminatedRow]
    """The rows with the greatest share, equal ones first."""


class CountedName(TypedDict):
    """Rows of one kind."""

    name: str
    rows: int


class Bin(TypedDict):
    """Rows whose number lies between two, both included."""

    least: int
    most: int
    rows: int


class StatisticsReport(TypedDict):
    """Rows by their length, language, script and kind of answer."""

    rows: int
    characters: list[Bin]
    """Bins of equal width; the last has all that are longer than 99 of 100 rows."""
    words: list[Bin]
    languages: list[CountedName]
    """ISO 639 codes, the most frequent first; `unknown` where a text is too short to tell."""
    scripts: list[CountedName]
    answer_types: list[CountedName]


class RowWithReason(TypedDict):
    """A row, and what is to be said of it."""

    row: ShownRow
    reason: str


class AskedReport(TypedDict):
    """What a model was asked about rows."""

    model: str
    rows: int
    """Rows that it was asked about: all, or the sample, but for those that an operation leaves out."""
    answered: int
    failed: int
    """Rows without an answer that could be read. Nothing is known of them."""
    failures: list[RowWithReason]
    """The first of those."""
    questions: int
    """Answers that came, those included that could not be read and were asked for again."""
    prompt_tokens: int
    """Tokens of the questions, as the endpoint has counted them."""
    completion_tokens: int
    price: float | None
    """Price by those of the endpoint; null where they are not known."""


class ScoreBin(TypedDict):
    """Rows whose score lies from one number up to the next, which only the last bin has as well."""

    least: float
    most: float
    rows: int


class CriterionMean(TypedDict):
    """What the rows have on average of one criterion."""

    name: str
    weight: float
    mean: float
    """Score from 0 to 1."""


class RowVerdictOnCriterion(TypedDict):
    """What the judge says of a row by one criterion."""

    name: str
    score: float
    """Score from 0 to 1."""
    reason: str


class JudgedRow(TypedDict):
    """A row with the judge's verdicts."""

    row: ShownRow
    score: float
    verdicts: list[RowVerdictOnCriterion]


class QualityReport(TypedDict):
    """Rows by a judge's rubric."""

    rows: int
    """Rows of the version."""
    mean: float
    """Mean score of the answered rows, from 0 to 1."""
    histogram: list[ScoreBin]
    items: list[CriterionMean]
    lowest: list[JudgedRow]
    """The rows with the lowest scores, the lowest first, without those that are kept back."""
    kept_back: int
    """Rows with the lowest scores that the caller is to mark, and is told of once they have."""
    asked: AskedReport


RefusalReason = Literal[
    "empty",
    "unreadable",
    "control_tokens",
    "length",
    "answer_told",
    "answer_not_whole",
    "other_numbers",
    "alike",
    "rarely_right",
    "outvoted",
    "too_easy",
    "ungraded",
    "unanswered",
]
"""Why a variation is not kept."""
REFUSAL_REASONS = get_args(RefusalReason)


class CountedRefusals(TypedDict):
    """Variations that were refused for one reason."""

    reason: RefusalReason
    variations: int


class KeptVariation(TypedDict):
    """A variation that has entered the new version."""

    row: ShownRow
    """The row that it was made of."""
    text: str
    answer: NotRequired[str | None]
    """Its own gold answer; null where it is that of the row."""
    pass_rate: float
    """Share of right answers to it."""


class RefusedVariation(TypedDict):
    """A variation that was not kept."""

    row: ShownRow
    text: str
    reason: RefusalReason
    detail: str
    """The reason in a sentence."""


class SynthesisReport(TypedDict):
    """Variations of rows, each verified."""

    rows: int
    """Rows of the version."""
    written: int
    """Variations that the model has written."""
    kept: int
    refused: int
    reasons: list[CountedRefusals]
    """The most frequent first."""
    kept_ones: list[KeptVariation]
    """The first of them."""
    refused_ones: list[RefusedVariation]
    """The first of them; the notes tell all, row by row."""
    asked: AskedReport


class ParaphrasesReport(TypedDict):
    """Rows that say the same in other words."""

    found: DuplicatesReport
    """The clusters; similarities are cosines."""
    background: float
    """Cosine similarity that one in a thousand pairs of different rows, drawn at random, exceeds: a threshold that is
    not well above it tells little."""
    asked: AskedReport


class MemorisedRow(TypedDict):
    """A row that a model was shown the beginning of."""

    row: ShownRow
    shown: str
    """The end of what it was shown."""
    expected: str
    """The rest of the prompt, from its beginning."""
    said: str
    """The model's words in its place."""
    overlap: float
    completed: bool
    answered: bool | None


class MemorisationReport(TypedDict):
    """Rows whose rest a model has written."""

    rows: int
    """Rows of the version."""
    tried: int
    left_out: int
    """Rows whose rest is too short to tell anything."""
    completed: int
    """Rows whose rest came word for word."""
    share: float
    """Share of these among those that were tried."""
    low: float
    """Lower end of its 95 % interval (Wilson)."""
    high: float
    with_answer: int
    """Rows that were tried and have a gold answer."""
    answered: int
    """Those of them whose answer was right although the question had not been seen whole."""
    overlap: float
    """Mean overlap (ROUGE-L, F1)."""
    histogram: list[ScoreBin]
    """Overlaps of the rows that were tried."""
    most: list[MemorisedRow]
    """Rows with the largest overlap."""
    asked: AskedReport


class LabReport(TypedDict):
    """What an operation found; the member of its kind is set."""

    duplicates: DuplicatesReport | None
    contamination: ContaminationReport | None
    statistics: StatisticsReport | None
    quality: QualityReport | None
    synthesis: SynthesisReport | None
    paraphrases: ParaphrasesReport | None
    memorisation: MemorisationReport | None


def completed(report: dict[str, Any]) -> dict[str, Any]:
    """A stored report with the members that came after it was stored."""
    return {name: report.get(name) for name in LabReport.__annotations__}
