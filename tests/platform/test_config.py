"""Which environment variables count: the documented ones, and no others."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dressage.config import ROOT, Config
from tests.support.about import PLATFORM
from tests.support.checkout import copy_checkout, usual_environment

FIELDS = {name: str(field.alias) for name, field in Config.model_fields.items()}
GIVEN = {
    "home": "/somewhere",
    "mode": "production",
    "log_format": "json",
    "database_pool": "5",
    "database_wait_s": "3.0",
    "web_processes": "4",
    "hosts": "10.0.0.2,.example.com",
    "hsts_s": "3600",
    "hsts_subdomains": "false",
    "database_url": "postgresql://elsewhere/db",
    "redis_url": "redis://elsewhere",
    "ray_address": "10.0.0.1:6379",
    "clusters": "here=local,big=10.0.0.1:6379",
    "cluster_token_files": "big=/etc/dressage/big-token",
    "secret_key": "given",
    "cluster_secret": "a secret of forty characters that is given",
    "encryption_keys": "one,two",
    "host": "0.0.0.0",
    "port": "8700",
    "url": "https://dressage.example.com",
    "origins": "https://tools.example.com",
    "link_url": "http://10.0.0.2:8600",
    "max_active_runs": "7",
    "max_active_runs_per_team": "3",
    "gpu_hours_per_team": "500.0",
    "gpu_hour_price": "2.5",
    "gpu_hour_currency": "EUR",
    "dataset_gib_per_team": "50.0",
    "dataset_rows_per_team": "1000000",
    "pause_keeps_place_s": "60.0",
    "policy_roots": "/models",
    "hub_endpoint": "https://mirror.example.com",
    "hub_offline": "true",
    "bucket_endpoint": "https://store.example.com",
    "bucket_region": "eu-central-1",
    "import_networks": "10.30.0.0/16",
    "import_gib": "50.0",
    "team_imports_gib": "500.0",
    "judge_networks": "10.20.0.0/16",
    "trusted_proxies": "10.0.0.1",
    "session_idle_hours": "2.0",
    "session_days": "3.0",
    "email_url": "smtps://dressage:secret@mail.example.com",
    "email_from": "rl@example.com",
    "token_days": "30",
    "token_days_max": "60",
    "second_factor": "all",
    "oidc_issuer": "https://login.example.com",
    "oidc_client_id": "dressage",
    "oidc_client_secret": "a secret",
    "oidc_domains": "example.com",
    "oidc_name": "Example",
    "dataset_import_urls": "https://data.example.org/sets/",
    "dataset_import_folders": "/srv/sets",
    "debug": "true",
}
SHOW = """
import json
from django.conf import settings
from dressage.config import config
print(json.dumps([str(settings.HOME), config.host, config.port, settings.DEBUG, settings.PUBLIC_URL,
                  len(settings.SECRET_KEY)]))
"""


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for alias in FIELDS.values():
        monkeypatch.delenv(alias, raising=False)
    yield


def as_text(config: Config) -> dict[str, str]:
    return {name: str(value) for name, value in config.model_dump().items()}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_read_from_its_documented_name_alone(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    default = as_text(Config())
    for name in {field, field.upper(), FIELDS[field].lower()} - {FIELDS[field]}:
        monkeypatch.setenv(name, GIVEN[field])
    assert as_text(Config()) == default
    monkeypatch.setenv(FIELDS[field], GIVEN[field])
    read = {name: value for name, value in as_text(Config()).items() if value != default[name]}
    assert {name: value.lower() for name, value in read.items()} == {field: GIVEN[field].lower()}


def test_no_other_class_reads_the_environment() -> None:
    trees = (ROOT / tree for tree in ("platform", "worker", "trainer_core", "kernels", "sdk", "scripts"))
    found = [path for tree in trees for path in tree.rglob("*.py") if "BaseSettings)" in path.read_text()]
    assert found == [ROOT / "platform" / "dressage" / "config.py"], "these tests know the settings of one class"


def test_every_variable_is_documented_and_every_documented_one_counts() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    documented = re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)
    of_nodes = [name for name in documented if name not in FIELDS.values()]
    assert sorted(set(documented) - set(of_nodes)) == sorted(FIELDS.values())
    assert len(documented) == len(set(documented))
    read = "".join(path.read_text() for path in (ROOT / "worker").rglob("*.py"))
    assert [name for name in of_nodes if f'"{name}"' not in read] == []


@pytest.mark.expensive(5, "walks over many requests", about=PLATFORM)
def test_a_process_in_a_usual_shell_uses_the_folder_and_the_address_of_the_checkout(tmp_path: Path) -> None:
    checkout, home = copy_checkout(tmp_path / "checkout"), tmp_path / "home"
    home.mkdir()
    command = [sys.executable, "manage.py", "shell", "--no-imports", "--command", SHOW]
    environment = usual_environment(home)
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [
        str(checkout / ".dressage"), "127.0.0.1", 8600, False, "http://127.0.0.1:8600", 64
    ]  # fmt: skip
    assert list(home.iterdir()) == []
    assert {path.name for path in (checkout / ".dressage").iterdir()} == {"cluster-secret", "secret-key", "static"}


@pytest.mark.parametrize(
    ("given", "origins"),
    [
        ({}, ["http://127.0.0.1:8600", "http://localhost:8600", "http://[::1]:8600"]),
        (
            {"DRESSAGE_HOST": "0.0.0.0", "DRESSAGE_PORT": "8700"},
            ["http://0.0.0.0:8700", "http://127.0.0.1:8700", "http://localhost:8700", "http://[::1]:8700"],
        ),
        (
            {"DRESSAGE_HOST": "0.0.0.0", "DRESSAGE_URL": "http://192.168.1.5:8600"},
            ["http://192.168.1.5:8600", "http://127.0.0.1:8600", "http://localhost:8600", "http://[::1]:8600"],
        ),
        (
            {"DRESSAGE_URL": "http://dressage.lan/"},  # by a proxy, at another port than the web server's
            ["http://dressage.lan", "http://127.0.0.1:8600", "http://localhost:8600", "http://[::1]:8600"],
        ),
        (
            {"DRESSAGE_URL": "http://localhost:9000"},
            ["http://localhost:9000", "http://127.0.0.1:9000", "http://[::1]:9000"],
        ),
        (
            {"DRESSAGE_URL": "https://localhost"},
            ["https://localhost", "https://127.0.0.1", "https://[::1]"],
        ),
        (
            {"DRESSAGE_HOST": "0.0.0.0", "DRESSAGE_URL": "https://dressage.example.com"},
            ["https://dressage.example.com"],
        ),
        (
            {"DRESSAGE_URL": "https://dressage.example.com", "DRESSAGE_ORIGINS": "https://tools.example.com, "},
            ["https://dressage.example.com", "https://tools.example.com"],
        ),
    ],
)
def test_origins_of_our_pages(given: dict[str, str], origins: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert sorted(Config().resolved_origins) == sorted(origins)


@pytest.mark.parametrize("url", ["localhost:8600", "ftp://localhost", "ftp://dressage.example.com"])
def test_an_address_that_is_none_of_the_web_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_URL", url)
    with pytest.raises(ValueError, match="is not an address such as"):
        _ = Config().resolved_origins
