"""A back-up of a real installation, restored elsewhere and served by compose's own commands behind its proxy."""

import os
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
import yaml
from django.core.management import call_command
from django.db import connection

from deploy.commands import WEB
from dressage.common.actors import Actor
from dressage.config import config
from dressage.datasets.services import create_version_from_path
from dressage.embedded.postgres import EmbeddedPostgres
from dressage.teams.models import Team
from tests.support.installation import EMAIL, PASSWORD, ROOT, end_with_parent, free_port, wait_until

SCRIPTS, COMPOSE = ROOT / "deploy" / "backup", ROOT / "deploy" / "compose"
PROGRAMS = next(Path(part).parent for part in EmbeddedPostgres(config.home).command if part.endswith("/bin/postgres"))
"""Programs of the same PostgreSQL as the tests' server."""
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"


def address(database: str) -> str:
    """URL of a database on the tests' server."""
    whole = config.resolved_database_url
    return whole.replace("/dressage?", f"/{database}?")


def script(name: str, argument: Path, database: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "DATABASE_URL": address(database),
        "DRESSAGE_HOME": str(home),
    }
    command = ["bash", str(SCRIPTS / name), str(argument)]
    return subprocess.run(command, env={**environment, **more}, capture_output=True, text=True)


@pytest.fixture
def written(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of a database with an admin and a dataset, whose file lies in the data folder."""
    monkeypatch.setenv("DRESSAGE_ADMIN_PASSWORD", PASSWORD)
    call_command("create_admin", email=EMAIL, team="Stable")
    rows = ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl"
    create_version_from_path(Team.objects.get(), Actor.system("test"), rows, slug="sums", name="Sums")
    return str(connection.settings_dict["NAME"])


@pytest.fixture
def empty() -> Iterator[str]:
    """Name of a new database without tables."""
    with psycopg.connect(config.resolved_database_url, autocommit=True) as server:
        server.execute("CREATE DATABASE restored")
        yield "restored"
        server.execute("DROP DATABASE restored WITH (FORCE)")


def rows_of(database: str) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    with psycopg.connect(address(database)) as reader:
        tables = [name for (name,) in reader.execute(TABLES).fetchall()]
        return {
            name: sorted(row for (row,) in reader.execute(f'SELECT one::text FROM "{name}" AS one').fetchall())
            for name in tables
        }


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def running(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process for the time of a block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=dict(environment), stdout=output, stderr=subprocess.STDOUT, preexec_fn=end_with_parent
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed")
def test_a_restored_installation_is_signed_in_to_behind_its_proxy(written: str, empty: str, tmp_path: Path) -> None:
    done = script("backup.sh", tmp_path / "backups", written, config.home)
    assert done.returncode == 0, done.stderr
    backup, home = Path(done.stdout.strip()), tmp_path / "home"
    assert {path.name for path in backup.iterdir()} == {"database.dump", "home.tar.gz", "SHA256SUMS"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (backup, *backup.iterdir()))
    restored = script("restore.sh", backup, empty, home)
    assert restored.returncode == 0, restored.stderr
    assert rows_of(empty) == rows_of(written)
    datasets = files_of(config.home / "datasets")
    assert datasets and files_of(home / "datasets") == datasets
    assert (home / "secret-key").read_bytes() == (config.home / "secret-key").read_bytes()
    assert not (home / "postgres").exists() and not (home / "redis").exists()
    with _served(empty, home, tmp_path) as client:
        assert client.get("/api/v1/session").status_code == 200
        headers = {"X-CSRFToken": client.cookies["__Host-csrftoken"], "Referer": str(client.base_url)}
        signed_in = client.post("/api/v1/session", json={"email": EMAIL, "password": PASSWORD}, headers=headers)
        assert signed_in.status_code == 200, signed_in.text
        assert [one["slug"] for one in client.get("/api/v1/datasets").json()["data"]] == ["sums"]
        assert client.get("/api/v1/session").headers["Strict-Transport-Security"].startswith("max-age=")


@contextmanager
def _served(database: str, home: Path, folder: Path) -> Iterator[httpx.Client]:
    """A client of the compose file's web server, with the file's own settings, behind the file's own proxy."""
    web, tls, plain = free_port(), free_port(), free_port()
    settings = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]["web"]["environment"]
    assert set(settings) >= {"DRESSAGE_MODE", "DRESSAGE_HOME", "DATABASE_URL", "DRESSAGE_TRUSTED_PROXIES"}
    own = {
        "DRESSAGE_HOME": str(home),
        "DATABASE_URL": address(database),
        "REDIS_URL": config.resolved_redis_url,
        "DRESSAGE_TRUSTED_PROXIES": "127.0.0.1",
        "DRESSAGE_PORT": str(web),
        "LINK_URL": f"http://127.0.0.1:{web}",
    }
    changed = {"DRESSAGE_URL": f"https://localhost:{tls}", "PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"}
    environment = {"PATH": os.environ["PATH"], **settings, **own, **changed}
    command = [sys.executable, *WEB[1:]]
    command[command.index("8600")] = str(web)
    proxy = {
        "PATH": os.environ["PATH"],
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "DRESSAGE_DOMAIN": f"localhost:{tls}",
        "DRESSAGE_TLS": "internal",
        "DRESSAGE_WEB": f"127.0.0.1:{web}",
        "DRESSAGE_HTTP_PORT": str(plain),
    }
    caddy = ["caddy", "run", "--adapter", "caddyfile", "--config", str(COMPOSE / "Caddyfile")]
    authority = folder / "data" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    log = folder / "web.log"
    with running(command, environment, log), running(caddy, proxy, folder / "caddy.log"):
        wait_until(authority.exists, 30, (folder / "caddy.log").read_text)
        trusted = ssl.create_default_context(cafile=str(authority))
        with httpx.Client(base_url=f"https://localhost:{tls}", verify=trusted) as client:
            wait_until(lambda: _is_ready(client), 90, log.read_text)
            yield client


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_a_restore_touches_nothing_that_is_there(written: str, tmp_path: Path) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup"
    before = rows_of(written)
    backup.mkdir()
    refused = script("restore.sh", backup, written, home)
    assert refused.returncode == 1 and "is no back-up: it has no SHA256SUMS." in refused.stderr
    (backup / "database.dump").write_text("x")
    subprocess.run("sha256sum database.dump > SHA256SUMS", shell=True, cwd=backup, check=True)
    refused = script("restore.sh", backup, written, home)
    assert refused.returncode == 1 and "make an empty one and name it in DATABASE_URL" in refused.stderr
    (backup / "database.dump").write_text("y")
    damaged = script("restore.sh", backup, written, home)
    assert damaged.returncode == 1 and "is damaged; take another one" in damaged.stderr
    assert rows_of(written) == before and not home.exists()


def test_a_restore_wants_an_empty_folder(written: str, empty: str, tmp_path: Path) -> None:
    done = script("backup.sh", tmp_path / "backups", written, tmp_path / "backups")
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine").write_text("kept")
    refused = script("restore.sh", Path(done.stdout.strip()), empty, home)
    assert refused.returncode == 1 and "is not empty; name an empty folder in DRESSAGE_HOME" in refused.stderr
    assert files_of(home) == {"mine": b"kept"} and rows_of(empty) == {}


def test_old_backups_go_and_a_failed_one_leaves_nothing(written: str, tmp_path: Path) -> None:
    folder, home = tmp_path / "backups", tmp_path / "home"
    home.mkdir()
    for name in ("20250101T000000Z", "20250102T000000Z", "notes"):
        (folder / name).mkdir(parents=True)
    failed = script("backup.sh", folder, "no-such-database", home)
    assert failed.returncode != 0 and len(list(folder.iterdir())) == 3
    done = script("backup.sh", folder, written, home, BACKUPS_KEPT="2")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"20250102T000000Z", "notes", Path(done.stdout.strip()).name}
