"""What an installation opens to the network: nothing but to this machine itself."""

from ipaddress import ip_address

import psutil
import pytest

from tests.support.installation import Installation

pytestmark = [pytest.mark.chaos, pytest.mark.live]


def listeners(process: psutil.Process) -> set[tuple[str, str]]:
    """Name and address of each open port; none of a process that has ended since it was found."""
    try:
        name, connections = process.name(), process.net_connections()
    except psutil.NoSuchProcess:
        return set()
    return {(name, one.laddr.ip) for one in connections if one.status == psutil.CONN_LISTEN}


def test_nothing_listens_beyond_this_machine(installation: Installation) -> None:
    listening = {found for process in installation.processes() for found in listeners(process)}
    assert {"gcs_server", "raylet"} <= {name for name, _ in listening}
    assert {(name, ip) for name, ip in listening if not ip_address(ip.removeprefix("::ffff:")).is_loopback} == set()
