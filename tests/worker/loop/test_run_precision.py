"""Whole runs in other number formats: FP8 under a unified flow, and float16 on both sides."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.worker.loop.platform_double import PlatformDouble

FP8 = {"type": "fp8", "activations": False}


@pytest.mark.parametrize(
    ("engine", "precision", "most"),
    [
        ({"quantization": FP8}, "unified", 1e-7),
        ({"dtype": "float16", "lm_head_dtype": "float32"}, "half", 1e-3),
    ],
)
def test_run_in_other_formats(
    launcher: Any,
    platform: PlatformDouble,
    spec: Callable[..., Any],
    engine: dict[str, Any],
    precision: str,
    most: float,
) -> None:
    chosen = spec(precision={"type": precision}, schedule__steps=2, diagnosis={"every_steps": 1})
    chosen["rollout"]["engine"] |= engine
    launcher.prepare(chosen)
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    found = [event["data"]["metrics"] for event in platform.of("step")]
    assert len(found) == 2
    for metrics in found:
        assert 0.0 <= metrics["rollout_corr/k3_kl"] < most
        assert metrics["probe/max_abs_diff"] < (1e-3 if "quantization" in engine else 0.1)
        assert metrics.get("perf/fp8_simulated") == (1.0 if "quantization" in engine else None)
        assert math.isfinite(metrics["critic/score/mean"]) and metrics["actor/grad_norm"] > 0
    launcher.until_gone()
