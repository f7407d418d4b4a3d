"""The keeper of traces: sends every step, waits for a platform that is away, and never holds the run up."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from tests.support.trace_files import trace_group
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.link.events import LogData
from trainer_core.spec import RunSpec
from trainer_core.spec.operation.traces import Traces
from worker.link import traces as upload_module
from worker.link.traces import TraceUpload
from worker.loop.traces import keeper as keeper_module
from worker.loop.traces.keeper import TraceKeeper, chosen


class Kept:
    """A keeper with a platform, and what it has told the log."""

    def __init__(self, platform: PlatformDouble) -> None:
        self.platform = platform
        self.told: list[tuple[int, str]] = []
        self.keeper = TraceKeeper(
            "run_1",
            1,
            TraceUpload(platform.url, platform.token, "run_1"),
            cast(Any, Words()),
            self._tell,
        )

    def step(self, number: int, spec: RunSpec, groups: int = 2) -> None:
        self.keeper.keep(number, [trace_group(index, (0, 1), step=number) for index in range(groups)], spec)

    def drain(self) -> None:
        self.keeper.drain(lambda: None)

    def _tell(self, line: LogData, step: int) -> None:
        self.told.append((step, line.message))


class Words:
    """A tokenizer as far as the keeper needs one."""

    token_text = "<{}>".format

    def prompt_text(self, item: Any, form: Any) -> str:
        return str(item["prompt"])


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_module, "BACKOFF_S", (0.01, 0.02))


@pytest.fixture
def kept(platform: PlatformDouble) -> Iterator[Kept]:
    made = Kept(platform)
    yield made
    made.keeper.close()


@pytest.fixture
def made_spec(spec: Callable[..., Any]) -> RunSpec:
    return RunSpec.model_validate(spec())


def with_rule(spec: RunSpec, **rule: int) -> RunSpec:
    return spec.model_copy(update={"traces": Traces(**rule)})


def test_what_stays_and_the_others_are_files_of_their_own(kept: Kept, made_spec: RunSpec) -> None:
    kept.step(1, with_rule(made_spec, groups_per_step=1))
    kept.step(2, with_rule(made_spec, groups_per_step=8))
    kept.drain()
    assert sorted(kept.platform.traces) == [(1, 0), (1, 1), (2, 0)]
    assert kept.told == []


def test_a_platform_that_is_away_gets_them_later(kept: Kept, made_spec: RunSpec) -> None:
    kept.platform.trace_status = [503, 500, 502]
    kept.step(1, made_spec)
    kept.drain()
    assert (sorted(kept.platform.traces), kept.platform.refused, kept.told) == ([(1, 0)], 3, [])


def test_what_is_refused_is_told_once_and_the_next_is_sent(kept: Kept, made_spec: RunSpec) -> None:
    kept.platform.trace_status = [422, 413]
    kept.step(1, made_spec)
    kept.step(2, made_spec)
    kept.step(3, made_spec)
    kept.drain()
    assert sorted(kept.platform.traces) == [(3, 0)]
    assert kept.told == [(1, "Tokens of rollouts of step 1 are not stored: the platform refuses them (422: no).")]


def test_an_older_platform_is_asked_once(kept: Kept, made_spec: RunSpec) -> None:
    kept.platform.trace_status = [404]
    kept.step(1, made_spec)
    kept.drain()
    kept.step(2, made_spec)
    kept.drain()
    assert (kept.platform.traces, kept.platform.refused) == ({}, 1)
    assert [step for step, _ in kept.told] == [1]


def test_a_fenced_attempt_sends_no_more(kept: Kept, made_spec: RunSpec) -> None:
    kept.platform.trace_status = [409]
    kept.step(1, made_spec)
    kept.drain()
    kept.step(2, made_spec)
    kept.drain()
    assert (kept.platform.traces, kept.platform.refused, kept.told) == ({}, 1, [])


def test_a_run_waits_neither_for_the_platform_nor_for_ever(
    kept: Kept, made_spec: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "DRAIN_S", 0.05)
    kept.platform.status = 503
    for step in range(1, keeper_module.STEPS_WAITING + 4):
        kept.step(step, made_spec)  # returns although nothing is sent
    kept.drain()
    assert len(kept.told) == 1
    closed = threading.Thread(target=kept.keeper.close)
    closed.start()
    closed.join(timeout=30.0)
    assert not closed.is_alive()
    assert kept.platform.traces == {}


def test_a_wait_ends_with_the_run(kept: Kept, made_spec: RunSpec) -> None:
    kept.platform.status = 503

    def interrupt() -> None:
        raise KeyboardInterrupt

    kept.step(1, made_spec)
    with pytest.raises(KeyboardInterrupt):
        kept.keeper.drain(interrupt)


def test_what_cannot_be_written_is_told(kept: Kept, made_spec: RunSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> bytes:
        raise MemoryError("no room")

    monkeypatch.setattr(keeper_module, "encode", fail)
    kept.step(1, made_spec)
    kept.drain()
    assert kept.told == [(1, "Tokens of rollouts of step 1 are not stored: MemoryError: no room.")]


def test_nothing_is_sent_where_nothing_is_wanted(kept: Kept, made_spec: RunSpec) -> None:
    kept.step(1, with_rule(made_spec, max_mib=0))
    kept.drain()
    assert kept.platform.traces == {}


def test_a_step_takes_no_more_than_its_share(made_spec: RunSpec) -> None:
    groups = [trace_group(index, (0, 1), output_text="x" * 3 * 2**20) for index in range(10)]  # 2 MiB each
    stays, others = chosen(groups, with_rule(made_spec, groups_per_step=2, max_mib=64))
    assert (len(stays), len(others)) == (2, 3)
    assert set(stays).isdisjoint(others)
    assert chosen(groups, with_rule(made_spec, groups_per_step=2, full_steps=0))[1] == []
