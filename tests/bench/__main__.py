"""``python -m tests.bench [name …]``: measures speed and memory and prints the figures beside their targets."""

import sys
from collections.abc import Callable

from tests.bench import rollout_share, time_to_reward, web_memory
from tests.bench.report import Figure, show
from tests.support.installation import Installation

BENCHMARKS: dict[str, tuple[str, Callable[[Installation], list[Figure]]]] = {
    "rollout": ("Rollout phase against the engine alone", rollout_share.measure),
    "short": ("Time to reward, short answers", time_to_reward.measure_short),
    "long": ("Time to reward, long-tailed lengths", time_to_reward.measure_long),
    "web": ("Web process", web_memory.measure),
}


def main() -> None:
    """Run the named benchmarks, or all."""
    chosen = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in chosen if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    with Installation() as installation:
        for name in chosen:
            title, measure = BENCHMARKS[name]
            show(title, measure(installation))


if __name__ == "__main__":
    main()
