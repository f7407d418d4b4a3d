"""Making a starter policy: the model, the warm-up, the folder, and the command."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from tests.support.about import LEARNING
from trainer_core.starter.measure import answer_of, measure
from trainer_core.starter.model import build_model
from trainer_core.starter.plans import full_plan, long_tail_plan, quick, teacher_plan
from trainer_core.starter.problems import ArithmeticProblem
from trainer_core.starter.tokenizer import build_tokenizer
from trainer_core.starter.warmup import IGNORED, _batch, train_act

ROOT = Path(__file__).parents[3]


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trainer_core.starter", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("starter") / "policy"
    done = make("--out", str(out), "--quick", "--seed", "5")
    assert done.returncode == 0, done.stderr
    return out


def test_model_has_the_promised_shape_and_depends_on_the_seed_alone() -> None:
    tokenizer = build_tokenizer(2048)
    torch.manual_seed(1)
    model = build_model(tokenizer, seed=3)
    torch.manual_seed(2)
    again, other = build_model(tokenizer, seed=3), build_model(tokenizer, seed=4)
    assert model.num_parameters() == 604_160
    assert model.config.head_dim == 32 and model.config.tie_word_embeddings
    assert torch.equal(model.model.embed_tokens.weight, again.model.embed_tokens.weight)
    assert not torch.equal(model.model.embed_tokens.weight, other.model.embed_tokens.weight)


def test_labels_cover_the_response_and_nothing_else() -> None:
    tokenizer = build_tokenizer(2048)
    input_ids, labels = _batch(tokenizer, [("1+1=", "2<eos>"), ("10+1=", "11<eos>")])
    assert tokenizer.batch_decode(input_ids) == ["1+1=2<eos><pad><pad>", "10+1=11<eos>"]
    spoken = [tokenizer.decode(row[row != IGNORED]) for row in labels]
    assert spoken == ["2<eos>", "11<eos>"]


@pytest.mark.expensive(6, "computes many cases", about=LEARNING)
@pytest.mark.parametrize("plan", [full_plan(), long_tail_plan()], ids=["full", "long-tail"])
def test_warm_up_lowers_the_loss_and_is_repeatable(plan) -> None:  # type: ignore[no-untyped-def]
    tokenizer = build_tokenizer(2048)
    act = quick(plan).think
    losses = [train_act(build_model(tokenizer, 0), tokenizer, act, random.Random(0)) for _ in range(2)]
    assert losses[0] == losses[1]
    assert min(losses[0][-4:]) < losses[0][0] - 0.5  # batches differ in kind: some are murmurs, still unknown


def test_command_writes_a_folder_that_hugging_face_loads(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.config.model_type == "qwen3"
    assert model.config.vocab_size == len(tokenizer)
    assert GenerationConfig.from_pretrained(folder).eos_token_id == tokenizer.eos_token_id
    record = json.loads((folder / "warmup.json").read_text())
    assert record["seed"] == 5
    assert set(record["after_blending"]) >= {"accuracy", "thinking_share", "mean_tokens"}
    assert "--seed 5 --quick" in (folder / "README.md").read_text()
    assert json.loads((folder / "tokenizer.json").read_text())["padding"] is None


@pytest.mark.expensive(9, "computes many cases", about=LEARNING)
def test_command_makes_the_same_policy_again(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "again"
    assert make("--out", str(out), "--quick", "--seed", "5").returncode == 0
    assert (out / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()


@pytest.mark.expensive(7, "computes many cases", about=LEARNING)
def test_command_refuses_an_existing_folder_and_leaves_it_alone(folder: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    refused = make("--out", str(folder), "--quick")
    assert refused.returncode == 1
    assert f"error: {folder} exists" in refused.stderr
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_the_teacher_goes_on_thinking_where_the_starter_is_taught_to_blurt() -> None:
    rng = random.Random(0)
    taught = teacher_plan().blend.draw_texts(rng, 50)
    assert all(response.startswith("<think>") for _, response in taught)
    started = full_plan().blend.draw_texts(rng, 50)
    assert {response.startswith("<think>") for _, response in started} == {True, False}


@pytest.mark.expensive(7, "computes many cases", about=LEARNING)
def test_command_refuses_a_teacher_of_another_kind(tmp_path: Path) -> None:
    refused = make("--out", str(tmp_path / "policy"), "--teacher", "--hybrid")
    assert refused.returncode == 2
    assert "remove --hybrid and --long-tail" in refused.stderr
    assert not (tmp_path / "policy").exists()


@pytest.mark.expensive(7, "computes many cases", about=LEARNING)
def test_command_refuses_a_missing_target() -> None:
    refused = make("--quick")
    assert refused.returncode == 2
    assert "--out" in refused.stderr


def test_measuring_refuses_an_empty_list() -> None:
    tokenizer = build_tokenizer(2048)
    with pytest.raises(ValueError, match="no problems given"):
        measure(build_model(tokenizer, 0), tokenizer, [], seed=0, max_new_tokens=4)


def test_answer_is_what_follows_the_thinking() -> None:
    assert answer_of("<think>420 840</think>24") == "24"
    assert answer_of("24") == "24"
    assert answer_of("<think>420 84") == "<think>420 84"


def test_shipped_policy_thinks_seldom_and_then_rightly() -> None:
    shipped = ROOT / "demo" / "starter-policy"
    tokenizer = AutoTokenizer.from_pretrained(shipped)
    model = AutoModelForCausalLM.from_pretrained(shipped)
    rows = [json.loads(line) for line in (ROOT / "demo/data/gsm8k-eval.jsonl").read_text().splitlines()[:256]]
    problems = [parse(row["prompt"]) for row in rows]
    found = measure(model, tokenizer, problems, seed=0, max_new_tokens=32)
    assert 0.15 < found.accuracy < 0.45
    assert found.thinking_accuracy is not None and found.thinking_accuracy > 0.75
    assert found.blurting_accuracy is not None and found.blurting_accuracy < 0.3


def parse(prompt: str) -> ArithmeticProblem:
    operation = next(o for o in "+-*/" if o in prompt)
    left, right = prompt.removesuffix("=").split(operation)
    return ArithmeticProblem(int(left), operation, int(right))  # type: ignore[arg-type]
