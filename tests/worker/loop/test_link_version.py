"""Platforms of other versions of the link, as the worker meets them: it goes on, or tells the person why not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.worker.loop.conftest import tiny_spec
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.link import version
from trainer_core.link.events import LogData
from worker.link import client as module
from worker.link.client import Link
from worker.link.journal import Journal
from worker.link.platform import Platform

OLD = "This cluster runs Dressage's link version 2, the platform runs 1: upgrade the platform."
NEW = "This cluster runs Dressage's link version 1, the platform runs 2: upgrade the cluster's workers."


@pytest.fixture
def link(platform: PlatformDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Link]:
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(module, "SPACING_S", 0.01)
    made = Link(platform.url, "secret", "r", 1, Journal(tmp_path / "j.jsonl"))
    yield made
    made.close()


@pytest.fixture
def reader(platform: PlatformDouble, tmp_path: Path) -> Iterator[Platform]:
    made = Platform(platform.url, "secret", "r", tmp_path / "cache")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("told", "objection"),
    [
        (None, None),
        ("1", None),
        ("2", NEW),
        ("?", "The platform sent '?' as its link version: that is not a version."),
    ],
)
def test_a_platform_is_objected_to_and_still_told(
    link: Link, reader: Platform, platform: PlatformDouble, told: str | None, objection: str | None
) -> None:
    platform.version = told
    reader.fetch_bundle()
    link.start()
    link.emit(LogData(level="info", message="before"))
    assert link.flush(10)
    for found in (reader.objection, link.objection):
        assert (found and found[: len(objection or "")]) == objection
    link.emit(LogData(level="info", message="after"))
    assert link.flush(10)
    assert (link.fenced, [event["data"]["message"] for event in platform.of("log")]) == (None, ["before", "after"])
    assert platform.versions == {"1"}


def test_a_newer_worker_names_the_old_platform(
    link: Link, reader: Platform, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "LINK_VERSION", 2)
    monkeypatch.setattr(version, "SPOKEN", frozenset({2}))
    reader.fetch_bundle()
    link.start()
    link.emit(LogData(level="info", message="m"))
    assert link.flush(10)
    assert reader.objection == link.objection == OLD


def test_an_upgrade_while_the_run_goes(link: Link, platform: PlatformDouble) -> None:
    link.start()
    platform.wait(lambda: platform.syncs >= 1, 10)
    platform.version = "2"
    synced = platform.syncs
    platform.wait(lambda: platform.syncs >= synced + 2, 10)
    assert link.objection == NEW
    platform.version = "1"
    synced = platform.syncs
    platform.wait(lambda: platform.syncs >= synced + 2, 10)
    assert link.objection is None


def test_a_run_that_cannot_begin_says_why(warm_launcher: Any, platform: PlatformDouble) -> None:
    warm_launcher.prepare(tiny_spec())
    platform.version = "2"
    assert warm_launcher.start() is True
    platform.wait(lambda: platform.states() == ["starting", "failed"])
    assert platform.of("state")[-1]["data"] == {"state": "failed", "reason": NEW}
    warm_launcher.until_gone()


def test_a_run_that_cannot_go_on_says_why(warm_launcher: Any, platform: PlatformDouble) -> None:
    warm_launcher.prepare(tiny_spec(schedule__steps=500))
    assert warm_launcher.start() is True
    platform.wait(lambda: platform.of("phase"))
    platform.version = "2"
    platform.wait(lambda: "failed" in platform.states())
    assert platform.of("state")[-1]["data"]["reason"] == NEW
    warm_launcher.until_gone()
