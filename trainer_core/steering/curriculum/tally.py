"""Tally of returned groups by source and by the known difficulty of their prompts."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from trainer_core.metrics.data import BANDS, UNTRIED
from trainer_core.steering.curriculum.outcome import GroupOutcome


def band(rate: float | None) -> str:
    """The band of a known pass rate."""
    return UNTRIED if rate is None else BANDS[min(int(rate * len(BANDS) + 1e-9), len(BANDS) - 1)]


@dataclass(slots=True)
class Figures:
    """Figures of groups of one kind."""

    groups: int = 0
    scored: int = 0
    """Groups with a sample whose reward could be computed."""
    right: int = 0
    graded: int = 0
    all_right: int = 0
    all_wrong: int = 0

    def add(self, group: GroupOutcome) -> None:
        """Count a group."""
        self.groups += 1
        self.right += group.right
        self.graded += group.graded
        if group.graded:
            self.scored += 1
            self.all_right += group.right == group.graded
            self.all_wrong += group.right == 0


class GroupTally:
    """Counts the groups of a step: all that came back, including those that dynamic sampling replaces."""

    def __init__(self, sources: Iterable[str]) -> None:
        """``sources`` are reported with 0 groups if none of their groups came back."""
        self._sources = {name: Figures() for name in sources}
        self._bands = {name: Figures() for name in (*BANDS, UNTRIED)}

    def add(self, group: GroupOutcome, known: float | None) -> None:
        """Count a group; ``known`` is the pass rate of its prompt that was known before."""
        self._sources[group.source].add(group)
        self._bands[band(known)].add(group)

    def metrics(self) -> dict[str, float]:
        """Metrics of the counted groups; formulas are in ``metrics/data.py``. Unknown values are left out."""
        return dict([*_metrics("data", self._sources), *_metrics("difficulty", self._bands)])

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "sources": {name: asdict(figures) for name, figures in self._sources.items()},
            "bands": {name: asdict(figures) for name, figures in self._bands.items()},
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._sources = {name: Figures(**figures) for name, figures in state["sources"].items()}
        self._bands = {name: Figures(**figures) for name, figures in state["bands"].items()}


def _metrics(prefix: str, kinds: dict[str, Figures]) -> Iterator[tuple[str, float]]:
    total = sum(figures.groups for figures in kinds.values())
    if total == 0:
        return
    for name, figures in kinds.items():
        yield f"{prefix}/groups/{name}", float(figures.groups)
        yield f"{prefix}/share/{name}", figures.groups / total
        if figures.graded:
            yield f"{prefix}/pass_rate/{name}", figures.right / figures.graded
            yield f"{prefix}/all_right/{name}", figures.all_right / figures.scored
            yield f"{prefix}/all_wrong/{name}", figures.all_wrong / figures.scored
