"""The benchmark of a card refuses in words where there is none, and nothing of it is measured by a fault."""

import pytest

from tests.bench import gpu
from tests.support.alone import alone


@pytest.mark.parametrize("device", ["cpu"])
def test_without_a_card_nothing_is_measured(
    device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "missing_card", lambda: "No CUDA device: this machine has none")
    monkeypatch.setattr(gpu, "figures", None)
    assert gpu.measure() == []
    assert capsys.readouterr().out == "\nNo CUDA device: this machine has none.\n"


def test_every_figure_is_told() -> None:
    small = gpu.Sizes(tokens=512, width=512, vocabulary=4096, long=2048, heads=4)
    found = {figure.name: figure.value for figure in alone(gpu.figures, small, "cuda")}
    assert "batch-invariant over default" in found and all(value > 0 for value in found.values())
