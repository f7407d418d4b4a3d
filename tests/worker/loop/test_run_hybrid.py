"""A hybrid policy through the whole loop with CISPO: its routes replayed, its experts balanced."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.about import RUNS, TRAINING
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.spec import RunSpec
from trainer_core.starter.make import make_starter
from trainer_core.starter.plans import full_plan, quick
from trainer_core.update.hybrid.policy import read_biases

ROOT = Path(__file__).resolve().parents[3]
LOSS = {"type": "cispo", "ratio_min": 0.0, "ratio_max": 5.0}
# The policy has hardly been warmed up: what its samples differ in is the character that they end with.
REWARD = {"components": [{"name": "letter", "weight": 1.0, "grader": {"type": "regex", "pattern": r"[\s\S]*[a-z]"}}]}


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policies") / "hybrid"
    random.seed(0)
    make_starter(folder, quick(full_plan()), 0, "a test", lambda line: None, hybrid=True)
    return folder


@pytest.mark.parametrize(
    ("mode", "routing", "corrections"),
    [
        pytest.param(
            {"type": "sync"},
            {"replay": False, "balance": {"type": "auxiliary_loss", "coefficient": 1e-3}},
            [{"type": "router_shift", "floor": 0.8}],
            id="sync",
            marks=pytest.mark.expensive(18, "trains a short run of a hybrid policy", about=RUNS),
        ),
        pytest.param(
            {"type": "in_flight", "max_staleness": 2},
            {"replay": True, "balance": {"type": "loss_free"}},
            [],
            id="in_flight",
            marks=pytest.mark.expensive(18, "trains a short run of a hybrid policy", about=TRAINING),
        ),
    ],
)
def test_it_trains(
    warm_launcher: Any,
    platform: PlatformDouble,
    spec: Callable[..., Any],
    hybrid: Path,
    mode: dict[str, Any],
    routing: dict[str, Any],
    corrections: list[dict[str, Any]],
) -> None:
    document = spec(
        policy={"base": "hybrid", "routing": routing},
        loss=LOSS,
        corrections=corrections,
        rollout__mode=mode,
        thinking={"type": "none"},
        schedule={"steps": 3, "prompts_per_step": 8, "updates_per_step": 2},
        checkpoint={"every_steps": 3},
        evaluation__sources=[],
    )
    warm_launcher.prepare(
        document,
        policy={"name": "hybrid", "path": str(hybrid)},
        reward={"ref": "calculation@1", "definition": REWARD},
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert platform.steps() == [1, 2, 3]
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    for m in metrics:
        assert m["actor/grad_norm"] > 0.0 and m["probe/max_abs_diff"] < 1e-3
        assert m["moe/max_violation"] >= 0.0 and m["moe/router_entropy"] > 0.0
    # Engine and learner are one policy, and route alike until the step's second update has moved the routers.
    assert metrics[0]["rollout_corr/k3_kl"] < 1e-6
    if not routing["replay"]:
        assert all(m["moe/aux_loss"] > 0.0 and 0.0 < m["actor/router_shift"] <= 1.0 for m in metrics)
        warm_launcher.until_gone()
        return
    assert metrics[0]["moe/replay_agreement"] > 0.9
    # Six updates have moved each bias by 0.001 up or down.
    assert 0.0 < metrics[-1]["moe/bias_spread"] <= 12e-3
    saved = Path(platform.of("checkpoint")[-1]["data"]["path"])
    assert any(bool(bias.any()) for bias in read_biases(saved).values()), "the biases are in the policy's own files"
    warm_launcher.until_gone()


def test_a_policy_that_vllm_runs_by_itself_tells_no_routes(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(spec(policy={"base": "starter", "routing": {"replay": True}}, evaluation__sources=[]))
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["failed"])
    reason = platform.of("state")[-1]["data"]["reason"]
    assert "Routes of Qwen 3 cannot be replayed, because there are no experts: set policy.routing.replay" in reason


def test_the_shipped_document_is_a_run() -> None:
    document = yaml.safe_load((ROOT / "demo" / "minimax-m1-hybrid.yaml").read_text())
    assert document["title"] and document["description"]
    spec = RunSpec.model_validate(document["spec"])
    assert spec.policy.routing.replay
    assert spec.rollout.early_stop.probability_run is not None
