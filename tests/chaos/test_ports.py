"""What an installation opens to the network: nothing but to this machine itself."""

from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import psutil
import pytest

from tests.support.installation import Installation

pytestmark = [pytest.mark.chaos, pytest.mark.live]


def opened(process: psutil.Process) -> list[Any]:
    """Open ports; none of a process that has ended since it was found."""
    with suppress(psutil.NoSuchProcess):
        return [one for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
    return []


def listeners(process: psutil.Process) -> set[tuple[str, str]]:
    """Name and address of each open port."""
    found = opened(process)
    with suppress(psutil.NoSuchProcess):
        return {(process.name(), one.laddr.ip) for one in found}
    return set()


def test_nothing_listens_beyond_this_machine(installation: Installation) -> None:
    listening = {found for process in installation.processes() for found in listeners(process)}
    assert {"gcs_server", "raylet"} <= {name for name, _ in listening}
    assert 44217 not in {one.laddr.port for process in installation.processes() for one in opened(process)}
    assert {(name, ip) for name, ip in listening if not ip_address(ip.removeprefix("::ffff:")).is_loopback} == set()
