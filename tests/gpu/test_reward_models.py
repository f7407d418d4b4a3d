"""Reward models on a device: what they say there is what a plain forward pass on the CPU says."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.gpu import travellers
from tests.support.about import TRAINING
from tests.worker.judge.test_reward_models import expected, make, talk

ANSWERS = [str(number) * (1 + number % 5) for number in range(12)]


def scored(folder: Path) -> tuple[str, list[float]]:
    """Kind of device of the model, and what it says about answers that come at the same time."""
    from worker.judge.reward_models import LocalRewardModels

    models = LocalRewardModels({"critic": folder})
    with ThreadPoolExecutor(len(ANSWERS)) as threads:
        scores = list(threads.map(lambda answer: models.score("critic", talk(answer)), ANSWERS))
    found = models._models["critic"]._model.device.type
    models.close()
    return found, scores


@pytest.mark.expensive(9, "runs on CPUs what is for a GPU", about=TRAINING)
@pytest.mark.parametrize("padded", [True, False], ids=["together", "one by one"])
def test_a_reward_model_scores_on_its_device(device: str, padded: bool, tmp_path: Path) -> None:
    model = make(tmp_path)
    if not padded:
        config = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps({**config, "pad_token_id": None}))
    with travellers.process(device) as worker:
        place, scores = worker.submit(scored, tmp_path).result()
    assert place == device
    plain = [expected(model, tmp_path, f"48/2=\n\n{answer}") for answer in ANSWERS]
    assert scores == pytest.approx(plain, abs=1e-4 if device == "cpu" else 1e-3)
