"""Which addresses may be asked."""

from ipaddress import ip_network

import pytest

from trainer_core.networks import may_ask

OWN = (ip_network("10.20.0.0/16"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("10.20.3.4", True),
        ("fd00::1", True),
        ("::ffff:10.20.3.4", True),
        ("10.21.0.1", False),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_addresses(address: str, allowed: bool) -> None:
    assert may_ask(address, OWN) is allowed


def test_a_name_is_no_address() -> None:
    with pytest.raises(ValueError, match="judge"):
        may_ask("judge.example", OWN)
