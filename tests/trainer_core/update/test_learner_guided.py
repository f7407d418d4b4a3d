"""Distillation from a teacher and the supervised term: values and gradients against float64 transcriptions."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, Qwen3ForCausalLM

from tests.trainer_core.update.making import VOCABULARY, make_groups, make_spec
from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner


@pytest.fixture(scope="module")
def folders(policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base policy with a tokenizer, and a teacher of other weights beside it."""
    folder = tmp_path_factory.mktemp("policies")
    base = Path(shutil.copytree(policy_dir, folder / "base"))
    words = {f"w{index}": index for index in range(VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(base / "tokenizer.json"))
    config = json.loads((base / "config.json").read_text()) | {"eos_token_id": 63}
    (base / "config.json").write_text(json.dumps(config))
    (base / "generation_config.json").unlink(missing_ok=True)
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_pretrained(policy_dir)
    for parameter in model.parameters():
        parameter.data += 0.02 * torch.randn_like(parameter)
    model.save_pretrained(folder / "teacher")
    return folder


def reference_gradient(base: Path, value: Any) -> tuple[float, dict[str, torch.Tensor]]:
    """Value and gradient of a function of a Hugging Face policy in float64."""
    model = Qwen3ForCausalLM.from_pretrained(base, dtype=torch.float64, attn_implementation="eager")
    loss = value(model)
    loss.backward()
    return loss.item(), {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def gradient_of_step(folder: Path, spec: RunSpec, groups: list[Group]) -> tuple[dict[str, float], dict[str, Any]]:
    learner = Learner(folder, spec, teacher=folder.parent / "teacher")
    captured: dict[str, Any] = {}
    step = learner._engine.step

    def spy(*arguments: Any, **options: Any) -> Any:
        for name, parameter in learner._parts.model.named_parameters():
            captured[name] = parameter.grad.clone()
        return step(*arguments, **options)

    learner._engine.step = spy  # type: ignore[method-assign]
    return learner.update(groups, spec, 1), captured


def log_softmax(model: Any, trajectory: Trajectory) -> torch.Tensor:
    ids = torch.tensor([*trajectory.prompt_ids.tolist(), *trajectory.token_ids.tolist()])
    logits = model(ids.unsqueeze(0)).logits[0, len(trajectory.prompt_ids) - 1 : -1]
    return torch.log_softmax(logits / trajectory.temperature, dim=-1)


def small_groups() -> list[Group]:
    groups = make_groups(3, groups=2, samples=3, longest=9)
    for trajectory in groups[1].trajectories:
        trajectory.temperature = 0.7
    return groups


@pytest.mark.parametrize("distribution", ["sampled", "full", "sparse"])
def test_distillation_is_its_formula_in_value_and_gradient(folders: Path, distribution: str) -> None:
    spec = make_spec(
        distillation={"teacher": "teacher", "distribution": distribution, "k": 5, "coefficient": 0.5, "alone": True},
        filters=[],
    )
    metrics, found = gradient_of_step(folders / "base", spec, small_groups())
    teacher = Qwen3ForCausalLM.from_pretrained(folders / "teacher", dtype=torch.float64)

    def written_out(model: Any) -> torch.Tensor:
        values = []
        for trajectory in (t for group in small_groups() for t in group.trajectories):
            mine, theirs = log_softmax(model, trajectory), log_softmax(teacher, trajectory).detach()
            for t in np.flatnonzero(trajectory.sampled):
                p, q = mine[t], theirs[t]
                if distribution == "sampled":
                    token = trajectory.token_ids[t]
                    values.append((p[token] - q[token]) ** 2 / 2)
                elif distribution == "full":
                    values.append((p.exp() * (p - q)).sum())
                else:
                    kept = q.topk(5).indices
                    p, q = (torch.cat([x[kept], (1 - x[kept].exp().sum()).log().view(1)]) for x in (p, q))
                    values.append((p.exp() * (p - q)).sum())
        return 0.5 * torch.stack(values).mean()

    value, gradient = reference_gradient(folders / "base", written_out)
    assert metrics["actor/distill_loss"] == pytest.approx(value / 0.5, rel=1e-4)
    assert metrics["actor/loss"] == pytest.approx(value, rel=1e-4)
    for name, slope in gradient.items():
        torch.testing.assert_close(found[name].double(), slope, rtol=2e-3, atol=1e-6)


def test_a_policy_that_follows_its_teacher_comes_nearer(folders: Path) -> None:
    spec = make_spec(
        distillation={"teacher": "teacher", "distribution": "full", "coefficient": 1.0, "alone": True}, filters=[]
    )
    learner = Learner(folders / "base", spec, teacher=folders / "teacher")
    losses = [learner.update(make_groups(1), spec, step)["actor/distill_loss"] for step in range(1, 5)]
    assert losses[-1] < 0.8 * losses[0]


def test_teachers_that_cannot_teach_are_refused(folders: Path) -> None:
    asked = make_spec(distillation={"teacher": "nobody"})
    with pytest.raises(ValueError, match="the teacher 'nobody' cannot be loaded: its folder was not given"):
        Learner(folders / "base", asked)
    with pytest.raises(ValueError, match=f"the teacher 'nobody' cannot be loaded: there is no folder {folders}/nobody"):
        Learner(folders / "base", asked, teacher=folders / "nobody")
    with pytest.raises(ValidationError, match="remove zero_advantage"):
        make_spec(distillation={"teacher": "teacher", "alone": True})
    config = Qwen3ForCausalLM.from_pretrained(folders / "base").config
    config.vocab_size = 32
    Qwen3ForCausalLM(config).save_pretrained(folders / "small")
    with pytest.raises(ValueError, match="'small' has 32 tokens, the policy 64"):
        Learner(folders / "base", make_spec(distillation={"teacher": "small"}), teacher=folders / "small")


@pytest.mark.parametrize("kind", ["demonstrations", "positives"])
def test_the_supervised_term_is_its_formula_in_gradient(folders: Path, kind: str) -> None:
    sft = {"type": kind, "coefficient": 0.3, **({"column": "worked"} if kind == "demonstrations" else {})}
    data = {"sources": [{"name": "a", "dataset": "a@1"}], "sft": sft}

    def groups() -> list[Group]:
        made = small_groups()
        made[0].item["worked"] = "w5 w9 w5"
        for group in made:
            group.trajectories[1].verdict = Verdict(1.0)
            for trajectory in group.trajectories:
                trajectory.earn(0.0)
        return made

    metrics, found = gradient_of_step(folders / "base", make_spec(data=data), groups())

    def written_out(model: Any) -> torch.Tensor:
        values: list[torch.Tensor] = []
        for group in groups():
            chosen = [group.trajectories[1]]
            if kind == "demonstrations":
                first = group.trajectories[0]
                first.token_ids, first.sampled = np.array([5, 9, 5, 63]), np.ones(4, dtype=bool)
                first.temperature = 1.0
                chosen = [first] if "worked" in group.item else []
            for trajectory in chosen:
                logprobs = log_softmax(model, trajectory)
                values += [-logprobs[t, trajectory.token_ids[t]] for t in np.flatnonzero(trajectory.sampled)]
        return 0.3 * torch.stack(values).mean()

    value, gradient = reference_gradient(folders / "base", written_out)
    assert metrics["actor/sft_loss"] == pytest.approx(value / 0.3, rel=1e-5)
    for name, slope in gradient.items():
        torch.testing.assert_close(found[name].double(), slope, rtol=2e-3, atol=1e-6)


def test_a_streamed_step_imitates_as_the_whole(folders: Path) -> None:
    data = {"sources": [{"name": "a", "dataset": "a@1"}], "sft": {"type": "positives", "success": 0.0}}
    spec = make_spec(data=data, optimizer={"learning_rate": 1e-3, "epsilon": 1e-3})
    one, other = Learner(folders / "base", spec), Learner(folders / "base", spec)
    metrics = one.update(make_groups(1), spec, 1)
    other.begin(spec, 1)
    for group in make_groups(1):
        other.accumulate([group])
    assert other.finish() == pytest.approx(metrics, rel=1e-4, abs=1e-6)
    for name, weight in one.weights().items():
        np.testing.assert_allclose(other.weights()[name], weight, atol=1e-6)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", ["demonstrations", "positives"])
def test_what_is_shown_teaches_a_step_without_signal(folders: Path, kind: str, streamed: bool) -> None:
    sft = {"type": kind, "coefficient": 0.3, **({"column": "worked"} if kind == "demonstrations" else {})}
    spec = make_spec(data={"sources": [{"name": "a", "dataset": "a@1"}], "sft": sft})
    groups = small_groups()
    groups[0].item["worked"] = "w5 w9 w5"
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict, trajectory.credit = Verdict(1.0), Credit(excluded="zero_advantage")
    learner = Learner(folders / "base", spec)
    before = learner.weights()
    if streamed:
        learner.begin(spec, 1)
        learner.accumulate(groups[:1])
        learner.accumulate(groups[1:])
        metrics = learner.finish()
    else:
        metrics = learner.update(groups, spec, 1)
    assert metrics["actor/sft_loss"] > 0 and metrics["actor/grad_norm"] > 0
    assert "actor/pg_loss" not in metrics
    assert max(float(np.abs(before[name] - after).max()) for name, after in learner.weights().items()) > 0


def test_answers_left_out_for_a_fault_are_no_examples(folders: Path) -> None:
    data = {"sources": [{"name": "a", "dataset": "a@1"}], "sft": {"type": "positives"}}
    spec = make_spec(data=data)
    groups = small_groups()
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict, trajectory.credit = Verdict(1.0), Credit(excluded="truncated")
    metrics = Learner(folders / "base", spec).update(groups, spec, 1)
    assert set(metrics) == {"actor/lr"}
