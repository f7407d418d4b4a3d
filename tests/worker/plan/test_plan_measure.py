"""Rates measured with the real engine and the real learner of the demo's policy."""

import json
from pathlib import Path

import pytest
import yaml

from tests.support.about import RANKS
from tests.trainer_core.specs import document
from trainer_core.planning import Rates
from worker.plan.__main__ import main

DEMO = Path(__file__).resolve().parents[3] / "demo"


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.timed
@pytest.mark.expensive(
    30,
    "starts an engine and a learner, alone and at the same time",
    about=(*RANKS, "trainer_core/planning", "worker/engine", "worker/plan"),
)
def test_a_plan_with_measured_rates(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    spec = document(
        rollout={
            "group_size": 4,
            "max_tokens": 16,
            "engine": {"max_model_len": 64, "max_num_seqs": 16, "kv_cache_gib": 0.05},
        },
        thinking={"type": "tags"},
        schedule={"prompts_per_step": 4, "steps": 10},
    )
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec))
    policy = ["--policy", str(DEMO / "starter-policy"), "--prompts", str(DEMO / "data" / "gsm8k-add-sub.jsonl")]
    arguments = [str(tmp_path / "spec.yaml"), "--gpus", "2", "--json", "--save-rates", str(tmp_path / "rates.yaml")]
    assert main([*arguments, *policy]) == 0
    (plan,) = json.loads(capsys.readouterr().out)
    rates = Rates.model_validate(yaml.safe_load((tmp_path / "rates.yaml").read_text()))
    assert plan["source"] == rates.source
    assert rates.source.endswith("engine and learner of starter-policy, alone and at the same time")
    loads = [point.running for point in rates.engine.decode]
    assert loads[0] >= 1 and loads[-1] <= 16
    assert rates.engine.decode[-1].tokens_per_s > rates.engine.decode[0].tokens_per_s / 4
    assert 0 < rates.sync.load_seconds < 5 and 0 < rates.sync.publish_seconds < 5
    assert all(1 <= rates.lengths.quantile(share) <= 16 for share in (0.01, 0.5, 0.99))
    assert plan["mean_tokens"] == pytest.approx(sum(rates.lengths.tokens) / len(rates.lengths.tokens), rel=0.1)
    # The step that is predicted is at least as long as each of its parts.
    current = plan["current"]
    parts = (current["generate_seconds"], current["learn_seconds"], current["load_seconds"])
    assert max(parts) <= current["step_seconds"] <= sum(parts) * 1.01
