"""A platform for tests: a real HTTP server that speaks the link, keeps what it is told, and can be away or refuse."""

import hashlib
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow
import pyarrow.parquet

from trainer_core.link.admission import proof
from trainer_core.link.version import HEADER

CLUSTER_SECRET = "the secret that the tests' cluster shares with its platform"


def parquet_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Rows in the platform's file format: one column of JSON texts."""
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"row": [json.dumps(row) for row in rows]}), sink)
    return sink.getvalue()


class PlatformDouble:
    """One run's platform. ``changed`` is notified after each sync: tests wait on conditions, never on time."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.events: list[dict[str, Any]] = []
        self.applied: list[dict[str, Any]] = []
        self.commands: list[dict[str, Any]] = []
        self.further: dict[str, Any] = {}
        """Further members of each answer to a sync."""
        self.desired_state = "running"
        self.release_place = False
        self.last: dict[str, Any] = {}
        """Body of the newest sync."""
        self.status = 200
        self.version: str | None = None
        """Version of the link that answers name; None is a platform of before the header."""
        self.versions: set[str | None] = set()
        """Versions that syncs have named."""
        self.closed = False
        self.syncs = 0
        self.refused = 0
        self.gaps: list[tuple[int, int]] = []
        self.repeated = 0
        self.bundle: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}
        self.serves_files = threading.Event()
        """Cleared where those who ask for files shall wait."""
        self.serves_files.set()
        self.traces: dict[tuple[int, int], bytes] = {}
        """Trace files by step and number."""
        self.trace_status: list[int] = []
        """Statuses of the next uploads of trace files, where they are not taken."""
        self.token = "secret"
        self.lost: list[str] = []
        """Addresses at which the cluster has reported a dead controller."""
        self.asked: list[str] = []
        """Addresses at which a token was asked for."""
        self.stop_after: dict[int, str] = {}
        """Desired state that is set when the step of that number has been received."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Vanish: new connections are refused, open ones break."""
        self.closed = True
        self._server.shutdown()
        self._server.server_close()

    def add_dataset(self, name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Serve rows; returns the bundle's entry."""
        data = parquet_bytes(rows)
        path = f"/api/v1/link/runs/r/datasets/{name}"
        self.files[path] = data
        return {"url": path, "sha256": hashlib.sha256(data).hexdigest(), "rows": len(rows)}

    def add_difficulty(self, name: str, rates: list[float | None], samples: int) -> dict[str, Any]:
        """Serve row notes of a dataset; returns what the bundle's entry says of them."""
        sink, path = io.BytesIO(), f"/api/v1/link/runs/r/datasets/{name}/difficulty"
        counts = [0 if rate is None else samples for rate in rates]
        pyarrow.parquet.write_table(pyarrow.table({"pass_rate": rates, "samples": counts}), sink)
        self.files[path] = sink.getvalue()
        return {"url": path}

    def of(self, kind: str) -> list[dict[str, Any]]:
        with self.changed:
            return [event for event in self.events if event["kind"] == kind]

    def states(self) -> list[str]:
        return [event["data"]["state"] for event in self.of("state")]

    def steps(self) -> list[int]:
        return [event["step"] for event in self.of("step")]

    def wait(self, condition: Any, timeout: float = 180.0) -> None:
        """Until ``condition()`` holds after a sync."""
        with self.changed:
            assert self.changed.wait_for(condition, timeout), self.describe()

    def describe(self) -> str:
        tail = [e for e in self.events if e["kind"] in ("state", "alert", "log", "phase")][-8:]
        return f"not reached; syncs {self.syncs}, steps {self.steps()}, last events {json.dumps(tail, indent=1)}"

    def receive(self, body: dict[str, Any]) -> dict[str, Any]:
        with self.changed:
            self.last = body
            last = self.events[-1]["seq"] if self.events else 0
            for event in body["events"]:
                if event["seq"] <= last:
                    self.repeated += 1
                    continue
                if event["seq"] != last + 1:
                    self.gaps.append((last, event["seq"]))
                last = event["seq"]
                self.events.append(event)
                if event["kind"] == "step" and event["step"] in self.stop_after:
                    self.desired_state = self.stop_after[event["step"]]
            for entry in body["applied"]:
                self.applied.append(entry)
                self.commands = [c for c in self.commands if c["type"] != "control" or c["id"] != entry["control_id"]]
            self.syncs += 1
            self.changed.notify_all()
            return {
                "acked_seq": last,
                "commands": self.commands,
                "desired_state": self.desired_state,
                "release_place": self.release_place,
                "lease_s": 15,
                **self.further,
            }


def _handler(platform: PlatformDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # The headers and the body of an answer are two writes: without this, each waits for a delayed acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            if platform.status != 200 or self.headers["Authorization"] != f"Bearer {platform.token}":
                return self._answer(platform.status if platform.status != 200 else 401, b"{}")
            if self.path.endswith("/bundle"):
                return self._answer(200, json.dumps(platform.bundle).encode())
            platform.serves_files.wait()
            data = platform.files.get(self.path)
            return self._answer(404, b"{}") if data is None else self._answer(200, data)

        def do_PUT(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if self.headers["Authorization"] != f"Bearer {platform.token}":
                return self._answer(401, b"{}")
            step, number = self.path.split("/")[-2:]
            with platform.changed:
                status = platform.status if platform.status != 200 else 201
                status = platform.trace_status.pop(0) if platform.trace_status else status
                if status == 201:
                    platform.traces[int(step), int(number)] = data
                else:
                    platform.refused += 1
                platform.changed.notify_all()
            return self._answer(status, b'{"detail": "no"}')

        def do_POST(self) -> None:
            platform.versions.add(self.headers[HEADER])
            text = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if self.path.endswith("/token"):
                known = self.headers["Authorization"] == f"Cluster {proof(CLUSTER_SECRET, platform.url, self.path)}"
                platform.asked.append(self.path)
                return self._answer(200 if known else 401, json.dumps({"token": platform.token}).encode())
            if self.path.endswith("/lost"):
                known = self.headers["Authorization"] == f"Cluster {proof(CLUSTER_SECRET, platform.url, self.path)}"
                if known and platform.status == 200:
                    platform.lost.append(self.path)
                return self._answer(platform.status if known else 401, b"{}")
            body = json.loads(text)
            if platform.closed:
                self.close_connection = True
                return None
            if self.headers["Authorization"] != f"Bearer {platform.token}":
                return self._answer(401, b'{"detail":"revoked"}')
            if platform.status != 200:
                with platform.changed:
                    platform.refused += 1
                    platform.changed.notify_all()
                return self._answer(platform.status, b'{"detail":"stale attempt"}')
            return self._answer(200, json.dumps(platform.receive(body)).encode())

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if platform.version is not None:
                self.send_header(HEADER, platform.version)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler
