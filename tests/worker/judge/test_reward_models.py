"""Reward models in the process: what they say is what a plain forward pass says."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForSequenceClassification

from tests.support.installation import wait_until
from tests.support.threads import threads_begun
from trainer_core.rewards import RewardDefinition, Sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.score import score
from trainer_core.update import device
from worker.errors import StartError
from worker.judge.reward_models import LocalRewardModels

STARTER = Path(__file__).resolve().parents[3] / "demo" / "starter-policy"


def make(folder: Path, *, labels: int = 1, template: bool = False) -> Qwen3ForSequenceClassification:
    """A random reward model with the starter policy's tokenizer."""
    torch.manual_seed(3)
    config = Qwen3Config(
        vocab_size=101, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=64, num_labels=labels, pad_token_id=0,
        initializer_range=0.3,
    )  # fmt: skip
    model = Qwen3ForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(STARTER / name, folder / name)
    if template:
        text = "{% for m in messages %}{{ m['role'][0] }}:{{ m['content'] }};{% endfor %}"
        (folder / "chat_template.jinja").write_text(text)
    return model


def talk(answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "48/2="}, {"role": "assistant", "content": answer}]


@torch.no_grad()
def expected(model: Qwen3ForSequenceClassification, folder: Path, text: str) -> float:
    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
    return float(model(torch.tensor([tokenizer(text)["input_ids"]])).logits[0, 0])


@pytest.mark.parametrize("template", [False, True])
def test_many_at_once_score_as_one_alone(tmp_path: Path, template: bool) -> None:
    model = make(tmp_path, template=template)
    models = LocalRewardModels({"critic": tmp_path})
    answers = [str(number) * (1 + number % 5) for number in range(40)]
    with ThreadPoolExecutor(20) as threads:
        scores = list(threads.map(lambda answer: models.score("critic", talk(answer)), answers))
    for answer, found in zip(answers, scores, strict=True):
        text = f"u:48/2=;a:{answer};" if template else f"48/2=\n\n{answer}"
        assert found == pytest.approx(expected(model, tmp_path, text), abs=1e-5)
    assert len({round(value, 4) for value in scores}) > 30


def test_a_gpu_that_ray_shows_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors stay where they are, and tell where they were asked to go."""
    model, asked = make(tmp_path), list[tuple[str, torch.device]]()
    with monkeypatch.context() as card:
        card.setattr(torch.cuda, "is_available", lambda: True)
        card.setattr(torch.cuda, "set_device", lambda device: asked.append(("claimed", device)))
        card.setattr(torch.nn.Module, "to", lambda self, device: asked.append(("model", device)))
        models = LocalRewardModels({"critic": tmp_path})
    monkeypatch.setattr(
        device,
        "move",
        lambda tensor, place: asked.append(("batch", place)) or tensor,  # type: ignore[func-returns-value]
    )
    found = models.score("critic", talk("24"))
    models.close()
    assert found == pytest.approx(expected(model, tmp_path, "48/2=\n\n24"), abs=1e-5)
    gpu = torch.device("cuda", 0)
    assert asked == [("claimed", gpu), ("model", gpu), ("batch", gpu), ("batch", gpu)]


def test_the_grader_asks_it(tmp_path: Path) -> None:
    model = make(tmp_path)
    tools = Tools(models=LocalRewardModels({"critic": tmp_path}))
    sample = Sample("<think>x</think>24", "x", "24", 5)

    def reward(**options: Any) -> float | None:
        grader = {"type": "reward_model", "policy": "critic", **options}
        definition = RewardDefinition.model_validate({"components": [{"name": "liked", "grader": grader}]})
        return score(definition, sample, {"prompt": "48/2="}, tools).reward

    logit = expected(model, tmp_path, "48/2=\n\n24")
    assert reward() == pytest.approx(logit, abs=1e-5)
    assert reward(scale="sigmoid") == pytest.approx(1 / (1 + 2.718281828459045**-logit), abs=1e-5)
    whole = expected(model, tmp_path, "48/2=\n\n<think>x</think>24")
    assert reward(text="output") == pytest.approx(whole, abs=1e-5)


def test_what_cannot_be_scored_is_an_error(tmp_path: Path) -> None:
    make(tmp_path)
    models = LocalRewardModels({"critic": tmp_path})
    with pytest.raises(GraderError, match="reads 64 tokens, the conversation has"):
        models.score("critic", talk("9" * 100))
    with pytest.raises(GraderError, match="no reward model 'other'"):
        models.score("other", talk("1"))


def test_folders_that_hold_no_reward_model_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "two", labels=2)
    with pytest.raises(StartError, match="has 2 outputs, but a reward is one number"):
        LocalRewardModels({"two": tmp_path / "two"})
    with pytest.raises(StartError, match="is not a reward model: its folder contains Qwen3ForCausalLM"):
        LocalRewardModels({"starter": STARTER})
    (tmp_path / "two" / "model.safetensors").unlink()
    with pytest.raises(StartError, match="no safetensors weights"):
        LocalRewardModels({"two": tmp_path / "two"})


def test_models_that_are_closed_let_go_of_their_threads(tmp_path: Path) -> None:
    make(tmp_path / "critic")
    with threads_begun() as left:
        models = LocalRewardModels({"critic": tmp_path / "critic"})
        model = models._models["critic"]
        # Loading has threads of its own, which end a moment after the weights are there.
        wait_until(lambda: left() == ["reward model critic"], 30)
        asked = [model.submit(talk(str(number))) for number in range(40)]
        models.close()
        assert all(isinstance(future.result(30), float) for future in asked), "what was asked before is answered"
        wait_until(lambda: not left(), 30)
        with pytest.raises(GraderError, match="there is no reward model 'critic'"):
            models.score("critic", talk("1"))
        with pytest.raises(StartError, match="The reward model gone has no safetensors weights"):
            LocalRewardModels({"critic": tmp_path / "critic", "gone": tmp_path / "gone"})
        wait_until(lambda: not left(), 30)
