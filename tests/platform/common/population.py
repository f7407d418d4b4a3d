"""A team that has one of each thing."""

from io import BytesIO
from typing import Any

import pyarrow as pa
from django.utils import timezone

from dressage.bench.samples import sample_document
from dressage.bench.services import create_bench_job
from dressage.chart_views.document import ChartsDocument
from dressage.chart_views.services import create_view
from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.datasets.imports.services import start_import as start_dataset_import
from dressage.datasets.mapping.services import save_mapping
from dressage.datasets.models import DatasetImport
from dressage.datasets.services import create_dataset
from dressage.datasets.sharing.services import offer
from dressage.datasets.uploads.services import start_upload
from dressage.datasets.versions import notes
from dressage.datasets.versions.notes import NoteSource
from dressage.lab.arguments import AssessQuality
from dressage.lab.models import LabJob
from dressage.lab.reports import QualityReport, ShownRow, completed
from dressage.policies.access.services import set_credentials
from dressage.policies.imports.services import start_import
from dressage.policies.models import Policy, PolicyImport
from dressage.profiles.goldilocks.asked import AskedGoldilocks
from dressage.profiles.models import Goldilocks, Profile
from dressage.rehearsals.models import Rehearsal
from dressage.reports.document import ReportContent
from dressage.reports.services import create_report
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.proposals.services import store_proposals
from dressage.rewards.services import create_reward
from dressage.serving.models import Serving
from dressage.teams.invitations.services import invite
from dressage.teams.models import Membership, Team, User
from tests.platform.common.operations import DEFINITION, JUDGE, MAPPED, RUBRIC
from tests.platform.runs.fixtures import spec_document
from tests.platform.tokens import token_of
from trainer_core.datasets.mapping import DatasetMapping
from trainer_core.link.profile import ProfilePlan
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.graders.model.rubric import RubricItem
from trainer_core.spec import RunSpec


def _judgement() -> dict[str, Any]:
    """The report of a judge that was asked about two rows and answered one."""
    shown: ShownRow = {"ref": "sums@1", "index": 0, "id": "a", "text": "1 + 1", "answer": None}
    quality: QualityReport = {
        "rows": 2,
        "mean": 0.5,
        "histogram": [{"least": 0.5, "most": 1.0, "rows": 1}],
        "items": [{"name": "clear", "weight": 1.0, "mean": 0.5}],
        "lowest": [
            {"row": shown, "score": 0.5, "verdicts": [{"name": "clear", "score": 0.5, "reason": "It is short."}]}
        ],
        "kept_back": 0,
        "asked": {
            "model": "small-one",
            "rows": 2,
            "answered": 1,
            "failed": 1,
            "failures": [{"row": shown, "reason": "the judge's answer is no JSON: ''"}],
            "questions": 4,
            "prompt_tokens": 400,
            "completion_tokens": 40,
            "price": None,
        },
    }
    return completed({"quality": quality})


def populate(team: Team, actor: Actor, member: Membership) -> dict[str, str]:
    """One of each in a team."""
    dataset = create_dataset(team, actor, name="Sums", file=BytesIO(b'{"prompt": "1+1=", "answer": 2}'), size=31)
    found = pa.table({"pass_rate": pa.array([0.5], pa.float64())})
    source: NoteSource = {"kind": "difficulty", "id": "prof_1", "arguments": {}}
    notes.write(dataset.versions.get(), "difficulty", found, by=actor, source=source)
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
    profile = Profile.objects.create(
        team=team,
        version=dataset.versions.get(),
        spec=rehearsal.spec,
        plan=ProfilePlan(budget=9).model_dump(mode="json"),
        threshold=0.5,
        token_sha256=team.slug,
        created_by="x",
    )
    two_stages = AskedGoldilocks(
        spec=RunSpec.model_validate(spec_document()),
        plan=ProfilePlan(budget=9),
        second=None,
        outside_first="may_return",
        suspects="leave_out",
        reuse=True,
        threshold=0.5,
        cluster=None,
        into=None,
    )
    goldilocks = Goldilocks.objects.create(
        team=team,
        version=dataset.versions.get(),
        asked=two_stages.model_dump(mode="json"),
        first=profile,
        actor={"kind": "user", "id": "x", "name": "x"},
        created_by="x",
    )
    token, _ = token_of(team, Role.VIEWER)
    inviter = User.objects.create_user(f"inviter@{team.slug}.example.com", "correct horse battery", address_proven=True)
    Membership.objects.create(team=team, user=inviter, role=Role.ADMIN)
    invitation, link = invite(
        team, Actor("user", inviter.id, inviter.email), email="guest@example.com", role=Role.VIEWER
    )
    share, _ = offer(dataset, Actor("user", inviter.id, inviter.email))
    policy = Policy.objects.create(
        team=team, slug="p", name="P", path="/p", architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=1, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    serving = Serving.objects.create(
        team=team,
        policy=policy,
        asked_for=policy.id,
        endpoints={},
        asked_at=timezone.now(),
        token_sha256=team.slug,
        created_by="x",
    )
    imported = start_import(team, actor, name="Imported", slug=None, source="hub", location="owner/name")
    PolicyImport.objects.filter(pk=imported.pk).update(state="failed", error="It was away.")
    dataset_import = start_dataset_import(team, actor, name="Imported", source="hub", location="owner/name")
    DatasetImport.objects.filter(pk=dataset_import.pk).update(state="failed", error="It was away.")
    job = LabJob.objects.create(
        team=team, version=dataset.versions.get(), kind="statistics", operation={"kind": "statistics"}, rows=1, actor={}
    )
    asked = AssessQuality(
        kind="quality", endpoint="judge", items=(RubricItem(name="clear", description="It is clear."),)
    )
    judged = LabJob.objects.create(
        team=team,
        version=dataset.versions.get(),
        kind="quality",
        operation=asked.model_dump(mode="json"),
        state="done",
        report=_judgement(),
        drawn=[[0, "a", 0.5]],
        notes=["quality"],
        rows=1,
        actor={},
    )
    scored: NoteSource = {"kind": "quality", "id": judged.id, "arguments": {}}
    notes.write(dataset.versions.get(), "quality", pa.table({"score": [0.5]}), by=actor, source=scored)
    for kind, credentials in (("hub", {"token": "hf_secret"}), ("bucket", {"access_key_id": "k"})):
        set_credentials(team, actor, kind, credentials)
    mapping = DatasetMapping.model_validate(MAPPED["mapping"])
    saved = save_mapping(team, actor, name="Questions", mapping=mapping, columns=["q", "a"])
    view = create_view(
        team, actor, Role.EDITOR, name="Reward first", charts=ChartsDocument(), shared=True, default=False
    )
    report = create_report(team, actor, title="What the rate does", content=ReportContent())
    return {
        "mapping": saved.id,
        "report": report.id,
        "view": view.id,
        "name": "difficulty",
        "import": imported.id,
        "dataset_import": dataset_import.id,
        "upload": start_upload(team, actor, name="large.jsonl", size=1000).id,
        "job": job.id,
        "judged": judged.id,
        "share": share.id,
        "member": member.id, "token": token.id, "dataset": dataset.id, "reward": reward.id, "policy": policy.id,
        "account": token.service_account_id,
        "endpoint": endpoint.id, "proposal": proposal.id, "bench": bench.id,
        "serving": serving.id, "rehearsal": rehearsal.id, "profile": profile.id, "goldilocks": goldilocks.id,
        "invitation": invitation.id, "secret": str(link).rpartition("/")[2],
    }  # fmt: skip
