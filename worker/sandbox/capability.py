"""Checks for a strong jail on this machine. Without one, graders that run code are refused: there is no weaker mode."""

import json
from dataclasses import dataclass

from trainer_core.rewards.graders.jail import JailError, Limits
from worker.sandbox.pool import JailPool

_PROBE = """
import json, os, socket
def refused(act):
    try:
        act()
    except OSError:
        return True
    return False
import ctypes
print(json.dumps({
    "sockets": refused(lambda: socket.socket()),
    "writes": refused(lambda: open("/usr/pwned", "w")),
    "home": refused(lambda: os.listdir("/root")) and refused(lambda: os.listdir("/home")),
    "namespaces": ctypes.CDLL(None).unshare(0x10000000) == -1,
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]) <= 3,
    "user": os.getuid() == 65534,
}))
"""

PATIENCE_S = 60.0
"""Seconds that the self-test may take: a machine that is busy is no reason against its jail."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Result of the check."""

    available: bool
    reason: str
    """Reason why there is none; else what the check found."""


def check() -> Capability:
    """Build a jail and try its restrictions."""
    pool = JailPool()
    try:
        outcome = pool.program(_PROBE, "", "python", Limits(wall_s=PATIENCE_S))
        restrictions = json.loads(outcome.output) if outcome.ok else {}
    except (JailError, ValueError) as error:
        return Capability(False, str(error))
    finally:
        pool.close()
    if not restrictions:
        said = outcome.errors.decode(errors="replace")[-400:]
        return Capability(False, f"the jail's self-test failed ({outcome.end}, status {outcome.status}): {said}")
    broken = [name for name, holds in restrictions.items() if holds is not True]
    if broken:
        return Capability(False, f"the jail does not hold: {', '.join(broken)}")
    return Capability(True, "namespaces, seccomp, Landlock and limits hold")


def require() -> None:
    """Raise JailError, with the reason, if there is no strong jail."""
    found = check()
    if not found.available:
        raise JailError(f"This machine has no strong jail, so code is not graded here. {found.reason}")
