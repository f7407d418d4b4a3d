"""Runs that must not go on: failing rewards, a cancel, a stale attempt, and starts that cannot work."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.worker.loop.platform_double import PlatformDouble

BROKEN = {"components": [{"name": "right", "weight": 1.0, "grader": {"type": "numeric", "reference": "nowhere"}}]}


def test_failing_rewards_pause_the_run_and_a_cancel_ends_it(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(spec(evaluation__sources=[]), reward={"ref": "calculation@1", "definition": BROKEN})
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])
    reason = platform.of("state")[-1]["data"]["reason"]
    assert reason.startswith("32 rewards of step 1 (100%) could not be computed; the first: right:")
    assert platform.steps() == []
    seen = platform.syncs
    platform.wait(lambda: platform.syncs >= seen + 4)
    assert platform.states()[-1] == "paused", "nobody has resumed it"

    platform.desired_state = "paused"
    seen = platform.syncs
    platform.wait(lambda: platform.syncs >= seen + 2)
    platform.desired_state = "running"
    platform.wait(lambda: platform.steps() == [1] and platform.states()[-1] == "paused")
    metrics = platform.of("step")[0]["data"]["metrics"]
    assert metrics["reward/error_share"] == 1.0
    assert "critic/score/mean" not in metrics, "an error is not a zero"

    platform.desired_state = "cancelled"
    platform.wait(lambda: platform.states()[-1] == "cancelled")
    warm_launcher.until_gone()
    assert platform.states() == ["starting", "running", "paused", "running", "paused", "cancelled"]


def test_a_stale_attempt_ends_without_a_word(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(spec())
    platform.serves_files.clear()  # so that it is refused while it starts
    warm_launcher.start()
    platform.wait(lambda: platform.states() == ["starting"])
    platform.status = 409
    with platform.changed:
        assert platform.changed.wait_for(lambda: platform.refused >= 1, 30)
    platform.serves_files.set()
    warm_launcher.until_gone()
    assert platform.states() == ["starting"]


def no_folder(launcher: Any, folder: Path) -> str:
    launcher.platform.bundle["policy"]["path"] = str(folder / "none")
    return "does not exist on this machine"


def no_weights(launcher: Any, folder: Path) -> str:
    (folder / "policy").mkdir()
    shutil.copy(Path(launcher.platform.bundle["policy"]["path"]) / "config.json", folder / "policy")
    launcher.platform.bundle["policy"]["path"] = str(folder / "policy")
    return "has no safetensors weights"


def prompt_too_long(launcher: Any, folder: Path) -> str:
    rows = [{"prompt": "1+" * 30, "answer": "30"}]
    launcher.platform.bundle["datasets"]["mul@1"] = launcher.platform.add_dataset("mul@1", rows)
    return "Row 0 of mul@1 has a prompt of 60 tokens"


def no_dataset(launcher: Any, folder: Path) -> str:
    launcher.platform.bundle["datasets"]["add@1"]["url"] = "/nowhere"
    launcher.platform.bundle["datasets"]["add@1"]["sha256"] = "0" * 64
    return "The dataset add@1 cannot be downloaded"


def no_tag(launcher: Any, folder: Path) -> str:
    launcher.platform.bundle["spec"]["thinking"] = {"type": "tags", "start": "«", "end": "»"}
    return "cannot write the thinking tag '«'"


def no_cpus(launcher: Any, folder: Path) -> str:
    launcher.platform.bundle["spec"]["parallelism"]["rollout_workers"] = 64
    return "The run needs 64.5 CPUs"


@pytest.mark.parametrize("spoil", [no_folder, no_weights, prompt_too_long, no_dataset, no_tag, no_cpus])
def test_a_start_that_cannot_work_fails_with_a_sentence(
    spoil: Callable[[Any, Path], str],
    warm_launcher: Any,
    platform: PlatformDouble,
    spec: Callable[..., Any],
    tmp_path: Path,
) -> None:
    warm_launcher.prepare(spec())
    words = spoil(warm_launcher, tmp_path)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["failed"])
    data = platform.of("state")[-1]["data"]
    assert words in data["reason"]
    assert "detail" not in data, "no traceback: it is the person's to mend"
    warm_launcher.until_gone()


@pytest.mark.parametrize("gone", [True, False], ids=["gone", "damaged"])
def test_an_unusable_checkpoint_ends_the_attempt_and_not_the_run(
    gone: bool, warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "step-000002-a1"
    if not gone:
        folder.mkdir()
    resume = {"step": 2, "path": str(folder), "manifest_sha256": "0" * 64}
    warm_launcher.prepare(spec(), attempt=2, resume=resume)
    warm_launcher.start()
    platform.wait(lambda: platform.of("alert"))
    warm_launcher.until_gone()
    assert platform.states() == ["starting"], "no end: the platform begins a new attempt at an older checkpoint"
    [alert] = platform.of("alert")
    told = alert["data"]["unusable"]
    assert (told["path"], told.get("gone", False)) == (str(folder), gone)
    assert str(folder) in alert["data"]["message"]
    assert told["fault"].startswith("the folder does not exist" if gone else "manifest.json cannot be read")
