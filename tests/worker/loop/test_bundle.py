"""Bundle and datasets over HTTP: checked, cached, refused with a sentence."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.worker.loop.conftest import POLICY, Launcher, tiny_spec
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.link.bundle import DatasetRef
from worker.errors import FencedError, StartError
from worker.link.platform import Platform, parse_bundle

ROWS = [{"prompt": "1+1=", "answer": "2"}, {"prompt": "2+2=", "answer": "4"}]


def described(platform: PlatformDouble, folder: Path) -> dict[str, Any]:
    """A bundle as the platform sends it."""
    Launcher(platform, folder).prepare(tiny_spec())
    return platform.bundle


@pytest.fixture
def reader(platform: PlatformDouble, tmp_path: Path) -> Iterator[Platform]:
    made = Platform(platform.url, "secret", "r", tmp_path / "cache")
    yield made
    made.close()


def test_a_dataset_is_downloaded_once(reader: Platform, platform: PlatformDouble) -> None:
    ref = DatasetRef.model_validate(platform.add_dataset("add@1", ROWS))
    assert reader.rows("add@1", ref) == ROWS
    platform.files.clear()
    assert reader.rows("add@1", ref) == ROWS


def test_a_damaged_file_is_refused_and_not_kept(reader: Platform, platform: PlatformDouble, tmp_path: Path) -> None:
    entry = platform.add_dataset("add@1", ROWS)
    good = platform.files[entry["url"]]
    platform.files[entry["url"]] = good[:-1] + b"?"
    with pytest.raises(StartError, match="does not match its SHA-256"):
        reader.rows("add@1", DatasetRef.model_validate(entry))
    assert list((tmp_path / "cache").iterdir()) == []
    platform.files[entry["url"]] = good
    assert reader.rows("add@1", DatasetRef.model_validate(entry)) == ROWS


def test_a_cached_file_that_was_changed_is_fetched_again(
    reader: Platform, platform: PlatformDouble, tmp_path: Path
) -> None:
    ref = DatasetRef.model_validate(platform.add_dataset("add@1", ROWS))
    reader.rows("add@1", ref)
    cached = next((tmp_path / "cache").iterdir())
    cached.write_bytes(b"something else")
    assert reader.rows("add@1", ref) == ROWS


def test_a_cache_of_another_user_is_refused_though_it_holds_the_file(
    reader: Platform, platform: PlatformDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = DatasetRef.model_validate(platform.add_dataset("add@1", ROWS))
    reader.rows("add@1", ref)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    with pytest.raises(StartError, match="does not belong to this user: remove it"):
        reader.rows("add@1", ref)


def test_a_missing_dataset_is_a_sentence(reader: Platform, platform: PlatformDouble) -> None:
    ref = DatasetRef(url="/api/v1/link/runs/r/datasets/none@1", sha256="0" * 64, rows=1)
    with pytest.raises(StartError, match="The dataset none@1 cannot be downloaded"):
        reader.rows("none@1", ref)


@pytest.mark.parametrize("status", [401, 403, 409])
def test_a_refused_bundle_fences(status: int, reader: Platform, platform: PlatformDouble) -> None:
    platform.status = status
    with pytest.raises(FencedError, match=str(status)):
        reader.fetch_bundle()


def test_a_spec_that_makes_no_sense_names_the_field(platform: PlatformDouble, tmp_path: Path) -> None:
    document = {**described(platform, tmp_path), "spec": tiny_spec(rollout__max_tokens=64)}
    with pytest.raises(StartError, match=r"leaves no room for a prompt .*at spec\.rollout"):
        parse_bundle(document)


def test_a_plugin_that_is_not_installed_here_is_refused(platform: PlatformDouble, tmp_path: Path) -> None:
    document = {**described(platform, tmp_path), "spec": {**tiny_spec(), "loss": {"type": "brought_by_a_package"}}}
    with pytest.raises(StartError, match=r"knows 'brought_by_a_package' \(at spec\.loss\), and this machine does not"):
        parse_bundle(document)
    document["spec"]["loss"] = {"type": "reinforce"}
    assert parse_bundle(document).spec.loss.type == "reinforce"


def test_weights_of_parts_that_the_reward_lacks_are_refused(platform: PlatformDouble, tmp_path: Path) -> None:
    document = {**described(platform, tmp_path), "spec": tiny_spec(advantage={"type": "gdpo", "weights": {"style": 1}})}
    with pytest.raises(StartError, match=r"no part 'style'; its parts are right \(at spec\.advantage\.weights\.sty"):
        parse_bundle(document)
    document["spec"]["advantage"]["weights"] = {"right": 1.0, "overlong": 0.5}
    document["spec"]["reward"]["overlong"] = {"buffer": 4}
    assert parse_bundle(document).spec.reward.overlong is not None


def test_a_teacher_without_a_folder_is_refused(platform: PlatformDouble, tmp_path: Path) -> None:
    document = {**described(platform, tmp_path), "spec": tiny_spec(distillation={"teacher": "large"})}
    with pytest.raises(StartError, match="it names a teacher without its folder"):
        parse_bundle(document)
    document["teacher"] = {"name": "large", "path": str(POLICY)}
    assert parse_bundle(document).teacher is not None
