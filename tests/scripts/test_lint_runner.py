"""The runner of static checks: all failures are told, and the exit status is right."""

import sys

import pytest

from scripts.lint.runner import Step, run


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


GOOD = Step("good", python("print('fine')"))
BAD = Step("bad", python("print('first line'); print('second line'); raise SystemExit(3)"), remedy="Mend it.")
WORSE = Step("worse", python("import sys; sys.exit('a reason on stderr')"))


@pytest.mark.parametrize("jobs", [1, 3])
def test_all_failures_are_told(jobs: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([BAD, GOOD, WORSE], jobs) == 1
    said = capfd.readouterr().out
    assert "✓ good" in said and "fine" not in said
    assert "    first line\n    second line\n    → Mend it.\n" in said
    assert "    a reason on stderr\n" in said
    last = said.splitlines()[-1]
    assert last.startswith("2 of 3 checks failed: ") and {"bad", "worse"} == set(last[:-1].split(": ")[1].split(", "))


def test_success_is_one_line_each(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([GOOD, Step("telling", python("print('by the way')"), tells=True)], 1) == 0
    lines = [line.partition(" (")[0] for line in capfd.readouterr().out.splitlines()]
    assert lines == ["✓ good", "✓ telling", "    by the way", "All 2 checks passed."]


def test_a_missing_tool_fails(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([Step("absent", ("no-such-tool-anywhere",))], 1) == 1
    assert "no-such-tool-anywhere cannot be started" in capfd.readouterr().out
