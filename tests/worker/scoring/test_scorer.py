"""Many samples at a time, each within its own time."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.about import TRAINING
from tests.support.installation import wait_until
from tests.support.judge_endpoint import JudgeServer
from tests.support.odd_graders import KeyErrorGrader, OddGrader, SlowToLoadGrader, replace
from tests.support.threads import threads_begun
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards import RewardDefinition, Sample
from trainer_core.rewards.graders.jail import JailError
from trainer_core.rewards.graders.text.exact import ExactGrader
from worker.judge.clock import TimedOut
from worker.judge.open import JudgeSetup
from worker.sandbox.slot import Slot
from worker.scoring.equipped import EquippedScorer, ToolSetup
from worker.scoring.scorer import Graded, Job, Scorer, waits

JUDGED = {"type": "score_model", "input": [{"role": "user", "content": "{{sample.output_text}}"}]}
ANSWER = '{"reason": "", "result": 0.5}'


def definition(*graders: dict[str, Any], **options: Any) -> RewardDefinition:
    parts = [{"name": f"part{n}", "grader": grader, **options} for n, grader in enumerate(graders)]
    return RewardDefinition.model_validate({"components": parts})


def job(reward: RewardDefinition, text: str, **item: Any) -> Job:
    return Job(reward, Sample(text, None, text, len(text)), item)


class HandClock:
    """The clock of the samples: it stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    made = HandClock()
    monkeypatch.setattr("worker.judge.clock.time", made)
    return made


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    made = JudgeServer(ANSWER)
    yield made
    made.close()


@pytest.fixture
def bench(server: JudgeServer) -> Iterator[Callable[..., EquippedScorer]]:
    made = []

    def make(*definitions: RewardDefinition, timeout_s: float = 10.0, **settings: Any) -> EquippedScorer:
        config = JudgeEndpoint.model_validate({"base_url": server.url, "model": "m", **settings})
        made.append(EquippedScorer(definitions, ToolSetup(JudgeSetup({"default": config}, {})), timeout_s))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_judged_samples_are_asked_about_at_the_same_time(
    server: JudgeServer, bench: Callable[..., EquippedScorer]
) -> None:
    server.together = 64
    judged = definition(JUDGED)
    graded = bench(judged, max_in_flight=64).scorer.score([job(judged, str(n)) for n in range(64)])
    assert [one.score.reward for one in graded] == [0.5] * 64
    assert server.most_in_flight == 64


def test_pure_and_judged_samples_keep_their_order(bench: Callable[..., EquippedScorer]) -> None:
    judged, pure = definition(JUDGED), definition({"type": "exact"})
    jobs = [job(pure, "1", answer="1"), job(judged, "a"), job(pure, "2", answer="1"), job(judged, "b")]
    assert [one.score.reward for one in bench(judged, pure).scorer.score(jobs)] == [1.0, 0.5, 0.0, 0.5]


def test_one_hanging_question_times_out_alone(
    server: JudgeServer, bench: Callable[..., EquippedScorer], clock: HandClock
) -> None:
    server.hang = lambda body: body["messages"][-1]["content"] == "hang"
    judged = definition(JUDGED, on_error="zero")
    opened = bench(judged, timeout_s=2.0)
    with threads_begun() as left, ThreadPoolExecutor(1) as threads:
        scoring = threads.submit(opened.scorer.score, [job(judged, text) for text in ("a", "hang", "b")])
        wait_until(lambda: len(server.requests) == 3 and left().count("sample") == 1, 60)
        clock.now = 2.0
        graded = scoring.result()
    assert [one.score.reward for one in graded] == [0.5, None, 0.5]
    assert graded[1].score.error == "the reward took longer than 2 s"  # of the sample, whatever its parts forgive


def test_waiting_for_ones_turn_costs_no_time(
    server: JudgeServer, bench: Callable[..., EquippedScorer], clock: HandClock
) -> None:
    """Each of eight questions takes a second, of the three that a sample has."""
    judged = definition(JUDGED)
    opened = bench(judged, max_in_flight=1)
    scorer = Scorer(opened.scorer.tools, 3.0, width=8)
    unanswered = opened.scorer.tools.judges._asked  # type: ignore[union-attr]

    def answer(body: object) -> str:
        """While no sample computes: that would be its own time."""
        waiting = 8 - int(clock.now)
        wait_until(lambda: len(unanswered) == left().count("sample") == waiting, 60)
        clock.now += 1.0
        return ANSWER

    server.say = answer
    with threads_begun() as left:
        graded = scorer.score([job(judged, text) for text in "abcdefgh"])
    scorer.close()
    assert [one.score.error for one in graded] == [None] * 8
    assert clock.now == 8.0


@pytest.mark.expensive(3, "two graders use a second each", about=TRAINING)
@pytest.mark.usefixtures("clock")
def test_a_grader_that_never_ends_is_ended(
    bench: Callable[..., EquippedScorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(monkeypatch, ExactGrader, OddGrader(deed="spin"))
    pure, both = definition({"type": "exact"}), definition({"type": "exact"}, JUDGED, on_error="zero")
    before = psutil.Process().children(recursive=True)
    opened = bench(pure, both, timeout_s=1.0)
    texts = [(pure, "a"), (pure, "misbehave"), (pure, "b"), (both, "misbehave"), (both, "c")]
    graded = opened.scorer.score([job(reward, text) for reward, text in texts])
    assert [one.score.reward for one in graded] == [1.0, None, 1.0, None, 1.5]
    told = "part0: the exact grader used more than 1 s of processor time and was ended"
    assert graded[1].score.error == graded[3].score.error == told
    wait_until(lambda: not any(thread.name == "sample" for thread in threading.enumerate()), 30)
    children = [child for child in psutil.Process().children(recursive=True) if child not in before]
    assert len(children) >= 2, "the template and a grading process"
    opened.close()
    wait_until(lambda: not any(child.is_running() for child in children), 30)


def test_time_in_a_grading_process_is_not_the_samples_time(
    bench: Callable[..., EquippedScorer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, clock: HandClock
) -> None:
    """The sample's clock is of the wall; it would run out on a busy machine."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    replace(monkeypatch, ExactGrader, OddGrader(deed="meet"))
    pure = definition({"type": "exact"})
    with ThreadPoolExecutor(1) as threads:
        scoring = threads.submit(bench(pure, timeout_s=0.5).scorer.score, [job(pure, "misbehave")])
        wait_until(lambda: list(tmp_path.iterdir()), 60)
        clock.now = 10.0
        (tmp_path / "the other").touch()
        (graded,) = scoring.result()
    assert graded.score.reward == 1.0


@pytest.mark.usefixtures("clock")
def test_pure_samples_are_graded_at_the_same_time(
    bench: Callable[..., EquippedScorer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    replace(monkeypatch, ExactGrader, OddGrader(deed="meet"))
    pure = definition({"type": "exact"})
    graded = bench(pure, timeout_s=1.0).scorer.score([job(pure, "misbehave")] * 2)
    assert [one.score.reward for one in graded] == [1.0, 1.0]


def compute(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(200))


@pytest.mark.expensive(2, "starts processes", about=TRAINING)
def test_many_short_limits_leave_no_stray_interruption(
    bench: Callable[..., EquippedScorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.scoring.watch.LOOK_S", 0.002)
    watch = bench(definition({"type": "exact"}), timeout_s=1.0).scorer._watch
    for n in range(300):  # each ends at about the moment at which its time is up
        with contextlib.suppress(TimedOut):
            watch.limit(0.002, lambda n=n: compute(0.00195 + 0.00002 * (n % 5)))
    for _ in range(1000):
        assert watch.limit(5.0, lambda: 1) == 1


def test_a_bug_is_an_error_with_its_traceback(
    bench: Callable[..., EquippedScorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(monkeypatch, ExactGrader, KeyErrorGrader(message="nothing"))
    pure = definition({"type": "exact"})
    (graded,) = bench(pure).scorer.score([job(pure, "a")])
    assert graded.score.error == "KeyError: 'nothing'"
    assert graded.traceback is not None and "raise KeyError" in graded.traceback


def test_samples_share_the_jails(clock: HandClock) -> None:
    source = "import time\ndef grade(sample, item):\n    time.sleep(item['s'])\n    return 1"
    tests = definition({"type": "python", "source": source, "timeout_s": 120.0})
    assert waits(tests)
    opened = EquippedScorer([tests], ToolSetup(), 30.0)
    jobs = [*(job(tests, str(n), s=0.1) for n in range(6)), job(tests, "late", s=60)]
    one, scored = opened.scorer.one, list[Job]()

    def noted(given: Job, expired: Callable[[], object] | None = None) -> Graded:
        scored.append(given)
        return one(given, expired)

    opened.scorer.one = noted  # type: ignore[method-assign]
    try:
        with threads_begun() as left, ThreadPoolExecutor(1) as threads:
            scoring = threads.submit(opened.scorer.score, jobs)
            wait_until(lambda: len(scored) == len(jobs) and left().count("sample") == 1, 60)

            def time_passes() -> bool:
                clock.now += 30.0
                return scoring.done()

            wait_until(time_passes, 60)  # the last one's time runs from when it has a jail
            graded = scoring.result()
    finally:
        opened.close()
    assert [one.score.reward for one in graded] == [1.0] * 6 + [None]
    assert graded[-1].score.error == "the reward took longer than 30 s"


def test_a_jail_that_died_comes_up_again_on_nobodys_time(monkeypatch: pytest.MonkeyPatch, clock: HandClock) -> None:
    own = definition({"type": "python", "source": "def grade(sample, item):\n    return 1"})
    opened = EquippedScorer([own], ToolSetup(processes=os.cpu_count() or 1), 2.0)  # one jail
    start = Slot.start

    def slow(slot: Slot) -> None:
        if slot._process is None or slot._process.poll() is not None:
            clock.now += 10.0
        start(slot)

    try:
        monkeypatch.setattr(Slot, "start", slow)
        assert opened.scorer.tools.jail is not None
        for pool in opened.scorer.tools.jail._pools:  # type: ignore[attr-defined]
            pool.close()
        (graded,) = opened.scorer.score([job(own, "1")])
    finally:
        opened.close()
    assert (graded.score.reward, graded.score.error) == (1.0, None)
    assert clock.now >= 10.0


@pytest.mark.expensive(2, "starts processes", about=TRAINING)
@pytest.mark.usefixtures("clock")
def test_what_graders_load_costs_no_sample_its_time(
    bench: Callable[..., EquippedScorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(monkeypatch, ExactGrader, SlowToLoadGrader())
    pure = definition({"type": "exact"})
    (graded,) = bench(pure, timeout_s=0.2).scorer.score([job(pure, "a")])
    assert (graded.score.reward, graded.score.error) == (1.0, None)


def test_a_workbench_leaves_no_thread_behind(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_jail() -> None:
        raise JailError("no strong jail")

    judged = definition(JUDGED)
    judges = JudgeSetup({"default": JudgeEndpoint(base_url=server.url, model="m")}, {})
    with threads_begun() as left:
        opened = EquippedScorer([judged], ToolSetup(judges), 10.0)
        opened.scorer.score([job(judged, "a")])
        assert {"judges", "watch"} <= set(left())
        opened.close()
        wait_until(lambda: not left(), 30)
        monkeypatch.setattr("worker.scoring.equipped.capability.require", no_jail)
        jailed = definition({"type": "python", "source": "def grade(sample, item): return 1"})
        with pytest.raises(JailError):
            EquippedScorer([judged, jailed], ToolSetup(judges), 10.0)
        wait_until(lambda: not left(), 30)


def test_use_is_counted_once(server: JudgeServer, bench: Callable[..., EquippedScorer]) -> None:
    judged = definition(JUDGED)
    opened = bench(judged)
    opened.scorer.score([job(judged, "a"), job(judged, "a"), job(judged, "b")])
    use = opened.use()
    assert (use.calls, use.cached, use.errors) == (3, 1, 0)
    assert opened.use().calls == 0
