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
        ("2002:808:808::", True),
        ("2002:a9fe:a9fe::1", False),
        ("::127.0.0.1", False),
        ("::8.8.8.8", False),
        ("::ffff:0:127.0.0.1", False),
        ("::ffff:0:8.8.8.8", False),
        ("64:ff9b::808:808", True),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::7f00:1", False),
        ("64:ff9b:1:ffff::8.8.8.8", False),
        ("fec0::1", False),
        ("feff::1", False),
        ("168.63.129.16", False),
        ("168.63.129.17", True),
        ("::ffff:168.63.129.16", False),
        ("64:ff9b::a83f:8110", False),
        ("2002:a83f:8110::1", False),
        ("192.0.0.192", False),
        ("192.88.99.1", False),
        ("100.100.100.200", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("198.18.0.1", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("2001:0:808:808:0:0:80ff:fffe", False),
        ("2606:4700::5efe:7f00:1", False),
        ("2606:4700::200:5efe:a9fe:a9fe", False),
        ("2606:4700::5efe:808:808", True),
        ("2606:4700::5eff:7f00:1", True),
        ("fd00:ec2::254", True),
        ("fc00::1", False),
        ("100::1", False),
        ("2001:db8::1", False),
        ("3fff::1", False),
        ("5f00::1", False),
        ("4000::1", False),
        ("::ffff:7f00:1%1", False),
    ],
)
def test_addresses(address: str, allowed: bool) -> None:
    assert may_ask(address, OWN) is allowed


def test_a_name_is_no_address() -> None:
    with pytest.raises(ValueError, match="judge"):
        may_ask("judge.example", OWN)
