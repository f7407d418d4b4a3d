"""Every limit of the jail binds, and leaves the slot usable without a zombie or an open descriptor."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.support.alone import alone
from trainer_core.rewards.graders.jail import JailError, Limits
from worker.sandbox import capability
from worker.sandbox.job_run import supervise
from worker.sandbox.pool import JailPool
from worker.sandbox.slot import Loaded, Slot


def test_this_machine_has_a_strong_jail() -> None:
    assert capability.check().available, capability.check().reason


def test_without_a_jail_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(slot: Slot) -> None:
        raise JailError("the jail cannot start: OSError: unshare: Operation not permitted")

    monkeypatch.setattr(Slot, "start", refuse)
    assert not capability.check().available
    with pytest.raises(JailError, match=r"no strong jail.*Operation not permitted"):
        capability.require()


def test_wall_clock(jail: JailPool) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    outcome = jail.program(code, "", "python", Limits(wall_s=0.5))
    assert (outcome.end, outcome.status) == ("wall", 128 + signal.SIGKILL)


def test_memory_of_one_process(jail: JailPool) -> None:
    outcome = jail.program("x = b'1' * (600 << 20)", "", "python", Limits(memory_mb=256))
    assert (outcome.end, outcome.status) == ("exit", 1)
    assert b"MemoryError" in outcome.errors


def test_memory_of_all_processes_together(jail: JailPool) -> None:
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = b"1" * (100 << 20)
        time.sleep(30)
time.sleep(30)
"""
    assert jail.program(code, "", "python", Limits(wall_s=25.0, memory_mb=256)).end == "memory"


@pytest.mark.parametrize("stream", [1, 2])
def test_output(jail: JailPool, stream: int) -> None:
    outcome = jail.program(
        f"import os\nwhile True: os.write({stream}, b'x' * 65536)", "", "python", Limits(wall_s=20.0)
    )
    assert outcome.end == "output"
    assert len(outcome.output) + len(outcome.errors) == 1 << 20


def test_processes(jail: JailPool) -> None:
    code = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(30)
        made += 1
except OSError:
    pass
print(made)
"""
    outcome = jail.program(code, "", "python", Limits(wall_s=20.0, processes=16))
    assert outcome.ok
    assert int(outcome.output) < 16


def test_files(jail: JailPool) -> None:
    code = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = written = 0
try:
    while made < 20000:
        open(f"/tmp/{made}", "w").close()
        made += 1
except OSError:
    pass
try:
    with open("/tmp/0", "wb") as file:
        while written < 500: written += file.write(b"x" * (1 << 20)) >> 20
except OSError:
    pass
print(made < 4096, written <= 32)
"""
    assert jail.program(code, "", "python", Limits(wall_s=20.0)).output == b"True True\n"


def test_the_null_device_can_be_written(jail: JailPool) -> None:
    assert jail.program("open('/dev/null', 'w').write('x')", "", "python", Limits(wall_s=20.0)).ok


def test_a_jail_that_cannot_be_built_is_an_error_and_no_zero(jail: JailPool) -> None:
    more_than_the_machine_allows = Limits(processes=1 << 40)
    with pytest.raises(JailError, match=r"the jail cannot be built: ValueError: not allowed to raise maximum limit"):
        jail.program("print(1)", "", "python", more_than_the_machine_allows)


def test_the_programs_time_begins_when_its_walls_stand(jail: JailPool) -> None:
    run = jail._slot("solution").begin({"role": "program", "code": "print(1)", "stdin": ""}, Limits(wall_s=5.0))
    run._started -= 10.0  # the jail was long in building
    assert supervise([run])[0].output == b"1\n"


def test_large_stdin(jail: JailPool) -> None:
    text = "x" * 3_000_000
    outcome = jail.program("import sys; print(len(sys.stdin.read()))", text, "python", Limits(wall_s=20.0))
    assert outcome.output == b"3000000\n"


def descriptors_before_and_after() -> tuple[list[str], list[str]]:
    jail = JailPool()
    jail.program("print(1)", "", "python", Limits())
    before = sorted(os.listdir("/proc/self/fd"))
    for code in ("print(1)", "raise SystemExit(3)", "while True: print('x' * 9999)", "import os; os.abort()"):
        jail.program(code, "", "python", Limits(wall_s=2.0))
    after = sorted(os.listdir("/proc/self/fd"))
    jail.close()
    return before, after


def test_nothing_is_left_open() -> None:
    before, after = alone(descriptors_before_and_after)
    assert after == before


def test_an_interrupted_job_is_killed_and_the_slot_recovers() -> None:
    pool = JailPool()

    class Interrupted(Exception):
        """No OSError: that would be the zygote's failure, which is tried again."""

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    former = signal.signal(signal.SIGALRM, interrupt)
    try:
        pool.program("print(1)", "", "python", Limits())
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupted):
            pool.program("while True: pass", "", "python", Limits(wall_s=30.0))
        assert pool.program("print(2)", "", "python", Limits()).output == b"2\n"
    finally:
        signal.signal(signal.SIGALRM, former)
        pool.close()


def test_a_killed_zygote_is_replaced() -> None:
    slot = Slot(Loaded())
    pool = JailPool()
    pool._slots["solution"] = slot
    try:
        slot.start()
        assert slot._process is not None
        slot._process.kill()
        assert pool.program("print(3)", "", "python", Limits()).output == b"3\n"
    finally:
        pool.close()
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    states = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] for child in children]
    assert "Z" not in states


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("bash", "read x; echo $((x * 2))"),
        pytest.param(
            "c",
            '#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d\\n", 2 * x); return 0; }',
            marks=pytest.mark.skipif(shutil.which("gcc", path="/usr/bin:/bin") is None, reason="gcc is not installed"),
        ),
    ],
)
def test_other_languages(jail: JailPool, language: str, code: str) -> None:
    outcome = jail.program(code, "21", language, Limits(wall_s=20.0))
    assert outcome.output == b"42\n", outcome
