"""Runs that are replayed: what a real worker has written down is sent to an installation over the link of its workers.

Such a run takes a second and trains nothing, and its figures are those of the journal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Any

import httpx
import psycopg
import pyarrow.parquet as parquet

from dressage.embedded.postgres import EmbeddedPostgres
from dressage.runs.tokens import PREFIX
from tests.support.installation import ROOT, Installation
from trainer_core.link.limits import MAX_EVENTS
from trainer_core.link.traces import HEADER, MEDIA_TYPE

JOURNALS = ROOT / "tests" / "data" / "replay"
"""Journals of two real runs without what is of the moment (phases and acknowledgements), and traces of the first step.
``parent`` had the spec of ``parents_spec``; ``child`` was its fork, which began with its last checkpoint and had half
its learning rate. ``RUN_DIR`` stands for a run's folder."""
STEPS, PROMPTS, GROUP = 6, 8, 4
"""Steps of each recorded run, prompts of a step, and samples of a prompt."""
PARENTS_RATE, CHILDS_RATE = 2e-4, 1e-4
MANIFEST = b"{}"
"""Stands for the files of a checkpoint, which are not recorded."""

_STARTED = """
UPDATE runs_run SET state = 'starting', attempt = 1, queued_at = now(), started_at = now()
WHERE id = %(run)s AND state = 'draft'
"""
_ATTEMPT = """
INSERT INTO runs_attempt (run_id, number, token_sha256, resume_step, created_at, rung_at, first_sync_at,
                          lease_expires_at, acked_seq, last_step, fenced, end_reason)
VALUES (%(run)s, 1, %(token)s, 0, now(), now(), now(), now() + interval '1 hour', 0, 0, false, '')
"""
"""It has synced and holds its lease for long: however busy the machine, the cluster is not asked to start it."""


def parents_spec(installation: Installation) -> dict[str, Any]:
    """The spec of the recorded parent: the demo's with fewer and smaller steps."""
    recipes = installation.api.get("/spec/recipes")["data"]
    spec: dict[str, Any] = next(one["spec"] for one in recipes if one["name"] == "demo")
    spec["rollout"] |= {"group_size": GROUP}
    spec["schedule"] |= {"steps": STEPS, "prompts_per_step": PROMPTS}
    spec["optimizer"] |= {"learning_rate": PARENTS_RATE}
    return spec


def replayed_parent(installation: Installation, *more: dict[str, Any]) -> dict[str, Any]:
    """The recorded parent as a new run of this installation, with a name of its own.

    Args:
        installation: where.
        more: kind, step and data of events that the worker tells besides, just before its end.
    """
    body = {"name": f"Parent {token_hex(3)}", "spec": parents_spec(installation), "start": False}
    return _replay(installation, installation.api.post("/runs", body)["id"], "parent", more)


def replayed_child(installation: Installation, parent: dict[str, Any]) -> dict[str, Any]:
    """The recorded child as a new fork of a replayed parent, with a name of its own."""
    spec = parents_spec(installation)
    spec["optimizer"] |= {"learning_rate": CHILDS_RATE}
    body = {"name": f"Half the rate {token_hex(3)}", "spec": spec}
    return _replay(installation, installation.api.post(f"/runs/{parent['id']}/fork", body)["id"], "child")


def events_of(journal: str, kind: str) -> list[dict[str, Any]]:
    """What a recorded worker has told of one kind, in order."""
    return [event for event in _events(journal) if event["kind"] == kind]


def _events(journal: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (JOURNALS / journal / "journal.jsonl").read_text().splitlines()]


def _replay(
    installation: Installation, run_id: str, journal: str, more: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Be the worker of a draft until it has succeeded. Returns the run."""
    *events, end = _of_now(_events(journal))
    events += [{**event, "at": end["at"]} for event in more]
    events = [{**event, "seq": seq} for seq, event in enumerate([*events, end], start=1)]
    for event in events:
        if event["kind"] == "checkpoint":
            _write_checkpoint(installation, run_id, event["data"])
    headers = {"Authorization": f"Bearer {_begin_attempt(installation, run_id)}"}
    link = httpx.Client(base_url=f"{installation.url}/api/v1/link/runs/{run_id}/", headers=headers, timeout=60)
    for path in sorted((JOURNALS / journal).glob("*.parquet")):
        _send_trace(link, run_id, path)
    for first in range(0, len(events), MAX_EVENTS):
        link.post("sync", json={"attempt": 1, "events": events[first : first + MAX_EVENTS]}).raise_for_status()
    link.close()
    run: dict[str, Any] = installation.api.get(f"/runs/{run_id}")
    assert (run["state"], run["step"]) == ("succeeded", STEPS), run
    return run


def _begin_attempt(installation: Installation, run_id: str) -> str:
    """Make the run's first attempt as if it had been given a place, without telling the cluster. Returns its token."""
    token = PREFIX + token_urlsafe(32)
    values = {"run": run_id, "token": hashlib.sha256(token.encode()).hexdigest()}
    with psycopg.connect(EmbeddedPostgres(installation.home).url) as connection:
        assert connection.execute(_STARTED, values).rowcount == 1, f"{run_id} is no draft"
        connection.execute(_ATTEMPT, values)
    return token


def _send_trace(link: httpx.Client, run_id: str, path: Path) -> None:
    """Send a recorded trace file as one of this run."""
    table = parquet.read_table(path)
    metadata = dict(table.schema.metadata)
    header = {**json.loads(metadata[HEADER]), "run_id": run_id}
    file = BytesIO()
    parquet.write_table(table.replace_schema_metadata({**metadata, HEADER: json.dumps(header)}), file)
    address = f"traces/{header['step']}/{header['number']}"
    link.put(address, content=file.getvalue(), headers={"Content-Type": MEDIA_TYPE}).raise_for_status()


def _write_checkpoint(installation: Installation, run_id: str, data: dict[str, Any]) -> None:
    """Put a checkpoint's folder where its event says, and its manifest's hash into the event."""
    folder = installation.home / "runs" / run_id / data["path"].removeprefix("RUN_DIR/")
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_bytes(MANIFEST)
    data |= {"path": str(folder), "manifest_sha256": hashlib.sha256(MANIFEST).hexdigest()}


def _of_now(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events with times that end now, at the distances at which they were recorded."""
    times = [datetime.fromisoformat(event["at"]) for event in events]
    later = datetime.now(UTC) - times[-1]
    return [{**event, "at": (at + later).isoformat()} for event, at in zip(events, times, strict=True)]
