"""What an installation opens to the network: nothing but to this machine itself."""

from ipaddress import ip_address

import psutil
import pytest

from tests.support.installation import Installation

pytestmark = [pytest.mark.chaos, pytest.mark.slow]


def test_nothing_listens_beyond_this_machine(installation: Installation) -> None:
    listening = {
        (process.name(), connection.laddr.ip)
        for process in installation.processes()
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert {"gcs_server", "raylet"} <= {name for name, _ in listening}
    assert {(name, ip) for name, ip in listening if not ip_address(ip.removeprefix("::ffff:")).is_loopback} == set()
