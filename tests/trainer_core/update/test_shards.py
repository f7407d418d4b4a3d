"""ZeRO stage 3 from the first byte: no rank holds the whole policy, and two ranks learn what one does."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from tests.trainer_core.update.making import make_groups, make_spec
from tests.trainer_core.update.two_ranks import PARTS, SEQUENCES
from trainer_core.update.learner import Learner
from trainer_core.update.saving.integrity import CheckpointError, verify_manifest, write_manifest

HIDDEN, LAYERS, INNER, TOKENS = 512, 11, 2048, 8192


@pytest.fixture(scope="module")
def large_policy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A policy of 50 M parameters, in bfloat16, and its parameters' number."""
    config = LlamaConfig(
        vocab_size=TOKENS,
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=8,
        num_key_value_heads=8,
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        shapes = LlamaForCausalLM(config)
    model = shapes.to_empty(device="cpu").bfloat16()
    model.tie_weights()
    for parameter in model.parameters():
        torch.nn.init.constant_(parameter, 0.01)
    path = tmp_path_factory.mktemp("large")
    model.save_pretrained(path)
    return path, sum(one.numel() for one in model.parameters())


@pytest.fixture(scope="module")
def ranks(large_policy: tuple[Path, int], policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What both ranks tell."""
    out = tmp_path_factory.mktemp("ranks")
    # Freed blocks go back to the system at once: what is counted is what is held.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.trainer_core.update.two_ranks"]
    started = [
        subprocess.Popen(
            [*command, str(rank), str(large_policy[0]), str(policy_dir), str(out)],
            env=environment,
            stderr=(out / f"{rank}.log").open("w"),
            text=True,
        )
        for rank in (0, 1)
    ]
    try:
        # One that fails keeps the other waiting.
        while any(one.poll() is None for one in started) and not any(one.poll() for one in started):
            with suppress(subprocess.TimeoutExpired):
                started[0].wait(0.1)
        assert not any(one.poll() for one in started), [log.read_text()[-3000:] for log in out.glob("*.log")]
    finally:
        for one in started:
            one.kill()
            one.wait()
    return [
        {**torch.load(out / f"{rank}.pt"), "saved": out / "checkpoint", "weights": dict(np.load(out / f"{rank}.npz"))}
        for rank in (0, 1)
    ]


@pytest.fixture
def saved(ranks: list[Any]) -> Path:
    """Folder of the checkpoint that both ranks have written."""
    folder: Path = ranks[0]["saved"]
    return folder


def test_no_rank_holds_the_whole_policy_while_it_is_loaded(ranks: list[Any], large_policy: tuple[Path, int]) -> None:
    parameters = large_policy[1]
    assert parameters > 50e6
    for told in ranks:
        assert parameters // 2 <= told["held"] <= parameters // 2 + 1000
        assert told["kinds"] == ["torch.bfloat16"]
        largest = 4 * TOKENS * HIDDEN
        # Half of it, the weights that are read or gathered just then, and what else a process takes.
        assert told["loaded"] < 4 * parameters / 2 + 4 * largest
        # The measure tells: all of it is more, though a little of that had been taken before.
        assert told["whole"] > 0.9 * 4 * parameters > 4 * parameters / 2 + 4 * largest


def test_a_layer_is_all_that_is_gathered_to_publish(ranks: list[Any], policy_dir: Path) -> None:
    matrices = {name: one.size for name, one in ranks[0]["weights"].items() if one.ndim > 1}
    layer = sum(size for name, size in matrices.items() if ".layers.0." in name)
    most = max(layer, *(size for name, size in matrices.items() if ".layers." not in name))
    for told in ranks:
        assert max(told["counts"]) == most < sum(matrices.values())
        assert told["counts"][-1] == 0


def test_two_ranks_that_load_shards_learn_what_one_does(ranks: list[Any], policy_dir: Path) -> None:
    spec = make_spec(**PARTS)
    alone = Learner(policy_dir, spec)
    for told in ranks:
        for ours, expected in zip(told["scores"], alone.score(SEQUENCES), strict=True):
            assert ours == pytest.approx(expected, abs=1e-5)
    expected = [alone.update(make_groups(step, groups=9), spec, step) for step in (1, 2)]
    for told in ranks:
        for ours, theirs in zip(told["metrics"], expected, strict=True):
            assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    for name, weight in alone.weights().items():
        np.testing.assert_allclose(ranks[0]["weights"][name], weight, atol=1e-6)
    assert ranks[1]["weights"] == {}


def test_shards_of_uneven_size_are_resumed(ranks: list[Any]) -> None:
    assert [told["resumed"]["same"] for told in ranks] == [True, True]


def test_a_layer_is_all_that_is_gathered_to_save(ranks: list[Any]) -> None:
    for told in ranks:
        assert told["resumed"]["most"] == max(told["counts"])


def test_one_rank_that_cannot_write_fails_all_and_the_checkpoint_before_stays(ranks: list[Any], saved: Path) -> None:
    said = {told["resumed"]["refused"] for told in ranks}
    [words] = said
    assert words.startswith("[Errno 28] No space left on device: ") and "optimizer-00002-of-00002" in words
    assert sorted(path.name for path in saved.parent.iterdir() if "checkpoint" in path.name) == ["checkpoint"]


def test_a_rank_that_writes_elsewhere_makes_no_checkpoint(ranks: list[Any], saved: Path) -> None:
    part = "training/optimizer-00002-of-00002.safetensors"
    assert [told["resumed"]["apart"] for told in ranks] == [
        f"{saved.with_name('.checkpoint.partial') / part}: is missing: is the folder the same on every learner's node?",
        "nothing",
    ]


def test_each_rank_writes_its_part_and_any_loader_reads_the_weights(ranks: list[Any], saved: Path) -> None:
    names = {path.relative_to(saved).as_posix() for path in saved.rglob("*.safetensors")}
    layers = [f"model-{number:05}-of-00006.safetensors" for number in range(1, 7)]
    parts = [f"training/optimizer-{number:05}-of-00002.safetensors" for number in (1, 2)]
    assert names == {*layers, *parts, "training/random.safetensors", "training/value_head.safetensors"}
    assert len(verify_manifest(saved)) == 64
    state = ranks[0]["resumed"]["state"]
    loaded = dict(AutoModelForCausalLM.from_pretrained(saved).named_parameters())
    assert loaded.keys() == {name for name in state if not name.startswith(("value_head", "exp_avg"))}
    for name, parameter in loaded.items():
        assert torch.equal(parameter.detach(), state[name]), name
    one, other = (load_file(saved / part) for part in parts)
    assert one.keys() == other.keys() == {name for name in state if name.startswith("exp_avg")}
    for name in one:
        assert torch.equal(torch.cat([one[name], other[name]]), state[name].flatten()), name


def test_an_adapter_in_shards_is_merged_layer_by_layer_and_resumed(ranks: list[Any], policy_dir: Path) -> None:
    assert [told["adapter"]["same"] for told in ranks] == [True, True]
    folder = ranks[0]["saved"].with_name("adapted")
    verify_manifest(folder)
    loaded = dict(AutoModelForCausalLM.from_pretrained(folder).named_parameters())
    merged = ranks[0]["adapter"]["merged"]
    assert loaded.keys() == merged.keys()
    for name, parameter in loaded.items():
        assert torch.equal(parameter.detach(), merged[name]), name
    alone = Learner(policy_dir, make_spec(policy={"base": "tiny", "adapter": {"type": "lora", "rank": 4}}))
    alone.load(folder)
    for name, weight in alone.weights().items():
        np.testing.assert_allclose(weight, merged[name].numpy(), atol=1e-6)


def test_another_number_of_ranks_reads_it(ranks: list[Any], saved: Path, policy_dir: Path) -> None:
    alone = Learner(policy_dir, make_spec(advantage={"type": "gae"}, critic={"type": "head"}))
    assert alone.load(saved) == {"kept": 1}
    found = alone._engine.weights() | alone._engine.moments()
    state = ranks[0]["resumed"]["state"]
    assert found.keys() == state.keys()
    for name, expected in state.items():
        assert torch.equal(found[name], expected), name
    assert (alone.version, alone._engine.optimizer_steps) == (0, 1), "one step, which no sample had an advantage in"


def test_a_part_that_is_missing_or_of_another_size_is_refused(
    saved: Path, ranks: list[Any], policy_dir: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(saved, broken)
    part = broken / "training" / "optimizer-00002-of-00002.safetensors"
    alone = Learner(policy_dir, make_spec(advantage={"type": "gae"}, critic={"type": "head"}))
    before = alone.weights()
    part.unlink()
    with pytest.raises(CheckpointError, match=r"optimizer-00002-of-00002\.safetensors: is missing"):
        alone.load(broken)
    write_manifest(broken)  # as if it had been written so
    with pytest.raises(CheckpointError, match=r"training: exp_avg\.\S+ is \(\d+,\), the policy has \("):
        alone.load(broken)
    for name, weight in alone.weights().items():
        np.testing.assert_array_equal(weight, before[name])
