"""What a person sees of a run of many tests: how far it is, how long it will take, and at last what cost most."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

Ledger = dict[str, dict[str, float]]


def expected_costs(names: Iterable[str], ledger: Ledger) -> dict[str, float]:
    """Processor seconds that each test will take, as the committed ledger has them.

    A test that is not listed singly gets an equal share of the rest of its file; one of a new file gets the mean.
    """
    names = list(names)
    listed = ledger["tests"]
    rest = defaultdict(float, ledger["files"])
    for name, cost in listed.items():
        rest[name.partition("::")[0]] -= cost
    unlisted = Counter(name.partition("::")[0] for name in names if name not in listed)
    shares = {file: max(0.0, rest[file]) / count for file, count in unlisted.items() if file in ledger["files"]}
    mean = sum(shares.values()) / len(shares) if shares else 1.0
    return {name: listed.get(name, shares.get(name.partition("::")[0], mean)) for name in names}


class Progress:
    """Counts finished tests by what they were expected to cost, and says so every ``every`` seconds."""

    def __init__(
        self, say: Callable[[str], object], ledger: Ledger, every: float = 30.0, clock: Callable[[], float] = time.time
    ) -> None:
        self._say, self._ledger, self._every, self._clock = say, ledger, every, clock
        self._costs: dict[str, float] = {}
        self._waiting: set[str] = set()
        self._failed = 0
        self._began = self._said = clock()

    def collected(self, names: Iterable[str]) -> None:
        """The tests of this run; called again by each process that collects them, with the same ones."""
        if not self._costs:
            self._costs = expected_costs(names, self._ledger)
            self._waiting = set(self._costs)
            self._began = self._said = self._clock()

    def finished(self, name: str, failed: bool) -> None:
        """A test has ended with its teardown."""
        self._waiting.discard(name)
        self._failed += failed
        if self._clock() - self._said >= self._every:
            self._said = self._clock()
            self._say(self.line())

    def line(self) -> str:
        """Progress in words."""
        total = sum(self._costs.values())
        left = sum(self._costs[name] for name in self._waiting)
        share = 1.0 - left / total if total else 1.0
        count = len(self._costs) - len(self._waiting)
        words = f"{share:4.0%}  {count:,} of {len(self._costs):,} tests"
        words += f", {self._failed} failed" if self._failed else ""
        # The first tests say little about the speed of all: they start servers and load libraries.
        if share > 0.02:
            seconds = (self._clock() - self._began) * (1.0 - share) / share
            words += f", about {max(1, round(seconds / 60))} min left"
        return words
