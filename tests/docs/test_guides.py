"""The authoring guides of docs/development, followed to the letter: who follows them gets what they promise."""

import os
from pathlib import Path

import pytest

from tests.support.guide import GUIDES, ROOT, changed, checkout, follow

FOLLOWED = "copies the checkout, and runs in it what a guide says: pytest, vitest or pip"


@pytest.mark.expensive(20, FOLLOWED, about=("docs/development/add-a-loss.md", "docs/methods.md", "trainer_core"))
def test_add_a_loss(tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree", "trainer_core", "tests", "docs")
    done = follow("add-a-loss.md", tree)
    assert len(done.created) == 2 and len(done.changed) == 6
    assert "`loss: {type: tapered}`" in (tree / "docs" / "methods.md").read_text()
    assert "tapered" not in (ROOT / "docs" / "methods.md").read_text()


@pytest.mark.expensive(12, FOLLOWED, about=("docs/development/add-a-grader.md", "trainer_core"))
def test_add_a_grader(tmp_path: Path) -> None:
    done = follow("add-a-grader.md", checkout(tmp_path / "tree", "trainer_core", "tests"))
    assert len(done.created) == 2 and len(done.changed) == 1


@pytest.mark.expensive(
    17,
    FOLLOWED,
    about=(
        "docs/development/add-a-chart.md",
        "trainer_core/metrics",
        "trainer_core/rollout_metrics.py",
        "frontend/src/features/charts",
        "frontend/vite.config.ts",
    ),
)
def test_add_a_chart(tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree", "trainer_core", "tests", "docs", "frontend")
    done = follow("add-a-chart.md", tree)
    assert len(done.created) == 1 and len(done.changed) == 4
    assert "1 passed" in done.printed


@pytest.mark.expensive(
    12, FOLLOWED, about=("docs/development/add-a-reward-tool.md", "trainer_core/rewards", "worker/scoring")
)
def test_add_a_reward_tool(tmp_path: Path) -> None:
    done = follow("add-a-reward-tool.md", checkout(tmp_path / "tree", "trainer_core", "worker", "tests"))
    assert len(done.created) == 3 and len(done.changed) == 5


@pytest.mark.expensive(
    20, FOLLOWED, about=("docs/development/add-a-weight-transport.md", "worker/learner", "trainer_core/spec")
)
def test_add_a_weight_transport(tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree", "worker", "trainer_core", "tests")
    done = follow("add-a-weight-transport.md", tree, DRESSAGE_WEIGHTS_FOLDER=str(tmp_path))
    assert len(done.created) == 1 and len(done.changed) == 2


@pytest.mark.expensive(20, FOLLOWED, about=("docs/development/write-a-plugin.md", "trainer_core", "pyproject.toml"))
def test_write_a_plugin(tmp_path: Path) -> None:
    """``pip install`` is led into a folder: the environment that runs the tests must stay as it is."""
    tree, site = checkout(tmp_path / "tree", "tests"), tmp_path / "site"
    path = os.pathsep.join(map(str, (tree, tree / "platform", site)))
    pip = {"PIP_TARGET": str(site), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    done = follow("write-a-plugin.md", tree, PYTHONPATH=path, **pip)
    assert len(done.created) == 5 and len(done.commands) == 2


def test_a_guide_that_has_fallen_behind_is_told() -> None:
    with pytest.raises(AssertionError, match="here: stands there 0 times"):
        changed("one\nthree\n", " one\n+two\n", "here") and changed("other\n", " one\n+two\n", "here")
    with pytest.raises(AssertionError, match="stands there 2 times"):
        changed("one\none\n", "-one\n", "here")
    assert changed("one\nthree\n", " one\n+two\n three\n@@\n", "here") == "one\ntwo\nthree\n"


def test_contributing_names_every_guide() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for guide in [*GUIDES.glob("add-*.md"), *GUIDES.glob("write-*.md")]:
        assert f"docs/development/{guide.name}" in text, guide.name
