"""Whole runs in other number formats: FP8 under a unified flow, float16 and bfloat16 on both sides."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.about import RUNS
from tests.worker.loop.conftest import RUN_CPU_S
from tests.worker.loop.platform_double import PlatformDouble

FP8 = {"type": "fp8", "activations": False, "scales": "block", "execution": "auto"}


@pytest.mark.parametrize(
    ("engine", "precision", "dtype", "most"),
    [
        ({"quantization": FP8}, {"type": "unified"}, "float32", 1e-7),
        pytest.param(
            {"dtype": "float16", "lm_head_dtype": "float32"},
            {"type": "half", "dtype": "float16"},
            "float32",
            1e-3,
            marks=pytest.mark.expensive(30, "trains a short run in float16, which is slow here", about=RUNS),
        ),
        pytest.param(
            {"dtype": "bfloat16", "lm_head_dtype": "float32"},
            {"type": "float32"},
            "bfloat16",
            1e-2,
            marks=pytest.mark.expensive(RUN_CPU_S, "trains a short run", about=RUNS),
        ),
    ],
)
def test_run_in_other_formats(
    warm_launcher: Any,
    platform: PlatformDouble,
    spec: Callable[..., Any],
    engine: dict[str, Any],
    precision: dict[str, Any],
    dtype: str,
    most: float,
) -> None:
    chosen = spec(precision=precision, schedule__steps=2, diagnosis={"every_steps": 1})
    chosen["rollout"]["engine"] |= engine
    chosen["policy"]["dtype"] = dtype
    warm_launcher.prepare(chosen)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    found = [event["data"]["metrics"] for event in platform.of("step")]
    tolerance = 1e-3 if "quantization" in engine else {"float32": 0.1, "bfloat16": 0.5}[dtype]
    assert len(found) == 2
    for metrics in found:
        assert 0.0 <= metrics["rollout_corr/k3_kl"] < most
        assert metrics["probe/max_abs_diff"] < tolerance
        assert metrics.get("perf/fp8_simulated") == (1.0 if "quantization" in engine else None)
        assert math.isfinite(metrics["critic/score/mean"]) and metrics["actor/grad_norm"] > 0
    warm_launcher.until_gone()
