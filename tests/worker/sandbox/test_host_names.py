"""What a program sees of itself and of the machine: one plain name, and no path of the host."""

import json
import os
import sys
from pathlib import Path

import pytest

from trainer_core.rewards.graders.jail import Limits
from worker.sandbox.pool import JailPool

LIMITS = Limits(wall_s=20.0)
SOURCES = Path(__file__).resolve().parents[3]


def says(jail: JailPool, code: str, language: str = "python") -> str:
    outcome = jail.program(code, "", language, LIMITS)
    assert outcome.ok, outcome
    return outcome.output.decode()


def test_a_program_sees_one_plain_name(jail: JailPool) -> None:
    code = """
import json, os, sys
print(json.dumps([sys.argv, __file__, sys.orig_argv, open("/proc/self/cmdline").read().split("\\0")[:3],
                  open("/proc/self/comm").read().strip()]))
"""
    name = "solution.py"
    assert json.loads(says(jail, code))[:4] == [[name], name, ["python3", name], ["python3", name, ""]]


def test_no_path_of_the_host_is_shown(jail: JailPool) -> None:
    code = """
import os, sys, sysconfig, json
print(sys.path, sys.prefix, sys.executable, os.__file__, os.environ, sys.flags, sysconfig.get_paths())
print(open("/proc/self/maps").read(), open("/proc/self/environ").read(), open("/proc/self/cmdline").read())
print(os.readlink("/proc/self/exe"), os.readlink("/proc/self/cwd"), os.readlink("/proc/self/root"))
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", ""), getattr(module, "__spec__", ""), getattr(module, "__path__", ""))
try:
    1 / 0
except ZeroDivisionError:
    import traceback
    traceback.print_exc(file=sys.stdout)
"""
    shown = says(jail, code)
    prefix = os.path.realpath(sys.base_prefix)
    hidden = [str(SOURCES), f"{os.path.expanduser('~')}/"]
    hidden += [prefix] if not prefix.startswith("/usr") else []
    assert [path for path in hidden if len(path) > 1 and path in shown] == []


@pytest.mark.parametrize("language", ["python", "bash"])
def test_what_the_host_keeps_beside_the_system_cannot_be_read(jail: JailPool, language: str) -> None:
    files = ["/proc/cmdline", "/proc/version", "/proc/cpuinfo", "/proc/mounts/../cmdline", "/proc/sys/kernel/hostname",
             "/proc/net/tcp", "/proc/uptime", "/proc/stat", "/proc/loadavg", "/sys/kernel", "/etc/hostname",
             str(SOURCES / "pyproject.toml"), sys.base_prefix + "/bin", "/jail/worker"]  # fmt: skip
    if language == "bash":
        words = " ".join(f"'{name}'" for name in files if name != "/usr/bin")
        look = f'for f in {words}; do [ -r "$f" ] && cat "$f" && echo $f; done 2>&1; ls /usr/local'
        assert says(jail, look, "bash") == ""
        return
    code = f"""
import os
def seen(path):
    try:
        return bool(os.listdir(path)) if os.path.isdir(path) else bool(open(path, 'rb').read(1))
    except OSError:
        return False
print([path for path in {files!r} if seen(path)], os.listdir("/usr/local"))
"""
    assert says(jail, code) == "[] []\n"


def test_the_sources_of_the_jail_cannot_be_read_or_changed(jail: JailPool) -> None:
    code = """
import sys
found = []
for name, module in list(sys.modules.items()):
    if name.startswith(("worker", "trainer_core")):
        try: found.append(open(module.__file__).read()[:1])
        except (OSError, TypeError, AttributeError): pass
print(found)
"""
    assert says(jail, code) == "[]\n"
