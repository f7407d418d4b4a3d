"""Attacks on the machine from inside the jail: each fails, and nothing outside is touched."""

import ctypes
import os
import platform
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainer_core.rewards.graders.jail import Limits, Outcome
from worker.sandbox.pool import JailPool

REFUSED = """
def refused(act, *args):
    try:
        act(*args)
    except (OSError, ValueError):
        return True
    return False
"""
LIMITS = Limits(wall_s=20.0)


def run(jail: JailPool, code: str, limits: Limits = LIMITS) -> Outcome:
    return jail.program(REFUSED + code, "", "python", limits)


def says(jail: JailPool, code: str) -> str:
    outcome = run(jail, code)
    assert outcome.ok, outcome
    return outcome.output.decode().strip()


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, env={"TOKEN": "victim-token"}) as process:
        yield process
        assert process.poll() is None
        process.kill()


def test_no_file_of_the_host_can_be_read(jail: JailPool, tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("42")
    for path in ("/etc/shadow", str(tmp_path / "gold.txt"), __file__, "/proc/1/environ", "/proc/1/mem", "/dev/mem"):
        assert says(jail, f"print(refused(open, {path!r}))") == "True"


def test_nothing_can_be_written_outside(jail: JailPool, tmp_path: Path) -> None:
    for folder in (str(tmp_path), "/usr", "/", "/etc", "/dev", "/var/tmp", os.path.expanduser("~")):
        assert says(jail, f"print(refused(open, {folder + '/dressage-pwned'!r}, 'w'))") == "True"
        assert not Path(folder, "dressage-pwned").exists()


def test_its_own_files_are_gone_with_it(jail: JailPool) -> None:
    assert says(jail, "open('/tmp/dressage-left', 'w').write('x'); print('written')") == "written"
    assert not Path("/tmp/dressage-left").exists()
    assert says(jail, "import os; print(os.listdir('/tmp'))") == "[]"


def test_the_environment_is_empty_of_secrets(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_SECRET_KEY", "secret")
    fresh = JailPool()
    try:
        assert "DRESSAGE" not in says(fresh, "import os; print(sorted(os.environ))")
    finally:
        fresh.close()


def test_no_descriptor_is_inherited(jail: JailPool) -> None:
    assert says(jail, "import os\nprint([fd for fd in range(3, 2000) if not refused(os.fstat, fd)])") == "[]"


def test_no_socket_reaches_the_host(jail: JailPool, tmp_path: Path) -> None:
    path = str(tmp_path / "service")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket() as tcp:
        listener.bind(path)
        listener.listen()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        code = f"""
import socket
def connect(kind, address):
    socket.socket(kind).connect(address)
print(refused(connect, socket.AF_UNIX, {path!r}), refused(connect, socket.AF_INET, {tcp.getsockname()!r}),
      refused(socket.socket, socket.AF_INET, socket.SOCK_DGRAM), refused(connect, socket.AF_UNIX, "\\0abstract"))
"""
        assert says(jail, code) == "True True True True"


def test_other_processes_cannot_be_seen_killed_or_traced(jail: JailPool, victim: subprocess.Popen[bytes]) -> None:
    code = f"""
import ctypes, os
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
print(len(pids) <= 2, refused(os.kill, {victim.pid}, 9), ctypes.CDLL(None).ptrace(16, {victim.pid}, 0, 0))
"""
    assert says(jail, code) == "True True -1"


def test_killing_everything_in_sight_harms_only_itself(jail: JailPool, victim: subprocess.Popen[bytes]) -> None:
    run(jail, "import os\nfor pid in (1, os.getppid(), -1):\n  refused(os.kill, pid, 9)")
    assert says(jail, "print('alive')") == "alive"


def test_the_memory_of_its_first_process_is_closed(jail: JailPool) -> None:
    code = "import os\nprint(all(refused(os.open, '/proc/1/mem', os.O_RDWR) for _ in range(200)))"
    assert says(jail, code) == "True"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")
def test_dangerous_system_calls_are_refused(jail: JailPool) -> None:
    calls = {
        "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248,
        "mount": 165, "open_by_handle_at": 304, "init_module": 175, "kexec_load": 246, "ptrace": 101,
        "process_vm_readv": 310, "unshare": 272, "setns": 308, "pidfd_getfd": 438, "swapon": 167, "fsopen": 430,
        "clone3": 435, "memfd_create": 319, "vmsplice": 278, "mq_open": 240, "setuid": 105, "chroot": 161,
        "socket": 41, "pivot_root": 155, "x32_read": 0x40000000,
    }  # fmt: skip
    code = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
open_calls = []
for name, number in {calls!r}.items():
    ctypes.set_errno(0)
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        open_calls.append(name)
print(open_calls)
"""
    assert says(jail, code) == "[]"


def test_a_new_user_namespace_is_refused(jail: JailPool) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
CLONE = 56 if os.uname().machine == "x86_64" else 220
print(libc.unshare(0x10000000), libc.syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0))
"""
    assert says(jail, code) == "-1 -1"


def test_setuid_programs_give_no_rights(jail: JailPool) -> None:
    code = r"""
import re
print(re.findall(r'(?:NoNewPrivs|CapEff|CapBnd|Seccomp):\s*(\w+)', open('/proc/self/status').read()))
"""
    assert says(jail, code) == "['0000000000000000', '0000000000000000', '1', '2']"


def test_a_daemon_dies_with_the_job(jail: JailPool) -> None:
    marker = f"dress{os.getpid()}"
    code = f"""
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, {marker.encode()!r}, 0, 0, 0)
        os.close(1); os.close(2)
        time.sleep(60)
    os._exit(0)
time.sleep(0.1)
print('spawned')
"""
    assert says(jail, code) == "spawned"
    names = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            names.append(path.read_text().strip())
        except OSError:
            continue
    assert marker not in names


def test_the_previous_job_leaves_nothing_in_memory(jail: JailPool) -> None:
    secret = "left" + "over" + "secret"
    says(jail, f"text = {secret!r} * 1000\nprint(1)")
    code = """
needle = "".join(["left", "over", "sec", "ret"]).encode()
found = 0
memory = open("/proc/self/mem", "rb", 0)
for line in open("/proc/self/maps"):
    span, rights = line.split()[:2]
    start, end = (int(part, 16) for part in span.split("-"))
    if rights.startswith("r") and end < 1 << 47:
        try:
            memory.seek(start)
            data = memory.read(end - start)
            place = data.find(needle)
            while place >= 0:  # twice in a row, which this program itself never holds
                found += data[place + len(needle) : place + 2 * len(needle)] == needle
                place = data.find(needle, place + 1)
        except OSError:
            pass
print(found)
"""
    assert says(jail, code) == "0"


def test_threads_of_the_worker_do_not_disturb_it() -> None:
    answers: list[str] = []

    def work() -> None:
        pool = JailPool()
        try:
            answers.append(says(pool, "print('ok')"))
        finally:
            pool.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["ok"] * 3
    assert ctypes.CDLL(None).getuid() == os.getuid()
