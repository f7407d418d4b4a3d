"""The repository's own static checks see the faults that they are for."""

from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement

from scripts.lint import audit, dead_code, locks


def requirements(*lines: str) -> list[Requirement]:
    return [Requirement(line) for line in lines]


def test_a_lock_is_the_closure_of_what_is_declared() -> None:
    whole = locks.pins((locks.ROOT / "requirements" / "runtime.lock").read_text())
    pydantic = {n: whole[n] for n in ("pydantic", "pydantic-core", "annotated-types", "typing-extensions")}
    pydantic["typing-inspection"] = whole["typing-inspection"]
    assert locks.faults(requirements("pydantic>=2"), pydantic) == []
    assert locks.faults(requirements("pydantic>=99"), pydantic) == [
        f"pyproject.toml requires pydantic>=99, but {pydantic['pydantic']} is locked: run make lock"
    ]
    without = {name: version for name, version in pydantic.items() if name != "annotated-types"}
    (missing,) = locks.faults(requirements("pydantic>=2"), without)
    assert missing.startswith("pydantic requires annotated-types") and "which is not locked" in missing
    assert locks.faults(requirements("pydantic>=2"), pydantic | {"numpy": whole["numpy"]}) == [
        "numpy is locked, but nothing requires it: run make lock"
    ]
    assert locks.faults(requirements("pydantic>=2"), pydantic | {"annotated-types": "0.1"}) != []


def test_markers_of_other_machines_count_for_nothing() -> None:
    assert locks.faults(requirements("pywin32; sys_platform == 'win32'"), {}) == []


def item(name: str) -> Any:
    return SimpleNamespace(name=name, typ="function", filename="a.py", first_lineno=7)


def test_dead_code_and_spare_allowances_are_told() -> None:
    assert dead_code.verdict([item("handle_x"), item("lonely")], ["handle_*", "gone"]) == [
        "a.py:7: unused function lonely",
        "scripts/lint/dead_code_allowed.toml: gone allows nothing any more: take it out",
    ]


FLAW = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2.0"]}


@pytest.mark.parametrize(
    ("report", "accepted", "code", "words"),
    [
        ([{"name": "a", "skip_reason": "unknown"}], {}, 0, "Not audited"),
        ([{"name": "a", "version": "1", "vulns": []}], {}, 0, "1 of 1 locked packages audited"),
        ([{"name": "a", "version": "1", "vulns": [FLAW]}], {}, 1, "a 1: PYSEC-1 (mended in 2.0)"),
        ([{"name": "a", "version": "1", "vulns": [FLAW]}], {"CVE-1": "not reachable"}, 0, "1 of 1"),
    ],
)
def test_an_audit_fails_on_known_vulnerabilities_alone(
    report: list[dict[str, Any]],
    accepted: dict[str, str],
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "ACCEPTED", accepted)
    found, said = audit.verdict(report)
    assert found == code and said.startswith(words)
