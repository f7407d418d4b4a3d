"""The list of operations is complete, and the OpenAPI document describes every one of them."""

from typing import Any

from django.urls import get_resolver

from tests.platform.common.operations import (
    OPERATIONS,
    PERSONAL,
    PERSONAL_READS,
    PERSONAL_WRITES,
    documented_address,
    documented_path,
)
from tests.platform.openapi import documented_paths
from tests.platform.retries import WITHOUT_KEY
from tests.platform.runs.test_access import OPERATIONS as OF_RUNS

OURS = (
    "dressage.teams",
    "dressage.datasets",
    "dressage.lab",
    "dressage.rewards",
    "dressage.bench",
    "dressage.rehearsals",
    "dressage.serving",
    "dressage.profiles",
    "dressage.policies",
    "dressage.compat",
    "dressage.home",
    "dressage.chart_views",
    "dressage.reports",
    "dressage.monitoring.views.row_history",
)


def test_the_list_is_complete() -> None:
    found = set()
    for include in get_resolver().url_patterns:
        for pattern in getattr(include, "url_patterns", ()):
            view = getattr(pattern.callback, "cls", None)
            if view is None or not view.__module__.startswith(OURS):
                continue
            path = str(pattern.pattern).replace("<int:number>", "1").replace("<int:index>", "0")
            path = path.replace("<str:", "{").replace("_id>", "}").replace(">", "}")
            if path.startswith("link/"):
                continue
            found |= {(name.upper(), path) for name in ("get", "post", "put", "patch", "delete") if hasattr(view, name)}
    assert {(method, path) for method, path in found if path not in PERSONAL} == {
        (o.method, o.path.replace("{judged}", "{job}")) for o in OPERATIONS
    }


def test_every_operation_is_documented() -> None:
    described = [
        (path, method, operation)
        for path, methods in documented_paths().items()
        for method, operation in methods.items()
    ]
    names = [operation["operationId"] for _, _, operation in described]
    assert len(set(names)) == len(names)
    ours = {"session", "account", "team", "tokens", "audit", "datasets", "rewards", "policies", "compat"}
    for path, method, operation in described:
        if set(operation["tags"]) & ours:
            assert operation["description"], (path, method)
            assert operation["operationId"].isidentifier(), (path, method)
            assert path == "/api/v1/session" or {"401", "403"} <= set(operation["responses"]), (path, method)
            assert "{" not in path or "404" in operation["responses"], (path, method)
            assert "requestBody" not in operation or "422" in operation["responses"], (path, method)


def writing() -> list[tuple[str, str]]:
    """(method, path as the document has it) of every operation that may be sent a body."""
    return [
        (method.upper(), path)
        for path, methods in documented_paths().items()
        for method in methods
        if method in ("post", "put", "patch", "delete")
    ]


def test_every_writing_operation_is_walked() -> None:
    """By ``test_refused_input.py``, or by ``tests/platform/runs/test_access.py``."""
    every: list[Any] = [*OPERATIONS, *OF_RUNS]
    walked = {(o.method, documented_path(o)) for o in every if o.method != "GET"}
    walked |= {(method, documented_address(path)) for method, path in PERSONAL_WRITES}
    assert set(writing()) == walked


def test_every_reading_operation_is_walked() -> None:
    """By ``test_refused_input.py``, or by ``tests/platform/runs/test_access.py``, whose lists are complete."""
    every: list[Any] = [*OPERATIONS, *OF_RUNS]
    walked = {documented_address(path) for path in PERSONAL_READS} | {
        documented_path(o) for o in every if o.method == "GET"
    }
    assert {path for path, methods in documented_paths().items() if "get" in methods} == walked


def test_every_operation_that_makes_something_takes_a_key() -> None:
    """Those that are listed here are walked by ``test_retries.py``, and by its likes in ``tests/platform/runs``."""
    without = {
        path
        for path, methods in documented_paths().items()
        if "post" in methods
        and not any(
            p["name"] == "Idempotency-Key" and p["in"] == "header" for p in methods["post"].get("parameters", [])
        )
    }
    assert without == set(WITHOUT_KEY)
