"""Asks a vulnerability service about every locked package. Without one in reach it says so and lets the check pass."""

import json
import subprocess
import sys
from typing import Any

from scripts.lint.runner import ROOT

ACCEPTED: dict[str, str] = {}
"""Vulnerabilities that we live with: identifier to reason."""
COMMAND = (
    sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--progress-spinner", "off",
    "--timeout", "10", "--format", "json",
)  # fmt: skip


def verdict(report: list[dict[str, Any]]) -> tuple[int, str]:
    """Exit status and words for the packages of pip-audit's report."""
    asked = [package for package in report if "skip_reason" not in package]
    if not asked:
        return 0, "Not audited: no vulnerability service in reach knows the locked packages."
    found = [
        f"{package['name']} {package['version']}: {flaw['id']}"
        f" (mended in {', '.join(flaw['fix_versions']) or 'no version yet'})"
        for package in asked
        for flaw in package["vulns"]
        if not {flaw["id"], *flaw.get("aliases", ())} & ACCEPTED.keys()
    ]
    if found:
        return 1, "\n".join(found)
    return 0, f"{len(asked)} of {len(report)} locked packages audited: no known vulnerability."


def main() -> int:
    """Audit both locks."""
    locks = [argument for name in ("runtime", "dev") for argument in ("-r", f"requirements/{name}.lock")]
    done = subprocess.run([*COMMAND, *locks], cwd=ROOT, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        if "onnect" in done.stderr or "imed out" in done.stderr:
            print("Not audited: no vulnerability service is in reach.")
            return 0
        print(done.stderr)
        return 1
    code, words = verdict(report)
    print(words)
    return code


if __name__ == "__main__":
    sys.exit(main())
