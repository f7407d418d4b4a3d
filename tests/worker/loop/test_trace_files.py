"""Trace files: which groups stay, what a file holds, and that nothing of it holds up or ends a run."""

import io
import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.trainer_core.batches import group, trajectory
from trainer_core.episodes import Group, Trajectory
from trainer_core.link.traces import HEADER, TOKEN_COLUMNS, VOCABULARY, TraceHeader, TraceRow
from worker.loop.traces import encoding
from worker.loop.traces.choice import spread, staying, worst_gap
from worker.loop.traces.encoding import cut, encode

HEAD = TraceHeader(run_id="run_1", attempt=2, step=7, number=0, stays=True, groups=3)


def sample(reward: float | None, *, gap: float | None = None, length: int = 3, **more: Any) -> Trajectory:
    """A trajectory whose first token has this gap between learner and engine."""
    learner = None if gap is None else np.full(length, -1.0, np.float32)
    if learner is not None and gap is not None:
        learner[0] -= gap
    return trajectory(
        length=length,
        token_ids=np.arange(10, 10 + length, dtype=np.int32),
        behaviour_logprobs=np.full(length, -1.0, np.float32),
        learner_logprobs=learner,
        reward=reward,
        **more,
    )


def groups(*rewards: tuple[float, ...], gaps: dict[int, float] | None = None) -> list[Group]:
    return [
        group([sample(reward, gap=(gaps or {}).get(index, 0.0)) for reward in found], index=index)
        for index, found in enumerate(rewards)
    ]


def test_best_worst_and_widest_gap_stay() -> None:
    batch = groups((1, 1), (0, 0), (0, 1), (1, 2), (0, 0.5), (1, 1), (1, 1), gaps={5: 2.0})
    assert staying(batch, 3) == [3, 4, 5]
    assert staying(batch, 2) == [3, 4]
    assert staying(batch, 7) == staying(batch, 100) == list(range(7))


def test_dead_groups_have_their_share() -> None:
    live, dead = (0, 1), (1, 1)
    batch = groups(*[live, dead, dead, dead] * 10, gaps={0: 1.0})
    kept = staying(batch, 13)
    assert len(set(kept)) == 13
    # Ten places are spread: 8 or 9 of the 39 others are alive, so every fourth or fifth is.
    assert sum(place % 4 == 0 for place in kept) in (4, 5)
    # Where nothing is alive, dead ones are all there is.
    assert len(staying(groups(dead, dead, dead), 2)) == 2


def test_spread_is_even() -> None:
    assert spread([5, 6, 7, 8], 2) == [5, 7]
    assert spread([5, 6], 3) == [5, 6]
    assert spread([5, 6], 0) == []


def test_worst_gap_is_of_sampled_tokens() -> None:
    assert worst_gap(sample(1.0)) is None
    assert worst_gap(sample(1.0, gap=0.5)) == pytest.approx(0.5)
    forced = np.array([False, True, True])
    assert worst_gap(sample(1.0, gap=0.5, sampled=forced)) == 0.0
    assert worst_gap(sample(1.0, gap=float("nan"))) == float("inf")


def read(data: bytes) -> tuple[list[dict[str, Any]], dict[bytes, bytes]]:
    table = pq.read_table(io.BytesIO(data))
    return table.to_pylist(), table.schema.metadata


def test_a_file_holds_every_value_of_every_token() -> None:
    scored = sample(
        0.5,
        gap=0.25,
        sampled=np.array([True, False, True]),
        entropy=np.array([0.1, 0.0, 0.3], np.float32),
        token_advantages=np.array([1, 0, -1], np.float32),
        versions=np.array([5, 5, 6], np.int32),
        output_text="abc",
    )
    left_out = sample(None, length=1, excluded="reward_error", reward_error="a: broke", output_text="\ud800")
    empty = sample(0.0, length=0)
    made = group([scored, left_out, empty], index=4)
    made.prompt_text = "1+1="
    rows, metadata = read(encode(HEAD, [(made, 0), (made, 1), (made, 2)], "<{}>".format))
    assert TraceHeader.model_validate_json(metadata[HEADER]) == HEAD
    assert json.loads(metadata[VOCABULARY]) == {"10": "<10>", "11": "<11>", "12": "<12>"}
    first, second, third = rows
    assert {name: first[name] for name in TOKEN_COLUMNS} == {
        "token_ids": [10, 11, 12],
        "engine_logprobs": [-1.0, -1.0, -1.0],
        "learner_logprobs": [-1.25, -1.0, -1.0],
        "entropy": [pytest.approx(0.1), 0.0, pytest.approx(0.3)],
        "advantages": [1.0, 0.0, -1.0],
        "versions": [5, 5, 6],
        "sampled": [True, False, True],
        "loss_mask": [True, False, True],
    }
    assert (first["prompt"], first["completion"]) == ("1+1=", "abc")
    told = TraceRow.model_validate_json(first["row"])
    assert (told.group_id, told.sample, told.reward, told.worst_gap, told.right) == ("1-4", 0, 0.5, 0.25, True)
    assert told.policy_versions == (5, 6)
    assert second["learner_logprobs"] is None
    assert second["advantages"] is None
    assert second["loss_mask"] == [False]
    assert second["completion"] == "?"
    assert TraceRow.model_validate_json(second["row"]).reward_error == "a: broke"
    assert third["token_ids"] == []


def test_a_step_is_cut_into_files_between_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "TARGET_BYTES", 2 * (encoding.SAMPLE_BYTES + 3 * encoding.TOKEN_BYTES))
    batch = groups((0, 1, 1), (1, 0))
    pieces = list(cut(batch))
    assert [[(one.group_id, place) for one, place in piece] for piece in pieces] == [
        [("1-0", 0), ("1-0", 1)],
        [("1-0", 2), ("1-1", 0)],
        [("1-1", 1)],
    ]
    assert list(cut([])) == []
