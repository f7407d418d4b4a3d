"""Downloads: each format holds all rows, whole numbers exactly."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset
from dressage.teams.models import Team

CHAT = [{"role": "user", "content": 'Sum, or "not"?\n'}]
ROWS: list[dict[str, Any]] = [
    {"messages": CHAT, "answer": 2**62 + 1, "huge": 2**100, "x": 1, "tags": ["a"], "info": {"k": 1}, "ok": True},
    {"messages": CHAT, "answer": None, "huge": 1, "x": 0.5, "tags": [], "info": {}, "ok": None, "late": "é"},
]
COLUMNS = ["messages", "answer", "huge", "x", "tags", "info", "ok", "late"]


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    body = "\n".join(json.dumps(row) for row in ROWS).encode()
    return services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))


def download(
    api: Callable[..., APIClient], dataset: Dataset, name: str, *, packed: bool, zstd: bool = False, raw: bool = False
) -> bytes:
    path = f"/api/v1/datasets/{dataset.id}/versions/1/download"
    asked = {"type": name, "gzip": str(packed).lower(), "zstd": str(zstd).lower(), "raw": str(raw).lower()}
    response: Any = api("viewer").get(path, asked)
    assert response.headers.get("Dressage-Cells") == ({True: "raw", False: "escaped"}[raw] if name == "csv" else None)
    ending = ".gz" if packed else ".zst" if zstd else ""
    assert (response.status_code, response["Content-Disposition"]) == (
        200,
        f'attachment; filename="sums-1.{name}{ending}"',
    )
    content = b"".join(response.streaming_content)
    if zstd:
        return pa.CompressedInputStream(pa.BufferReader(content), "zstd").read()  # type: ignore[no-any-return]
    return gzip.decompress(content) if packed else content


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
def test_zstandard_holds_the_same(api: Callable[..., APIClient], dataset: Dataset, name: str) -> None:
    assert download(api, dataset, name, packed=False, zstd=True) == download(api, dataset, name, packed=False)


def test_a_file_is_packed_once(api: Callable[..., APIClient], dataset: Dataset) -> None:
    path = f"/api/v1/datasets/{dataset.id}/versions/1/download"
    refused = api("viewer").get(path, {"gzip": "true", "zstd": "true"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/zstd")


@pytest.mark.parametrize("packed", [False, True])
def test_each_format(api: Callable[..., APIClient], dataset: Dataset, packed: bool) -> None:
    lines = download(api, dataset, "jsonl", packed=packed)
    assert [json.loads(line) for line in lines.splitlines()] == ROWS
    assert json.loads(download(api, dataset, "json", packed=packed)) == ROWS

    table = list(csv.reader(io.StringIO(download(api, dataset, "csv", packed=packed).decode(), newline="")))
    assert table[0] == [f"{name}::json" for name in COLUMNS]
    assert table[1] == [json.dumps(CHAT, separators=(",", ":")), str(2**62 + 1), str(2**100), "1", '["a"]', '{"k":1}', "true", ""]  # noqa: E501  # fmt: skip
    assert table[2][1:] == ["null", "1", "0.5", "[]", "{}", "null", '"é"']

    plain = download(api, dataset, "csv", packed=packed, raw=True).decode()
    table = list(csv.reader(io.StringIO(plain, newline="")))
    assert table[0] == COLUMNS
    assert table[1] == [json.dumps(CHAT, separators=(",", ":")), str(2**62 + 1), str(2**100), "1", '["a"]', '{"k":1}', "true", ""]  # noqa: E501  # fmt: skip
    assert table[2][1:] == ["", "1", "0.5", "[]", "{}", "", "é"]

    found = pq.read_table(io.BytesIO(download(api, dataset, "parquet", packed=packed))).to_pylist()
    assert [list(row) for row in found] == [COLUMNS] * 2
    assert found[0] == {**ROWS[0], "huge": str(2**100), "x": "1", "info": '{"k":1}', "late": None}
    assert found[1] == {**ROWS[1], "huge": "1", "x": "0.5", "info": "{}"}


def test_a_download_comes_in_pieces(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    body = b"".join(b'{"prompt": "p%d"}\n' % n for n in range(4500))
    dataset = services.create_dataset(team, actor, name="Many", file=BytesIO(body), size=len(body))
    response: Any = api("viewer").get(f"/api/v1/datasets/{dataset.id}/versions/1/download")
    pieces = list(response.streaming_content)
    assert len(pieces) == 3
    assert [json.loads(line)["prompt"] for line in b"".join(pieces).splitlines()] == [f"p{n}" for n in range(4500)]


def test_a_format_that_is_not_written(api: Callable[..., APIClient], dataset: Dataset) -> None:
    path = f"/api/v1/datasets/{dataset.id}/versions/1/download"
    assert api("viewer").get(path, {"type": "xlsx"}).status_code == 422
    version = dataset.versions.get()
    version.path.unlink()
    response = api("viewer").get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "missing_files")


def test_a_spreadsheet_runs_no_cell_of_a_download(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    texts = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "'=1", "＝1", "plain", "a=1"]
    body = "\n".join(json.dumps({"prompt": text, "=name": text, "n": -1}) for text in texts).encode()
    dataset = services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))
    table = list(csv.reader(io.StringIO(download(api, dataset, "csv", packed=False).decode(), newline="")))
    assert table[0] == ["prompt::escaped", '"=name"::escaped', "n::json"]
    assert [row[0] for row in table[1:]] == [f"'{text}" for text in texts[:-2]] + texts[-2:]
    raw = list(csv.reader(io.StringIO(download(api, dataset, "csv", packed=False, raw=True).decode(), newline="")))
    assert (raw[0], [row[0] for row in raw[1:]]) == (["prompt", "=name", "n"], texts)


def test_parameters_that_a_download_does_not_take(api: Callable[..., APIClient], dataset: Dataset) -> None:
    path = f"/api/v1/datasets/{dataset.id}/versions/1/download"
    wrong = api("viewer").get(path, {"format": "csv"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "unknown_parameter")
    assert wrong.json()["errors"] == [
        {"pointer": "/format", "detail": "There is no query parameter 'format' here; it takes type, gzip, zstd, raw."}
    ]
    raw = api("viewer").get(path, {"type": "jsonl", "raw": "true"})
    assert (raw.status_code, raw.json()["errors"][0]["pointer"]) == (422, "/raw")
