"""Which tests a run takes: ``--tier change`` for make test and CI, ``--tier long`` for everything.

An expensive test names the folders it is about. When its file has passed in whole, ``make test-long`` records the
digest of these folders; while the digest is the same, ``--tier change`` leaves the test out. Loud tests, which load the
machine on purpose, run alone: ``--tier loud``.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.suite import costs
from tests.suite.digests import ROOT, digest

PASSED = Path(__file__).parents[1] / "passed.json"
"""Digest of what an expensive group of tests was about when it last passed in whole."""
BUDGET = 3000.0
"""Processor seconds that all tests may cost together which always run. Two cores give 2,850 in 25 minutes, at 95 %."""
TIERS = ("change", "long", "loud")


class Price(NamedTuple):
    """What an expensive test says of itself."""

    cpu_seconds: float
    why: str
    about: tuple[str, ...] = ()


class Group(NamedTuple):
    """Expensive tests of one file that are about the same."""

    file: str
    about: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.file} {' '.join(self.about)}"

    def digest(self) -> str:
        return digest(ROOT / self.file, self.about)


def price(item: pytest.Item) -> Price | None:
    """The mark nearest to the test.

    Raises:
        pytest.UsageError: it says something that does not exist, or no reason.
    """
    mark = item.get_closest_marker("expensive")
    if mark is None:
        return None
    try:
        said = Price(*mark.args, **mark.kwargs)
        about = tuple(said.about)
        if isinstance(said.about, str) or said.cpu_seconds <= 0 or not said.why.strip():
            raise ValueError("it wants its processor seconds, a reason, and the folders as a tuple")
        if missing := [name for name in about if not (ROOT / name).exists()]:
            raise ValueError(f"there is no {', no '.join(missing)} in this repository")
    except (TypeError, ValueError) as fault:
        raise pytest.UsageError(f"{item.nodeid}: the mark `expensive` is wrong: {fault}.") from fault
    return said._replace(about=tuple(sorted(about)))


def group(item: pytest.Item, said: Price) -> Group:
    """The group whose passing is recorded as one."""
    return Group(item.nodeid.partition("::")[0], said.about)


class Selection(NamedTuple):
    """What a tier takes of the tests that were collected."""

    taken: list[pytest.Item]
    left_out: dict[Group, list[pytest.Item]]
    loud: list[pytest.Item]


def select(items: Iterable[pytest.Item], tier: str, passed: dict[str, str] | None = None) -> Selection:
    """Divide the tests; ``passed`` is what was recorded, by the groups' keys."""
    passed = read_passed() if passed is None else passed
    taken, loud = [], []
    left_out: dict[Group, list[pytest.Item]] = defaultdict(list)
    unchanged: dict[Group, bool] = {}
    for item in items:
        said = price(item)
        if (item.get_closest_marker("loud") is not None) is not (tier == "loud"):
            loud.append(item)
            continue
        if tier == "change" and said is not None and said.about:
            its = group(item, said)
            if its not in unchanged:
                unchanged[its] = passed.get(its.key) == its.digest()
            if unchanged[its]:
                left_out[its].append(item)
                continue
        taken.append(item)
    return Selection(taken, dict(left_out), loud)


def read_passed(path: Path = PASSED) -> dict[str, str]:
    """Recorded digests, by the groups' keys."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def record(groups: Iterable[Group], path: Path = PASSED) -> None:
    """Note that these groups have passed as they are now; forget groups whose file is gone."""
    stored = read_passed(path) | {one.key: one.digest() for one in groups}
    stored = {key: value for key, value in sorted(stored.items()) if (ROOT / key.partition(" ")[0]).exists()}
    path.write_text(json.dumps(stored, indent=1) + "\n")


def check_prices(items: Iterable[pytest.Item], ledger: dict[str, dict[str, float]] | None = None) -> None:
    """Refuse tests over the limit without a mark, and a suite over its budget. Nothing is measured here: the committed
    ledger decides, so the answer is the same on every machine.

    Raises:
        pytest.UsageError: names the tests, or the ten most expensive ones.
    """
    measured = costs.read() if ledger is None else ledger
    always: dict[str, float] = {}
    unmarked: list[tuple[str, float]] = []
    for item in items:
        said, cost = price(item), measured["tests"].get(item.nodeid, 0.0)
        if said is None and cost > costs.CHEAP:
            unmarked.append((item.nodeid, cost))
        if said is None or not said.about:
            always[item.nodeid] = max(cost, said.cpu_seconds if said else 0.0)
    if unmarked:
        raise pytest.UsageError(
            f"These tests cost more than {costs.CHEAP:g} s of processor time. Make them cheaper, or mark them "
            f'@pytest.mark.expensive(seconds, "why", about=("folder", ...)):\n{costs.table(sorted(unmarked))}'
        )
    small = sum(measured["files"].values()) - sum(measured["tests"].values()) + sum(measured["fixtures"].values())
    if (total := sum(always.values()) + small) > BUDGET:
        dearest = sorted(always.items(), key=lambda entry: -entry[1])[:10]
        raise pytest.UsageError(
            f"The tests that always run cost {total:,.0f} s of processor time, and the budget is {BUDGET:,.0f} s. Make "
            f"some cheaper, or name what they are about. The ten most expensive ones:\n{costs.table(dearest)}"
        )
