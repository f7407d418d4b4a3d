"""``python -m tests.architectures``: put every architecture through a whole loop and tell what was seen.

With names only these are run anew; with ``--show`` nothing is written. Each architecture has a process of its own.
With ``--whole`` each has one whole run on Ray instead of the cases of the matrix.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.architectures.cases import Case, all_cases
from tests.architectures.page import RESULTS, WHOLE, write
from tests.architectures.seen import Seen
from tests.support.ray_alone import ray_alone
from trainer_core.starter.architectures import ARCHITECTURES, make_tiny
from trainer_core.support import ARCHITECTURES as SUPPORTED

if TYPE_CHECKING:
    from worker.engine import InferenceEngine


def run_architecture(name: str, cases: list[Case]) -> list[Seen]:
    """Run the cases of one architecture in this process, with one engine for each head and number type."""
    from tests.architectures.loop import run_case, start_engine

    found: list[Seen] = []
    engines: dict[object, InferenceEngine | None] = {}
    reason = ""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            policy = Path(folder) / f"{case.head}-{case.dtype}"
            if not policy.exists():
                make_tiny(name, policy, tied=case.head == "tied", dtype=case.dtype)
            if case.served not in engines:
                try:
                    engines[case.served] = start_engine(policy, case)
                except Exception as error:
                    engines[case.served] = None
                    reason = f"the engine does not start: {type(error).__name__}: {error}"
            engine = engines[case.served]
            seen = Seen(case, failure=reason) if engine is None else run_case(case, engine, policy, policy / str(case))
            print(f"{case}: {'; '.join(seen.complaints())[:300] or 'works'} ({seen.seconds:.1f} s)", flush=True)
            found.append(seen)
    return found


def whole_runs(names: Sequence[str], *, show: bool) -> bool:
    """Give each architecture its whole run, and keep what was seen. Whether one does not work."""
    results = json.loads(WHOLE.read_text()) if WHOLE.exists() else {}
    broken = False
    with ray_alone():
        from tests.architectures.whole import run_whole

        for name in names or ARCHITECTURES:
            with tempfile.TemporaryDirectory() as folder:
                seen = run_whole(name, Path(folder))
            complaints = seen.complaints()
            print(f"{name}: {'; '.join(complaints)[:600] or 'works'} ({seen.seconds:.0f} s)", flush=True)
            broken |= bool(complaints)
            results[name] = [seen.as_json()]
            if not show:
                WHOLE.write_text(as_text({key: results[key] for key in ARCHITECTURES if key in results}))
    if not show:
        write()
    return broken


def as_text(results: dict[str, list[dict[str, object]]]) -> str:
    """JSON with one case a line, so that a change of one is a change of one line."""
    parts = (
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(one) for one in found) + "\n]"
        for name, found in results.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    """Run what is asked for; 1 where a case does not work that the table of ``trainer_core.support`` says does."""
    parser = argparse.ArgumentParser(prog="python -m tests.architectures", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *ARCHITECTURES], help="architectures (default: all)")
    parser.add_argument("--show", action="store_true", help="write no result")
    parser.add_argument("--whole", action="store_true", help="whole runs on Ray, killed and resumed")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.into is not None:
        found = [one.as_json() for one in run_architecture(given.names[0], all_cases(given.names))]
        given.into.write_text(json.dumps(found))
        return 0
    if given.whole:
        return int(whole_runs(given.names, show=given.show))
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    broken = False
    for name in given.names or ARCHITECTURES:
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder) / "seen.json"
            done = subprocess.run([sys.executable, "-m", "tests.architectures", name, "--into", str(into)])
            if done.returncode:
                sys.exit(f"{name}: the process ended with {done.returncode}")
            results[name] = json.loads(into.read_text())
        table = SUPPORTED[ARCHITECTURES[name].model]
        kinds = {"fp8": table.fp8, "lora": table.lora, "bfloat16": table.bfloat16}
        broken |= any(one["complaints"] and kinds.get(one["case"]["kind"], True) for one in results[name])
        if not given.show:
            ordered = {key: results[key] for key in ARCHITECTURES if key in results}
            RESULTS.write_text(as_text(ordered))
            if len(ordered) == len(ARCHITECTURES):
                write()
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
