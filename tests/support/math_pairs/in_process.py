"""A jail that is none: calculates in this process, for pairs that the tests themselves have written."""

import json
from collections.abc import Mapping
from typing import Any

from trainer_core.rewards.graders.jail import Limits, Outcome
from worker.sandbox import symbolic


class InProcess:
    """Implements ``equal`` of ``trainer_core.rewards.graders.jail.Jail``."""

    def __init__(self) -> None:
        self.asked = 0

    def equal(self, comparison: Mapping[str, Any], limits: Limits) -> Outcome:
        """The verdict of the code that the jail runs, without the jail."""
        self.asked += 1
        told: list[bool] = []
        verdict = symbolic.verdict(comparison, told.append)
        lines = [{"gold": gold} for gold in told] + [verdict]
        return Outcome("exit", 0, b"", b"", "\n".join(map(json.dumps, lines)).encode(), 0.0)
