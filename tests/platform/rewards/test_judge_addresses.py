"""Where judges may be: nobody reaches by a judge what only the cluster can."""

from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.config import Config
from dressage.rewards.judges.selectors import for_workers, unfit
from dressage.rewards.models import JudgeEndpoint

LOCAL = ["127.0.0.0/8", "::1/128"]


def networks(**given: Any) -> list[str]:
    by_alias = {str(Config.model_fields[name].alias): value for name, value in given.items()}
    return [str(network) for network in Config(**by_alias).resolved_judge_networks]


def create(api: Callable[..., APIClient], base_url: str) -> Any:
    body = {"name": "Judge", "base_url": base_url, "model": "m"}
    return api("admin").post("/api/v1/judge-endpoints", body, format="json")


def test_by_default_this_machine_alone_and_only_while_the_console_is_on_it() -> None:
    assert networks(url=None, host="127.0.0.1", judge_networks=None) == LOCAL
    assert networks(url="http://localhost:8600", judge_networks=None) == LOCAL
    assert networks(url="https://dressage.example.com", judge_networks=None) == []
    assert networks(url=None, host="0.0.0.0", judge_networks=None) == []
    assert networks(url="https://dressage.example.com", judge_networks="10.20.0.0/16, fd00::/8") == [
        "10.20.0.0/16", "fd00::/8"
    ]  # fmt: skip
    assert networks(url=None, host="127.0.0.1", judge_networks="") == []
    with pytest.raises(ValueError, match="everywhere"):
        networks(judge_networks="everywhere")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8000", "localhost", "judge.localhost", "[::1]:8000", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.7",
        "169.254.169.254", "192.168.1.2", "[fe80::1]", "2130706433", "0x7f.1", "127.1",
    ],
)  # fmt: skip
def test_on_the_internet_only_what_is_public(api: Callable[..., APIClient], settings: Any, host: str) -> None:
    settings.JUDGE_NETWORKS = ()
    refused = create(api, f"http://{host}/v1")
    assert refused.status_code == 422
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/base_url"
    assert "JUDGE_NETWORKS" in error["detail"]
    assert JudgeEndpoint.objects.count() == 0


@pytest.mark.parametrize("host", ["judge.example", "8.8.8.8", "[2606:4700::1111]:8443", "10.20.3.4"])
def test_what_is_allowed(api: Callable[..., APIClient], settings: Any, host: str) -> None:
    settings.JUDGE_NETWORKS = (ip_network("10.20.0.0/16"),)
    assert create(api, f"https://{host}/v1").status_code == 201
    assert for_workers(JudgeEndpoint.objects.get()).wire()["networks"] == ["10.20.0.0/16"]


def test_a_stored_address_that_is_allowed_no_more(api: Callable[..., APIClient], settings: Any) -> None:
    assert create(api, "http://127.0.0.1:9/v1").status_code == 201, "on a machine of one's own a judge may be there"
    stored = JudgeEndpoint.objects.get()
    assert unfit(stored) is None
    settings.JUDGE_NETWORKS = ()
    reason = unfit(stored)
    assert reason is not None
    assert reason.startswith("The judge endpoint 'judge' cannot be called: 127.0.0.1 is not on the public internet")
