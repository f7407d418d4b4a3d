"""Asks a vulnerability service about every locked package. Without one in reach it says so and lets the check pass."""

import json
import re
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
_UNKNOWN = "Dependency not found"
"""How pip-audit begins its reason for a package that its service does not know."""
_OUT_OF_REACH = re.compile(
    r"(requests\.exceptions\.(ConnectionError|ProxyError|ConnectTimeout|ReadTimeout):"
    r"|ERROR:pip_audit\._cli:Tip: your network may be blocking this service\.)"
)
"""The last line of what pip-audit says when it cannot reach its service. Certificates that fail are not among it."""


def verdict(report: list[dict[str, Any]]) -> tuple[int, str]:
    """Exit status and words for the packages of pip-audit's report."""
    asked = [package for package in report if "skip_reason" not in package]
    failed = [
        f"{package['name']}: {package['skip_reason']}"
        for package in report
        if not package.get("skip_reason", _UNKNOWN).startswith(_UNKNOWN)
    ]
    if failed:
        return 1, "\n".join(failed)
    if not report:
        return 1, "pip-audit read no package from the locks."
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


def read(output: str, errors: str) -> tuple[int, str]:
    """Exit status and words for what pip-audit wrote. No report means that it failed, or that no service answered."""
    try:
        report = json.loads(output)["dependencies"]
    except (ValueError, KeyError):
        last = next(reversed(errors.strip().splitlines()), "")
        if _OUT_OF_REACH.match(last):
            return 0, "Not audited: no vulnerability service is in reach."
        return 1, errors or "pip-audit made no report, and said nothing."
    return verdict(report)


def main() -> int:
    """Audit both locks."""
    locks = [argument for name in ("runtime", "dev") for argument in ("-r", f"requirements/{name}.lock")]
    done = subprocess.run([*COMMAND, *locks], cwd=ROOT, capture_output=True, text=True, check=False)
    code, words = read(done.stdout, done.stderr)
    print(words)
    return code


if __name__ == "__main__":
    sys.exit(main())
