"""Shapes of the API's reports about operations."""

from typing import Any, Literal, NotRequired, get_args

from typing_extensions import TypedDict

Match = Literal["equal", "near", "part"]
"""Relation of a row to a row of an evaluation set."""
LONGEST = 400
"""Maximum length of a text in a report, in characters."""


class ShownRow(TypedDict):
    """A row in a report."""

    ref: str
    """Version that contains it."""
    index: int
    """Position in the version, from 0."""
    id: str
    text: str
    """Beginning of its text."""
    answer: str | None


class DuplicateCluster(TypedDict):
    """Rows that say the same."""

    cluster: int
    """Its number in the notes."""
    size: int
    kind: str
    """`equal` if all texts have the same normal form, otherwise `near`."""
    similarity: float
    """Minimum Jaccard similarity of a pair that joined the cluster; 1 for equal rows."""
    answers_differ: bool
    """Whether its rows have different gold answers, so that at least one is wrong."""
    rows: list[ShownRow]
    """The first few rows."""


class DuplicatesReport(TypedDict):
    """Rows that say the same."""

    rows: int
    kept: int
    """Number of rows that remain if one row of each cluster is kept."""
    equal_rows: int
    """Rows not kept because an equal row precedes them or is in another version."""
    near_rows: int
    """Rows not kept because a similar row is kept."""
    clusters: int
    conflicts: int
    """Number of clusters whose rows have different gold answers."""
    elsewhere: int
    """Rows of this version that another version contains, exactly or nearly."""
    largest: list[DuplicateCluster]
    """The largest clusters. Those with different answers come first."""


class ComparedSet(TypedDict):
    """A version that rows were compared with."""

    ref: str
    rows: int
    found: int
    """Number of its rows that occur in this version."""


class ContaminatedRow(TypedDict):
    """A row with the matching row of an evaluation set."""

    row: ShownRow
    met: ShownRow
    match: Match
    """`equal`, `near`, or `part` if one text contains the other."""
    share: float
    longest: int


class ContaminationReport(TypedDict):
    """Rows that evaluation sets contain, in whole or in part."""

    rows: int
    clean: int
    """Number of rows without the contaminated ones."""
    equal_rows: int
    near_rows: int
    part_rows: int
    """Rows that partly occur in an evaluation set, or contain part of one of its rows."""
    other_numbers: int
    """Rows that share enough runs but have other numbers. They count as clean."""
    common_runs: int
    """Number of runs of the evaluation sets that were ignored because many rows contain them."""
    sets: list[ComparedSet]
    largest: list[ContaminatedRow]
    """The rows with the largest shares. Equal rows come first."""


class CountedName(TypedDict):
    """Number of rows of one kind."""

    name: str
    rows: int


class Bin(TypedDict):
    """Number of rows with a value between two bounds, both inclusive."""

    least: int
    most: int
    rows: int


class StatisticsReport(TypedDict):
    """Rows by length, language, script and answer type."""

    rows: int
    characters: list[Bin]
    """Bins of equal width. The last one includes all rows longer than 99 of 100 rows."""
    words: list[Bin]
    languages: list[CountedName]
    """ISO 639 codes, most frequent first; `unknown` if a text is too short to detect its language."""
    scripts: list[CountedName]
    answer_types: list[CountedName]


class RowWithReason(TypedDict):
    """A row with a remark."""

    row: ShownRow
    reason: str


class AskedReport(TypedDict):
    """Requests to a model about rows."""

    model: str
    rows: int
    """Number of rows that it was asked about: all rows or the sample, without rows that the operation leaves out."""
    answered: int
    failed: int
    """Rows without a readable answer. Nothing is known about them."""
    failures: list[RowWithReason]
    """The first of these rows."""
    questions: int
    """Answers received, including unreadable ones that were requested again."""
    prompt_tokens: int
    """Tokens of the requests, as counted by the endpoint."""
    completion_tokens: int
    price: float | None
    """Price at the endpoint's rates; null if they are unknown."""


class ScoreBin(TypedDict):
    """Number of rows with a score between two bounds. Only the last bin includes its upper bound."""

    least: float
    most: float
    rows: int


class CriterionMean(TypedDict):
    """Average of the rows for one criterion."""

    name: str
    weight: float
    mean: float
    """Score from 0 to 1."""


class RowVerdictOnCriterion(TypedDict):
    """The judge's verdict on a row for one criterion."""

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
    """Quality of rows by a judge's rubric."""

    rows: int
    """Number of rows in the version."""
    mean: float
    """Mean score of the answered rows, from 0 to 1."""
    histogram: list[ScoreBin]
    items: list[CriterionMean]
    lowest: list[JudgedRow]
    """The rows with the lowest scores, lowest first, without those in `kept_back`."""
    kept_back: int
    """Number of low-scoring rows that are hidden until the caller has marked them."""
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
"""Reason why a variation was refused."""
REFUSAL_REASONS = get_args(RefusalReason)


class CountedRefusals(TypedDict):
    """Number of variations that were refused for one reason."""

    reason: RefusalReason
    variations: int


class KeptVariation(TypedDict):
    """A variation that was added to the new version."""

    row: ShownRow
    """The source row."""
    text: str
    answer: NotRequired[str | None]
    """Its own gold answer; null if it is the source row's."""
    pass_rate: float
    """Share of right answers to it."""


class RefusedVariation(TypedDict):
    """A variation that was refused."""

    row: ShownRow
    text: str
    reason: RefusalReason
    detail: str
    """The reason as a sentence."""


class SynthesisReport(TypedDict):
    """Verified variations of rows."""

    rows: int
    """Number of rows in the version."""
    written: int
    """Number of variations that the model wrote."""
    kept: int
    refused: int
    reasons: list[CountedRefusals]
    """Reasons, most frequent first."""
    kept_ones: list[KeptVariation]
    """The first accepted variations."""
    refused_ones: list[RefusedVariation]
    """The first refused variations. The notes list all of them by row."""
    asked: AskedReport


class ParaphrasesReport(TypedDict):
    """Rows that say the same in other words."""

    found: DuplicatesReport
    """The clusters. Similarities are cosines."""
    background: float
    """Cosine similarity that one in a thousand random pairs of different rows exceeds. A threshold that is not well
    above it is of little use."""
    asked: AskedReport


class MemorisedRow(TypedDict):
    """A row whose beginning was shown to a model."""

    row: ShownRow
    shown: str
    """The end of the text that the model saw."""
    expected: str
    """The beginning of the rest of the prompt."""
    said: str
    """The model's continuation."""
    overlap: float
    completed: bool
    answered: bool | None


class MemorisationReport(TypedDict):
    """Rows that a model was asked to complete."""

    rows: int
    """Number of rows in the version."""
    tried: int
    left_out: int
    """Rows whose rest is too short to be conclusive."""
    completed: int
    """Rows whose rest was completed word for word."""
    share: float
    """Share of these rows among those tried."""
    low: float
    """Lower end of its 95 % interval (Wilson)."""
    high: float
    with_answer: int
    """Rows tried that have a gold answer."""
    answered: int
    """Rows among these that were answered correctly although the model did not see the whole question."""
    overlap: float
    """Mean overlap (ROUGE-L, F1)."""
    histogram: list[ScoreBin]
    """Overlaps of the rows tried."""
    most: list[MemorisedRow]
    """The rows with the largest overlap."""
    asked: AskedReport


class LabReport(TypedDict):
    """Result of an operation. Only the member of its kind is set."""

    duplicates: DuplicatesReport | None
    contamination: ContaminationReport | None
    statistics: StatisticsReport | None
    quality: QualityReport | None
    synthesis: SynthesisReport | None
    paraphrases: ParaphrasesReport | None
    memorisation: MemorisationReport | None


def completed(report: dict[str, Any]) -> dict[str, Any]:
    """A stored report, with members added that are newer than the report."""
    return {name: report.get(name) for name in LabReport.__annotations__}
