"""Definitions that take long to read: what is compiled is compiled elsewhere, and what is left is bounded."""

import builtins
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]
from rest_framework.test import APIClient

from dressage.common.roles import Role
from dressage.rewards import checking
from dressage.rewards.models import Reward
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.errors import GraderStopped, JobTooHeavy
from trainer_core.rewards.graders.size import MOST_GRADERS
from trainer_core.rewards.graders.text import pattern
from trainer_core.spec import untrusted
from trainer_core.spec.untrusted import python_fault

pytestmark = pytest.mark.django_db

QUADRATIC = 'x = f"' + "{a}{a}" * 40_000 + '"\ndef grade(sample, item): return 1'
"""240 KB that occupy the compiler for many seconds: its work is the square of the parts of an f-string."""
SAMPLES = [{"output_text": "1", "item": {}}]
CHECK = {"type": "string_check", "input": "{{item.a}}", "reference": "b", "operation": "eq"}


def definition(grader: dict[str, Any]) -> dict[str, Any]:
    return {"components": [{"name": "one", "grader": grader}]}


def python(source: str) -> dict[str, Any]:
    return {"type": "python", "source": source}


def plugin(source: str) -> dict[str, Any]:
    return {"type": "plugin", "kind": "trl", "source": source, "functions": [{"name": "grade"}]}


def multi(graders: list[dict[str, Any]]) -> dict[str, Any]:
    named = {f"g{index}": grader for index, grader in enumerate(graders)}
    return {"type": "multi", "graders": named, "calculate_output": "g0"}


def tree(levels: int) -> dict[str, Any]:
    return multi([tree(levels - 1)] * 16) if levels else CHECK


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the usual limit, so that a test costs no more than that."""
    monkeypatch.setattr(checking, "CHECK", checking.GradeLimits(cpu_s=0.2, wall_s=30.0))
    monkeypatch.setattr(checking, "_kept", type(checking._kept)())


@pytest.fixture
def nothing_compiles_here(monkeypatch: pytest.MonkeyPatch, quick: None) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("compiled in the web process")

    monkeypatch.setattr(pattern, "regex", SimpleNamespace(**{**vars(regex), "compile": refuse}))
    monkeypatch.setattr(untrusted, "compile", refuse, raising=False)


DOORS: dict[str, Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]] = {
    "graders/validate": lambda grader: ("fine_tuning/alpha/graders/validate", {"grader": grader}),
    "graders/run": lambda grader: ("fine_tuning/alpha/graders/run", {"grader": grader, "model_sample": "1"}),
    "a new reward": lambda grader: ("rewards", {"name": "Heavy", "definition": definition(grader)}),
    "a trial": lambda grader: ("rewards/try", {"definition": definition(grader), "samples": SAMPLES}),
    "the bench": lambda grader: (
        "rewards/bench",
        {"definitions": [{"definition": definition(grader)}], "samples": SAMPLES, "probes": False},
    ),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("grader", [python(QUADRATIC), multi([plugin(QUADRATIC)])], ids=["alone", "inside"])
@pytest.mark.usefixtures("nothing_compiles_here")
def test_source_that_compiles_slowly_is_refused(
    api: Callable[..., APIClient], door: str, grader: dict[str, Any]
) -> None:
    path, body = DOORS[door](grader)
    answer = api(Role.EDITOR).post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422, answer.content
    assert "used more than 0.2 s of processor time" in answer.json()["detail"]
    assert "make it shorter or simpler" in answer.json()["detail"]
    assert not Reward.objects.exists()


@pytest.mark.parametrize(
    ("grader", "told"),
    [
        (python("x = " + "(" * 5000), "not a Python program"),
        (python("x = " + "-" * 100_000 + "1"), "not a Python program"),
        (python("x = " + "9" * 200_000), "not a Python program"),
        ({"type": "regex", "pattern": "("}, "not a regular expression"),
        ({"type": "regex", "pattern": "(a{1000}){1000}"}, "the counted repeats multiply to more than 1000"),
        ({"type": "regex", "pattern": "(?:" * 150 + "a{,}" + "){,}"}, "not a regular expression"),
        ({"type": "json_schema", "json_schema": {"type": 5}}, "not a JSON Schema"),
        ({"type": "json_schema", "json_schema": {"pattern": "("}}, "not a regular expression"),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.usefixtures("nothing_compiles_here")
def test_faults_are_found_elsewhere(api: Callable[..., APIClient], grader: dict[str, Any], told: str) -> None:
    body = {"definition": definition(grader), "samples": SAMPLES}
    answer = api(Role.EDITOR).post("/api/v1/rewards/try", body, format="json")
    assert answer.status_code == 422, answer.content
    assert told in answer.json()["detail"]
    assert answer.json()["errors"][0]["pointer"].startswith("/definition/components/0/grader")


@pytest.mark.usefixtures("nothing_compiles_here")
def test_what_is_sound_is_read_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    graders = [
        python("def grade(sample, item): return 1"),
        {"type": "regex", "pattern": "[0-9]+"},
        {"type": "json_schema", "json_schema": {"type": "object"}},
    ]
    first = RewardDefinition.model_validate(definition(multi(graders)))
    monkeypatch.setattr(checking, "places", lambda: pytest.fail("it was checked again"))
    assert RewardDefinition.model_validate(definition(multi(graders))) == first


@pytest.mark.usefixtures("quick")
def test_the_texts_of_one_request_share_their_time(
    api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dressage.common.api.allowance.CHECKS_S", 0.3)
    slow = [python(f"{QUADRATIC}  # {number}") for number in range(4)]
    answer = api(Role.VIEWER).post("/api/v1/fine_tuning/alpha/graders/validate", {"grader": multi(slow)}, format="json")
    assert answer.status_code == 422
    details = [error["detail"] for error in answer.json()["errors"]]
    assert ["used more than" in detail for detail in details] == [True, True, False, False]
    assert all("not checked: the texts before it took 0.3 s" in detail for detail in details[2:])


@pytest.mark.usefixtures("quick")
def test_a_busy_machine_is_not_the_texts_fault(api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Exception | None] = [GraderStopped("there is no process"), None]

    def check(*_: Any) -> None:
        if (error := outcomes.pop(0)) is not None:
            raise error

    monkeypatch.setattr("trainer_core.rewards.isolated.process.GradingProcess.check", check)
    body = {"grader": python("def grade(sample, item): return 1")}
    statuses = [
        api(Role.VIEWER).post("/api/v1/fine_tuning/alpha/graders/validate", body, format="json").status_code
        for _ in range(2)
    ]
    assert statuses == [503, 200]


def test_a_crash_of_the_compiler_is_the_texts_fault(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any) -> None:
        raise JobTooHeavy("the process of the check of the text died (SIGSEGV)")

    monkeypatch.setattr("trainer_core.rewards.isolated.process.GradingProcess.check", crash)
    with pytest.raises(ValueError, match="SIGSEGV"):
        RewardDefinition.model_validate(definition(python("x = 1")))


@pytest.mark.parametrize("door", DOORS)
def test_too_many_graders_are_refused_before_they_are_read(api: Callable[..., APIClient], door: str) -> None:
    path, body = DOORS[door](tree(3))
    answer = api(Role.EDITOR).post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422
    assert f"more than {MOST_GRADERS} graders" in answer.json()["detail"]
    assert not Reward.objects.exists()


def test_as_many_graders_as_allowed_are_read() -> None:
    parts = [multi([CHECK] * 15)] * 16  # with the multi graders themselves: 16 × 16 in each component
    components = [{"name": f"c{index}", "grader": multi(parts)} for index in range(1)]
    components += [{"name": "d", "grader": multi([multi([CHECK] * 15)] * 15)}]
    components += [{"name": f"e{index}", "grader": CHECK} for index in range(MOST_GRADERS - 257 - 241)]
    RewardDefinition.model_validate({"components": components})
    with pytest.raises(ValueError, match=f"more than {MOST_GRADERS} graders"):
        RewardDefinition.model_validate({"components": [*components, {"name": "last", "grader": CHECK}]})


def test_other_processes_check_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "_runner", untrusted._here)
    compiled: list[str] = []
    monkeypatch.setattr(
        untrusted, "compile", lambda *given: (compiled.append(given[0]), builtins.compile(*given)), raising=False
    )
    untrusted.refuse_if(python_fault, "x = 1")
    assert compiled == ["x = 1"]
