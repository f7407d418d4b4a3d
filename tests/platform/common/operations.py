"""Every endpoint of a team but those of runs: who may use it, what it is sent, and what it answers."""

import re
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pytest
from django.apps import apps
from rest_framework.test import APIClient

from dressage.teams.models import UserSession
from tests.platform.rows import Digest, digests
from tests.platform.runs.fixtures import spec_document

DEFINITION = {"components": [{"name": "a", "grader": {"type": "exact"}}]}
TRY = {"definition": DEFINITION, "samples": [{"output_text": "", "item": {"answer": "1"}}]}
GRADER = {"type": "string_check", "name": "same", "input": "{{sample.output_text}}", "reference": "1"}
BENCH = {"definitions": [{"ref": "sums@1"}], "samples": TRY["samples"]}
JUDGE = {"name": "New", "base_url": "https://judge.example/v1", "model": "m", "api_key": "sk-secret"}
RUBRIC = {
    "components": [
        {
            "name": "quality",
            "grader": {"type": "rubric", "endpoint": "judge", "items": [{"name": "clear", "description": "Is clear."}]},
        }
    ]
}
ADDITION = {"name": "edit", "changes": [{"op": "add", "row": {"prompt": "2+2="}}]}
MAPPED = {"name": "New", "mapping": {"prompt": {"kind": "columns", "template": "{q}"}}, "columns": ["q", "a"]}
CARD = {"source": "", "licence": "MIT", "purpose": "", "caveats": "", "owner": None}
DATASET_IMPORT = {"name": "Elsewhere", "source": "hub", "location": "owner/name", "revision": "main"}
IMPORT = {"name": "New", "source": "hub", "location": "owner/name", "revision": "main"}


@dataclass(frozen=True)
class Operation:
    """One endpoint, the least role that may use it, and what it answers to that role."""

    method: str
    path: str
    role: str
    status: int
    body: Any = None
    multipart: bool = False


OPERATIONS = [
    Operation("GET", "home", "viewer", 200),
    Operation("GET", "teams/current", "viewer", 200),
    Operation("GET", "teams/current/members", "viewer", 200),
    Operation("PATCH", "teams/current/members/{member}", "admin", 200, {"role": "editor"}),
    Operation("DELETE", "teams/current/members/{member}", "admin", 204),
    Operation("GET", "teams/current/invitations", "admin", 200),
    Operation("POST", "teams/current/invitations", "admin", 201, {"email": "x@example.com", "role": "viewer"}),
    Operation("POST", "teams/current/invitations/{invitation}/resend", "admin", 200),
    Operation("DELETE", "teams/current/invitations/{invitation}", "admin", 204),
    Operation("GET", "tokens", "admin", 200),
    Operation("POST", "tokens", "admin", 201, {"name": "t", "role": "viewer"}),
    Operation("GET", "tokens/options", "admin", 200),
    Operation("PATCH", "tokens/{token}", "admin", 422, {"service_account": "nothing"}),
    Operation("DELETE", "tokens/{token}", "admin", 204),
    Operation("GET", "service-accounts", "admin", 200),
    Operation("POST", "service-accounts", "admin", 201, {"name": "New", "role": "editor"}),
    Operation("PATCH", "service-accounts/{account}", "admin", 200, {"disabled": True}),
    Operation("GET", "audit", "admin", 200),
    Operation("GET", "audit/export", "admin", 200),
    Operation("GET", "audit/verification", "admin", 200),
    Operation("GET", "datasets", "viewer", 200),
    Operation("POST", "datasets", "editor", 201, {"name": "New"}, multipart=True),
    Operation("POST", "datasets/preview", "editor", 200, {}, multipart=True),
    Operation("GET", "dataset-mappings", "viewer", 200),
    Operation("POST", "dataset-mappings", "editor", 201, MAPPED),
    Operation("GET", "dataset-mappings/{mapping}", "viewer", 200),
    Operation("PATCH", "dataset-mappings/{mapping}", "editor", 200, {"name": "Other"}),
    Operation("DELETE", "dataset-mappings/{mapping}", "editor", 204),
    Operation("GET", "datasets/{dataset}", "viewer", 200),
    Operation("GET", "views", "viewer", 200),
    Operation("POST", "views", "viewer", 201, {"name": "New", "charts": {}}),
    Operation("GET", "views/{view}", "viewer", 200),
    Operation("PATCH", "views/{view}", "editor", 200, {"name": "Other"}),
    Operation("DELETE", "views/{view}", "editor", 204),
    Operation("GET", "reports", "viewer", 200),
    Operation("POST", "reports", "editor", 201, {"title": "New", "content": {"blocks": []}}),
    Operation("GET", "reports/{report}", "viewer", 200),
    Operation("PATCH", "reports/{report}", "editor", 428, {"title": "Other"}),
    Operation("DELETE", "reports/{report}", "editor", 204),
    Operation("GET", "reports/{report}/revisions", "viewer", 200),
    Operation("GET", "reports/{report}/revisions/1", "viewer", 200),
    Operation("PUT", "datasets/{dataset}/card", "editor", 428, CARD),
    Operation("GET", "datasets/{dataset}/shares", "admin", 200),
    Operation("POST", "datasets/{dataset}/shares", "admin", 201, {"note": "for them"}),
    Operation("DELETE", "datasets/{dataset}/shares/{share}", "admin", 204),
    Operation("GET", "shared-datasets", "viewer", 200),
    Operation("GET", "dataset-offers/{secret}", "admin", 404),
    Operation("POST", "dataset-offers/{secret}/accept", "admin", 404, {"slug": "theirs"}),
    Operation("POST", "datasets/{dataset}/versions", "editor", 201, {}, multipart=True),
    Operation("GET", "datasets/{dataset}/versions/1", "viewer", 200),
    Operation("GET", "datasets/{dataset}/versions/1/rows", "viewer", 200),
    Operation("GET", "datasets/{dataset}/versions/1/row-values", "viewer", 200),
    Operation("GET", "datasets/{dataset}/versions/1/rows/0", "viewer", 200),
    Operation("GET", "datasets/{dataset}/versions/1/rows/0/history", "viewer", 200),
    Operation("POST", "datasets/{dataset}/versions/1/rows/search", "viewer", 200, {"query": {"text": "1"}}),
    Operation("GET", "datasets/{dataset}/versions/1/notes", "viewer", 200),
    Operation("DELETE", "datasets/{dataset}/versions/1/notes/{name}", "editor", 204),
    Operation("POST", "datasets/{dataset}/versions/1/derive", "editor", 201, {"operation": ADDITION}),
    Operation("GET", "datasets/{dataset}/versions/1/diff", "viewer", 422),
    Operation("GET", "datasets/{dataset}/versions/1/download", "viewer", 200),
    Operation("GET", "datasets/{dataset}/versions/1/lab", "viewer", 200),
    Operation("POST", "datasets/{dataset}/versions/1/lab", "editor", 201, {"operation": {"kind": "duplicates"}}),
    Operation("GET", "lab-jobs/{job}", "viewer", 200),
    Operation("POST", "lab-jobs/{job}/cancel", "editor", 200),
    Operation("POST", "lab-jobs/{job}/resume", "editor", 409),
    Operation("POST", "lab-jobs/{job}/undo", "editor", 409),
    Operation("GET", "lab-jobs/{judged}/marks", "viewer", 200),
    Operation("PUT", "lab-jobs/{judged}/marks", "editor", 204, {"marks": [{"row": 0, "word": "good"}]}),
    Operation("DELETE", "datasets/{dataset}/versions/1", "editor", 409),
    Operation("DELETE", "datasets/{dataset}", "editor", 409),
    Operation("GET", "dataset-usage", "viewer", 200),
    Operation("GET", "dataset-uploads", "viewer", 200),
    Operation("POST", "dataset-uploads", "editor", 201, {"name": "rows.jsonl", "size": 1000}),
    Operation("GET", "dataset-uploads/{upload}", "viewer", 200),
    Operation("PATCH", "dataset-uploads/{upload}", "editor", 422),
    Operation("DELETE", "dataset-uploads/{upload}", "editor", 204),
    Operation("GET", "rewards", "viewer", 200),
    Operation("POST", "rewards", "editor", 201, {"name": "New", "definition": DEFINITION}),
    Operation("POST", "rewards/try", "editor", 200, TRY),
    Operation("GET", "rewards/schema", "viewer", 200),
    Operation("GET", "rewards/{reward}", "viewer", 200),
    Operation("POST", "rewards/{reward}/versions", "editor", 201, {"definition": DEFINITION}),
    Operation("GET", "rewards/bench", "viewer", 200),
    Operation("POST", "rewards/bench", "editor", 202, BENCH),
    Operation("GET", "rewards/bench/{bench}", "viewer", 200),
    Operation("GET", "rehearsals", "viewer", 200),
    Operation("POST", "rehearsals", "editor", 422, {"spec": spec_document()}),
    Operation("GET", "rehearsals/{rehearsal}", "viewer", 200),
    Operation("POST", "rehearsals/{rehearsal}/cancel", "editor", 202),
    Operation("GET", "datasets/{dataset}/versions/1/profiles", "viewer", 200),
    Operation("POST", "profiles", "editor", 422, {"spec": spec_document(), "plan": {"budget": 9}}),
    Operation("POST", "profiles/cost", "editor", 422, {"spec": spec_document(), "plan": {"budget": 9}}),
    Operation("GET", "profiles/{profile}", "viewer", 200),
    Operation("POST", "profiles/{profile}/cancel", "editor", 202),
    Operation("POST", "profiles/{profile}/versions", "editor", 409, {"min_pass_rate": 0.1}),
    Operation("GET", "profiles/{profile}/review", "viewer", 200),
    Operation("PUT", "profiles/{profile}/review", "editor", 409, {"verdicts": [{"row": 0, "verdict": "right"}]}),
    Operation("POST", "profiles/{profile}/review/versions", "editor", 409, {}),
    Operation("GET", "datasets/{dataset}/versions/1/goldilocks", "viewer", 200),
    Operation("POST", "goldilocks", "editor", 422, {"spec": spec_document(), "plan": {"budget": 9}}),
    Operation("GET", "goldilocks/{goldilocks}", "viewer", 200),
    Operation("POST", "goldilocks/{goldilocks}/cancel", "editor", 200),
    Operation("POST", "goldilocks/{goldilocks}/undo", "editor", 409),
    Operation("GET", "rewards/{reward}/proposals", "viewer", 200),
    Operation("POST", "rewards/{reward}/proposals/{proposal}/accept", "editor", 200, {"weight": 2.0}),
    Operation("POST", "rewards/{reward}/proposals/{proposal}/retire", "editor", 200, {}),
    Operation("GET", "judge-endpoints", "viewer", 200),
    Operation("POST", "judge-endpoints", "admin", 201, JUDGE),
    Operation("PATCH", "judge-endpoints/{endpoint}", "admin", 200, {"name": "Other"}),
    Operation("DELETE", "judge-endpoints/{endpoint}", "admin", 204),
    Operation("POST", "fine_tuning/alpha/graders/validate", "viewer", 200, {"grader": GRADER}),
    Operation("POST", "fine_tuning/alpha/graders/run", "editor", 200, {"grader": GRADER, "model_sample": "1"}),
    Operation("GET", "servings", "viewer", 200),
    Operation("POST", "servings", "editor", 422, {"policy": "nothing"}),
    Operation("GET", "servings/{serving}", "viewer", 200),
    Operation("POST", "servings/{serving}/stop", "editor", 202),
    Operation("GET", "policies", "viewer", 200),
    Operation("POST", "policies", "editor", 422, {"name": "New", "path": "/etc"}),
    Operation("GET", "policies/{policy}", "viewer", 200),
    Operation("GET", "policies/{policy}/facts", "viewer", 200),
    Operation("GET", "dataset-sources", "editor", 200),
    Operation("GET", "dataset-imports", "viewer", 200),
    Operation("POST", "dataset-imports", "editor", 201, DATASET_IMPORT),
    Operation("POST", "dataset-imports/listing", "editor", 422, {"source": "url", "location": "https://a.example/b"}),
    Operation("GET", "dataset-imports/{dataset_import}", "viewer", 200),
    Operation("GET", "dataset-imports/{dataset_import}/report", "viewer", 200),
    Operation("POST", "dataset-imports/{dataset_import}/preview", "editor", 409, {}),
    Operation("POST", "dataset-imports/{dataset_import}/read", "editor", 409, {}),
    Operation("POST", "dataset-imports/{dataset_import}/cancel", "editor", 200),
    Operation("POST", "dataset-imports/{dataset_import}/retry", "editor", 200),
    Operation("GET", "policy-imports", "viewer", 200),
    Operation("POST", "policy-imports", "editor", 201, IMPORT),
    Operation("GET", "policy-imports/{import}", "viewer", 200),
    Operation("POST", "policy-imports/{import}/cancel", "editor", 200),
    Operation("POST", "policy-imports/{import}/retry", "editor", 200),
    Operation("GET", "policy-sources", "viewer", 200),
    Operation("PUT", "policy-sources/hub", "admin", 200, {"token": "hf_new"}),
    Operation("DELETE", "policy-sources/hub", "admin", 204),
    Operation("PUT", "policy-sources/bucket", "admin", 200, {"access_key_id": "a", "secret_access_key": "b"}),
    Operation("DELETE", "policy-sources/bucket", "admin", 204),
]  # fmt: skip
# Not of a team: tested in test_session.py, test_account.py and test_invitations.py.
PERSONAL = {
    "session", "session/team", "session/password", "session/second-factor", "account/second-factors", "account/totp",
    "session/oidc", "session/passkey", "session/passkey/options", "account/passkeys", "account/passkeys/options",
    "account/passkeys/{passkey}/remove", "account/totp/confirm", "account/totp/disable", "account/recovery-codes",
    "account/sessions",
    "account/sessions/{session}", "account/events",
    "account/device-passes",
    "invitations/{secret}", "invitations/{secret}/accept",
}  # fmt: skip
PERSONAL_READS = [
    "session",
    "account/passkeys",
    "account/second-factors",
    "account/sessions",
    "account/events",
    "invitations/{secret}",
]
PERSONAL_WRITES = [
    ("POST", "session"),
    ("DELETE", "session"),
    ("POST", "session/team"),
    ("POST", "session/password"),
    ("POST", "session/second-factor"),
    ("POST", "session/oidc"),
    ("POST", "session/passkey"),
    ("POST", "session/passkey/options"),
    ("POST", "account/passkeys"),
    ("POST", "account/passkeys/options"),
    ("POST", "account/passkeys/{passkey}/remove"),
    ("POST", "account/totp"),
    ("POST", "account/totp/confirm"),
    ("POST", "account/totp/disable"),
    ("POST", "account/recovery-codes"),
    ("DELETE", "account/sessions"),
    ("POST", "account/device-passes"),
    ("DELETE", "account/sessions/{session}"),
    ("POST", "invitations/{secret}/accept"),
]
BY_NAME = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: f"{o.method} {o.path}")


def documented_path(operation: Any) -> str:
    """The operation's path as the OpenAPI document has it."""
    return documented_address(re.sub(r"(versions|revisions)/1", r"\1/{number}", operation.path))


def documented_address(path: str) -> str:
    """The address as the OpenAPI document has it: what stands in braces are ids, but for these."""
    path = path.replace("rows/0", "rows/{index}").replace("{judged}", "{job}").replace("}", "_id}")
    return "/api/v1/" + re.sub(r"\{(secret|number|name|index)_id\}", r"{\1}", path)


def call(client: APIClient, operation: Operation, ids: dict[str, str]) -> Any:
    path = "/api/v1/" + operation.path.format(**ids)
    if operation.method == "GET":
        return client.get(path)
    body = operation.body
    if operation.multipart:
        file = BytesIO(b'{"prompt": "1+2="}')
        file.name = "rows.jsonl"
        body = {**body, "file": file}
    kind = "multipart" if operation.multipart else "json"
    return getattr(client, operation.method.lower())(path, body, format=kind)


def snapshot() -> list[Digest]:
    """What all tables of our apps hold; the last use of a token or a session is no change."""
    apps_of_nouns = ("teams", "datasets", "lab", "rewards", "policies", "reports", "serving")
    models = [model for label in apps_of_nouns for model in apps.get_app_config(label).get_models()]
    hidden = ("last_used_at", "last_used_address", "last_login")
    return digests([model for model in models if model is not UserSession], hidden)
