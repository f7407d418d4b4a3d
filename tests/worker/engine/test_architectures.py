"""Each architecture through one update, its probe, a checkpoint, a resume and an export: a slice of the matrix.

``make architectures`` runs the whole matrix and writes docs/architectures.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architectures.cases import Case, slice_of_cases
from tests.architectures.loop import run_case, start_engine
from tests.support.about import ENGINES, RANKS, TRAINING
from trainer_core.starter.architectures import make_tiny
from worker.engine import InferenceEngine

FEW = ("gemma3", "mixtral", "phi3", "qwen3")
"""Architectures that always run: both heads, both modes and every kind are among them."""
COST = 3.0
WIDELY = pytest.mark.expensive(COST, "starts an engine", about=TRAINING)
FURTHER = pytest.mark.expensive(COST, "starts an engine", about=(*ENGINES, *RANKS, "trainer_core/support"))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=WIDELY if case.architecture in FEW else FURTHER, id=str(case))
        for case in slice_of_cases()
    ],
)
def test_an_architecture_goes_through_the_loop(case: Case, shared_engine: InferenceEngine, tmp_path: Path) -> None:
    """Leaves vLLM's process-wide parts to the shared engine."""
    policy = make_tiny(case.architecture, tmp_path / "policy", tied=case.head == "tied", dtype=case.dtype)
    seen = run_case(case, start_engine(policy, case), policy, tmp_path / "run", updates=1)
    assert seen.complaints() == []


@pytest.mark.expensive(3, "starts two engines")
def test_an_engine_in_16_bits_leaves_another_as_it_is(shared_engine: InferenceEngine, tmp_path: Path) -> None:
    """Both rotate by tables of float32, which one of them rounds."""
    policy, text = make_tiny("gpt_oss", tmp_path), [list(range(40, 90))]
    wide = start_engine(policy, Case("gpt_oss", "untied", "float32", "sync"))
    before = wide.score(text)
    start_engine(policy, Case("gpt_oss", "untied", "bfloat16", "sync")).score(text)
    assert wide.score(text) == before
