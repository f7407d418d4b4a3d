"""A hub on the loopback with a dataset like GSM8K, a server of files, and a folder of the test's own for what comes."""

import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dressage.common.actors import Actor
from dressage.datasets.imports.carry_out import carry_out
from dressage.datasets.imports.services import start_import
from dressage.datasets.models import DatasetImport
from dressage.imports.hub import _guard_once
from dressage.teams.models import Team
from tests.support.file_server import FileServer
from tests.support.hub_server import Faults, HubServer

NAME = "tiny/gsm8k"
CONFIGS = [
    {
        "config_name": config,
        "data_files": [{"split": split, "path": f"{config}/{split}-*"} for split in ("train", "test")],
    }
    for config in ("main", "socratic")
]


def question(number: int) -> dict[str, str]:
    return {"question": f"What is {number} + 1?", "answer": f"One more than {number}.\n#### {number + 1}"}


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def jsonl(rows: list[dict[str, Any]], *, packed: bool = False) -> bytes:
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    return gzip.compress(text) if packed else text


def gsm8k() -> dict[str, bytes]:
    """Two configs; the main one's training split lies in two shards."""
    return {
        "README.md": b"---\nlicense: mit\n---\n",
        "main/train-00000-of-00002.parquet": parquet([question(n) for n in range(3)]),
        "main/train-00001-of-00002.parquet": parquet([question(n) for n in range(3, 5)]),
        "main/test-00000-of-00001.parquet": parquet([question(100)]),
        "socratic/train-00000-of-00001.parquet": parquet([question(n) for n in range(200, 202)]),
        "socratic/test-00000-of-00001.parquet": parquet([question(300)]),
    }


@pytest.fixture
def home(settings: Any, tmp_path: Path) -> Path:
    settings.DATASET_ROOT = tmp_path / "datasets"
    return tmp_path


@pytest.fixture
def hub(hub_server: HubServer, settings: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """The hub with the dataset ``tiny/gsm8k``, as it is without faults."""
    hub_server.repositories.clear()
    hub_server.asked.clear()
    hub_server.faults = Faults()
    hub_server.holding.clear()
    hub_server.add_dataset(NAME, gsm8k(), licence="mit", card={"configs": CONFIGS})
    settings.HUB_ENDPOINT = hub_server.url
    monkeypatch.setattr("dressage.imports.hub_connections.PIECE_BYTES", 100)
    _guard_once.cache_clear()
    # The client waits a second before it goes on after a cut.
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
    return hub_server


@pytest.fixture(scope="session")
def one_file_server() -> Iterator[FileServer]:
    server = FileServer()
    yield server
    server.close()


@pytest.fixture
def web(one_file_server: FileServer, settings: Any, home: Path) -> FileServer:
    """A server of files, all of whose addresses are allowed by its host's name."""
    one_file_server.begin_anew()
    settings.DATASET_IMPORT_URLS = (f"{one_file_server.url}/",)
    return one_file_server


@pytest.fixture
def begin(home: Path, team: Team, actor: Actor) -> Callable[..., DatasetImport]:
    """``begin(location=…, revision=…)``: an import that waits for a worker."""

    def make(**fields: Any) -> DatasetImport:
        given = {"source": "hub", "location": NAME, **fields}
        if "dataset" not in given:
            given.setdefault("name", "Tiny")
        return start_import(team, actor, **given)

    return make


@pytest.fixture
def carried(begin: Callable[..., DatasetImport]) -> Callable[..., DatasetImport]:
    """``carried(…)``: an import that a worker has had once."""

    def make(**fields: Any) -> DatasetImport:
        row = begin(**fields)
        carry_out(row.id)
        row.refresh_from_db()
        return row

    return make
