"""Every endpoint against every role, against strangers, and against another team's ids."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from dressage.bench.samples import sample_document
from dressage.bench.services import create_bench_job
from dressage.common.actors import Actor
from dressage.common.models import StoredResponse
from dressage.common.roles import Role
from dressage.datasets.models import DatasetVersion
from dressage.datasets.services import create_dataset
from dressage.policies.access.services import set_credentials
from dressage.policies.imports.services import start_import
from dressage.policies.models import Policy, PolicyImport
from dressage.rehearsals.models import Rehearsal
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.models import RewardVersion
from dressage.rewards.proposals.services import store_proposals
from dressage.rewards.services import create_reward
from dressage.teams.invitations import invite
from dressage.teams.models import ApiToken, Membership, Team, User, UserSession
from tests.platform.bodies import check_bodies
from tests.platform.queries import check_queries
from tests.platform.retries import WITHOUT_KEY, check_retry
from tests.platform.runs.fixtures import spec_document
from tests.platform.slips import MEMBER, check_slips
from tests.platform.tokens import token_of
from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec

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
IMPORT = {"name": "New", "source": "hub", "location": "owner/name", "revision": "main"}
OURS = (
    "dressage.teams",
    "dressage.datasets",
    "dressage.rewards",
    "dressage.bench",
    "dressage.rehearsals",
    "dressage.policies",
    "dressage.compat",
)


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
    Operation("GET", "datasets/{dataset}", "viewer", 200),
    Operation("POST", "datasets/{dataset}/versions", "editor", 201, {}, multipart=True),
    Operation("GET", "datasets/{dataset}/versions/1", "viewer", 200),
    Operation("GET", "datasets/{dataset}/versions/1/rows", "viewer", 200),
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
    Operation("GET", "rewards/{reward}/proposals", "viewer", 200),
    Operation("POST", "rewards/{reward}/proposals/{proposal}/accept", "editor", 200, {"weight": 2.0}),
    Operation("POST", "rewards/{reward}/proposals/{proposal}/retire", "editor", 200, {}),
    Operation("GET", "judge-endpoints", "viewer", 200),
    Operation("POST", "judge-endpoints", "admin", 201, JUDGE),
    Operation("PATCH", "judge-endpoints/{endpoint}", "admin", 200, {"name": "Other"}),
    Operation("DELETE", "judge-endpoints/{endpoint}", "admin", 204),
    Operation("POST", "fine_tuning/alpha/graders/validate", "viewer", 200, {"grader": GRADER}),
    Operation("POST", "fine_tuning/alpha/graders/run", "editor", 200, {"grader": GRADER, "model_sample": "1"}),
    Operation("GET", "policies", "viewer", 200),
    Operation("POST", "policies", "editor", 422, {"name": "New", "path": "/etc"}),
    Operation("GET", "policies/{policy}", "viewer", 200),
    Operation("GET", "policies/{policy}/facts", "viewer", 200),
    Operation("GET", "policy-imports", "viewer", 200),
    Operation("POST", "policy-imports", "editor", 201, IMPORT),
    Operation("GET", "policy-imports/{import}", "viewer", 200),
    Operation("POST", "policy-imports/{import}/cancel", "editor", 409),
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
BY_NAME = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: f"{o.method} {o.path}")


@functools.cache
def openapi() -> dict[str, Any]:
    return SchemaGenerator(urlconf=settings.ROOT_URLCONF).get_schema(request=None, public=True)


def documented_path(operation: Any) -> str:
    """The operation's path as the OpenAPI document has it."""
    path: str = operation.path.replace("versions/1", "versions/{number}").replace("}", "_id}")
    return "/api/v1/" + path.replace("number_id", "number")


def check_against_schema(operation: Operation, response: Any) -> None:
    """The answer is documented for its status, and is as the document says."""
    documented = openapi()["paths"][documented_path(operation)][operation.method.lower()]["responses"][
        str(response.status_code)
    ]
    if response.status_code == 204:
        assert not response.content
        return
    if response.streaming:
        assert response["Content-Type"] in documented["content"]
        return
    [(content_type, content)] = documented["content"].items()
    assert response["Content-Type"] == content_type
    # References into the document need the components beside them.
    schema = {**content["schema"], "components": openapi()["components"]}
    Draft202012Validator(schema).validate(response.json())


def populate(team: Team, actor: Actor, member: Membership) -> dict[str, str]:
    """One of each in a team."""
    dataset = create_dataset(team, actor, name="Sums", file=BytesIO(b'{"prompt": "1+1=", "answer": 2}'), size=31)
    create_reward(team, actor, name="Sums", definition=RewardDefinition.model_validate(DEFINITION))
    judge = {key: value for key, value in JUDGE.items() if key != "name"}
    endpoint = create_judge_endpoint(team, actor, name="Judge", slug=None, **judge)
    reward = create_reward(team, actor, name="Quality", definition=RewardDefinition.model_validate(RUBRIC))
    [proposal] = store_proposals(
        None,
        reward.latest_version,
        attempt=1,
        step=3,
        component="quality",
        found=[{"name": "short", "description": "Is short.", "weight": 1.0, "prompt_id": "add:0"}],
    )
    bench = create_bench_job(
        team,
        actor,
        definitions=[("sums@1", "sums@1", RewardDefinition.model_validate(DEFINITION))],
        source={"type": "pasted"},
        samples=[sample_document(0, "1", {"answer": "1"}, None)],
        thinking={"start": "<think>", "end": "</think>"},
        timeout_s=10.0,
    )
    rehearsal = Rehearsal.objects.create(
        team=team,
        spec=RunSpec.model_validate(spec_document()).model_dump(mode="json"),
        prompts=1,
        samples=1,
        token_sha256=team.slug,
        created_by="x",
    )
    token, _ = token_of(team, Role.VIEWER)
    inviter = User.objects.create_user(f"inviter@{team.slug}.example.com", "correct horse battery", address_proven=True)
    Membership.objects.create(team=team, user=inviter, role=Role.ADMIN)
    invitation, link = invite(
        team, Actor("user", inviter.id, inviter.email), email="guest@example.com", role=Role.VIEWER
    )
    policy = Policy.objects.create(
        team=team, slug="p", name="P", path="/p", architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=1, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    imported = start_import(team, actor, name="Imported", slug=None, source="hub", location="owner/name")
    PolicyImport.objects.filter(pk=imported.pk).update(state="failed", error="It was away.")
    for kind, credentials in (("hub", {"token": "hf_secret"}), ("bucket", {"access_key_id": "k"})):
        set_credentials(team, actor, kind, credentials)
    return {
        "import": imported.id,
        "member": member.id, "token": token.id, "dataset": dataset.id, "reward": reward.id, "policy": policy.id,
        "account": token.service_account_id,
        "endpoint": endpoint.id, "proposal": proposal.id, "bench": bench.id,
        "rehearsal": rehearsal.id,
        "invitation": invitation.id, "secret": str(link).rpartition("/")[2],
    }  # fmt: skip


@pytest.fixture
def ids(team: Team, actor: Actor, make_user: Callable[..., Any]) -> dict[str, str]:
    make_user("admin")
    return populate(team, actor, Membership.objects.get(user=make_user("viewer")))


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


def read(response: Any) -> bytes:
    """The body, also of an answer that is streamed."""
    return b"".join(response.streaming_content) if response.streaming else response.content


def snapshot() -> list[Any]:
    """All rows of our apps; the last use of a token or a session is no change."""
    rows = []
    for label in ("teams", "datasets", "rewards", "policies"):
        for model in apps.get_app_config(label).get_models():
            if model is UserSession:
                continue
            hidden = {"last_used_at", "last_used_address", "last_login"}
            rows += [
                {key: value for key, value in row.items() if key not in hidden}
                for row in model.objects.order_by("pk").values()
            ]
    return rows


def test_the_list_is_complete() -> None:
    found = set()
    for include in get_resolver().url_patterns:
        for pattern in getattr(include, "url_patterns", ()):
            view = getattr(pattern.callback, "cls", None)
            if view is None or not view.__module__.startswith(OURS):
                continue
            path = str(pattern.pattern).replace("<int:number>", "1")
            path = path.replace("<str:", "{").replace("_id>", "}").replace(">", "}")
            if path.startswith("link/"):
                continue
            found |= {(name.upper(), path) for name in ("get", "post", "put", "patch", "delete") if hasattr(view, name)}
    assert {(method, path) for method, path in found if path not in PERSONAL} == {
        (o.method, o.path) for o in OPERATIONS
    }


def test_every_operation_is_documented() -> None:
    described = [
        (path, method, operation)
        for path, methods in openapi()["paths"].items()
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


@BY_NAME
@pytest.mark.parametrize("role", list(Role))
def test_roles(api: Callable[..., APIClient], ids: dict[str, str], operation: Operation, role: Role) -> None:
    client = api(role)
    before = snapshot()
    response = call(client, operation, ids)
    if role.covers(Role(operation.role)):
        assert response.status_code == operation.status
        check_against_schema(operation, response)
    else:
        assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_denied")
        assert f"needs the role {operation.role}" in response.json()["detail"]
        check_against_schema(operation, response)
        assert snapshot() == before


@BY_NAME
def test_strangers(anonymous: APIClient, ids: dict[str, str], operation: Operation) -> None:
    before = snapshot()
    response = call(anonymous, operation, ids)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "not_authenticated")
    assert snapshot() == before


@BY_NAME
def test_other_teams_see_nothing(
    api: Callable[..., APIClient], ids: dict[str, str], other_team: Team, operation: Operation
) -> None:
    client = api("admin", team=other_team)
    if "{" in operation.path:
        before = snapshot()
        for wanted in (ids, dict.fromkeys(ids, "nothing")):
            response = call(client, operation, wanted)
            assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
        assert snapshot() == before
    elif operation.method == "GET" and operation.path not in ("rewards/schema", "audit/verification"):
        text = read(call(client, operation, ids)).decode()
        assert not [value for value in ids.values() if value in text]


def documented_address(path: str) -> str:
    """The address as the OpenAPI document has it: what stands in braces are ids, but for secrets."""
    return "/api/v1/" + path.replace("}", "_id}").replace("{secret_id}", "{secret}")


PERSONAL_READS = [
    "session",
    "account/passkeys",
    "account/second-factors",
    "account/sessions",
    "account/events",
    "invitations/{secret}",
]


@pytest.mark.parametrize("path", [*(o.path for o in OPERATIONS if o.method == "GET"), *PERSONAL_READS])
def test_what_a_query_may_not_hold_is_refused(api: Callable[..., APIClient], ids: dict[str, str], path: str) -> None:
    client = api("admin")
    before = snapshot()
    name = documented_address(path).replace("versions/1", "versions/{number}")
    assert check_queries(client, "/api/v1/" + path.format(**ids), openapi()["paths"][name]["get"], {}) > 0
    assert snapshot() == before


def writing() -> list[tuple[str, str]]:
    """(method, path as the document has it) of every operation that may be sent a body."""
    return [
        (method.upper(), path)
        for path, methods in openapi()["paths"].items()
        for method in methods
        if method in ("post", "put", "patch", "delete")
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


@pytest.mark.parametrize(
    ("method", "path"), [*((o.method, o.path) for o in OPERATIONS if o.method != "GET"), *PERSONAL_WRITES]
)
def test_a_body_that_is_no_object_is_no_fault_of_ours(
    api: Callable[..., APIClient], ids: dict[str, str], method: str, path: str
) -> None:
    check_bodies(api("admin"), method, "/api/v1/" + path.format(session="ses_none", passkey="psk_none", **ids))


def test_every_writing_operation_is_walked() -> None:
    """By the test above, or by its like in ``tests/platform/runs/test_access.py``."""
    from tests.platform.runs.test_access import OPERATIONS as OF_RUNS

    every: list[Any] = [*OPERATIONS, *OF_RUNS]
    walked = {(o.method, "/api/v1/" + o.path.replace("}", "_id}")) for o in every if o.method != "GET"}
    walked |= {(method, documented_address(path)) for method, path in PERSONAL_WRITES}
    assert set(writing()) == walked


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "9" * 10, "9" * 19, "9" * 30, "9" * 4300, "0" * 4300, "٣", "nan"])
def test_numbers_in_paths_that_are_none(api: Callable[..., APIClient], ids: dict[str, str], number: str) -> None:
    for rest in ("", "/rows"):
        path = f"/api/v1/datasets/{ids['dataset']}/versions/{number}{rest}"
        assert api("viewer").get(path).status_code == 404


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.method != "GET"], ids=lambda o: f"{o.method} {o.path}"
)
def test_what_a_body_may_not_hold_is_refused(
    api: Callable[..., APIClient], ids: dict[str, str], operation: Operation
) -> None:
    client = api("admin")
    documented = openapi()["paths"][documented_path(operation)][operation.method.lower()]
    assert check_slips(
        openapi(), documented, operation.body, lambda body: call(client, replace(operation, body=body), ids), snapshot
    )


@pytest.mark.parametrize("path", sorted(PERSONAL))
def test_what_a_body_about_oneself_may_not_hold_is_refused(api: Callable[..., APIClient], path: str) -> None:
    client = api("admin")
    for method in openapi()["paths"][documented_address(path)].keys() - {"get"}:
        before = snapshot()
        response = getattr(client, method)(f"/api/v1/{path}", {MEMBER: 1}, format="json")
        assert response.status_code == 422, (method, response.content)
        assert f"/{MEMBER}" in [fault["pointer"] for fault in response.json()["errors"]]
        assert snapshot() == before


def test_every_reading_operation_is_walked() -> None:
    """By the test above, or by its like in ``tests/platform/runs/test_access.py``, whose lists are complete."""
    from tests.platform.runs.test_access import OPERATIONS as OF_RUNS

    every: list[Any] = [*OPERATIONS, *OF_RUNS]
    walked = {documented_address(path) for path in PERSONAL_READS} | {
        "/api/v1/" + o.path.replace("}", "_id}").replace("versions/1", "versions/{number}")
        for o in every
        if o.method == "GET"
    }
    assert {path for path, methods in openapi()["paths"].items() if "get" in methods} == walked


@pytest.mark.parametrize(
    "operation",
    [o for o in OPERATIONS if o.method == "POST" and f"/api/v1/{o.path}" not in WITHOUT_KEY and o.status < 300],
    ids=lambda operation: operation.path,
)
def test_a_retry_gets_the_first_answer(
    api: Callable[..., APIClient], ids: dict[str, str], operation: Operation
) -> None:
    client = api("admin")
    check_retry(client, lambda: call(client, operation, ids), snapshot)


def test_every_operation_that_makes_something_takes_a_key() -> None:
    """Those that are listed here are walked by the test above, and by its likes in ``tests/platform/runs``."""
    without = {
        path
        for path, methods in openapi()["paths"].items()
        if "post" in methods
        and not any(
            p["name"] == "Idempotency-Key" and p["in"] == "header" for p in methods["post"].get("parameters", [])
        )
    }
    assert without == set(WITHOUT_KEY)


def test_two_tokens_are_not_made_by_one_key(api: Callable[..., APIClient]) -> None:
    """The secret is told again to the one who asked, to no other, and lies nowhere in clear."""
    first, second = api("admin"), api("admin")
    body = {"name": "ci", "role": "viewer"}
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    made = first.post("/api/v1/tokens", body, format="json", **key)
    assert (made.status_code, first.post("/api/v1/tokens", body, format="json", **key).json()) == (201, made.json())
    refused = second.post("/api/v1/tokens", body, format="json", **key)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert ApiToken.objects.count() == 1
    stored: Any = StoredResponse.objects.get().body
    assert stored.keys() == {"sealed"}
    assert made.json()["secret"] not in stored["sealed"]


def test_a_sealed_answer_of_another_secret_is_refused(api: Callable[..., APIClient], settings: Any) -> None:
    client, body = api("admin"), {"name": "ci", "role": "viewer"}
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    assert client.post("/api/v1/tokens", body, format="json", **key).status_code == 201
    StoredResponse.objects.update(body={"sealed": "nonsense"})
    answer = client.post("/api/v1/tokens", body, format="json", **key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "idempotency_unreadable")
    assert ApiToken.objects.count() == 1


def test_refs_are_of_the_team(api: Callable[..., APIClient], ids: dict[str, str], other_team: Team, team: Team) -> None:
    from dressage.datasets.selectors import version_by_ref as dataset_version
    from dressage.policies.selectors import policy_by_name
    from dressage.rewards.selectors import version_by_ref as reward_version

    assert dataset_version(team, "sums@1") == DatasetVersion.objects.get()
    assert reward_version(team, "sums@1") == RewardVersion.objects.get(reward__slug="sums")
    assert policy_by_name(team, "p") == Policy.objects.get()
    for read, ref in ((dataset_version, "sums@1"), (reward_version, "sums@1"), (policy_by_name, "p")):
        with pytest.raises(LookupError):
            read(other_team, ref)
    for bad in ("sums", "sums@2", "sums@0", "sums@x", "@1", "sums@1@1", "a\0@1", "sums@" + "9" * 40):
        for read in (dataset_version, reward_version, policy_by_name):
            with pytest.raises(LookupError):
                read(team, bad)
    body = {"ref": "sums@1", "samples": [{"output_text": "x", "item": {"answer": "x"}}]}
    assert api("editor").post("/api/v1/rewards/try", body, format="json").status_code == 200
    response = api("editor", team=other_team).post("/api/v1/rewards/try", body, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "unknown_reward")


def test_a_token_acts_in_its_own_team_only(
    ids: dict[str, str], other_team: Team, actor: Actor, anonymous: APIClient
) -> None:
    _, secret = token_of(other_team, Role.ADMIN)
    anonymous.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert anonymous.get(f"/api/v1/datasets/{ids['dataset']}").status_code == 404
    assert anonymous.delete(f"/api/v1/tokens/{ids['token']}").status_code == 404
    assert ApiToken.objects.get(id=ids["token"]).revoked_at is None
