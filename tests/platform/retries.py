"""Requests that are sent twice with one Idempotency-Key, for the tests that walk all operations that make something."""

from collections.abc import Callable
from typing import Any

from rest_framework.test import APIClient

WITHOUT_KEY = {
    "/api/v1/datasets/preview": "makes nothing: it only looks at a file",
    "/api/v1/dataset-imports/listing": "makes nothing: it only looks at a place",
    "/api/v1/dataset-imports/{dataset_import_id}/preview": "makes nothing: it only looks at files",
    "/api/v1/datasets/{dataset_id}/versions/{number}/rows/search": "makes nothing: it only reads",
    "/api/v1/session": "signs in: the answer sets cookies, which only a new sign-in can",
    "/api/v1/session/team": "sets the team of the session: doing it twice is the same as once",
    "/api/v1/session/password": "makes nothing, and works outside of any team; the old password is good only once",
    "/api/v1/invitations/{secret}/accept": "is good only once by itself, and outside of any team; sets cookies",
    "/api/v1/session/second-factor": "signs in, as /session does; the code is good only once",
    "/api/v1/session/oidc": "makes nothing but a state, which is good only once",
    "/api/v1/session/passkey": "signs in, as /session does; the challenge is good only once",
    "/api/v1/session/passkey/options": "makes nothing but a challenge, of which the latest alone is good",
    "/api/v1/account/passkeys": "works outside of any team; the challenge is good only once",
    "/api/v1/account/passkeys/options": "makes nothing but a challenge, of which the latest alone is good",
    "/api/v1/account/passkeys/{passkey_id}/remove": "makes nothing, and works outside of any team",
    "/api/v1/account/totp": "works outside of any team; asked again, the key that is not confirmed is replaced",
    "/api/v1/account/totp/confirm": "works outside of any team; the key is confirmed only once",
    "/api/v1/account/totp/disable": "makes nothing, and works outside of any team",
    "/api/v1/account/recovery-codes": "works outside of any team; the code that it takes is good only once",
    "/api/v1/account/device-passes": "stores nothing, and works outside of any team",
    "/api/v1/rewards/try": "computes and stores nothing",
    "/api/v1/spec/validate": "checks and stores nothing",
    "/api/v1/spec/plan": "computes and stores nothing",
    "/api/v1/spec/plan/clusters": "computes and stores nothing",
    "/api/v1/runs/{run_id}/batch/preview": "computes and stores nothing",
    "/api/v1/runs/{run_id}/curriculum/preview": "computes and stores nothing",
    "/api/v1/fine_tuning/alpha/graders/validate": "checks and stores nothing",
    "/api/v1/fine_tuning/alpha/graders/run": "computes; OpenAI's clients send no key",
    "/api/v1/profiles/cost": "makes nothing",
}
"""Operations of POST that take no key, and why."""


def check_retry(client: APIClient, call: Callable[[], Any], snapshot: Callable[[], Any]) -> None:
    """Send a request twice with one key: the second gets the first answer, and changes nothing."""
    client.credentials(HTTP_IDEMPOTENCY_KEY="the same")
    first = call()
    before = snapshot()
    again = call()
    assert first.status_code < 300, first.content
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers.get("Idempotency-Replayed") == "true"
    assert snapshot() == before
    client.credentials()
