"""Every operation of the OpenAPI document, asked what it declares and what it does not, by three roles.

Schemathesis makes the requests from the document alone, so a new endpoint is among them without being listed here. The
examples are the same in each run; ``DRESSAGE_CONFORMANCE_EXAMPLES`` asks for more of them.
"""

import json
import os
import re

import pytest
import schemathesis
from django.conf import settings
from django.core.cache import cache
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from hypothesis import HealthCheck, Phase, assume, given
from hypothesis import settings as examples
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from rest_framework.test import APIClient
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from tests.platform.conformance.conftest import NAMED, PLACES, Place
from tests.platform.openapi import DOCUMENT

EXAMPLES = int(os.environ.get("DRESSAGE_CONFORMANCE_EXAMPLES", "6"))
SUBJECTS = ("platform/dressage", "trainer_core", "frontend/openapi.json")
WHY = "asks every operation, as every role"
SIGNS_IN = {f"POST /api/v1/session{step}" for step in ("", "/password", "/second-factor")}
CSRF = "x" * 32
HEADERS = {"X-CSRFToken": CSRF, "Accept-Encoding": "identity"}  # in-process, nobody would decompress
_SCHEMA = schemathesis.openapi.from_dict(json.loads(DOCUMENT.read_text()))
_SCHEMA.config.generation.update(with_security_parameters=False)  # the callers are signed in
_SCHEMA.config.checks.negative_data_rejection.expected_statuses.append("413")
_SCHEMA.app = get_wsgi_application()
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
OPERATIONS = [found.ok() for found in _SCHEMA.get_all_operations()]
# An error of the server's own is never declared; that a place elsewhere cannot be reached is (503), and may be true.
ANSWERS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture(autouse=True)
def same_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples that depend on the document alone.

    Hypothesis also draws constants from whatever code of ours is loaded, which differs from run to run.
    """
    monkeypatch.setattr(providers, "_get_local_constants", Constants)


def send(client: APIClient, case: schemathesis.Case) -> schemathesis.Response:
    """Send a case as a browser that is signed in; what the request does is undone."""
    cookies = {settings.SESSION_COOKIE_NAME: client.cookies[settings.SESSION_COOKIE_NAME].value}
    cookies[settings.CSRF_COOKIE_NAME] = CSRF
    cache.clear()
    with transaction.atomic():
        response = case.call(base_url="http://localhost", headers=HEADERS, cookies=cookies)
        transaction.set_rollback(True)
    assert response.status_code != 401 or case.operation.label in SIGNS_IN, "the caller is signed in"
    return response


def has_empty_part(case: schemathesis.Case) -> bool:
    """Whether a form has an empty text.

    In-process it is written as a part without a body, which Django does not see: the request would not hold the fault.
    ``test_mapping`` sends such a part as browsers do.
    """
    if case.media_type != "multipart/form-data" or not isinstance(case.body, dict):
        return False
    return any(isinstance(value, str) and not value for value in case.body.values())


def told(response: schemathesis.Response, case: schemathesis.Case) -> tuple[int, str]:
    """What the caller learns: the answer without the ids that the request has named."""
    text = response.text
    named = {str(value) for name, value in (case.path_parameters or {}).items() if name not in PLACES}
    for value in named:  # as a word: an id may be 1, and be a part of v1
        text = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", "…", text)
    return response.status_code, text


def bounded(count: int) -> examples:
    """The same ``count`` examples in each run."""
    return examples(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.expensive(130, WHY, about=SUBJECTS)
@pytest.mark.timeout(900)
def test_what_is_declared(place: Place, subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:

        @bounded(EXAMPLES)
        @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
        def asked(case: schemathesis.Case) -> None:
            case.path_parameters = {name: place.ids[name] for name in case.path_parameters or {}}
            for client in place.callers.values():
                case.validate_response(send(client, case), checks=ANSWERS)

        with subtests.test(operation.label):
            asked()


@pytest.mark.expensive(80, WHY, about=SUBJECTS)
@pytest.mark.timeout(900)
def test_what_is_not_declared_is_refused(place: Place, subtests: pytest.Subtests) -> None:
    for operation in (one for one in OPERATIONS if one.body or list(one.query) or "{number}" in one.path):

        @bounded(EXAMPLES)
        @given(case=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
        def asked(case: schemathesis.Case) -> None:
            assume(not has_empty_part(case))
            for client in place.callers.values():
                case.validate_response(send(client, case), checks=[*ANSWERS, checks.negative_data_rejection])

        with subtests.test(operation.label):
            asked()


@pytest.mark.expensive(20, WHY, about=SUBJECTS)
def test_another_teams_ids_are_as_unknown_as_any(place: Place, subtests: pytest.Subtests) -> None:
    """Every address with an id, asked by each role of another team: nobody can tell the id from one that is not."""
    walked = [one for one in OPERATIONS if "_id}" in one.label]
    ids = place.ids.keys() - PLACES.keys() - set(NAMED)
    assert {name for one in walked for name in re.findall(r"{(\w+_id)}", one.label)} == ids
    for operation in walked:

        @bounded(2)
        @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
        def asked(case: schemathesis.Case) -> None:
            names = list(case.path_parameters or {})
            for client in place.strangers.values():
                case.path_parameters = {name: place.ids[name] for name in names}
                foreign = told(send(client, case), case)
                case.path_parameters = {name: PLACES.get(name, "no_such_id") for name in names}
                assert foreign == told(send(client, case), case)
                assert foreign[0] in (400, 403, 404, 422, 428), foreign

        with subtests.test(operation.label):
            asked()
