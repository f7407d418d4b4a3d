"""Reports of the prompts' pass rates, from which the console previews another band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from trainer_core.link.events import PassRatesData, SourcePassRates
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.histogram import SourceRates
from worker.link.client import Link
from worker.loop.reporting.reports import checked

PART = 20
"""A report is due once a twentieth of the steps so far has passed since the last one. A short run reports every step,
and a long run's journal does not fill up."""


class PassRateReports:
    """Reports what the curriculum knows about its prompts, if it has changed."""

    def __init__(self, curriculum: Curriculum, link: Link) -> None:
        self._curriculum, self._link = curriculum, link
        self._step: int | None = None
        """Step of the last check."""
        self._told: PassRatesData | None = None

    def tell(self, step: int) -> None:
        """Report the pass rates after ``step`` if due. A new stage is reported immediately."""
        stage = self._curriculum.stage
        begun = self._told is not None and stage != self._told.stage
        if self._step is not None and step - self._step < max(1, step // PART) and not begun:
            return
        self._step = step
        found = self._curriculum.histogram()
        if found is None:
            return
        event = checked(lambda: pass_rates_data(found, stage))
        if event != self._told:
            self._told = event if isinstance(event, PassRatesData) else None
            self._link.emit(event, step)


def pass_rates_data(found: Sequence[SourceRates], stage: str | None = None) -> PassRatesData:
    """Event for a histogram."""
    return PassRatesData(sources=tuple(SourcePassRates(**asdict(source)) for source in found), stage=stage)
