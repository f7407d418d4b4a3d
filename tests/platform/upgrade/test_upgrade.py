"""An installation that holds data of before is migrated, and every page answers what it answered then.

Each step is a process of its own, as at a real upgrade: ``manage.py migrate`` runs on a database that was made by the
migrations of then and filled with the rows that the code of then had written.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db.migrations.loader import MigrationLoader

from dressage.config import ROOT
from tests.platform.upgrade.former import FORMER, migrations
from tests.support.about import PLATFORM

FACTS = json.loads((FORMER / "facts.json").read_text())
RUNS: dict[str, str] = FACTS["runs"]
TOKEN = {"Authorization": f"Bearer {FACTS['token']}"}
DATABASE = "dressage_upgrade"
NEW_KEYS = {
    "answer_start",
    "card",
    "change_set",
    "checkpoint",
    "cluster",
    "context_parallel_size",
    "cost",
    "counted",
    "cuda_graphs",
    "damage",
    "damaged",
    "deleted_at",
    "deleted_by",
    "devices",
    "effective_role",
    "entropy",
    "environment",
    "epochs",
    "eta_high_seconds",
    "eta_low_seconds",
    "eval_loss",
    "expert_parallel",
    "evaluated",
    "explanation",
    "format",
    "guards",
    "health",
    "host",
    "id",
    "judges",
    "last_used_address",
    "learner_placement",
    "least_rollout_workers",
    "ledger",
    "letter_fault",
    "loss",
    "measure_noise",
    "objective",
    "operation",
    "origin",
    "owner",
    "p95_seconds",
    "parent",
    "pass_at",
    "pause",
    "pipeline_parallel_size",
    "placed_on",
    "provider",
    "ramp_steps",
    "ramps",
    "reference",
    "rescored",
    "row_field",
    "scopes",
    "second_factor_due",
    "second_factor_missing",
    "shared_by",
    "smoothing",
    "speculation",
    "stages",
    "state",
    "stop",
    "tensor_parallel_size",
    "token_budget",
    "traces",
    "truncated_end",
    "turns",
    "waiting",
    "weight_transport",
    "weighting",
}
"""Members of answers that came in since; whoever adds one names it here."""
FILLED = {"expires_at"}
"""Members that were null and are not any more: every token ends some day."""
REWORDED = {
    " is success.": " counts as success.",
    " A policy will find this.": " A policy will exploit this.",
    "right where only": "right if only",
    " places are taken.": " slots are taken.",
}
"""Parts of sentences that are worded differently now. Stored ones stay as they are: these are made for each answer."""
CLOCKS = {"lease_age_s", "last_used_at"}
"""Members that differ by the time of the question alone."""


class Upgraded:
    """The installation after its upgrade."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.home, self._environment = home, environment

    def run(self, *arguments: str) -> str:
        """What ``manage.py`` says."""
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def shell(self, call: str) -> None:
        """Call a function of ``former`` in a process of the installation."""
        name = call.partition("(")[0]
        self.run("shell", "--no-imports", "--command", f"from tests.platform.upgrade.former import {name}\n{call}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database says."""
        with psycopg.connect(self._environment["DATABASE_URL"]) as connection:
            return connection.execute(query).fetchall()

    def ask(self, *questions: dict[str, Any]) -> list[Any]:
        """The answers to requests of one browser, in order; each is ``{status, body, replayed}``."""
        asked, told = self.home / "questions.json", self.home / "answers.json"
        asked.write_text(self.placed(json.dumps(questions)))
        self.shell(f"ask({str(asked)!r}, {str(told)!r})")
        answers: list[Any] = json.loads(told.read_text().replace(str(self.home), "@HOME@"))
        return answers

    def placed(self, text: str) -> str:
        """``text`` with the place of this installation."""
        return text.replace("@HOME@", str(self.home))


@pytest.fixture(scope="module")
def upgraded() -> Iterator[Upgraded]:
    home = Path(tempfile.mkdtemp(prefix="dressage-former-"))
    shutil.copytree(FORMER / "home", home, dirs_exist_ok=True)
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE}")
    installation = Upgraded(
        home,
        {
            **os.environ,
            "DRESSAGE_HOME": str(home),
            "DATABASE_URL": server.replace("/dressage?", f"/{DATABASE}?"),
            "DRESSAGE_SECRET_KEY": "the installation of the upgrade test",
            "JUDGE_NETWORKS": "127.0.0.0/8",
            "MAX_ACTIVE_RUNS": "9",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "platform"), str(ROOT)]),
        },
    )
    installation.shell(f"restore({str(home)!r})")
    installation.run("migrate", "--verbosity", "0")
    yield installation
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    shutil.rmtree(home, ignore_errors=True)


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Where a new answer is not the old one with further members."""
    if _by_path(old) and _by_path(new):
        old, new = ({one["path"]: one for one in many} for many in (old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key in CLOCKS or (key in NEW_KEYS and key not in old):
                continue
            if key in FILLED and key in new and old.get(key, "") is None and new[key] is not None:
                continue
            if key not in new or key not in old:
                yield f"{place}/{key}: {'is gone' if key not in new else 'is new'}"
            else:
                yield from differences(old[key], new[key], f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{place}/{index}")
    elif old != new and _reworded(old) != new:
        yield f"{place}: {old!r} became {new!r}"


def _reworded(old: Any) -> Any:
    """A sentence of then as it is worded now."""
    for before, after in REWORDED.items() if isinstance(old, str) else ():
        old = old.replace(before, after)
    return old


def _by_path(answer: Any) -> bool:
    """Whether these are fields of a spec, each told by its path: there may be more of them by now."""
    return isinstance(answer, list) and bool(answer) and all(isinstance(one, dict) and "path" in one for one in answer)


def test_the_rows_are_of_before_what_is_migrated_now(upgraded: Upgraded) -> None:
    applied = upgraded.rows("SELECT app, name FROM django_migrations")
    assert set(applied) >= set(MigrationLoader(None).disk_migrations)
    ours = ("teams", "datasets", "rewards", "policies", "runs", "telemetry", "common")
    assert {name for app, name in migrations() if app == "runs"} == {"0001_initial"}
    assert {app for app, _ in migrations()} >= set(ours)


@pytest.mark.expensive(8, "upgrades an installation", about=(*PLATFORM, "tests/data/installation"))
def test_every_page_answers_what_it_answered_then(upgraded: Upgraded) -> None:
    paths = list(FACTS["answers"])
    answers = upgraded.ask(*({"method": "get", "path": path, "headers": TOKEN} for path in paths))
    found = {
        path: (answer["status"], list(differences(FACTS["answers"][path], answer["body"])))
        for path, answer in zip(paths, answers, strict=True)
    }
    assert {path: problem for path, problem in found.items() if problem != (200, [])} == {}
    assert len(paths) > 90


def test_accounts_of_before_are_their_owners_where_the_password_is(upgraded: Upgraded) -> None:
    shown = set(upgraded.rows("SELECT password_is_temporary, address_proven FROM teams_user"))
    assert shown <= {(False, True), (True, False)} and (False, True) in shown


@pytest.mark.expensive(7, "upgrades an installation", about=(*PLATFORM, "tests/data/installation"))
def test_a_worker_of_before_goes_on(upgraded: Upgraded) -> None:
    """It has the token and the numbers of then, and speaks the messages of then."""
    main = RUNS["main"]
    link = {"Authorization": f"Bearer {FACTS['link_tokens'][main]}"}
    acked = FACTS["acked"][main]
    sent = {
        "attempt": 2,
        "events": [
            {
                "seq": acked + 1,
                "kind": "step",
                "step": 9,
                "at": "2026-11-21T06:30:00.000Z",
                "data": {"metrics": {"critic/score/mean": 0.75}, "tokens_total": 9000, "seconds": 2.0},
            },
        ],
        "applied": [{"control_id": FACTS["revert"], "state": "settled", "step": 9}],
    }
    bundle, synced, shown, controls = upgraded.ask(
        {"method": "get", "path": f"/link/runs/{main}/bundle", "headers": link},
        {"method": "post", "path": f"/link/runs/{main}/sync", "headers": link, "body": sent},
        {"method": "get", "path": f"/runs/{main}", "headers": TOKEN},
        {"method": "get", "path": f"/runs/{main}/controls", "headers": TOKEN},
    )
    assert (bundle["status"], list(differences(FACTS["bundle"], bundle["body"]))) == (200, [])
    assert synced["status"] == 200, synced
    assert synced["body"]["acked_seq"] == acked + 1
    staged = [command["target"] for command in synced["body"]["commands"] if command["type"] == "control"]
    assert staged == ["rollout.temperature"]
    assert [command["type"] for command in synced["body"]["commands"]].count("checkpoint") == 1
    assert (shown["body"]["step"], shown["body"]["summary"]["reward"]) == (9, 0.75)
    states = {row["id"]: row["state"] for row in controls["body"]["data"]}
    assert states[FACTS["revert"]] == "settled"


@pytest.mark.expensive(8, "upgrades an installation", about=(*PLATFORM, "tests/data/installation"))
def test_a_token_of_before_belongs_to_its_maker_and_ends_some_day(upgraded: Upgraded) -> None:
    [listed] = upgraded.ask({"method": "get", "path": "/tokens", "headers": TOKEN})
    [token] = listed["body"]["data"]
    assert token["owner"]["name"] == token["created_by"] == "ada@example.com"
    assert (token["state"], token["effective_role"], token["scopes"]) == ("active", "admin", None)
    assert token["expires_at"] is not None


@pytest.mark.expensive(7, "upgrades an installation", about=(*PLATFORM, "tests/data/installation"))
def test_people_and_programs_go_on(upgraded: Upgraded) -> None:
    """Passwords, tokens, idempotency keys and checkpoints of before are good."""
    kept, paused = FACTS["idempotent"], RUNS["paused"]
    checkpoint = FACTS["answers"][f"/runs/{RUNS['main']}/checkpoints"]["data"][0]["id"]
    retry = {**TOKEN, "Idempotency-Key": kept["key"]}
    _, signed_in, replayed, rewards, archive, staged = upgraded.ask(
        {"method": "get", "path": "/session"},
        {"method": "post", "path": "/session", "body": {"email": "ada@example.com", "password": FACTS["password"]}},
        {"method": "post", "path": "/rewards", "headers": retry, "body": kept["body"]},
        {"method": "get", "path": "/rewards", "headers": TOKEN},
        {"method": "get", "path": f"/checkpoints/{checkpoint}/download", "headers": TOKEN},
        {
            "method": "post",
            "path": f"/runs/{paused}/controls",
            "headers": {**TOKEN, "If-Match": "0"},
            "body": {"target": "rollout.temperature", "value": 0.5, "reason": "after the upgrade"},
        },
    )
    assert signed_in["status"] == 200, signed_in
    assert replayed["replayed"] == "true", replayed
    assert list(differences(kept["answer"], replayed["body"])) == []
    assert len(rewards["body"]["data"]) == 2
    assert archive["status"] == 200 and archive["body"] > 1000
    assert (staged["status"], staged["body"]["revision"], staged["body"]["state"]) == (202, 1, "staged")
