"""The OpenAPI document and the schemas are made once."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.urls import Resolver404, resolve
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from dressage.common.openapi import view as openapi_view
from dressage.console import console
from dressage.runs.views import spec
from tests.support.about import PLATFORM
from trainer_core.spec import RunSpec


@pytest.mark.expensive(15, "walks over all operations", about=PLATFORM)
def test_the_document_is_made_once_for_each_form(
    anonymous: APIClient, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    openapi_view._document.cache_clear()
    as_json = anonymous.get("/api/v1/schema?format=json")
    as_yaml = anonymous.get("/api/v1/schema")
    assert as_json.headers["Content-Type"] == "application/vnd.oai.openapi+json"
    assert as_yaml.headers["Content-Type"] == "application/vnd.oai.openapi; charset=utf-8"
    assert as_yaml.headers["Content-Disposition"] == 'inline; filename="Dressage.yaml"'
    assert yaml.safe_load(as_yaml.content)["paths"].keys() == as_json.json()["paths"].keys() > {"/api/v1/runs"}
    monkeypatch.setattr(SchemaGenerator, "get_schema", None)
    assert anonymous.get("/api/v1/schema?format=json").content == as_json.content
    assert anonymous.get("/api/v1/schema").content == as_yaml.content


def test_the_schema_of_specs_is_made_once(api: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    spec._schema.cache_clear()
    first = api("viewer").get("/api/v1/spec/schema")
    monkeypatch.setattr(RunSpec, "model_json_schema", None)
    assert api("viewer").get("/api/v1/spec/schema").content == first.content


def test_the_page_of_the_api_loads_its_script_and_the_document(anonymous: APIClient, db: None) -> None:
    """The script reverses the document's path, for which Django must be able to reverse every pattern beside it."""
    page = anonymous.get("/api/v1/docs")
    assert page.status_code == 200
    assert '<script src="/api/v1/docs?script=">' in page.content.decode()
    script = anonymous.get("/api/v1/docs?script=")
    assert (script.status_code, script["Content-Type"].split(";")[0]) == (200, "application/javascript")
    assert "/api/v1/schema" in script.content.decode()


@pytest.mark.parametrize("path", ["/", "/runs/run_1?tab=charts", "/a\nb", "/teams/ä"])
def test_the_console_answers_for_every_other_path(path: str) -> None:
    assert resolve(path.split("?")[0]).func is console


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/ws/x", "/static/x.js", "/assets/x.js"])
def test_the_console_answers_for_no_file_and_no_operation(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(path)
