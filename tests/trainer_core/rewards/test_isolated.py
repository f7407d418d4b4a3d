"""Graders in processes of their own: limits, ends, and what is left behind."""

import errno
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import pytest

from tests.support.alone import alone
from tests.support.busy import busy
from tests.support.installation import wait_until
from tests.support.odd_graders import EndedWhileLoadingGrader, OddGrader, SlowToLoadGrader, odd, part
from tests.support.slowed import slowed
from trainer_core.rewards import RewardDefinition, Sample
from trainer_core.rewards.errors import GraderBug, GraderError, GraderStopped
from trainer_core.rewards.graders import ExactGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.isolated import process as isolated_process
from trainer_core.rewards.isolated.places import NoPlace, Places
from trainer_core.rewards.isolated.process import GradeLimits, GradingProcess, TemplateProcess
from trainer_core.rewards.isolated.template import Template
from trainer_core.rewards.score import Score, score

ROOT = Path(__file__).resolve().parents[3]
GOOD, BAD = (Sample(text, None, text, 1) for text in ("24", "misbehave"))
ROW = {"answer": "24"}
QUICK = GradeLimits(cpu_s=0.3, wall_s=60.0)


@pytest.fixture(scope="module")
def template() -> Iterator[TemplateProcess]:
    made = TemplateProcess(memory_mb=256)
    made.start()
    yield made
    made.close()


@pytest.fixture
def process(template: TemplateProcess) -> Iterator[GradingProcess]:
    made = GradingProcess(template)
    yield made
    made.close()


def pid(process: GradingProcess) -> int:
    return int(process.grade(OddGrader(deed="pid"), BAD, ROW, QUICK))


def test_grades_and_errors_are_the_graders_own(process: GradingProcess) -> None:
    assert [process.grade(ExactGrader(), sample, ROW, QUICK) for sample in (GOOD, BAD)] == [1.0, 0.0]
    with pytest.raises(GraderError, match=r"^the row has no field 'answer' to compare with$"):
        process.grade(ExactGrader(), GOOD, {}, QUICK)
    assert 0.0 <= process.spent_s < 0.3


@pytest.mark.parametrize(
    ("deed", "limits", "told"),
    [
        ("spin", QUICK, "the odd grader used more than 0.3 s of processor time and was ended"),
        ("spin_in_c", QUICK, "the odd grader used more than 0.3 s of processor time and was ended"),
        (
            "sleep",
            GradeLimits(cpu_s=0.3, wall_s=0.2),
            "the odd grader did not end within 0.2 s and was stopped; it may use 0.3 s of processor time: "
            "the machine is too busy, or the grader waits",
        ),
        ("fill", GradeLimits(cpu_s=20.0), "the odd grader needed more than 256 MiB of memory and was ended"),
        ("crash", QUICK, "the process of the odd grader died (SIGSEGV)"),
    ],
)
def test_a_grader_at_its_limit_is_ended_and_the_next_one_is_graded(
    process: GradingProcess, deed: str, limits: GradeLimits, told: str
) -> None:
    before = pid(process)
    with pytest.raises(GraderStopped, match=f"^{re.escape(told)}$"):
        process.grade(OddGrader(deed=deed), BAD, ROW, limits)
    wait_until(lambda: not psutil.pid_exists(before), 30)
    assert process.grade(OddGrader(deed=deed), GOOD, ROW, QUICK) == 1.0


def test_a_job_that_is_too_large_is_refused(process: GradingProcess) -> None:
    with pytest.raises(GraderStopped, match=r"^the exact grader needed more than 256 MiB of memory and was ended$"):
        process.grade(ExactGrader(), GOOD, {"answer": "a" * (300 << 20)}, QUICK)


def test_a_bug_brings_its_traceback(process: GradingProcess) -> None:
    with pytest.raises(GraderBug, match=r"^KeyError: 'nothing'$") as caught:
        process.grade(OddGrader(deed="bug"), BAD, ROW, QUICK)
    assert 'raise KeyError("nothing")' in caught.value.traceback and str(ROOT) not in caught.value.traceback


def test_no_secret_of_the_owner_is_in_its_environment(process: GradingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_SECRET_KEY", "hidden")
    fresh = TemplateProcess()
    one = GradingProcess(fresh)
    try:
        assert one.grade(OddGrader(deed="environment"), BAD, ROW, QUICK) == 0.0
    finally:
        one.close()
        fresh.close()


def test_a_slow_process_gets_all_of_its_processor_time(process: GradingProcess) -> None:
    before = process.spent_s
    with slowed(pid(process)), pytest.raises(GraderStopped, match=r"more than 0\.1 s of processor time"):
        process.grade(OddGrader(deed="spin"), BAD, ROW, GradeLimits(cpu_s=0.1, wall_s=120.0))
    assert process.spent_s - before >= 0.1


@pytest.mark.loud
@pytest.mark.expensive(8, "busy processes beside", about=("trainer_core/rewards",))
def test_the_verdict_does_not_depend_on_the_load(process: GradingProcess) -> None:
    """The clock runs many times faster than the process: it still gets all of its processor time."""
    with busy(2 * (os.cpu_count() or 1)):
        before = process.spent_s
        for _ in range(3):
            with pytest.raises(GraderStopped, match=r"more than 0\.3 s of processor time"):
                process.grade(OddGrader(deed="spin"), BAD, ROW, GradeLimits(cpu_s=0.3, wall_s=120.0))
        assert process.spent_s - before == pytest.approx(0.9)


@pytest.mark.parametrize("on_error", ["exclude", "zero", "stop"])
def test_what_was_stopped_is_never_a_zero(process: GradingProcess, on_error: str) -> None:
    class Bounded:
        def grade(self, grader: object, sample: Sample, item: object) -> float:
            return process.grade(grader, sample, item, QUICK)  # type: ignore[arg-type]

    found = score(odd("spin", on_error=on_error), BAD, ROW, Tools(pure=Bounded()))
    told = "part: the odd grader used more than 0.3 s of processor time and was ended"
    assert found == Score(reward=None, error=told, stop=on_error == "stop")


@pytest.mark.expensive(2, "two templates that load the graders")
def test_a_template_that_died_is_replaced() -> None:
    template = TemplateProcess()
    process = GradingProcess(template)
    try:
        child = pid(process)
        parent = psutil.Process(child).parent()
        assert parent is not None
        parent.kill()
        wait_until(lambda: not psutil.pid_exists(child), 30)
        with pytest.raises(GraderStopped, match=r"^the process of the exact grader was ended from outside$"):
            process.grade(ExactGrader(), GOOD, ROW, QUICK)
        assert process.grade(ExactGrader(), GOOD, ROW, QUICK) == 1.0
    finally:
        process.close()
        template.close()


def refused(template: TemplateProcess, reason: int) -> None:
    told = f"^no process can be had to grade in: .*{os.strerror(reason)}$"
    with pytest.raises(GraderStopped, match=told):
        GradingProcess(template).start()


@pytest.mark.parametrize("room", range(3), ids=["for neither descriptor", "for one of them", "not for the handle"])
def test_a_template_that_cannot_fork_refuses_one_grade_and_ends_none(
    template: TemplateProcess, process: GradingProcess, room: int
) -> None:
    before = pid(process)
    parent = psutil.Process(before).ppid()
    taken = {int(name) for name in os.listdir(f"/proc/{parent}/fd")}
    limit = [number for number in range(len(taken) + 4) if number not in taken][room]
    usual = resource.prlimit(parent, resource.RLIMIT_NOFILE)
    for _ in range(2):  # nothing of the first one is left
        resource.prlimit(parent, resource.RLIMIT_NOFILE, (limit, usual[1]))
        try:
            refused(template, errno.EMFILE)
        finally:
            resource.prlimit(parent, resource.RLIMIT_NOFILE, usual)
    assert pid(process) == before
    fresh = GradingProcess(template)
    assert psutil.Process(pid(fresh)).ppid() == parent
    fresh.close()


def a_fork_that_fails() -> None:
    fork = patch.object(os, "fork", side_effect=BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)))
    owner, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with fork, owner, control, open(os.devnull) as one, open(os.devnull) as two:
        before = len(os.listdir("/proc/self/fd"))
        socket.send_fds(owner, [b"fork"], [one.fileno(), two.fileno()])
        assert Template(control, 1 << 30)._request()
        assert owner.recv(256) == b"refused: " + os.strerror(errno.EAGAIN).encode()
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.expensive(2, "a process that loads the graders")
def test_a_fork_that_fails_is_told_and_the_template_goes_on() -> None:
    alone(a_fork_that_fails)


def test_an_owner_without_descriptors_ends_no_grade(
    template: TemplateProcess, process: GradingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*arguments: object) -> Any:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    before = pid(process)
    for module, name in ((socket, "socketpair"), (os, "pipe")):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, none)
            refused(template, errno.EMFILE)
    with monkeypatch.context() as patched:
        patched.setattr(socket, "socketpair", none)
        with pytest.raises(GraderStopped, match=r"^no process can be had to grade in: "):
            TemplateProcess().start()
    assert pid(process) == before


def test_what_a_grader_loads_counts_as_none_of_its_time(process: GradingProcess) -> None:
    before = process.spent_s
    assert process.grade(SlowToLoadGrader(), GOOD, ROW, GradeLimits(cpu_s=0.3, wall_s=0.3)) == 1.0
    assert process.spent_s - before < 0.3


def test_a_grader_that_loads_too_long_is_told_apart(process: GradingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "^the ended_while_loading grader used more than 60 s of processor time to load and was ended$"
    with pytest.raises(GraderStopped, match=told):
        process.grade(EndedWhileLoadingGrader(), GOOD, ROW, QUICK)
    process.start()
    monkeypatch.setattr(isolated_process, "START_S", 0.1)
    told = r"^the slow_to_load grader did not end within 0\.1 s of loading: the machine is too busy$"
    with pytest.raises(GraderStopped, match=told):
        process.grade(SlowToLoadGrader(), GOOD, ROW, QUICK)


def descriptors_before_and_after_ten_crashes() -> tuple[list[str], list[str]]:
    template = TemplateProcess(memory_mb=256)
    process = GradingProcess(template)
    pid(process)
    process.close()
    before, pids = sorted(os.listdir("/proc/self/fd")), []
    for _ in range(10):
        pids.append(pid(process))
        with pytest.raises(GraderStopped):
            process.grade(OddGrader(deed="crash"), BAD, ROW, QUICK)
    process.close()
    after = sorted(os.listdir("/proc/self/fd"))
    wait_until(lambda: not any(map(psutil.pid_exists, pids)), 30)
    template.close()
    return before, after


@pytest.mark.expensive(4, "two processes that load the graders")
def test_ends_leave_neither_process_nor_descriptor_behind() -> None:
    before, after = alone(descriptors_before_and_after_ten_crashes)
    assert after == before


def test_an_owner_that_is_killed_takes_all_of_it_along() -> None:
    program = (
        "import sys, threading\n"
        "from tests.support.odd_graders import OddGrader\n"
        "from tests.trainer_core.rewards.test_isolated import *\n"
        "process = GradingProcess(TemplateProcess())\n"
        "child = pid(process)\n"
        "print(child, psutil.Process(child).ppid(), flush=True)\n"
        "process.grade(OddGrader(deed='sleep'), BAD, ROW, GradeLimits(cpu_s=60.0, wall_s=600.0))\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert owner.stdout is not None
    pids = [int(word) for word in owner.stdout.readline().split()]
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert len(pids) == 2
    wait_until(lambda: not any(map(psutil.pid_exists, pids)), 30)


class Line:
    """Callers that hold a place until they are told to go on."""

    def __init__(self, places: Places) -> None:
        self.places, self.order = places, []  # type: Places, list[str]
        self.go = threading.Event()
        self._threads: list[threading.Thread] = []

    def add(self, key: str) -> None:
        """Enter, and wait until it either holds a place or waits in the line."""

        def hold() -> None:
            with self.places.place(key):
                self.order.append(key)
                assert self.go.wait(60)

        seen = self._seen()
        self._threads.append(threading.Thread(target=hold, daemon=True))
        self._threads[-1].start()
        wait_until(lambda: self._seen() == seen + 1, 30, every=0.002)

    def end(self) -> None:
        self.go.set()
        for thread in self._threads:
            thread.join(60)

    def _seen(self) -> int:
        return len(self.order) + sum(map(len, self.places._waiting.values()))


def test_a_key_that_asks_much_leaves_a_place_to_others_and_is_served_in_turn() -> None:
    line = Line(Places(2, most_per_key=1))
    for key in ("greedy", "greedy", "greedy", "modest", "late"):
        line.add(key)
    assert line.order == ["greedy", "modest"], "one place each: the second of the greedy waits"
    line.end()
    assert sorted(line.order) == ["greedy"] * 3 + ["late", "modest"]


def test_keys_take_turns() -> None:
    line = Line(Places(1))
    for key in ("a", "a", "a", "a", "b", "c"):
        line.add(key)
    line.end()
    assert line.order == ["a", "a", "b", "c", "a", "a"]


def test_the_line_is_bounded_and_says_when_to_come_again() -> None:
    places = Places(1, most_waiting=3, most_waiting_per_key=2)
    line = Line(places)
    for key in ("a", "a", "a", "b"):
        line.add(key)
    with pytest.raises(NoPlace) as own, places.place("a"):
        pass
    assert (own.value.own, own.value.retry_after_s) == (True, 1)
    with pytest.raises(NoPlace) as full, places.place("c"):
        pass
    assert (full.value.own, full.value.retry_after_s >= 1) == (False, True)
    single = Places(1)
    too_late = pytest.raises(NoPlace, match=r"^no place became free within 0 s$")
    with single.place("a"), too_late, single.place("b", wait_s=0.0):
        pass
    with single.place("b", wait_s=0.0):
        pass
    line.end()
    assert line.order == ["a", "a", "b", "a"], "those who were turned away left nothing behind"
    assert not places._waiting and not places._held


def test_several_parts_share_a_process(process: GradingProcess) -> None:
    class Bounded:
        def grade(self, grader: object, sample: Sample, item: object) -> float:
            return process.grade(grader, sample, item, QUICK)  # type: ignore[arg-type]

    definition = RewardDefinition.model_construct(
        components=(part(OddGrader(deed="spin"), "slow"), part(ExactGrader(), "right", weight=2.0))
    )
    assert score(definition, GOOD, ROW, Tools(pure=Bounded())).reward == 3.0
    found = score(definition, BAD, ROW, Tools(pure=Bounded()))
    assert (
        found.reward is None and found.parts == {"right": 0.0} and str(found.error).startswith("slow: the odd grader")
    )
