"""Runs that are measured are kept: each once, by what it is made of, also where several processes measure."""

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.bench.kept import Kept, key_of


def add(file: Path, number: int) -> None:
    Kept(file).put(key_of("grpo", number, {"steps": 40}), {"held_out": {0: 0.123456789, 10: number}, "name": "x"})


@pytest.mark.expensive(2, "starts processes")
def test_what_several_processes_measure_at_once_is_all_there(tmp_path: Path) -> None:
    file = tmp_path / "measurements" / "skills.jsonl"
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:
        list(pool.map(add, [file] * 12, range(12)))
    for number in range(12):
        found = Kept(file).get(key_of("grpo", number, {"steps": 40}))
        assert found == {"held_out": {"0": 0.12346, "10": number}, "name": "x"}
    keys = [json.loads(line)["key"] for line in file.read_text().splitlines()]
    assert keys == sorted(keys) and len(keys) == 12
    assert [path.name for path in file.parent.iterdir()] == ["skills.jsonl"]


def test_what_was_measured_of_something_else_is_not_found(tmp_path: Path) -> None:
    kept, key = Kept(tmp_path / "broken.jsonl"), key_of("grpo", 0, {"steps": 40})
    assert kept.get(key) is None
    kept.put(key, {"rewards": [0.5]})
    others = [key_of("grpo", 1, {"steps": 40}), key_of("rloo", 0, {"steps": 40}), key_of("grpo", 0, {"steps": 41})]
    assert [kept.get(other) for other in others] == [None] * 3
    kept.put(key, {"rewards": [0.75]})
    assert kept.get(key) == {"rewards": [0.75]}
    assert len((tmp_path / "broken.jsonl").read_text().splitlines()) == 1
