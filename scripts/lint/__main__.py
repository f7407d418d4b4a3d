"""``python -m scripts.lint [name …]``: runs every static check, or the named ones."""

import argparse
import os
import signal
import sys

from scripts.lint.runner import run
from scripts.lint.steps import STEPS


def main() -> int:
    """Exit status: 0 if all checks passed, 1 if any failed, 2 for an unknown name, 143 when it is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of an exception, which removes what was made
    parser = argparse.ArgumentParser(prog="make lint", description="Run the static checks.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"only these: {', '.join(s.name for s in STEPS)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="checks at once (default: CPU cores)")
    options = parser.parse_args()
    known = {step.name: step for step in STEPS}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"there is no check named {', '.join(unknown)}; there are {', '.join(known)}")
    return run([known[name] for name in options.names] or STEPS, max(1, options.jobs))


if __name__ == "__main__":
    sys.exit(main())
