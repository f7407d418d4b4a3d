"""Which implementation runs, and what is said where Triton cannot."""

import pytest
import torch

from kernels import backend
from kernels.backend import BackendUnavailable, uses_triton


def test_cpu_takes_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    tensor = torch.zeros(1)
    assert not uses_triton(tensor, "auto")
    assert not uses_triton(tensor, "reference")
    with pytest.raises(BackendUnavailable, match="the tensors are on cpu"):
        uses_triton(tensor, "triton")


def test_the_interpreter_runs_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_installed", lambda: True)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert not uses_triton(torch.zeros(1), "auto")
    assert uses_triton(torch.zeros(1), "triton")


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_installed", lambda: False)
    assert not uses_triton(torch.zeros(1), "auto")
    with pytest.raises(BackendUnavailable, match="Triton is not installed"):
        uses_triton(torch.zeros(1), "triton")


def test_float64_is_summed_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_installed", lambda: True)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(BackendUnavailable, match="the tensors are in float64"):
        uses_triton(torch.zeros(1, dtype=torch.float64), "triton")
