"""Rows of a run without samples: each is drawn once per epoch, settled once, and drawn alike after any interruption."""

import json
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from trainer_core.episodes import Trajectory
from trainer_core.spec import RunSpec
from trainer_core.steering.prompt_ledger import LedgerError
from worker.loop.examples.source import LEFT_OUT, DrawnRows, ExampleRows, ExampleSource


def spec(*, prompts: int = 4, weights: tuple[float, float] = (1.0, 1.0), **data: Any) -> RunSpec:
    sources = [
        {"name": name, "dataset": f"{name}@1", "weight": weight}
        for name, weight in zip(("a", "b"), weights, strict=True)
    ]
    return RunSpec.model_validate(
        {
            "policy": {"base": "starter"},
            "objective": {"type": "sft"},
            "data": {"sources": sources, **data},
            "schedule": {"steps": 100, "prompts_per_step": prompts, "seed": 3},
        }
    )


def example(name: str, tokens: int = 2) -> Trajectory:
    zeros = np.zeros(tokens, np.int32)
    return Trajectory(
        trajectory_id=name,
        prompt_ids=np.ones(3, np.int32),
        token_ids=zeros,
        behaviour_logprobs=zeros.astype(np.float32),
        versions=zeros,
        sampled=np.ones(tokens, np.bool_),
        finish_reason="stop",
        temperature=1.0,
    )


def data(**rows: int) -> dict[str, ExampleRows]:
    return {
        name: ExampleRows(
            f"{name}@1", [{"prompt": str(row)} for row in range(count)], [(example(str(row)),) for row in range(count)]
        )
        for name, count in rows.items()
    }


def drawn(batch: DrawnRows) -> list[str]:
    return [group.prompt_id for group in batch.groups]


def test_an_epoch_draws_each_row_once_and_settles_it() -> None:
    source = ExampleSource(spec(weights=(1.0, 0.0)), data(a=12, b=5), None)
    seen: list[str] = []
    for step in (1, 2, 3):
        batch = source.draw(step, spec(weights=(1.0, 0.0)), revision=7, applications=2)
        assert (batch.step, batch.revision, batch.applications, len(batch.groups)) == (step, 7, 2, 4)
        assert [group.group_id for group in batch.groups] == [f"{step}-{place}" for place in range(4)]
        assert batch.tokens == 4 * 5
        seen += drawn(batch)
        source.settle()
    assert sorted(seen) == sorted(f"a:{row}" for row in range(12))
    found = source.ledger(last=False)
    assert (found["handed_out"], found["trained"], found["pending"], found["dropped"]) == (12, 12, 0, {})
    assert source.metrics(batch) == {"examples/epoch": 12 / 17, "train/mix/a": 1.0, "train/mix/b": 0.0}


def test_rows_that_teach_nothing_are_dropped_and_replaced() -> None:
    rows = data(a=6, b=1)
    rows["a"].examples[2] = rows["a"].examples[5] = ()
    assert rows["a"].usable == 4
    chosen = spec(weights=(1.0, 0.0))
    source = ExampleSource(chosen, rows, None)
    counted: Counter[str] = Counter()
    for step in range(1, 4):
        counted.update(drawn(source.draw(step, chosen, 0, 0)))
        source.settle()
    assert sum(counted.values()) == 12 and not {"a:2", "a:5"} & set(counted)
    found = source.ledger(last=True)
    assert found["handed_out"] == found["trained"] + found["dropped"][LEFT_OUT]
    assert found["trained"] == 12 and found["pending"] == 0


def test_pairs_and_windows_keep_their_order_and_get_names_of_their_own() -> None:
    rows = data(a=1, b=1)
    rows["a"].examples[0] = (example("0-chosen", 2), example("0-rejected", 4))
    chosen = spec(prompts=2, weights=(1.0, 0.0))
    batch = ExampleSource(chosen, rows, None).draw(1, chosen, 0, 0)
    names = [[t.trajectory_id for t in group.trajectories] for group in batch.groups]
    assert names == [["1-0/0-chosen", "1-0/0-rejected"], ["1-1/0-chosen", "1-1/0-rejected"]]
    assert rows["a"].examples[0][0].trajectory_id == "0-chosen", "the stored row is not renamed"
    assert batch.tokens == 2 * (5 + 7)


@pytest.mark.parametrize("seed", range(20))
def test_a_run_killed_at_any_step_draws_what_one_never_killed_draws(seed: int) -> None:
    rows = data(a=11, b=7)
    rows["b"].examples[3] = ()
    chance = Random(seed)
    plan = spec(prompts=chance.choice((1, 3, 5)), weights=(1.0, chance.choice((0.0, 0.3, 2.0))))
    whole = ExampleSource(plan, rows, None)
    wanted: list[list[str]] = []
    for step in range(1, 13):
        wanted.append(drawn(whole.draw(step, plan, 0, 0)))
        whole.settle()
    found: dict[int, list[str]] = {}
    saved: dict[int, str] = {}
    at = 0
    while at < 12:
        source = ExampleSource(plan, rows, json.loads(saved[at]) if at else None)
        for step in range(at + 1, min(12, at + chance.randint(1, 5)) + 1):
            found[step] = drawn(source.draw(step, plan, 0, 0))
            if chance.random() < 0.3:
                break  # killed while it learns: the batch is drawn again
            source.settle()
            if chance.random() < 0.7:
                saved[step] = json.dumps(source.snapshot())
        at = max(saved, default=0)
        if 12 in found and not saved.get(12):
            saved[12], at = "", 12
    assert [found[step] for step in range(1, 13)] == wanted


def test_a_control_moves_the_mixture_from_the_next_draw_on() -> None:
    before, after = spec(weights=(1.0, 0.0)), spec(weights=(0.0, 1.0))
    source = ExampleSource(before, data(a=8, b=8), None)
    assert {name[0] for name in drawn(source.draw(1, before, 0, 0))} == {"a"}
    source.settle()
    source.update_spec(after)
    assert {name[0] for name in drawn(source.draw(2, after, 1, 1))} == {"b"}


def test_a_checkpoint_whose_ledger_does_not_add_up_is_refused() -> None:
    chosen = spec()
    source = ExampleSource(chosen, data(a=8, b=8), None)
    source.draw(1, chosen, 0, 0)
    pending = json.loads(json.dumps(source.snapshot()))
    with pytest.raises(LedgerError, match="4 of them pending"):
        ExampleSource(chosen, data(a=8, b=8), pending)
    source.settle()
    state = json.loads(json.dumps(source.snapshot()))
    state["curriculum"]["drawn"] += 1
    with pytest.raises(LedgerError, match="its curriculum has drawn 5"):
        ExampleSource(chosen, data(a=8, b=8), state)
    with pytest.raises(ValueError, match="other data"):
        ExampleSource(chosen, data(a=9, b=8), json.loads(json.dumps(source.snapshot())))
