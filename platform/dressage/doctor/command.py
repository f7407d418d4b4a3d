"""The command ``manage.py doctor [--json]``.

Exit status: 0 no findings, 1 only warnings, 2 errors.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict

from dressage.doctor.fault import Fault
from trainer_core.log_lines import without_secrets

_BAD_SETTING = "See docs/configuration.md for the variable's values."


def main(arguments: Sequence[str]) -> int:
    """Examine the installation of this environment and print the findings; returns the exit status."""
    parser = ArgumentParser("manage.py doctor", description="Check this installation for common faults.")
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    as_json = parser.parse_args(arguments).json
    findings = _look()
    if as_json:
        print(without_secrets(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=1)))
    else:
        _write(findings)
    return 2 if any(finding.level == "error" for finding in findings) else int(bool(findings))


def _look() -> list[Fault]:
    try:
        # Settings are read when the module is loaded: a bad one is a finding like any other.
        from dressage.config import config
        from dressage.doctor.examine import examine
        from dressage.doctor.place import Place

        return examine(Place(config))
    except ValueError as error:
        told = " ".join(line.strip() for line in str(error).splitlines() if "further information" not in line)
        return [Fault("bad-setting", f"A setting cannot be read: {told}", _BAD_SETTING)]


def _write(findings: list[Fault]) -> None:
    for finding in findings:
        sign = "✗" if finding.level == "error" else "!"
        print(without_secrets(f"{sign} {finding.what}\n    → {finding.remedy}   [{finding.id}]"))
    faults = sum(finding.level == "error" for finding in findings)
    told = f"{faults} errors, {len(findings) - faults} warnings" if findings else "No faults found."
    print(told, file=sys.stderr if findings else sys.stdout)
