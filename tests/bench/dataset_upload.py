"""Memory of the web process, and how long others wait for it, while a file of a GiB is uploaded, checked and stored.

    python tests/bench/dataset_upload.py [GIB]

A real web process and a durable PostgreSQL, with the clients beside them on the same cores. The client of the upload
sends as fast as it is read; another asks for the list of datasets and the session, one after the other.
"""

import http.client
import itertools
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil

from tests.bench.dataset_reading import made_rows
from tests.bench.load_client import percentile
from tests.bench.load_setup import web
from tests.bench.report import Figure, show
from tests.bench.telemetry_setup import platform

READ = ("/api/v1/datasets", "/api/v1/session")
BEFORE_S = 5.0
PAUSE_S = 0.02
EDGE = b"----dressage"
MIB = 1 << 20


def lines(path: Path, size: int) -> int:
    """Write rows of GSM8K's size until the file has so many bytes. Returns how many."""
    text = "".join(f"{json.dumps(row)}\n" for row in made_rows()).encode()
    rows = 0
    with path.open("wb") as file:
        while file.tell() + len(text) < size:
            file.write(text)
            rows += text.count(b"\n")
    return rows


def editor() -> dict[str, str]:
    """The header of a program that may upload datasets."""
    from dressage.common.actors import Actor
    from dressage.common.roles import Role
    from dressage.teams.models import Team
    from dressage.teams.service_accounts import create_service_account
    from dressage.teams.tokens import create_token

    team, bench = Team.objects.create(name="Bench", slug="bench"), Actor.system("bench")
    account = create_service_account(team, bench, name="editor", role=Role.EDITOR)
    _, secret = create_token(team, bench, name="editor", role=Role.EDITOR, owner=account)
    return {"Authorization": f"Bearer {secret}"}


def upload(port: int, path: Path, headers: dict[str, str], name: str) -> tuple[int, dict[str, object], float, float]:
    """(status, answer, seconds until all was sent, seconds until the answer) of one upload."""
    field = b'--%b\r\nContent-Disposition: form-data; name="name"\r\n\r\n%b\r\n' % (EDGE, name.encode())
    head = field + b'--%b\r\nContent-Disposition: form-data; name="file"; filename="train.jsonl"\r\n\r\n' % EDGE
    tail = b"\r\n--%b--\r\n" % EDGE

    def body() -> Iterator[bytes]:
        yield head
        with path.open("rb") as file:
            yield from iter(lambda: file.read(MIB), b"")
        yield tail

    given = {
        **headers,
        "Content-Type": f"multipart/form-data; boundary={EDGE.decode()}",
        "Content-Length": str(len(head) + path.stat().st_size + len(tail)),
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    began = time.perf_counter()
    connection.putrequest("POST", "/api/v1/datasets")
    for name_of, value in given.items():
        connection.putheader(name_of, value)
    connection.endheaders()
    for part in body():
        connection.send(part)
    sent = time.perf_counter() - began
    answer = connection.getresponse()
    document = json.loads(answer.read())
    return answer.status, document, sent, time.perf_counter() - began


def waits(port: int, headers: dict[str, str], until: threading.Event) -> list[float]:
    """Seconds that each of another client's requests took."""
    times: list[float] = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    for path in itertools.cycle(READ):
        if until.is_set():
            return times
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - began)
        assert answer.status == 200, path
        until.wait(PAUSE_S)
    return times


def memory(server: psutil.Process, until: threading.Event) -> tuple[float, float]:
    """Most resident memory of the web process, and of the process that checks, in MiB."""
    most, most_apart = 0, 0
    while not until.wait(0.05):
        most = max(most, server.memory_info().rss)
        for child in server.children(recursive=True):
            try:
                if "checking.child" in " ".join(child.cmdline()):
                    most_apart = max(most_apart, child.memory_info().rss)
            except psutil.NoSuchProcess:
                continue
    return most / MIB, most_apart / MIB


def main() -> None:
    """Print the figures."""
    gib = float(sys.argv[1]) if sys.argv[1:] else 1.0
    with tempfile.TemporaryDirectory() as folder, platform(), ThreadPoolExecutor(4) as threads:
        path = Path(folder) / "train.jsonl"
        rows = lines(path, int(gib * 2**30) - MIB)
        headers = editor()
        with web(1) as (port, server):
            quiet, done = threading.Event(), threading.Event()
            threading.Timer(BEFORE_S, quiet.set).start()
            before = waits(port, headers, quiet)
            others: Future[list[float]] = threads.submit(waits, port, headers, done)
            watched = threads.submit(memory, server, done)
            try:
                status, document, sent, passed = upload(port, path, headers, "bench")
            finally:
                done.set()
            assert (status, document["latest_version"]["rows"]) == (201, rows), document  # type: ignore[index]
            during, (most, most_apart) = others.result(), watched.result()
    show(
        f"Upload of {gib:g} GiB of JSON lines, {rows:,} rows",
        [
            Figure("sent", sent, "s"),
            Figure("checked and stored behind that", passed - sent, "s"),
            Figure("rows a second behind that", rows / (passed - sent), "rows/s", ">= 100,000"),
            Figure("web process, resident at most", most, "MiB", "< 300"),
            Figure("process that checks, resident at most", most_apart, "MiB"),
            *(
                Figure(f"others, {name}, {when}", 1e3 * percentile(times, share), "ms", target)
                for when, times, target in (("before", before, ""), ("during", during, "< 100"))
                for name, share in (("median", 0.5), ("95 %", 0.95), ("longest", 1.0))
            ),
        ],
    )


if __name__ == "__main__":
    main()
