"""What an installation in production must have, and what ``up`` says where it has not."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dressage.config import Config
from dressage.database import database_settings
from dressage.supervisor import production
from dressage.supervisor.management.commands import up
from dressage.supervisor.output import PrefixedOutput
from dressage.supervisor.processes import base_environment, services
from dressage.supervisor.production import advice, check_production, refusals

GOOD = {
    "DRESSAGE_MODE": "production",
    "DRESSAGE_URL": "https://dressage.example.com",
    "DRESSAGE_TRUSTED_PROXIES": "10.0.0.0/8",
    "DRESSAGE_EMAIL_URL": "smtps://mail.example.com",
}


def config(monkeypatch: pytest.MonkeyPatch, **given: str) -> Config:
    for field in Config.model_fields.values():
        if field.alias not in ("DRESSAGE_HOME", "DATABASE_URL", "REDIS_URL"):
            monkeypatch.delenv(str(field.alias), raising=False)
    for name, value in {**GOOD, **given}.items():
        monkeypatch.setenv(name, value)
    return Config()


def test_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = config(monkeypatch, DRESSAGE_HOSTS="10.0.0.9,.example.com")
    assert (list(refusals(found)), list(advice(found))) == ([], [])
    assert found.resolved_hosts == [
        "dressage.example.com",
        "127.0.0.1",
        "localhost",
        "[::1]",
        "10.0.0.9",
        ".example.com",
    ]


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"DRESSAGE_URL": "http://dressage.example.com"}, ["E001"]),
        ({"DRESSAGE_TRUSTED_PROXIES": ""}, ["E002"]),
        ({"DRESSAGE_DEBUG": "true"}, ["E003"]),
        ({"DRESSAGE_HOSTS": "*"}, ["E004"]),
        ({"DRESSAGE_URL": "http://x", "DRESSAGE_TRUSTED_PROXIES": "", "DRESSAGE_DEBUG": "1"}, ["E001", "E002", "E003"]),
    ],
)
def test_what_would_expose_people_is_refused(
    given: dict[str, str], ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = config(monkeypatch, **given)
    assert [name for name, _ in refusals(found)] == ids
    monkeypatch.setattr(production, "config", found)
    assert [message.id for message in check_production()] == [f"dressage.{name}" for name in ids]
    monkeypatch.setattr(up, "config", found)
    with pytest.raises(CommandError) as refusal:
        call_command("up")
    assert str(refusal.value).count("\n  - ") == len(ids)


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"RAY_ADDRESS": "ray.internal:6379"}, ["W003"]),
        ({"RAY_ADDRESS": "ray.internal:6379", "LINK_URL": "http://web.internal:8600"}, []),
        ({"RAY_ADDRESS": "127.0.0.1:6379"}, []),
    ],
)
def test_advice(given: dict[str, str], ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for name, _ in advice(config(monkeypatch, **given))] == ids
    monkeypatch.delenv("DRESSAGE_EMAIL_URL")
    assert [name for name, _ in advice(Config())] == ["W002", *ids]


def test_a_laptop_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(production, "config", config(monkeypatch, DRESSAGE_MODE="local", DRESSAGE_URL="http://x"))
    assert check_production() == []


def test_several_processes_answer_at_one_port(monkeypatch: pytest.MonkeyPatch) -> None:
    web = next(process for process in services(config(monkeypatch), None) if process.name == "web")
    assert "--workers" not in web.command
    four = services(config(monkeypatch, DRESSAGE_WEB_PROCESSES="4"), None)
    web = next(process for process in four if process.name == "web")
    assert web.command[web.command.index("--workers") + 1] == "4"


def test_compiled_kernels_are_kept_with_the_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    kept = base_environment(config(monkeypatch, DRESSAGE_HOME=str(tmp_path)))["TRITON_CACHE_DIR"]
    assert kept == str(tmp_path.resolve() / "triton")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    assert base_environment(config(monkeypatch))["TRITON_CACHE_DIR"] == "/elsewhere"


def test_every_process_writes_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert base_environment(config(monkeypatch))["DRESSAGE_LOG_FORMAT"] == "json"
    assert base_environment(config(monkeypatch, DRESSAGE_LOG_FORMAT="plain"))["DRESSAGE_LOG_FORMAT"] == "plain"


def test_lines_of_all_processes_are_objects(capsys: pytest.CaptureFixture[str]) -> None:
    output = PrefixedOutput("ray", 0, 3, as_json=True)
    output({"data": b'{"message": "of ours"}\nof anybody, password=hunter22\n{"half": '})
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        {"process": "ray", "message": "of ours"},
        {"process": "ray", "message": "of anybody, password=***"},
    ]


def test_the_database_is_waited_for_as_long_as_is_said(tmp_path: Path) -> None:
    made = database_settings("postgresql://a:b@db/x?sslmode=require&connect_timeout=3", pool=7, wait_s=4.0)
    options = made["OPTIONS"]
    assert options["pool"] == {"min_size": 0, "max_size": 7, "timeout": 4.0}
    assert (options["connect_timeout"], options["sslmode"], options["keepalives_idle"]) == ("3", "require", 30)
