"""Programs that want to exhaust the machine, plant traps for the supervisor, or outlive their jail."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.alone import alone
from tests.support.installation import wait_until
from trainer_core.rewards.graders.jail import JailError, Limits
from worker.sandbox.job_run import supervise
from worker.sandbox.pool import JailPool
from worker.sandbox.slot import Loaded, Slot

LIMITS = Limits(wall_s=20.0)


def says(jail: JailPool, code: str, limits: Limits = LIMITS) -> str:
    outcome = jail.program(code, "", "python", limits)
    assert outcome.ok, outcome
    return outcome.output.decode().strip()


def processes_named(name: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            found += [int(path.parent.name)] if path.read_text().strip() == name else []
        except OSError:
            continue
    return found


def test_threads(jail: JailPool) -> None:
    code = """
import os, threading, time
made = 0
try:
    while made < 500:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        made += 1
except (RuntimeError, OSError):
    pass
print(made, flush=True)
os._exit(0)
"""
    assert int(says(jail, code, Limits(wall_s=20.0, processes=32))) < 32


BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(Limits(wall_s=0.3, processes=8), id="of eight processes"),
        pytest.param(
            Limits(wall_s=1.0),
            marks=[pytest.mark.loud, pytest.mark.expensive(4, "as many processes as fit", about=("worker/sandbox",))],
            id="of all processes that it may have",
        ),
    ],
)
def test_a_fork_bomb_harms_only_itself(jail: JailPool, limits: Limits) -> None:
    assert jail.program(BOMB, "", "python", limits).end in ("wall", "memory")
    assert says(jail, "print('alive')") == "alive"


def test_all_files_together(jail: JailPool) -> None:
    code = """
import os
written = 0
folders = [folder for folder in ("/dev/shm", "/tmp", "/var/tmp", "/run", "/dev", "/") if os.access(folder, os.W_OK)]
folders = sorted({os.path.realpath(folder) for folder in folders})
for folder in folders:
    try:
        for number in range(40):
            with open(f"{folder}/{number}", "wb", 0) as file:
                for _ in range(10): written += file.write(b"x" * (1 << 20))
    except OSError:
        pass
print(folders, written >> 20)
"""
    folders, _, megabytes = says(jail, code).rpartition(" ")
    assert folders == "['/tmp']"
    assert int(megabytes) <= 64


@pytest.mark.parametrize("target", ["/etc/shadow", "/proc/1/environ", "/dev/stdin"])
def test_planted_links_and_pipes_are_not_followed(jail: JailPool, target: str) -> None:
    code = f"""
import os
for name in ("result", "result.json", "stdin", "main.c", "output"):
    os.symlink({target!r}, name)
    os.mkfifo("fifo-" + name)
print("planted")
"""
    outcome = jail.program(code, "x" * 100_000, "python", LIMITS)
    assert (outcome.output, outcome.result) == (b"planted\n", b"")


def test_every_signal_is_of_no_use(jail: JailPool) -> None:
    code = """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
"""
    assert jail.program(code, "", "python", Limits(wall_s=0.5)).end == "wall"


def test_the_next_jail_is_out_of_reach(jail: JailPool) -> None:
    code = """
import os
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()) == sorted({1, os.getpid()}))
for process in range(1, 300):
    if process != os.getpid():
        try: os.kill(process, 9)
        except OSError: pass
"""
    assert [says(jail, code) for _ in range(3)] == ["True"] * 3


def test_process_one_holds_nothing_and_cannot_be_opened(jail: JailPool) -> None:
    code = """
import os
def refused(act, *arguments):
    try: act(*arguments)
    except OSError: return True
    return False
print(refused(os.listdir, "/proc/1/fd"), refused(os.readlink, "/proc/1/root"), refused(open, "/proc/1/maps"),
      refused(os.listdir, "/proc/1/map_files"), refused(os.readlink, "/proc/1/ns/mnt"))
"""
    assert says(jail, code) == "True True True True True"


@pytest.fixture
def slot() -> Iterator[Slot]:
    made = Slot(Loaded())
    yield made
    made.close()


def test_nothing_survives_a_killed_zygote(slot: Slot) -> None:
    name = f"left{os.getpid()}"
    code = f"""
import ctypes, os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0)
        time.sleep(60)
time.sleep(60)
"""
    run = slot.begin({"role": "program", "code": code, "stdin": ""}, Limits(wall_s=60.0))
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(supervise, [run])
        wait_until(lambda: len(processes_named(name)) == 3, 30)
        assert slot._process is not None
        slot._process.kill()
        with pytest.raises(JailError):
            job.result(timeout=30)
    wait_until(lambda: processes_named(name) == [], 30)


def a_hundred_hostile_jobs() -> set[str]:
    """Descriptors that they leave open."""
    jail = JailPool()
    hostile = (
        "import os; os.abort()",
        "raise SystemExit(7)",
        "import os; os.kill(os.getpid(), 9)",
        "import os\nfor _ in range(9):\n    if os.fork() == 0: os.setsid()",
        "import os\nos.closerange(0, 200)",
    )
    assert says(jail, "print('ready')") == "ready"
    zygote = jail._slots["solution"]._process
    before = set(os.listdir("/proc/self/fd"))
    for number in range(100):
        jail.program(hostile[number % len(hostile)], "", "python", LIMITS)
    assert jail._slots["solution"]._process is zygote, "no job brought its zygote down"
    left = set(os.listdir("/proc/self/fd")) - before
    assert says(jail, "print('ready')") == "ready"
    jail.close()
    return left


@pytest.mark.expensive(3, "a hundred jobs in a process of its own", about=("worker/sandbox",))
def test_a_hundred_hostile_jobs_leave_the_slot_as_it_was() -> None:
    assert alone(a_hundred_hostile_jobs) == set()
