"""Answers are compressed for who can read it, except those that hold secrets."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from rest_framework.test import APIClient

from dressage.common.api.compression import SMALLEST, may_compress
from dressage.config import ROOT

pytestmark = pytest.mark.django_db
GZIP = {"HTTP_ACCEPT_ENCODING": "gzip, deflate"}


def test_documents_are_compressed(api: Callable[..., APIClient]) -> None:
    client = api("viewer")
    plain = client.get("/api/v1/spec/schema")
    browser = Client()  # the other one reads what it gets
    browser.cookies = client.cookies
    packed = browser.get("/api/v1/spec/schema", **GZIP)
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert int(packed["Content-Length"]) == len(packed.content) < len(plain.content) / 3
    assert gzip.decompress(packed.content) == plain.content
    assert "Accept-Encoding" in plain["Vary"] and "Accept-Encoding" in packed["Vary"]


def test_short_answers_stay_as_they_are(api: Callable[..., APIClient]) -> None:
    assert "Content-Encoding" not in api("viewer").get("/api/v1/datasets", **GZIP)


def test_the_session_is_never_compressed(api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.common.api.compression.SMALLEST", 1)
    client = api("viewer")
    assert "Content-Encoding" not in client.get("/api/v1/session", **GZIP)


def answer(**changes: Any) -> HttpResponse:
    return HttpResponse("x" * SMALLEST, **{"content_type": "application/json", **changes})


def test_what_may_be_compressed() -> None:
    requests = RequestFactory()
    assert may_compress(requests.get("/api/v1/runs"), answer())
    # What a write answers may be a token or a password that is shown once.
    assert not may_compress(requests.post("/api/v1/tokens"), answer())
    assert not may_compress(requests.get("/api/v1/link/runs/run_1/bundle"), answer())
    assert not may_compress(requests.get("/api/v1/session"), answer())
    assert not may_compress(requests.get("/api/v1/runs"), answer(status=206))
    assert not may_compress(requests.get("/api/v1/runs"), answer(content_type="application/x-tar"))
    assert not may_compress(requests.get("/api/v1/runs"), StreamingHttpResponse(iter([b"x"])))
    with_cookie = answer()
    with_cookie.set_cookie("csrftoken", "secret")
    assert not may_compress(requests.get("/api/v1/runs"), with_cookie)


def test_the_console_is_compressed_when_it_is_built(settings: Any, tmp_path: Path) -> None:
    command = "python -m whitenoise.compress --quiet dist"
    assert command in (ROOT / "scripts" / "setup.sh").read_text()
    script = tmp_path / "dist" / "assets" / "index-abcdef12.js"
    script.parent.mkdir(parents=True)
    script.write_text("console.log('dressage');\n" * 500)
    subprocess.run([sys.executable, *command.split()[1:]], cwd=tmp_path, check=True)
    settings.WHITENOISE_ROOT = tmp_path / "dist"
    response = APIClient().get("/assets/index-abcdef12.js", **GZIP)
    assert response["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(response.streaming_content)) == script.read_bytes()
