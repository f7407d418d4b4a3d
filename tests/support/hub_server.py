"""A small Hugging Face hub on the loopback: repositories with revisions and gates, large files on another port.

It speaks what ``huggingface_hub`` asks for (``/api/models/…``, ``/api/datasets/…`` and ``/…/resolve/…``), so the real
client works with it. Datasets stand among the repositories with ``datasets/`` in front of their names.
A test, or a person at ``python -m tests.support.hub_server FOLDER…``, serves folders from it as ``tiny/<name>``.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import uvloop
from aiohttp import web

LARGE = (".safetensors", ".bin", ".parquet", ".gz")
"""Endings of files that the hub keeps with Git LFS, and serves from elsewhere."""


@dataclass
class Repository:
    """One repository with one commit."""

    files: dict[str, bytes]
    licence: str = "apache-2.0"
    card: dict[str, object] = field(default_factory=dict)
    """What else the head of its README says, such as ``configs``."""
    revisions: tuple[str, ...] = ("main",)
    """Branches and tags that stand for the commit."""
    private: bool = False
    gated: bool = False
    readers: tuple[str, ...] = ()
    """Tokens that may read it while it is private or gated."""
    sizes: bool = True
    """Whether the listing tells sizes, as a mirror may not."""

    @property
    def commit(self) -> str:
        digest = hashlib.sha1()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\0".encode() + hashlib.sha256(content).digest())
        return digest.hexdigest()


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    server: str
    """``hub`` or ``cdn``."""
    path: str
    token: str | None
    range: str | None


@dataclass
class Faults:
    """What goes wrong, by the names of files."""

    cuts: dict[str, list[int]] = field(default_factory=dict)
    """After how many bytes the connection breaks, one number for each request until none is left."""
    changed: dict[str, bytes] = field(default_factory=dict)
    """Other content of the same size."""
    whole: set[str] = field(default_factory=set)
    """Files of which ranges are not honoured."""
    held: dict[str, int] = field(default_factory=dict)
    """After how many bytes the server waits until ``HubServer.go_on``."""
    status: dict[str, list[int]] = field(default_factory=dict)
    """Answers instead of the file's, one for each request until none is left."""
    redirect: str | None = None
    """Where large files are redirected to instead of the own server."""


class HubServer:
    """Runs in a thread of its own, on two ports: the hub's and that of its large files."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.asked: list[Asked] = []
        self.faults = Faults()
        self.holding = threading.Event()
        """Set once a file is held."""
        self._loop = uvloop.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10.0)

    def add_dataset(self, name: str, files: dict[str, bytes], **options: object) -> Repository:
        """Serve files by their paths as a dataset."""
        repository = Repository(files, **options)  # type: ignore[arg-type]
        self.repositories[f"datasets/{name}"] = repository
        return repository

    def add(self, name: str, folder: Path, **options: object) -> Repository:
        """Serve the files at the top of a folder."""
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        self.repositories[name] = Repository(files, **options)  # type: ignore[arg-type]
        return self.repositories[name]

    def go_on(self) -> None:
        """Let held files go on."""
        self._loop.call_soon_threadsafe(self._released.set)

    def close(self) -> None:
        """End; whoever still waits is cut off."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10.0)

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._stop, self._released = asyncio.Event(), asyncio.Event()
        hub = web.Application()
        for owner in ("{owner}/", ""):
            for kind, place in (("models", ""), ("datasets", "datasets/")):
                hub.router.add_get(f"/api/{kind}/{owner}{{name}}", self._info)
                hub.router.add_get(f"/api/{kind}/{owner}{{name}}/revision/{{revision}}", self._info)
                hub.router.add_get(f"/{place}{owner}{{name}}/resolve/{{revision}}/{{file:.+}}", self._resolve)
        cdn = web.Application()
        cdn.router.add_get("/{repository}/{file:.+}", self._large)
        self.url, hub_runner = await self._listen(hub)
        self.cdn_url, cdn_runner = await self._listen(cdn)
        ready.set()
        await self._stop.wait()
        self._released.set()
        await hub_runner.cleanup()
        await cdn_runner.cleanup()

    async def _listen(self, application: web.Application) -> tuple[str, web.AppRunner]:
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}", runner

    def _found(self, request: web.Request) -> tuple[str, Repository]:
        """The repository that a request of the hub is about. Raises what the hub answers for one that is not open."""
        token = _token(request)
        self.asked.append(Asked("hub", request.path, token, request.headers.get("Range")))
        parts = request.match_info
        kind = "datasets" if request.path.startswith(("/api/datasets/", "/datasets/")) else None
        name = "/".join(part for part in (kind, parts.get("owner"), parts["name"]) if part)
        repository = self.repositories.get(name)
        known = {one for held in self.repositories.values() for one in held.readers}
        if token is not None and token not in known:
            raise _refusal(web.HTTPUnauthorized, "", "Invalid credentials in Authorization header")
        if repository is None or (repository.private and token not in repository.readers):
            raise _refusal(web.HTTPNotFound if token else web.HTTPUnauthorized, "RepoNotFound", "Repository not found")
        if parts.get("revision", "main") not in (*repository.revisions, repository.commit):
            raise _refusal(web.HTTPNotFound, "RevisionNotFound", "Invalid rev id")
        return name, repository

    async def _info(self, request: web.Request) -> web.Response:
        name, repository = self._found(request)
        return web.json_response(
            {
                "id": name,
                "modelId": name,
                "sha": repository.commit,
                "private": repository.private,
                "gated": "manual" if repository.gated else False,
                "cardData": {"license": repository.licence, **repository.card},
                "tags": [],
                "siblings": [_sibling(repository, file) for file in repository.files],
            }
        )

    async def _resolve(self, request: web.Request) -> web.StreamResponse:
        name, repository = self._found(request)
        file = request.match_info["file"]
        if repository.gated and _token(request) not in repository.readers:
            raise _refusal(
                web.HTTPForbidden if _token(request) else web.HTTPUnauthorized, "GatedRepo", "Access is restricted"
            )
        if file not in repository.files:
            raise _refusal(web.HTTPNotFound, "EntryNotFound", "Entry not found")
        if not file.endswith(LARGE):
            return await self._send(request, repository, file)
        place = self.faults.redirect or f"{self.cdn_url}/{name.replace('/', '--')}/{file}?signature=secret"
        raise web.HTTPFound(place, headers={"X-Repo-Commit": repository.commit})

    async def _large(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(Asked("cdn", request.path, _token(request), request.headers.get("Range")))
        name = request.match_info["repository"].replace("--", "/")
        return await self._send(request, self.repositories[name], request.match_info["file"])

    async def _send(self, request: web.Request, repository: Repository, file: str) -> web.StreamResponse:
        if self.faults.status.get(file):
            return web.Response(status=self.faults.status[file].pop(0))
        content = self.faults.changed.get(file, repository.files[file])
        begin = 0
        asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        if asked and file not in self.faults.whole:
            begin = int(asked[1])
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "Content-Length": str(len(content) - begin),
            "X-Repo-Commit": repository.commit,
        }
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        response = web.StreamResponse(status=206 if begin else 200, headers=headers)
        await response.prepare(request)
        end = len(content)
        cut = self.faults.cuts.get(file)
        if cut:
            end = min(end, begin + cut.pop(0))
        hold = self.faults.held.get(file)
        if hold is not None and begin < hold < end:
            await response.write(content[begin:hold])
            begin = hold
            self.holding.set()
            await self._released.wait()
        await response.write(content[begin:end])
        if end < len(content):
            assert request.transport is not None
            request.transport.close()
        return response


def _token(request: web.Request) -> str | None:
    header = request.headers.get("Authorization")
    return header.removeprefix("Bearer ") if header else None


def _sibling(repository: Repository, file: str) -> dict[str, object]:
    content = repository.files[file]
    if not repository.sizes:
        return {"rfilename": file}
    git = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    sibling: dict[str, object] = {"rfilename": file, "size": len(content), "blobId": git}
    if file.endswith(LARGE):
        sibling["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return sibling


def _refusal(kind: type[web.HTTPError], code: str, message: str) -> web.HTTPError:
    headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
    return kind(headers=headers, text="{}", content_type="application/json")


if __name__ == "__main__":
    server = HubServer()
    for path in map(Path, sys.argv[1:]):
        server.add(f"tiny/{path.name}", path)
    print(f"HF_ENDPOINT={server.url}", *server.repositories, sep="\n", flush=True)
    server._thread.join()
