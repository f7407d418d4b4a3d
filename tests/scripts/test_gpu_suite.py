"""``make test-gpu`` where there is no card: every test that needs one is skipped, and says so in a sentence."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.support.installation import ROOT

COVERED = (
    "test_nccl_carries_versions",
    "test_another_process_maps_the_memory_of_a_card",
    "test_every_rule_is_the_formulas",
    "test_a_reward_model_scores_on_its_device",
    "test_the_probe_passes_an_engine_in_fp8",
    "test_two_devices_score_sample_and_take_new_weights",
    "test_a_run_learns_saves_and_goes_on",
    "test_the_demo_learns",
)
"""Some of what only a card can run to its end."""

SUBJECTS = ("tests/gpu", "tests/support", "pyproject.toml", "kernels", "trainer_core", "worker")


@pytest.mark.expensive(25, "collects the tests of cards, with torch and vLLM", about=SUBJECTS)
def test_each_test_of_a_card_is_skipped_in_words(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/gpu", "-m", "gpu", "-p", "no:cacheprovider", f"--junitxml={report}"],
        cwd=ROOT,
        env={**own, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
    cases = list(ElementTree.parse(report).iter("testcase"))
    told = {str(case.get("name")): [one.get("message", "") for one in case.iter("skipped")] for case in cases}
    assert [name for name in COVERED if not any(one.startswith(name) for one in told)] == []
    assert {name: words for name, words in told.items() if len(words) != 1} == {}, "each is skipped, once"
    silent = {name: words for name, words in told.items() if not words[0].startswith("No CUDA device: ")}
    assert silent == {}
