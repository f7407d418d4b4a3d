"""What no operation takes: undeclared or impossible members of queries, bodies and paths."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.platform.bodies import check_bodies
from tests.platform.common.operations import (
    OPERATIONS,
    PERSONAL,
    PERSONAL_READS,
    PERSONAL_WRITES,
    Operation,
    call,
    documented_address,
    documented_path,
    snapshot,
)
from tests.platform.openapi import document, documented_paths
from tests.platform.queries import check_queries
from tests.platform.slips import MEMBER, check_slips
from tests.support.about import PLATFORM


@pytest.mark.expensive(13, "walks over all operations", about=PLATFORM)
def test_what_a_query_may_not_hold_is_refused(api: Callable[..., APIClient], ids: dict[str, str]) -> None:
    client = api("admin")
    before = snapshot()
    for path in (*(o.path for o in OPERATIONS if o.method == "GET" and o.status != 404), *PERSONAL_READS):
        name = documented_address(re.sub(r"(versions|revisions)/1", r"\1/{number}", path))
        needed = {"against": "1"} if path.endswith("/diff") else {}
        assert check_queries(client, "/api/v1/" + path.format(**ids), documented_paths()[name]["get"], needed) > 0
        assert snapshot() == before, path


@pytest.mark.parametrize(
    ("method", "path"), [*((o.method, o.path) for o in OPERATIONS if o.method != "GET"), *PERSONAL_WRITES]
)
def test_a_body_that_is_no_object_is_no_fault_of_ours(
    api: Callable[..., APIClient], ids: dict[str, str], method: str, path: str
) -> None:
    check_bodies(api("admin"), method, "/api/v1/" + path.format(session="ses_none", passkey="psk_none", **ids))


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "9" * 10, "9" * 19, "9" * 30, "9" * 4300, "0" * 4300, "٣", "nan"])
def test_numbers_in_paths_that_are_none(api: Callable[..., APIClient], ids: dict[str, str], number: str) -> None:
    for rest in ("", "/rows"):
        path = f"/api/v1/datasets/{ids['dataset']}/versions/{number}{rest}"
        assert api("viewer").get(path).status_code == 404


@pytest.mark.expensive(3, "walks over all operations", about=PLATFORM)
def test_what_a_body_may_not_hold_is_refused(api: Callable[..., APIClient], ids: dict[str, str]) -> None:
    client = api("admin")
    for operation in OPERATIONS:  # one test: none of them may change anything
        if operation.method == "GET":
            continue
        documented = documented_paths()[documented_path(operation)][operation.method.lower()]
        contents = documented.get("requestBody", {}).get("content", {})
        if contents and all(kind.endswith("octet-stream") for kind in contents):
            continue  # bytes have no members

        def send(body: Any, operation: Operation = operation) -> Any:
            return call(client, replace(operation, body=body), ids)

        assert check_slips(document(), documented, operation.body, send, snapshot), operation


def test_what_a_body_about_oneself_may_not_hold_is_refused(api: Callable[..., APIClient]) -> None:
    client = api("admin")
    before = snapshot()
    for path in sorted(PERSONAL):
        for method in sorted(documented_paths()[documented_address(path)].keys() - {"get"}):
            response = getattr(client, method)(f"/api/v1/{path}", {MEMBER: 1}, format="json")
            assert response.status_code == 422, (path, method, response.content)
            assert f"/{MEMBER}" in [fault["pointer"] for fault in response.json()["errors"]], (path, method)
            assert snapshot() == before, (path, method)
