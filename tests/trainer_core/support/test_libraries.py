"""Classes that both libraries load: the list is the installed ones', and what it lacks is refused with a sibling."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.support.about import LEARNING
from trainer_core.support import ARCHITECTURES
from trainer_core.support.known_classes import ENGINE_ONLY, IN_BOTH, LEARNER_ONLY
from trainer_core.support.libraries import nearest_class, of_libraries

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.expensive(5, "computes many cases", about=LEARNING)
def test_the_list_is_what_the_installed_libraries_know() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "write_known_classes.py"))["module"]()
    stored = (ROOT / "trainer_core" / "support" / "known_classes.py").read_text()
    assert stored == written, "run `python -m scripts.write_known_classes` and commit what it has written"


def test_what_was_tried_is_known_and_nothing_is_known_twice() -> None:
    assert set(ARCHITECTURES) <= IN_BOTH
    assert not IN_BOTH & LEARNER_ONLY | IN_BOTH & ENGINE_ONLY | LEARNER_ONLY & ENGINE_ONLY


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("LLaMAForCausalLM", "LlamaForCausalLM"),
        ("Olmo4ForCausalLM", "Olmo3ForCausalLM"),
        ("PhiMoEForCausalLM", "PhimoeForCausalLM"),  # never tried, and nearer than any that was
        ("Mamba3ForCausalLM", None),  # Mamba and Mamba 2 are refused themselves
        ("MadeUpForCausalLM", None),
    ],
)
def test_the_nearest_class(name: str, near: str | None) -> None:
    assert nearest_class(name) == near
    sentence = of_libraries(name, {})
    assert sentence is not None
    assert (f"is {near}:" in sentence) is (near is not None)


@pytest.mark.parametrize("name", sorted(IN_BOTH))
def test_what_both_load_is_let_through(name: str) -> None:
    assert of_libraries(name, {}) is None
    assert of_libraries(name, {"model_type": "qwen3"}) is None
