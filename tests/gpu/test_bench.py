"""The benchmark of a card refuses in words where there is none, and nothing of it is measured by a fault."""

import pytest

from tests.bench import gpu, gpu_learner
from tests.support.about import TRAINING
from tests.support.alone import alone


@pytest.mark.parametrize("device", ["cpu"])
def test_without_a_card_nothing_is_measured(
    device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "missing_card", lambda: "No CUDA device: this machine has none")
    monkeypatch.setattr(gpu, "figures", None)
    assert gpu.measure() == []
    assert capsys.readouterr().out == "\nNo CUDA device: this machine has none.\n"


TINY = gpu_learner.Shape(
    layers=2, hidden=64, intermediate=128, heads=4, kv_heads=2, head_dim=16, vocabulary=512, tokens=256, rounds=1
)


@pytest.mark.expensive(10, "runs on CPUs what is for a GPU", about=TRAINING)
def test_the_learner_at_a_published_shape(device: str) -> None:
    """At a tiny size, by the same code: whoever has a card finds that the command works."""
    found = alone(gpu_learner.figures, TINY, device)
    assert [(figure.unit, figure.target) for figure in found] == [
        ("tokens/s", "≥ 35,688"),
        ("GiB", "≤ 12.5"),
        ("", "0.85 to 1.15"),
        ("", ""),
        ("", "≥ 0.333"),
    ]
    speed, memory, predicted, of_measured, of_makers = (figure.value for figure in found)
    assert min(speed, memory, predicted) > 0
    assert 0 < of_makers < of_measured < 1
    # 2 layers of (64·64 + 2·64·32 + 64·64 + 3·64·128 + norms), the embedding, and attention to 128 tokens.
    parameters = 512 * 64 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64 + 2 * 16) + 64
    work = 6 * (parameters + 2 * 2 * 64 * 128)
    assert of_makers == pytest.approx(work * speed / 989e12)


def test_every_figure_is_told() -> None:
    small = gpu.Sizes(tokens=512, width=512, vocabulary=4096, long=2048, heads=4, published=TINY)
    found = {figure.name: figure.value for figure in alone(gpu.figures, small, "cuda")}
    assert "batch-invariant over default" in found and all(value > 0 for value in found.values())
