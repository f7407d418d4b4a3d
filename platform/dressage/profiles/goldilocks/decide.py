"""Selection of the rows that a goldilocks keeps: by the band of each stage, and without suspect golds."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from dressage.profiles.goldilocks.asked import AskedGoldilocks, StageName
from dressage.profiles.outcomes import RowOutcomes
from trainer_core.link.profile import ProfilePlan

OutsideReason = Literal["never", "always", "harder", "easier", "untried"]
"""Never solved, always solved, solved too rarely or too often for the band, or without a graded sample."""
DroppedBy = Literal["first", "second", "suspect"]


class OutsideRows(TypedDict):
    """Rows that are outside a band for the same reason."""

    reason: OutsideReason
    rows: int


class GoldilocksStageReport(TypedDict):
    """Result of one stage over all rows."""

    stage: StageName
    profile: str
    policy: str
    reused: bool
    """Whether the stage used an existing profile."""
    min_pass_rate: float
    max_pass_rate: float
    samples: int
    """Number of graded samples over all rows."""
    inside: int
    """Rows inside the band."""
    outside: list[OutsideRows]


class GoldilocksReport(TypedDict):
    """The rows that were kept and dropped, by stage and reason."""

    rows: int
    kept: int
    stages: list[GoldilocksStageReport]
    dropped_by_first: int
    """Rows dropped because of the first policy; 0 if the second one decides about all rows."""
    dropped_by_second: int
    suspects: int
    """Rows inside the band whose gold the last stage's samples contradict, including those that people confirmed."""
    suspects_left_out: int
    returned: int
    """Rows that are kept although they are outside the first band."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on each row, in row order."""

    rates: dict[StageName, list[float | None]]
    """Pass rates of each stage; None for a row without a graded sample."""
    dropped: list[tuple[DroppedBy, str] | None]
    """(Dropped by, reason); None for a row that is kept."""
    report: GoldilocksReport


@dataclass(frozen=True, slots=True)
class PastStage:
    """One completed stage."""

    name: StageName
    profile: str
    policy: str
    reused: bool
    plan: ProfilePlan
    outcomes: RowOutcomes


def decide(asked: AskedGoldilocks, stages: list[PastStage], trusted: Collection[int]) -> Decision:
    """Decide about every row.

    Args:
        asked: the request.
        stages: the stages in order, all of the same version.
        trusted: numbers of the rows whose gold a person has confirmed.
    """
    rates = {stage.name: _rates(stage.outcomes) for stage in stages}
    reasons = {stage.name: [_reason(rate, stage.plan) for rate in rates[stage.name]] for stage in stages}
    last = stages[-1]
    binding = [stage.name for stage in stages if stage is last or asked.outside_first == "stay_out"]
    suspects = set(last.outcomes["suspects"])
    accused = suspects - set(trusted) if asked.suspects == "leave_out" else set()
    dropped: list[tuple[DroppedBy, str] | None] = []
    inside_suspects = returned = 0
    for row in range(len(rates[last.name])):
        outside = next(((name, reasons[name][row]) for name in binding if reasons[name][row]), None)
        found: tuple[DroppedBy, str] | None = None
        if outside is not None:
            found = (outside[0], outside[1] or "")
        elif row in accused:
            found = ("suspect", "suspect")
        inside_suspects += outside is None and row in suspects
        returned += found is None and reasons["first"][row] is not None
        dropped.append(found)
    by = Counter(one[0] for one in dropped if one is not None)
    report: GoldilocksReport = {
        "rows": len(dropped),
        "kept": dropped.count(None),
        "stages": [_told(stage, reasons[stage.name]) for stage in stages],
        "dropped_by_first": by["first"],
        "dropped_by_second": by["second"],
        "suspects": inside_suspects,
        "suspects_left_out": by["suspect"],
        "returned": returned,
    }
    return Decision(rates, dropped, report)


def _rates(outcomes: RowOutcomes) -> list[float | None]:
    counts = zip(outcomes["samples"], outcomes["correct"], strict=True)
    return [correct / samples if samples else None for samples, correct in counts]


def _reason(rate: float | None, plan: ProfilePlan) -> OutsideReason | None:
    """The reason a row is outside the band, whose edges are included; None if it is inside."""
    if rate is None:
        return "untried"
    if plan.min_pass_rate <= rate <= plan.max_pass_rate:
        return None
    if rate in (0.0, 1.0):
        return "always" if rate else "never"
    return "harder" if rate < plan.min_pass_rate else "easier"


def _told(stage: PastStage, reasons: list[OutsideReason | None]) -> GoldilocksStageReport:
    outside = Counter(reason for reason in reasons if reason is not None)
    return {
        "stage": stage.name,
        "profile": stage.profile,
        "policy": stage.policy,
        "reused": stage.reused,
        "min_pass_rate": stage.plan.min_pass_rate,
        "max_pass_rate": stage.plan.max_pass_rate,
        "samples": sum(stage.outcomes["samples"]),
        "inside": len(reasons) - outside.total(),
        "outside": [{"reason": reason, "rows": rows} for reason, rows in outside.most_common()],
    }
