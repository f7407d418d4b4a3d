"""Runs static checks side by side, tells all that fail and not the first alone."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_NO_SERVICES = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing", "REDIS_URL": "redis://127.0.0.1:1/0"}
"""Addresses at which nothing answers: no check needs a database, and none may touch an installation's."""


@dataclass(frozen=True)
class Step:
    """One check: a command that ends with 0 when all is well."""

    name: str
    command: tuple[str, ...]
    folder: str = "."
    """Working directory, relative to the repository."""
    tells: bool = False
    """Whether its words are shown when all is well, too."""
    remedy: str = ""
    """What to do when it fails, where the command's own words leave that open."""


@dataclass(frozen=True)
class Outcome:
    """What came of a step."""

    step: Step
    code: int
    output: str
    seconds: float


def run(steps: Sequence[Step], jobs: int) -> int:
    """Run all steps, at most ``jobs`` at once; print each when it ends and a summary last.

    Returns:
        0 if every step ended with 0, else 1.
    """
    failed: list[Outcome] = []
    stopped = threading.Event()
    with tempfile.TemporaryDirectory(prefix="dressage-lint-") as home, ThreadPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(_run, step, home, stopped) for step in steps]):
                outcome = future.result()
                _report(outcome)
                if outcome.code:
                    failed.append(outcome)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # interrupted: what has not begun shall not
            raise
    if failed:
        print(f"\n{len(failed)} of {len(steps)} checks failed: {', '.join(outcome.step.name for outcome in failed)}.")
    else:
        print(f"All {len(steps)} checks passed.")
    return 1 if failed else 0


def _run(step: Step, home: str, stopped: threading.Event) -> Outcome:
    if stopped.is_set():
        return Outcome(step, 130, "Not begun: the checks were interrupted.\n", 0.0)
    began = time.monotonic()
    try:
        done = subprocess.run(
            step.command,
            cwd=ROOT / step.folder,
            env=_environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        code, output = done.returncode, done.stdout
        if code in (-signal.SIGINT, -signal.SIGTERM):
            stopped.set()  # the group was told to end: this thread may learn of it before the one that waits
    except OSError as error:
        code, output = 127, f"{step.command[0]} cannot be started: {error.strerror}. Run scripts/setup.sh dev.\n"
    return Outcome(step, code, output, time.monotonic() - began)


def _environment(home: str) -> dict[str, str]:
    """Our own, with the tools of ``.venv`` and ``.node`` before those of the machine, and no installation.

    Several steps read the platform's settings, which would make a data folder with a database where there is none: each
    of them at once, in the repository.
    """
    tools = os.pathsep.join(str(ROOT / folder / "bin") for folder in (".node", ".venv"))
    path = f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"
    return os.environ | {"PATH": path, "DRESSAGE_HOME": home} | _NO_SERVICES


def _report(outcome: Outcome) -> None:
    """A line for a check that passed; for one that failed, all that it said as well."""
    mark = "✗" if outcome.code else "✓"
    lines = [f"{mark} {outcome.step.name} ({outcome.seconds:.1f} s)"]
    if outcome.code or outcome.step.tells:
        lines += [f"    {line}" for line in outcome.output.rstrip().splitlines()]
    if outcome.code and outcome.step.remedy:
        lines.append(f"    → {outcome.step.remedy}")
    print("\n".join(lines), flush=True)
