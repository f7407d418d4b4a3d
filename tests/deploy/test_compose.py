"""The compose file: valid, made of commands and settings that exist, and closed where it can be."""

import json
import os
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from django.core.management import get_commands

from deploy import commands
from deploy.images.__main__ import COMPOSE
from deploy.images.lock import read_lock
from deploy.variables import SECRETS, known_variables
from dressage.supervisor.processes import OF_NO_ACTOR, OF_THE_PLATFORM
from dressage.supervisor.ray_head import RayHead
from tests.support.installation import ROOT

FOLDER = ROOT / "deploy" / "compose"
TEXT = (FOLDER / "compose.yaml").read_text()
DOCUMENT = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = DOCUMENT["services"]
EXAMPLE = dict(
    line.split("=", 1) for line in (FOLDER / "settings.env.example").read_text().splitlines() if line[:1].isupper()
)


def test_the_files_are_valid_compose_files() -> None:
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    validator = jsonschema_rs.validator_for(json.loads(schema.read_text()))
    for name in ("compose.yaml", "compose.gpu.yaml"):
        document = yaml.safe_load((FOLDER / name).read_text())
        assert [error.message for error in validator.iter_errors(document)] == []
    assert not validator.is_valid({"services": {"web": {"comand": []}}})


def test_every_variable_is_in_the_settings_and_every_setting_is_read() -> None:
    caddy = set(re.findall(r"\{\$([A-Z_]+)", (FOLDER / "Caddyfile").read_text()))
    given = {name for service in SERVICES.values() for name in service.get("environment", ())}
    used = set(re.findall(r"\$\{([A-Z_]+)", TEXT))
    assert used <= set(EXAMPLE)
    assert set(EXAMPLE) <= used | known_variables()
    assert caddy - given == {"DRESSAGE_HTTP_PORT", "DRESSAGE_WEB"}, "have defaults, for tests"
    assert {name for name in EXAMPLE if name.endswith("_IMAGE")} == set(COMPOSE) and set(COMPOSE.values()) <= set(
        read_lock()
    )


def test_no_secret_has_a_value_in_the_files() -> None:
    hidden = {name for name in EXAMPLE if re.search(r"PASSWORD|SECRET|TOKEN|KEY", name)}
    assert {EXAMPLE[name] for name in hidden} == {""} and len(hidden) >= 6
    assert {SECRETS[name] for name in hidden & set(SECRETS)} == {"secret-key", "cluster-secret", "encryption-keys"}


def test_commands_are_those_of_the_other_installations() -> None:
    made = {
        "web": commands.WEB,
        "workers": commands.platform_worker(6),
        "beat": commands.BEAT,
        "cluster": commands.cluster_worker(),
        "migrate": commands.MIGRATE,
    }
    assert {name: tuple(SERVICES[name]["command"]) for name in made} == made
    assert SERVICES["workers"]["healthcheck"]["test"] == ["CMD", *commands.WORKER_IS_ALIVE]
    assert SERVICES["cluster"]["healthcheck"]["test"] == ["CMD", *commands.WORKER_IS_ALIVE]
    assert SERVICES["beat"]["healthcheck"]["test"] == ["CMD", *commands.BEAT_IS_ALIVE]
    assert "/health/ready" in SERVICES["web"]["healthcheck"]["test"][-1]


def test_every_manage_command_that_is_named_exists() -> None:
    texts = [path.read_text() for path in (ROOT / "deploy").rglob("*") if path.suffix in (".yaml", ".sh", ".md", ".py")]
    named = {name for text in texts for name in re.findall(r"manage\.py[ \",]+([a-z_]+)", text)}
    before_django = {"doctor"}
    assert {"migrate", "create_admin", "wait_for_migrations"} <= named <= set(get_commands()) | before_django


def test_ray_is_started_as_manage_py_up_starts_it(tmp_path: Path) -> None:
    head = RayHead(home=tmp_path, port=6379)
    ours = [part for part in SERVICES["ray"]["command"][1:] if not part.startswith("--temp-dir")]
    cpus = ("--num-cpus", "--temp-dir")
    assert ours == [part for part in head.command[1:] if not part.startswith(cpus)]
    token = {"RAY_AUTH_TOKEN_PATH", "RAY_DISABLE_IMPORT_WARNING"}
    assert {name: SERVICES["ray"]["environment"].get(name) for name in head.env if name not in token} == {
        name: value for name, value in head.env.items() if name not in token
    }


def test_the_cluster_knows_no_secret_of_the_platform() -> None:
    assert not {*OF_NO_ACTOR} & set(SERVICES["ray"]["environment"]) and "env_file" not in SERVICES["ray"]
    assert not {*OF_THE_PLATFORM} & set(SERVICES["cluster"]["environment"]) and "env_file" not in SERVICES["cluster"]


def test_containers_are_closed() -> None:
    for name, service in SERVICES.items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"] and "privileged" not in service, name
        assert re.fullmatch(r"\$\{[A-Z]+_IMAGE:\?.*\}", service["image"]), name
        assert "user" in service or name == "proxy", name
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert [name for name, service in SERVICES.items() if "front" in service.get("networks", ())] == ["proxy", "web"]


@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed")
def test_caddy_takes_its_file(tmp_path: Path) -> None:
    for tls in ("internal", "you@example.com"):
        environment = {
            **os.environ,
            "DRESSAGE_DOMAIN": "dressage.example.com",
            "DRESSAGE_TLS": tls,
            "HOME": str(tmp_path),
        }
        command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(FOLDER / "Caddyfile")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
