"""Headers and error pages of every response."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest
from rest_framework.test import APIClient

from dressage.common.api.middleware import content_security_policy
from tests.platform.common.operations import snapshot
from tests.platform.openapi import documented_paths

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture
def console(settings: Any, tmp_path: Path) -> str:
    """The content of the console's page."""
    settings.FRONTEND_DIST = tmp_path
    (tmp_path / "index.html").write_text("<h1>The console</h1>")
    return "<h1>The console</h1>"


def test_security_headers(anonymous: APIClient, db: None) -> None:
    response = anonymous.get("/api/v1/session")
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cache-Control"] == "no-store"
    policy = response["Content-Security-Policy"].split("; ")
    assert "script-src 'self'" in policy
    assert {"frame-ancestors 'none'", "object-src 'none'", "base-uri 'none'"} <= set(policy)
    assert "connect-src 'self' ws://testserver wss://testserver" in policy


def test_no_page_loads_scripts_from_elsewhere() -> None:
    policy = content_security_policy("x")
    assert "https://" not in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]


def test_request_id_is_kept_or_made(anonymous: APIClient, db: None) -> None:
    assert anonymous.get("/api/v1/session", HTTP_X_REQUEST_ID="abcd-1234")["X-Request-ID"] == "abcd-1234"
    for bad in ("short", "with space and more", "x" * 65, "line\nbreak-here"):
        assert anonymous.get("/api/v1/session", HTTP_X_REQUEST_ID=bad)["X-Request-ID"].startswith("req_")


def test_host_header_cannot_write_into_the_policy(anonymous: APIClient) -> None:
    response = anonymous.get("/api/v1/session", HTTP_HOST="evil.example; script-src *")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert "script-src *" not in response["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/datasets/", "/api/v2/session"])
def test_unknown_addresses_are_problems(anonymous: APIClient, path: str) -> None:
    response = anonymous.get(path)
    assert response.status_code == 404
    assert response.json()["title"] == "Not found"


def test_an_id_with_a_nul_names_nothing(api: Callable[..., APIClient]) -> None:
    client = api("admin")
    before = snapshot()
    asked = 0
    for path, operations in documented_paths().items():
        for name in re.findall(r"\{\w+\}", path):
            address = re.sub(r"\{\w+\}", "1", path.replace(name, "run_x%00"))
            for method in operations.keys() & METHODS:
                response = getattr(client, method)(address, {}, format="json")
                assert (response.status_code, response.json()["title"]) == (404, "Not found"), (method, address)
                assert response["X-Request-ID"]
                asked += 1
    assert asked > 100
    assert snapshot() == before


def test_a_query_with_a_nul_is_refused(api: Callable[..., APIClient]) -> None:
    client = api("admin")
    before = snapshot()
    for path, operations in documented_paths().items():
        for method in operations.keys() & METHODS:
            response = getattr(client, method)(re.sub(r"\{\w+\}", "1", path) + "?after=a%00b", {}, format="json")
            assert (response.status_code, response.json()["error"]["code"]) == (400, "nul_in_query"), (method, path)
    assert snapshot() == before


@pytest.mark.parametrize("path", ["/runs/run_x%00", "/runs/run_1?tour=%00", "/%00?find=%00", "/runs/run_%0A"])
def test_pages_tell_by_themselves_what_they_cannot_show(anonymous: APIClient, path: str, console: str) -> None:
    response = anonymous.get(path)
    assert (response.status_code, b"".join(response).decode()) == (200, console)


def test_a_file_with_a_nul_is_not_there(anonymous: APIClient) -> None:
    for path in ("/assets/a%00.js", "/static/%00"):
        assert anonymous.get(path).status_code == 404


def test_our_own_faults_name_the_request(anonymous: APIClient, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: HttpRequest) -> None:
        raise ZeroDivisionError("secret inside")

    monkeypatch.setattr("dressage.teams.views.session.session_document", broken)
    anonymous.raise_request_exception = False
    response = anonymous.get("/api/v1/session", HTTP_X_REQUEST_ID="find-me-here")
    assert response.status_code == 500
    assert "find-me-here" in response.json()["detail"]
    assert "secret" not in response.content.decode()


def test_database_away_is_503(anonymous: APIClient, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def away(request: HttpRequest) -> None:
        raise OperationalError("connection to 10.0.0.5 refused")

    monkeypatch.setattr("dressage.teams.views.session.session_document", away)
    response = anonymous.get("/api/v1/session")
    assert response.status_code == 503
    assert "10.0.0.5" not in response.content.decode()


def test_wrong_method_is_405(anonymous: APIClient, db: None) -> None:
    response = anonymous.put("/api/v1/session", {}, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


def test_no_other_origin_may_read_answers(anonymous: APIClient, db: None) -> None:
    for method in ("get", "options"):
        response = getattr(anonymous, method)("/api/v1/session", HTTP_ORIGIN="https://evil.example")
        assert not [name for name in response.headers if name.startswith("Access-Control-")]


@pytest.mark.parametrize("path", ["/", "/api/v1/session", "/.git/config", "/static/"])
def test_requests_are_not_echoed(anonymous: APIClient, db: None, path: str) -> None:
    assert anonymous.trace(path).status_code in (404, 405)


def test_nothing_of_the_checkout_is_served(anonymous: APIClient, db: None) -> None:
    for path in ("/.git/config", "/manage.py", "/static/", "/assets/", "/static/../manage.py", "/.dressage/secret-key"):
        response = anonymous.get(path)
        body = b"".join(response) if response.streaming else response.content
        assert response.status_code in (404, 503) or b"<div id=" in body, path
