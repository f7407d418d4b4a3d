"""Every list reads about as many rows of its table as it shows, on a page far behind the first as well."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.chart_views.models import ChartView
from dressage.common.models import TeamModel
from dressage.datasets.models import (
    Dataset,
    DatasetImport,
    DatasetShare,
    DatasetUpload,
    DatasetVersion,
    RowNotes,
    SavedMapping,
)
from dressage.lab.arguments import FindDuplicates
from dressage.lab.models import LabJob
from dressage.policies.models import Policy, PolicyImport
from dressage.profiles.goldilocks.asked import AskedGoldilocks
from dressage.profiles.models import Goldilocks, Profile
from dressage.rehearsals.models import Rehearsal
from dressage.reports.models import Report, ReportRevision
from dressage.rewards.models import JudgeEndpoint, Reward, RewardVersion, RubricProposal
from dressage.runs.models import Checkpoint, CheckpointExport, Control, Run
from dressage.runs.states import RunState
from dressage.serving.models import Serving
from dressage.teams.models import (
    AccountEvent,
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    ServiceAccount,
    Team,
    User,
    UserSession,
)
from dressage.teams.two_factor.models import Passkey
from dressage.telemetry.models import Event, Rollout, RowOutcome
from tests.platform.common.operations import MAPPED
from tests.platform.openapi import documented_paths
from tests.platform.runs.fixtures import spec_document
from tests.support.about import PLATFORM
from trainer_core.link.profile import ProfilePlan
from trainer_core.spec import RunSpec

ROWS, FIRST, NEXT = 260, 200, 20
SPARE = 6
"""Rows that a page may read beside those it shows: the cursor's, and the one behind the page."""
NOW = datetime(2026, 11, 22, tzinfo=UTC)
"""All rows are made at one instant, so that the id alone has to tell them apart."""
DEFINITION = {"components": [{"name": "a", "grader": {"type": "exact"}}]}
NOT_IN_A_TABLE = {f"/api/v1/datasets/{{dataset_id}}/versions/{{number}}/{what}" for what in ("rows", "diff")}
"""Read from a Parquet file by row groups."""
NOT_IN_A_TABLE.add("/api/v1/runs/{run_id}/groups")  # of rollouts, of which one page reads several steps
FEW = {"/api/v1/runs": {"state": "draft"}, "/api/v1/runs/{run_id}/events": {"kind": "step"}}
"""Filters that take nearly all rows."""


def paged() -> dict[str, dict[str, Any]]:
    """Operation of each list by cursor, from the OpenAPI document."""
    found = {path: operations["get"] for path, operations in documented_paths().items() if "get" in operations}
    return {path: one for path, one in found.items() if any(p["name"] == "after" for p in one.get("parameters", []))}


def many(model: type[models.Model], /, **values: Any) -> list[Any]:
    """``ROWS`` rows of ``model``; a value that is a function is asked with the row's number."""
    given = [{k: v(n) if callable(v) else v for k, v in values.items()} for n in range(ROWS)]
    return model._default_manager.bulk_create([model(**row) for row in given])


def number(n: int) -> str:
    return f"n{n:04}"


def of_team(model: type[TeamModel], team: Team, /, **values: Any) -> list[Any]:
    """Rows of a team."""
    return many(model, team=team, created_at=NOW, **values)


def fill(team: Team, person: User) -> dict[str, tuple[type[models.Model], dict[str, str]]]:
    """Rows of every list of a team, and of one of its people: the list's table, and the ids in its address."""
    by, slugs, unique = {"created_by": "x"}, {"slug": number, "name": "n"}, lambda n: f"{team.slug}{n}"
    people = many(User, email=lambda n: f"{team.slug}{n}@example.com")
    ends = NOW + timedelta(days=36_500)
    open_ones = many(Session, session_key=unique, session_data="", expire_date=ends)
    many(UserSession, user=person, session=lambda n: open_ones[n], created_at=NOW)
    many(Passkey, user=person, created_at=NOW, name="n", credential_id=unique, public_key=b"", sign_count=0)
    many(AccountEvent, user=person, action="account.sign_in", created_at=NOW)
    of_team(Membership, team, user=lambda n: people[n], role="viewer")
    of_team(ApiToken, team, name="t", sha256=unique, role="viewer")
    offer = {"email": lambda n: f"guest{n}@example.com", "sha256": unique, "mailed": True, "created_by_id": "x"}
    of_team(Invitation, team, role="viewer", expires_at=NOW, **offer, **by)
    of_team(ServiceAccount, team, name=unique, role="viewer")
    of_team(AuditEntry, team, number=lambda n: n + 1, actor_kind="user", action="a", target_type="t", hash="h")
    sets = of_team(Dataset, team, **slugs, **by)
    stored = many(DatasetVersion, dataset=lambda n: sets[n], number=1, rows=1, bytes=1, columns=[], **by)
    offered = {"created_by_id": "x", "expires_at": ends}
    of_team(DatasetShare, team, dataset=sets[0], sha256=lambda n: f"offer {unique(n)}", **offered, **by)
    lent = of_team(Dataset, team, slug=lambda n: f"lent{n}", name="n", **by)
    many(DatasetVersion, dataset=lambda n: lent[n], number=1, rows=1, bytes=1, columns=[], **by)
    taken = {"guest": team, "slug": number, "accepted_at": NOW, "dataset": lambda n: lent[n]}
    of_team(DatasetShare, team, sha256=lambda n: f"share {unique(n)}", **taken, **offered, **by)
    asked = FindDuplicates(kind="duplicates").model_dump(mode="json")
    of_team(LabJob, team, version=stored[0], kind="duplicates", state="done", operation=asked, rows=1, actor={}, **by)
    noted = {"carried": True, "source": {"kind": "k", "id": "j", "arguments": {}}, "columns": [], "file": "f"}
    many(RowNotes, version=stored[0], name=number, created_at=NOW, **noted, **by)
    of_team(DatasetUpload, team, name="n", size=1, expires_at=ends, **by)
    of_team(SavedMapping, team, name=number, mapping=MAPPED["mapping"], columns=[], **by)
    of_team(ChartView, team, name=number, owner="o", shared=True, charts={}, **by)
    told = of_team(Report, team, title="t", content={}, updated_by="x", **by)
    many(ReportRevision, report=told[0], number=lambda n: n + 1, title="t", content={}, size=2, created_at=NOW, **by)
    of_team(DatasetImport, team, source="hub", location="owner/name", actor={}, **slugs, **by)
    size = {"parameters": 1, "vocab_size": 1, "max_position_embeddings": 1, "bytes": 1}
    policies = of_team(Policy, team, path="/p", **slugs, **size, **by)
    served = {"endpoints": {}, "asked_at": NOW, "state": "done", "policy": policies[0]}
    of_team(Serving, team, token_sha256=unique, asked_for=unique, **served, **by)
    of_team(PolicyImport, team, source="hub", location="owner/name", policy_id=unique, actor={}, **slugs, **by)
    rewards = of_team(Reward, team, **slugs, **by)
    versions = many(RewardVersion, reward=lambda n: rewards[n], number=1, definition=DEFINITION, **by)
    many(
        RubricProposal, reward=rewards[0], reward_version=versions[0], attempt=1, step=1, created_at=NOW,
        component="c", name="n", weight=1.0, better="b", worse="w",
    )  # fmt: skip
    of_team(JudgeEndpoint, team, base_url="https://judge.example/v1", model="m", **slugs, **by)
    empty = {
        "definitions": [],
        "source": {"type": "pasted"},
        "samples": [],
        "thinking": {"start": "a", "end": "b"},
        "timeout_s": 1.0,
    }
    of_team(BenchJob, team, token_sha256=unique, **empty, **by)
    spec = {"policy": {"base": "p"}}
    of_team(Rehearsal, team, token_sha256=unique, spec=spec, prompts=1, samples=1, **by)
    of_team(
        Profile,
        team,
        token_sha256=unique,
        version=stored[0],
        spec={**spec, "reward": {"definition": "r@1"}},
        plan=ProfilePlan(budget=9).model_dump(mode="json"),
        threshold=0.5,
        **by,
    )
    stages = AskedGoldilocks(
        spec=RunSpec.model_validate(spec_document()), plan=ProfilePlan(budget=9), second=None, outside_first="stay_out",
        suspects="keep", reuse=True, threshold=0.5, cluster=None, into=None,
    ).model_dump(mode="json")  # fmt: skip
    of_team(Goldilocks, team, version=stored[0], state="done", asked=stages, actor={}, **by)
    runs = of_team(Run, team, name="r", spec=spec, effective_spec=spec, total_steps=9, state=RunState.DRAFT, **by)
    run = runs[0]
    saved = many(
        Checkpoint, run=run, created_at=NOW, attempt=1, step=1, path=number, bytes=1, reason="schedule",
        manifest_sha256="0", policy_version=1,
    )  # fmt: skip
    of_team(CheckpointExport, team, checkpoint=saved[0], address=number, state="done", actor={}, **by)
    many(
        Control,
        run=run,
        created_at=NOW,
        revision=lambda n: n + 1,
        target="t",
        boundary="optimizer_step",
        actor_kind="user",
    )
    many(Event, run=run, seq=lambda n: n + 1, attempt=1, kind="step", step=1, at=NOW, data={})
    many(
        Rollout, run=run, attempt=1, step=lambda n: n // 4, group_id=number, sample=0, prompt_id="p", source="s",
        prompt="", completion="", reward=lambda n: None if n % 2 else 1.0, reward_parts={}, finish_reason="stop",
        length=1, thinking_tokens=0, budget_hit=False, control_revision=0,
    )  # fmt: skip
    came = {"source": "s", "row": 0, "right": 1, "graded": 1, "fate": "trained"}
    many(RowOutcome, run=run, attempt=1, step=lambda n: n // 4, **came)
    ids, prefix = {"run_id": run.id, "reward_id": rewards[0].id, "dataset_id": sets[0].id, "number": "1"}, "/api/v1"
    ids["report_id"] = told[0].id
    tables: dict[str, type[models.Model]] = {
        "/account/events": AccountEvent,
        "/account/passkeys": Passkey,
        "/account/sessions": UserSession,
        "/audit": AuditEntry,
        "/checkpoint-exports": CheckpointExport,
        "/datasets": Dataset,
        "/dataset-mappings": SavedMapping,
        "/views": ChartView,
        "/dataset-uploads": DatasetUpload,
        "/datasets/{dataset_id}/shares": DatasetShare,
        "/shared-datasets": DatasetShare,
        "/datasets/{dataset_id}/versions/{number}/lab": LabJob,
        "/datasets/{dataset_id}/versions/{number}/notes": RowNotes,
        "/datasets/{dataset_id}/versions/{number}/goldilocks": Goldilocks,
        "/datasets/{dataset_id}/versions/{number}/profiles": Profile,
        "/judge-endpoints": JudgeEndpoint,
        "/policies": Policy,
        "/policy-imports": PolicyImport,
        "/dataset-imports": DatasetImport,
        "/rehearsals": Rehearsal,
        "/reports": Report,
        "/reports/{report_id}/revisions": ReportRevision,
        "/rewards": Reward,
        "/rewards/{reward_id}/proposals": RubricProposal,
        "/rewards/bench": BenchJob,
        "/servings": Serving,
        "/runs": Run,
        "/runs/{run_id}/checkpoints": Checkpoint,
        "/runs/{run_id}/controls": Control,
        "/runs/{run_id}/events": Event,
        "/runs/{run_id}/prompts": RowOutcome,
        "/runs/{run_id}/rollouts": Rollout,
        "/teams/current/invitations": Invitation,
        "/teams/current/members": Membership,
        "/service-accounts": ServiceAccount,
        "/tokens": ApiToken,
    }
    return {f"{prefix}{path}": (model, ids) for path, model in tables.items()}


def read_rows(plan: Mapping[str, Any], table: str) -> float:
    """Rows of ``table`` that a plan has read, also those that it threw away."""
    inner = sum(read_rows(part, table) for part in plan.get("Plans", ()))
    if plan.get("Relation Name") != table:
        return inner
    thrown = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
    return inner + (plan["Actual Rows"] + thrown) * plan["Actual Loops"]


def explained(statements: list[str]) -> Iterator[dict[str, Any]]:
    """Plan of each statement, with what it has read.

    A table this small would be read as a whole, or through another index and sorted, were it allowed: with a handful
    of rows behind the cursor, by the planner's estimate, such plans cost the same.
    """
    with connection.cursor() as cursor:
        for way in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        for statement in statements:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
            [plan] = cursor.fetchone()
            yield (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


def orders(operation: dict[str, Any]) -> list[dict[str, str]]:
    """Queries that ask for each order the list knows."""
    [known] = [p["schema"]["enum"] for p in operation["parameters"] if p["name"] == "order"] or [[]]
    return [{"order": order} for order in known] or [{}]


@pytest.mark.expensive(7, "walks over all operations", about=PLATFORM)
def test_a_deep_page_reads_as_many_rows_as_it_shows(
    api: Callable[..., APIClient], team: Team, other_team: Team
) -> None:
    client, stranger = api("admin"), api("admin", team=other_team)
    filled, _ = fill(team, client.user), fill(other_team, stranger.user)  # type: ignore[attr-defined]
    assert filled.keys() == paged().keys() - NOT_IN_A_TABLE, "a list by cursor is missing here, or is none any more"
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for path, (model, ids) in filled.items():
        for order in orders(paged()[path]):
            address, query = path.format(**ids), {**order, **FEW.get(path, {})}
            first = client.get(address, {**query, "limit": FIRST}).json()
            with CaptureQueriesContext(connection) as captured:
                page = client.get(address, {**query, "limit": NEXT, "after": first["next"]}).json()
            assert len(page["data"]) == NEXT, address
            keys = [json.dumps(row.get("id") or row.get("seq")) for row in (*first["data"], *page["data"])]
            assert len(set(keys)) == FIRST + NEXT, address
            statements = [one["sql"] for one in captured if one["sql"].startswith("SELECT")]
            found = sum(read_rows(plan, model._meta.db_table) for plan in explained(statements))
            assert NEXT <= found <= NEXT + SPARE, f"{address} {query} reads {found:.0f} rows for {NEXT}"
